//! Reducers: pure rules over the middle, run cheap to expensive.
//!
//! A reducer is handed a [`Middle`] and nothing else. A middle gives out only closed, unpinned
//! units, through indices that only it can make, so head, tail and pins cannot be reached.

mod arguments;
mod dedup;
mod middle;
mod reasoning;
mod retain;
mod salient;

mod stub;
mod supersede;
mod terminal;
mod window;

pub use middle::{BlockRef, Change, Edited, Middle, ResultRef};
pub(crate) use salient::{lines as salient_lines, shorten, verdict};
pub(crate) use window::CAPPED;

use crate::policy::{Policy, ReducerName};
use crate::tools::ToolTable;

/// What a reducer may look at besides the middle.
pub struct State<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// What tools are.
    pub tools: &'a ToolTable,
}

/// A pure rule. Seed 004's `reduce(context, budget, state)`: the context is the middle alone.
pub trait Reducer {
    /// Its name in policies and records.
    fn name(&self) -> ReducerName;

    /// Edits the middle. `budget` is what the middle may still cost; a reducer may stop early
    /// when it is met.
    fn reduce(&self, middle: &mut Middle<'_>, budget: u64, state: &State<'_>);
}

/// The reducer of this name; `None` for `recap`, which covers a span instead of editing it.
#[must_use]
pub fn reducer(name: ReducerName) -> Option<&'static dyn Reducer> {
    Some(match name {
        ReducerName::Terminal => &terminal::Terminal,
        ReducerName::Dedup => &dedup::Dedup,
        ReducerName::Supersede => &supersede::Supersede,
        ReducerName::Retain => &retain::Retain,
        ReducerName::Stub => &stub::Stub,
        ReducerName::Arguments => &arguments::Arguments,
        ReducerName::Reasoning => &reasoning::Reasoning,
        ReducerName::Window => &window::Window,
        ReducerName::Recap => return None,
    })
}
