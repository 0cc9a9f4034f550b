//! Calls and their results, paired by position. What the tool table knows of a call is read where
//! somebody asks: most rules only need to know who answers whom.

use std::borrow::Cow;
use std::ops::Range;

use crate::log::Event;
use crate::open_calls::{CallOfResult, NamedCall, OpenCalls};
use crate::tools::{CallFacts, ToolTable, code_mode};
use crate::unit::{id_bytes, name_of};
use crate::view::{BlockKind, BlockView, TextRef};

/// A tool call in the log.
#[derive(Clone, Copy, Debug)]
pub struct CallSite<'a> {
    /// The event that makes the call.
    pub event: &'a Event,
    /// The call in it.
    pub block: &'a BlockView,
}

impl<'a> CallSite<'a> {
    /// The tool's name, empty where nothing tells. That of a tool that a script calls is its own.
    #[must_use]
    pub fn tool(&self) -> Cow<'a, str> {
        if code_mode::may_call(self.block.outer.of(&self.event.bytes)) {
            return self.meant().0;
        }
        self.name()
    }

    /// The text of its arguments.
    #[must_use]
    pub fn arguments(&self) -> Cow<'a, str> {
        self.meant().1
    }

    /// What the call meant to do.
    #[must_use]
    pub fn facts(&self, tools: &ToolTable) -> CallFacts {
        let (tool, arguments) = self.meant();
        tools.facts(&tool, &arguments)
    }

    fn meant(&self) -> (Cow<'a, str>, Cow<'a, str>) {
        code_mode::meant(self.name(), self.block.text(&self.event.bytes))
    }

    fn name(&self) -> Cow<'a, str> {
        match &self.block.kind {
            BlockKind::Call { name, .. } => decode(name, self.event),
            _ => Cow::Borrowed(""),
        }
    }
}

/// A tool result in the log.
#[derive(Clone, Copy, Debug)]
pub struct ResultSite<'a> {
    /// The event that brings the result.
    pub event: &'a Event,
    /// The result in it.
    pub block: &'a BlockView,
    /// Index of the block in its event.
    pub index: usize,
    /// Index into [`CallIndex::calls`].
    pub call: Option<usize>,
}

/// An open call, and its index among the calls.
struct OpenCallSite<'a> {
    id: Cow<'a, [u8]>,
    name: Cow<'a, [u8]>,
    call: usize,
}

impl NamedCall for OpenCallSite<'_> {
    fn id_bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.id)
    }

    fn name_bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.name)
    }
}

/// All calls and results of a range of events.
#[derive(Clone, Debug, Default)]
pub struct CallIndex<'a> {
    /// Calls, in order.
    pub calls: Vec<CallSite<'a>>,
    /// Results, in order.
    pub results: Vec<ResultSite<'a>>,
}

impl<'a> CallIndex<'a> {
    /// Finds them. A result answers the newest open call with its id in the step before it, else the
    /// oldest where one of the two has none, of the same tool if one of them is.
    #[must_use]
    pub fn find(events: &'a [Event], range: Range<usize>) -> Self {
        let mut found = Self::default();
        let mut open: OpenCalls<OpenCallSite<'a>> = OpenCalls::default();
        for event in &events[range] {
            if !event.view.has_results() && !event.view.has_calls() {
                open = OpenCalls::default();
            }
            for (index, block) in event.view.blocks.iter().enumerate() {
                match &block.kind {
                    BlockKind::Call { id, name } => {
                        let id = id_bytes(id.as_ref(), &event.bytes);
                        let name = id_bytes(name.as_ref(), &event.bytes);
                        open.push(OpenCallSite { id, name, call: found.calls.len() });
                        found.calls.push(CallSite { event, block });
                    }
                    BlockKind::Result { id, name, .. } => {
                        let id = id_bytes(id.as_ref(), &event.bytes);
                        let name = name_of(block, name, &event.bytes);
                        let asked = CallOfResult { id: &id, name: &name, by_order: id.is_empty() };
                        let call = open.answer(&asked).map(|site| site.call);
                        found.results.push(ResultSite { event, block, index, call });
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// The call that a result answers.
    #[must_use]
    pub fn call_of(&self, result: &ResultSite<'_>) -> Option<CallSite<'a>> {
        result.call.and_then(|call| self.calls.get(call)).copied()
    }
}

/// The tool that a result came from: its call says so, else the result itself; empty where neither
/// does.
#[must_use]
pub fn tool_of<'a>(
    call: Option<&CallSite<'a>>,
    event: &'a Event,
    result: &'a BlockView,
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
