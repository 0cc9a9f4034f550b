//! Calls and their results, paired by position. What the tool table knows of a call is read where
//! somebody asks: most rules only need to know who answers whom.

use std::borrow::Cow;
use std::ops::Range;

use crate::log::Event;
use crate::tools::{CallFacts, ToolTable};
use crate::unit::id_bytes;
use crate::view::{Block, BlockKind, TextRef};

/// A tool call in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite<'a> {
    /// The event that makes the call.
    pub event: &'a Event,
    block: &'a Block,
}

impl<'a> CallSite<'a> {
    /// The tool's name, empty where nothing tells.
    pub fn tool(&self) -> Cow<'a, str> {
        match &self.block.kind {
            BlockKind::Call { name, .. } => decode(name, self.event),
            _ => Cow::Borrowed(""),
        }
    }

    /// What the call meant to do.
    pub fn facts(&self, tools: &ToolTable) -> CallFacts {
        tools.facts(&self.tool(), &self.block.text(&self.event.bytes))
    }
}

/// A tool result in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultSite<'a> {
    pub event: &'a Event,
    pub block: &'a Block,
    /// Index of the block in its event.
    pub index: usize,
    /// Index into [`Calls::calls`].
    pub call: Option<usize>,
}

/// All calls and results of a range of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls<'a> {
    pub calls: Vec<CallSite<'a>>,
    pub results: Vec<ResultSite<'a>>,
}

impl<'a> Calls<'a> {
    /// Finds them. A result answers the newest open call with its id in the step before it, else the
    /// oldest where one of the two has none.
    pub fn find(events: &'a [Event], range: Range<usize>) -> Self {
        let mut found = Self::default();
        let mut open: Vec<(Cow<'a, [u8]>, usize)> = Vec::new();
        for event in &events[range] {
            if !event.view.has_results() && !event.view.has_calls() {
                open.clear();
            }
            for (index, block) in event.view.blocks.iter().enumerate() {
                match &block.kind {
                    BlockKind::Call { id, .. } => {
                        open.push((id_bytes(id.as_ref(), &event.bytes), found.calls.len()));
                        found.calls.push(CallSite { event, block });
                    }
                    BlockKind::Result { id, .. } => {
                        let call = take(&mut open, &id_bytes(id.as_ref(), &event.bytes));
                        found.results.push(ResultSite { event, block, index, call });
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The call that a result answers.
    pub fn call_of(&self, result: &ResultSite<'_>) -> Option<CallSite<'a>> {
        result.call.and_then(|call| self.calls.get(call)).copied()
    }
}

/// The tool that a result came from: its call says so, else the result itself; empty where neither
/// does.
pub(crate) fn tool_of<'a>(
    call: Option<&CallSite<'a>>,
    event: &'a Event,
    result: &'a Block,
) -> Cow<'a, str> {
    match (call, &result.kind) {
        (Some(call), _) => call.tool(),
        (None, BlockKind::Result { name, .. }) => decode(name, event),
        (None, _) => Cow::Borrowed(""),
    }
}

fn decode<'a>(part: &Option<TextRef>, event: &'a Event) -> Cow<'a, str> {
    part.map(|part| part.decode(&event.bytes)).unwrap_or_default()
}

/// As [`crate::unit::Pairs`] pairs them.
fn take(open: &mut Vec<(Cow<'_, [u8]>, usize)>, id: &[u8]) -> Option<usize> {
    let named = open.iter().rposition(|(open, _)| !id.is_empty() && **open == *id);
    let unnamed = || open.iter().position(|(open, _)| id.is_empty() || open.is_empty());
    named.or_else(unnamed).map(|at| open.remove(at).1)
}
