//! Checks the pairs of calls and results of the provider's own tools: `lone-server-result`, `lone-server-call`.

use midfold_core::Role;
use midfold_core::dialect::ServerTool;
use rustc_hash::FxHashMap;

use super::violations::{FoundViolations, MessageAt, RuleRank};
use crate::dialect::{DialectKind, server_tools};

/// The calls of the present turn. Results of the client's tools do not end it.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerToolWalk {
    /// The message of each call by its id; `None` once it is answered.
    calls: FxHashMap<String, Option<usize>>,
}

impl ServerToolWalk {
    /// Checks the next message. The calls of the newest turn may still get their results.
    pub fn push(&mut self, at: MessageAt<'_>, violations: &mut FoundViolations) {
        let MessageAt { profile, index, bytes, view } = at;
        if profile.dialect != DialectKind::Anthropic.name() {
            return;
        }
        if view.role != Role::Assistant {
            if !view.blocks.iter().all(|block| block.is_result()) {
                self.end_turn(violations);
            }
            return;
        }
        for block in &view.blocks {
            match server_tools::side(bytes, block) {
                Some(ServerTool::Call(id)) => _ = self.calls.insert(id, Some(index)),
                Some(ServerTool::Result(id)) => match self.calls.get_mut(&id) {
                    Some(call) => *call = None,
                    None => {
                        let detail = format!("result {id} of a server tool has no call before it");
                        violations.report(RuleRank::Pairs, "lone-server-result", index, detail);
                    }
                },
                None => {}
            }
        }
    }

    fn end_turn(&mut self, violations: &mut FoundViolations) {
        let mut open: Vec<_> =
            self.calls.drain().filter_map(|(id, call)| Some((call?, id))).collect();
        // The map has no order of its own.
        open.sort_unstable();
        for (index, id) in open {
            let detail = format!("call {id} of a server tool has no result");
            violations.report(RuleRank::Unanswered, "lone-server-call", index, detail);
        }
    }
}
