//! Results of tools that the provider runs itself. Call and result are blocks of one message of the model, or of two with
//! only results between them. A provider refuses such a result without its call.

use rustc_hash::FxHashSet;

use crate::dialect::{Dialect, ServerTool};
use crate::view::{BlockKind, EventView, Role};

/// The calls of the provider's own tools in the present turn.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerCalls(FxHashSet<String>);

impl ServerCalls {
    /// The indices of the results in an event whose calls are not there.
    pub fn push(&mut self, view: &EventView, bytes: &[u8], dialect: &dyn Dialect) -> Vec<usize> {
        if view.role != Role::Assistant {
            if !view.blocks.iter().all(|block| block.is_result()) {
                self.0.clear();
            }
            return Vec::new();
        }
        let mut alone = Vec::new();
        for (at, block) in view.blocks.iter().enumerate() {
            if block.kind != BlockKind::Opaque {
                continue;
            }
            match dialect.server_tool(bytes, block) {
                Some(ServerTool::Call(id)) => _ = self.0.insert(id),
                Some(ServerTool::Result(id)) if !self.0.contains(&id) => alone.push(at),
                _ => {}
            }
        }
        alone
    }
}
