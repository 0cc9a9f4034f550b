//! Views of stored sessions for people and programs: plain values, the same over HTTP, in the console and in the
//! terminal. Texts are redacted; they are data, never instructions.
//!
//! | to see | use |
//! |---|---|
//! | all sessions, newest change first | [`OverviewCache`] |
//! | one session | [`SessionDetail`] |
//! | each message and what became of it, fold by fold | [`FabricView`] |
//! | messages | [`messages`] |
//! | a fold: its recap, its edits, what it lost | [`FoldDetail`], [`ContextDiff`] |
//! | what was sent | [`CallView`], [`CallDetail`] |
//! | why a text is not seen any more | [`explained`], [`ForgottenText`] |
//! | what a compaction did, of a session or of messages | [`CompactionSummary`], [`CompactionReport`] |
//! | what a change would do, or did | [`CompactionView`], [`UndoView`], [`PinView`], [`NewRules`] |

mod act;
mod call;
mod compaction;
mod detail;
mod fabric;
mod fold;
mod forgot;
mod message;
mod overview;
mod title;

pub use act::{CompactionView, NewRules, PinView, RulesSide, UndoView, compact, pin, policy, undo};
pub use call::{CallDetail, CallView, PieceView, call, calls};
pub use compaction::{CarriedProblem, CompactionReport, CompactionSummary};
pub use detail::{SessionDetail, counts_exactly, due};
pub use fabric::{FabricView, FoldBrief, FoldLayout, folds};
pub use fold::{ChangedMessage, ContextDiff, EditLine, FoldDetail, GoneMessage};
pub use forgot::{ForgottenText, RememberedSession, explained, has_text};
pub use message::{MessagePage, MessageView, message, messages};
pub use overview::{
    CostView, FaultCount, Overview, OverviewCache, Parent, ProviderTotals, folds_in_force,
};
pub use title::session_title;
