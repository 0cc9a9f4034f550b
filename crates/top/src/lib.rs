//! Shows sessions in a terminal while they change: the list, the fabric of one session, its folds, and why a text was
//! forgotten.
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
//! Texts of transcripts are cleaned when they are read ([`Clean`], [`CleanText`]), so no state contains a character
//! that could move the cursor. This program only reads.

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
pub use figures::age;
pub use keys::PressedKey;
pub use plain::plain;
pub use run::{TerminalEvent, run, settle};
pub use screen::Screen;
pub use source::{AnswerSource, Clock, ServerSource, SourceQuestion, SourceTrouble, StoreSource};
pub use state::{KeyReach, ListOrder, TopState, TopView};
pub use views::{SessionId, SourceAnswer};

/// Items that the tests of this crate use. They are not part of the interface, and may change at any time.
#[doc(hidden)]
pub mod inside {
    use reqwest::Url;

    use crate::source::{ServerSource, SourceQuestion};

    pub use crate::figures::{facts, fit, pad, percent, short, wrap};
    pub use crate::source::server::refused;

    /// The address of a question. A function here, so that the method itself stays private.
    pub fn url(source: &ServerSource, ask: &SourceQuestion) -> Url {
        source.url(ask)
    }
}
