//! Results of another kind than their calls want: a provider that has several kinds takes each for its own alone.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use crate::dialect::Dialect;
use crate::profile::ProviderProfile;
use crate::unit::id_bytes;
use crate::view::{BlockKind, EventView, Role};

/// The calls of the step that is being read, by id.
#[derive(Clone, Debug, Default)]
pub(super) struct StepCalls {
    /// Whether results have kinds at all.
    has_kinds: bool,
    seen_result: bool,
    calls: FxHashMap<Vec<u8>, Bytes>,
}

impl StepCalls {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self { has_kinds: profile.has_items, ..Self::default() }
    }

    /// What comes next belongs to no step so far.
    pub fn end_step(&mut self) {
        self.calls.clear();
    }

    /// The results of an event that are of another kind than their calls want.
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
