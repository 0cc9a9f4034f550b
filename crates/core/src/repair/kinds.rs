//! Results of a kind that does not belong to their calls. A provider with several kinds of results accepts only the
//! kind of the call.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::profile::ProviderProfile;
use crate::unit::id_bytes;
use crate::view::{BlockKind, EventView, Role};

/// The calls of the newest step, by id.
#[derive(Clone, Debug, Default)]
pub(super) struct StepCalls {
    /// Whether the provider has several kinds of results.
    has_kinds: bool,
    seen_result: bool,
    calls: FxHashMap<Vec<u8>, Bytes>,
}

impl StepCalls {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self { has_kinds: profile.has_items, ..Self::default() }
    }

    /// Ends the step: the next event starts a new one.
    pub fn end_step(&mut self) {
        self.calls.clear();
    }

    /// The indices of the results in an event whose kind does not belong to their calls.
    pub fn push(&mut self, view: &EventView, bytes: &Bytes, dialect: &dyn Dialect) -> Vec<usize> {
        if !self.has_kinds {
            return Vec::new();
        }
        let is_result = view.has_results();
        if !is_result && (view.role != Role::Assistant || self.seen_result) {
            self.end_step();
        }
        self.seen_result = is_result;
        let mut others = Vec::new();
        for (at, block) in view.blocks.iter().enumerate() {
            match &block.kind {
                BlockKind::Call { id, .. } => {
                    let id = id_bytes(id.as_ref(), bytes).into_owned();
                    self.calls.insert(id, bytes.clone());
                }
                BlockKind::Result { id, .. } => {
                    let call = self.calls.get(&*id_bytes(id.as_ref(), bytes));
                    // A result whose call is not known is an orphan; the pairing finds it.
                    if call.is_some_and(|call| !dialect.answers(call, bytes)) {
                        others.push(at);
                    }
                }
                _ => {}
            }
        }
        others
    }
}
