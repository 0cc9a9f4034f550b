//! Reducers: pure rules over the middle, run from cheap to expensive.
//!
//! A reducer receives a [`Middle`] and nothing else. The middle gives access to closed, unpinned units alone, by
//! references that only it can make, so head, tail and pins cannot be edited.

mod arguments;
mod cut;
mod dedup;
mod middle;
mod reading;
mod reasoning;
mod recap;
mod reducer;
mod retain;
mod stub;
mod supersede;
mod terminal;
mod tiers;
mod window;

pub use cut::cut_results;
pub use middle::{BlockChange, BlockRef, Middle, MiddleEdit, ResultRef};
pub use reading::reduced_events;
pub use reducer::{CarriedState, MiddleBudget, Reducer, ReducerState};
pub use stub::thousands;

pub(crate) use arguments::cut_end;
pub(crate) use cut::{LEAST as LEAST_CUT, gap_lines, may_cut, shorten};
pub(crate) use reading::{EventEdits, as_read, edited_event, spare_spoken, with_edited};
pub(crate) use tiers::enforce;
pub(crate) use window::CAPPED;

use crate::policy::ReducerName;

/// The reducer with this name.
#[must_use]
pub fn reducer(name: ReducerName) -> &'static dyn Reducer {
    match name {
        ReducerName::Terminal => &terminal::TerminalReducer,
        ReducerName::Dedup => &dedup::DedupReducer,
        ReducerName::Supersede => &supersede::SupersedeReducer,
        ReducerName::Retain => &retain::RetainReducer,
        ReducerName::Stub => &stub::StubReducer,
        ReducerName::Arguments => &arguments::ArgumentsReducer,
        ReducerName::Reasoning => &reasoning::ReasoningReducer,
        ReducerName::Window => &window::WindowReducer,
        ReducerName::Cut => &cut::CutReducer,
        ReducerName::Recap => &recap::RecapReducer,
    }
}
