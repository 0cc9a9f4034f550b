//! Sessions in a terminal, as they go on: the list, the fabric of one session, its folds, and why a text was forgotten.
//!
//! | part | does |
//! |---|---|
//! | [`AnswerSource`] | answers questions: [`StoreSource`] over a store, [`ServerSource`] over a server |
//! | [`TopState`] | what is shown; keys, answers and time change it, without any IO |
//! | [`draw`] | a frame from a state |
//! | [`run`] | keys, questions, answers and frames, until somebody quits |
//! | [`Screen`] | the terminal, and how it was before |
//! | [`weave`](midfold::weave) | how a fate is drawn; `midfold inspect --fold` draws the same |
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
mod source;
mod state;
mod views;

pub use clean::{Clean, CleanText};
pub use draw::{draw, reach};
pub use keys::PressedKey;
pub use plain::plain;
pub use run::{TerminalEvent, run, settle};
pub use screen::Screen;
pub use source::{AnswerSource, Clock, ServerSource, SourceQuestion, SourceTrouble, StoreSource};
pub use state::{KeyReach, ListOrder, TopState, TopView};
pub use views::{SessionId, SourceAnswer};

/// What the tests of this crate reach, and nobody else: no part of the interface, and free to change.
#[doc(hidden)]
pub mod inside {
    use reqwest::Url;

    use crate::source::{ServerSource, SourceQuestion};

    pub use crate::figures::{age, facts, fit, pad, percent, short, wrap};
    pub use crate::source::server::refused;

    /// Where a question is asked: a method of a type that everybody sees, so that nobody else sees it.
    pub fn url(source: &ServerSource, ask: &SourceQuestion) -> Url {
        source.url(ask)
    }
}
