//! Calls and their results, paired by position. The facts of a call (its tool's kind, its paths) are read from the tool
//! table only on demand, since most rules need the pairs alone.

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
    /// The block of the call.
    pub block: &'a BlockView,
}

impl<'a> CallSite<'a> {
    /// The tool's name; empty where the call has none. For a script that calls one tool, the name of that tool.
    #[must_use]
    pub fn tool(&self) -> Cow<'a, str> {
        if code_mode::may_call(self.block.outer.of(&self.event.bytes)) {
            return self.inner_call().0;
        }
        self.name()
    }

    /// The text of the call's arguments. For a script that calls one tool, the arguments of that call.
    #[must_use]
    pub fn arguments(&self) -> Cow<'a, str> {
        self.inner_call().1
    }

    /// The facts of the call by the tool table: its kind, the paths that it reads and writes.
    #[must_use]
    pub fn facts(&self, tools: &ToolTable) -> CallFacts {
        let (tool, arguments) = self.inner_call();
        tools.facts(&tool, &arguments)
    }

    /// Name and arguments of the tool that runs in the end: a script that calls another tool is read for that call.
    fn inner_call(&self) -> (Cow<'a, str>, Cow<'a, str>) {
        code_mode::inner_call(self.name(), self.block.text(&self.event.bytes))
    }

    /// The name as the call has it.
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
    /// The block of the result.
    pub block: &'a BlockView,
    /// Index of the block in its event.
    pub index: usize,
    /// Index into [`CallIndex::calls`]; `None` where no call was found for the result.
    pub call: Option<usize>,
}

/// An open call with its index among the calls.
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
    /// Finds the calls and results of a range of events, and pairs them. A result answers the newest open call of its
    /// step with its id. Where the result or the call has no id, it answers the oldest open call, if possible of the
    /// same tool.
    #[must_use]
    pub fn find(events: &'a [Event], range: Range<usize>) -> Self {
        let mut sites = Self::default();
        let mut open: OpenCalls<OpenCallSite<'a>> = OpenCalls::default();
        for event in &events[range] {
            // A message without calls or results ends the step. The calls before it stay unanswered.
            if !event.view.has_results() && !event.view.has_calls() {
                open = OpenCalls::default();
            }
            for (index, block) in event.view.blocks.iter().enumerate() {
                match &block.kind {
                    BlockKind::Call { id, name } => {
                        let id = id_bytes(id.as_ref(), &event.bytes);
                        let name = id_bytes(name.as_ref(), &event.bytes);
                        open.push(OpenCallSite { id, name, call: sites.calls.len() });
                        sites.calls.push(CallSite { event, block });
                    }
                    BlockKind::Result { id, name, .. } => {
                        let id = id_bytes(id.as_ref(), &event.bytes);
                        let name = name_of(block, name, &event.bytes);
                        // Facts are read under every profile, also of pairs that a provider would refuse.
                        let wanted = CallOfResult { id: &id, name: &name, by_order: id.is_empty() };
                        let call = open.answer(&wanted).map(|site| site.call);
                        sites.results.push(ResultSite { event, block, index, call });
                    }
                    _ => {}
                }
            }
        }
        sites
    }

    /// The call that a result answers; `None` where none was found.
    #[must_use]
    pub fn call_of(&self, result: &ResultSite<'_>) -> Option<CallSite<'a>> {
        result.call.and_then(|call| self.calls.get(call)).copied()
    }
}

/// The name of the tool that a result came from: by its call, else by the result itself. Empty where neither names a
/// tool.
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
