//! Reducers: pure rules over the middle, run cheap to expensive.
//!
//! A reducer is handed a [`Middle`] and nothing else. A middle gives out only closed, unpinned
//! units, through indices that only it can make, so head, tail and pins cannot be reached.

mod arguments;
mod dedup;
mod middle;
mod reasoning;
mod recap;
mod reducer;
mod retain;
mod stub;
mod supersede;
mod terminal;
mod tiers;
mod window;

pub use middle::{BlockRef, Change, Edited, Middle, ResultRef};
pub use reducer::{Budget, Carried, Reducer, State};
pub use stub::thousands;

pub(crate) use tiers::enforce;
pub(crate) use window::CAPPED;

use crate::policy::ReducerName;

/// The reducer of this name.
#[must_use]
pub fn reducer(name: ReducerName) -> &'static dyn Reducer {
    match name {
        ReducerName::Terminal => &terminal::Terminal,
        ReducerName::Dedup => &dedup::Dedup,
        ReducerName::Supersede => &supersede::Supersede,
        ReducerName::Retain => &retain::Retain,
        ReducerName::Stub => &stub::Stub,
        ReducerName::Arguments => &arguments::Arguments,
        ReducerName::Reasoning => &reasoning::Reasoning,
        ReducerName::Window => &window::Window,
        ReducerName::Recap => &recap::Recap,
    }
}
