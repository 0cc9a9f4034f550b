//! Calls and their results, paired by position, with what the tool table knows of them.

use std::ops::Range;

use crate::log::Event;
use crate::tools::{CallFacts, ToolTable};
use crate::view::{Block, BlockKind, TextRef};

/// A tool call in the log.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    /// The event that makes the call.
    pub seq: u32,
    pub tool: String,
    pub facts: CallFacts,
}

/// A tool result in the log.
#[derive(Clone, Debug)]
pub(crate) struct ResultSite<'a> {
    pub event: &'a Event,
    pub block: &'a Block,
    /// Index of the block in its event.
    pub index: usize,
    /// Index into [`Calls::calls`].
    pub call: Option<usize>,
    /// The tool's name where the result itself tells it.
    pub named: Option<String>,
}

/// All calls and results of a range of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls<'a> {
    pub calls: Vec<CallSite>,
    pub results: Vec<ResultSite<'a>>,
}

impl<'a> Calls<'a> {
    /// Finds them. A result answers the oldest open call with its id in the step before it.
    pub fn find(events: &'a [Event], range: Range<usize>, tools: &ToolTable) -> Self {
        let mut found = Self::default();
        let mut open: Vec<(String, usize)> = Vec::new();
        for event in &events[range] {
            if !event.view.has_results() && !event.view.has_calls() {
                open.clear();
            }
            for (index, block) in event.view.blocks.iter().enumerate() {
                match &block.kind {
                    BlockKind::Call { id, name } => {
                        open.push((text(id, event), found.calls.len()));
                        let tool = text(name, event);
                        let facts = tools.facts(&tool, &block.text(&event.bytes));
                        found.calls.push(CallSite { seq: event.seq, tool, facts });
                    }
                    BlockKind::Result { id, name, .. } => {
                        let call = take(&mut open, &text(id, event));
                        let named = name.map(|_| text(name, event));
                        found.results.push(ResultSite { event, block, index, call, named });
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The tool that a result came from, empty where nothing tells.
    pub fn tool_of(&self, result: &ResultSite<'_>) -> String {
        match result.call {
            Some(call) => self.calls[call].tool.clone(),
            None => result.named.clone().unwrap_or_default(),
        }
    }

    /// What the call of a result meant to do.
    pub fn facts_of(&self, result: &ResultSite<'_>) -> CallFacts {
        result.call.map(|call| self.calls[call].facts.clone()).unwrap_or_default()
    }
}

fn text(part: &Option<TextRef>, event: &Event) -> String {
    part.map(|part| part.decode(&event.bytes).into_owned()).unwrap_or_default()
}

/// As [`crate::unit::Pairs`] pairs them.
fn take(open: &mut Vec<(String, usize)>, id: &str) -> Option<usize> {
    let named = open.iter().rposition(|(open, _)| !id.is_empty() && open == id);
    let unnamed = || open.iter().position(|(open, _)| id.is_empty() || open.is_empty());
    named.or_else(unnamed).map(|at| open.remove(at).1)
}
