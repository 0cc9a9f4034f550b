//! Sessions in a terminal, as they go on: the list, the fabric of one session, its folds, and why a text was forgotten.
//!
//! | part | does |
//! |---|---|
//! | [`Source`] | answers questions: [`StoreSource`] over a store, [`ServerSource`] over a server |
//! | [`State`] | what is shown; keys, answers and time change it, without any IO |
//! | [`draw`] | a frame from a state |
//! | [`run`] | keys, questions, answers and frames, until somebody quits |
//! | [`Screen`] | the terminal, and how it was before |
//! | [`weave`] | how a fate is drawn; `midfold inspect --fold` draws the same |
//!
//! Texts of transcripts are cleaned where they are read ([`Clean`], [`CleanText`]): no state holds a character that
//! could move a cursor. Nothing is changed from here.

mod clean;
mod draw;
mod figures;
mod keys;
mod paint;
mod plain;
mod run;
mod screen;
mod seen;
mod source;
mod state;
pub mod weave;

pub use clean::{Clean, CleanText};
pub use draw::{draw, reach};
pub use keys::Key;
pub use plain::plain;
pub use run::{Clock, Happened, run, settle};
pub use screen::Screen;
pub use seen::{Answered, Id};
pub use source::{Ask, ServerSource, Source, StoreSource, Trouble};
pub use state::{Reach, Sort, State, View};
