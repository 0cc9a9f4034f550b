//! Names that a fold lost and that were used again later: a sign that the recap left out something needed.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::fold::{Fold, IdList};
use crate::ids::identifiers;
use crate::log::{Event, EventLog};
use crate::view::Role;

/// A name that a fold lost and that was used again later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NameReference {
    /// The name.
    pub name: String,
    /// The first event after the fold in which the user or the assistant used it.
    pub seq: u32,
}

impl Fold {
    /// The names of [`Fold::lost_ids`] that the user or the assistant used in `later` events, in the order of their
    /// first use. Results do not count: a name may occur there by chance.
    #[must_use]
    pub fn references<'a>(&self, later: impl IntoIterator<Item = &'a Event>) -> Vec<NameReference> {
        let mut missing: FxHashSet<&str> = self.lost_ids.first.iter().map(String::as_str).collect();
        let mut out = Vec::new();
        for event in later {
            let asks = matches!(event.view.role, Role::User | Role::Assistant);
            if missing.is_empty() || !asks || event.seq < self.accounts.events {
                continue;
            }
            for block in event.view.blocks.iter().filter(|b| !b.is_result() && !b.is_reasoning()) {
                for name in identifiers(&block.plain(&event.bytes)) {
                    if missing.remove(name) {
                        out.push(NameReference { name: name.to_owned(), seq: event.seq });
                    }
                }
            }
        }
        out
    }

    /// The record with [`Fold::referenced_later`] computed from the present log. The fold's id does not depend on it.
    #[must_use]
    pub fn with_references(&self, log: &EventLog) -> Self {
        let from = (self.accounts.events as usize).min(log.len());
        let references = self.references(&log.events()[from..]);
        let names = IdList::of(references.iter().map(|reference| reference.name.as_str()), 0);
        Self { referenced_later: Some(names), ..self.clone() }
    }
}
