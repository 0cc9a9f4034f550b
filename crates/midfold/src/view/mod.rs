//! What people and programs see of stored sessions: plain values, the same over HTTP, in the console and in the
//! terminal. Texts are redacted; they are data, never instructions.
//!
//! | to see | use |
//! |---|---|
//! | all sessions, newest change first | [`Overviews`] |
//! | one session | [`Detail`] |
//! | each message and what became of it, fold by fold | [`Fabric`] |
//! | messages | [`messages`] |
//! | a fold: its recap, its edits, what it lost | [`FoldDetail`], [`Diff`] |
//! | what was sent | [`Call`], [`CallDetail`] |
//! | why a text is not seen any more | [`explained`], [`Forgot`] |
//! | what a change would do, or did | [`Compacting`], [`Undone`], [`Pinned`], [`NewRules`] |

mod act;
mod call;
mod detail;
mod fabric;
mod fold;
mod forgot;
mod message;
mod overview;

pub use act::{
    Compacting, ContextSize, NewRules, Pinned, RulesSide, Undone, compact, pin, policy, undo,
};
pub use call::{Call, CallDetail, Piece, call, calls};
pub use detail::{Detail, due};
pub use fabric::{Fabric, FoldBrief, Layout, folds};
pub use fold::{Changed, Diff, EditLine, FoldDetail, Gone};
pub use forgot::{Forgot, Remembered, explained};
pub use message::{Message, Messages, message, messages};
pub use overview::{CostView, FaultCount, Overview, Overviews, Parent, Totals, folds_in_force};
