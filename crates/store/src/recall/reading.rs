//! Reads a part of a log: events with their views, and the pairs of calls and results.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use midfold_core::calls::{CallIndex, CallSite, ResultSite, tool_of};
use midfold_core::engine::SessionState;
use midfold_core::log::{Event, Tokens};
use midfold_core::passage::{joined, passages};
use midfold_core::policy::Policy;
use midfold_core::result_words::ResultWordFinder;
use midfold_core::tools::{CallFacts, ToolEntry, ToolTable};
use midfold_core::view::{BlockKind, BlockView, EventView, Role, TextOrigin};
use midfold_core::{Dialect, Passage};
use midfold_formats::DialectKind;

use super::arguments::ArgumentNode;
use super::outcome::{OutcomeWords, outcome_words};
use crate::error::StoreError;
use crate::store::Store;
use crate::types::{EventRow, SessionRow};

/// How many events are read at a time.
const PAGE: u64 = 256;
/// How many events are read at a time to find the start or the end of a step.
const MARGIN: u64 = 16;
/// Longest target in a headline, in characters.
const TARGET: usize = 80;

/// The tools that the session's policy defines; none where the policy cannot be read. That error is reported when
/// the session is opened.
fn tools_of(row: &SessionRow) -> Vec<ToolEntry> {
    let changed =
        serde_json::from_str::<SessionState>(&row.state).ok().and_then(|state| state.policy);
    let policy = match changed {
        Some(changed) => Ok(changed.policy),
        None => Policy::from_stored(&row.new.policy),
    };
    policy.map(|policy| policy.tools).unwrap_or_default()
}

/// Reads parts of one session's log.
pub(super) struct LogReader<'a> {
    store: &'a dyn Store,
    pub row: SessionRow,
    /// The dialect; `None` where this build does not know it.
    kind: Option<DialectKind>,
    pub tools: Cow<'static, ToolTable>,
}

impl<'a> LogReader<'a> {
    pub async fn of(store: &'a dyn Store, session: &str) -> Result<Self, StoreError> {
        let row = store.session(session).await?;
        let kind = DialectKind::from_name(&row.new.dialect);
        let tools = ToolTable::of(&tools_of(&row));
        Ok(Self { store, row, kind, tools })
    }

    /// The events of a range, as far as the log has them.
    pub async fn events(&self, range: Range<u64>) -> Result<Vec<Event>, StoreError> {
        let end = range.end.min(self.row.head);
        let mut events = Vec::new();
        let mut at = range.start;
        while at < end {
            let page = self.store.events(&self.row.new.id, at..end.min(at + PAGE)).await?;
            events.extend(page.into_iter().map(|row| self.event(row)));
            at += PAGE;
        }
        Ok(events)
    }

    /// The events of a range, and its neighbours that belong to the same steps, so that every call comes with its
    /// results and every result with its call.
    pub async fn around(&self, range: &Range<u64>) -> Result<Vec<Event>, StoreError> {
        let mut start = range.start;
        let mut events = self.events(range.clone()).await?;
        while start > 0 {
            let from = start.saturating_sub(MARGIN);
            let mut longer = self.events(from..start).await?;
            longer.append(&mut events);
            events = longer;
            start = from;
            // Events before the last step that begins at or before the range are not needed.
            let most = usize::try_from(range.start - from).unwrap_or(usize::MAX);
            if let Some(at) = (1..=most).rev().find(|at| begins(&events, *at)) {
                events.drain(..at);
                break;
            }
        }
        let mut end = range.end.min(self.row.head);
        while end < self.row.head {
            let inside = events.len();
            events.extend(self.events(end..end + MARGIN).await?);
            end += MARGIN;
            if let Some(at) = (inside..events.len()).find(|at| begins(&events, *at)) {
                events.truncate(at);
                break;
            }
        }
        Ok(events)
    }

    /// Reads a stored event. Fields that recall does not need stay empty.
    fn event(&self, row: EventRow) -> Event {
        let bytes = row.event.bytes;
        let mut view = match self.kind {
            Some(kind) => kind.dialect().view(&bytes),
            None => {
                EventView { role: Role::Other, origin: TextOrigin::Genuine, blocks: Vec::new() }
            }
        };
        if let Some(origin) = row.event.origin {
            view.origin = origin;
        }
        Event {
            seq: u32::try_from(row.seq).unwrap_or(u32::MAX),
            view,
            hash: row.event.hash,
            turn: row.event.turn,
            step: 0,
            tokens: Tokens::default(),
            usage: None,
            known_origin: row.event.origin,
            at: None,
            loads_tools: false,
            bytes,
        }
    }

    /// The events, with their calls and results paired.
    pub fn paired<'e>(&'e self, events: &'e [Event]) -> PairedEvents<'e> {
        let calls = CallIndex::find(events, 0..events.len());
        let mut answered = vec![None; calls.calls.len()];
        for (at, result) in calls.results.iter().enumerate() {
            if let Some(slot) = result.call.and_then(|call| answered.get_mut(call)) {
                *slot = Some(at);
            }
        }
        let dialect = self.kind.map(DialectKind::dialect);
        PairedEvents { events, tools: &self.tools, dialect, calls, answered }
    }
}

/// Whether a step begins at this index: no result from here on answers a call before it.
pub(super) fn begins(events: &[Event], at: usize) -> bool {
    let plain = |event: &Event| !event.view.has_calls() && !event.view.has_results();
    let Some(event) = events.get(at) else { return true };
    let Some(before) = at.checked_sub(1).and_then(|at| events.get(at)) else { return true };
    // A message with calls behind another one with calls stays in its step: the results of both follow.
    plain(event) || (!event.view.has_results() && (before.view.has_results() || plain(before)))
}

/// Events, with their calls and results paired.
pub(super) struct PairedEvents<'e> {
    pub events: &'e [Event],
    pub tools: &'e ToolTable,
    dialect: Option<&'static dyn Dialect>,
    calls: CallIndex<'e>,
    /// For each call, the index of its result; `None` where it has none.
    answered: Vec<Option<usize>>,
}

impl<'e> PairedEvents<'e> {
    pub fn event(&self, seq: u64) -> Option<&'e Event> {
        let at = self.events.partition_point(|event| u64::from(event.seq) < seq);
        self.events.get(at).filter(|event| u64::from(event.seq) == seq)
    }

    /// The calls of an event, each with its index among all calls.
    pub fn calls_of(&self, seq: u32) -> impl Iterator<Item = (usize, CallSite<'e>)> + '_ {
        let at = self.calls.calls.partition_point(|call| call.event.seq < seq);
        let rest = self.calls.calls.iter().enumerate().skip(at);
        rest.take_while(move |(_, call)| call.event.seq == seq).map(|(at, call)| (at, *call))
    }

    /// The results in an event.
    pub fn results_of(&self, seq: u32) -> impl Iterator<Item = &ResultSite<'e>> + '_ {
        let at = self.calls.results.partition_point(|result| result.event.seq < seq);
        self.calls.results[at..].iter().take_while(move |result| result.event.seq == seq)
    }

    /// The names of all tools that are called, or that results name.
    pub fn tool_names(&self) -> BTreeSet<String> {
        let called = self.calls.calls.iter().map(|call| call.tool().into_owned());
        let named = self.calls.results.iter().filter(|result| result.call.is_none());
        let named = named.map(|result| tool_of(None, result.event, result.block).into_owned());
        called.chain(named).filter(|name| !name.is_empty()).collect()
    }

    /// The numbers of the events with the results of this one's calls.
    pub fn answers(&self, seq: u32) -> impl Iterator<Item = u64> + '_ {
        self.calls_of(seq).filter_map(|(at, _)| {
            let result = self.answered.get(at).copied().flatten()?;
            Some(u64::from(self.calls.results.get(result)?.event.seq))
        })
    }

    /// Whether the call with this index failed, as far as its result shows.
    pub fn failed(&self, call: usize) -> bool {
        let result = self.answered.get(call).copied().flatten();
        result.and_then(|at| self.calls.results.get(at)).is_some_and(|r| self.outcome(r).failed)
    }

    /// The tool, facts and target of the call that a result answers.
    pub fn call_of(&self, result: &ResultSite<'e>) -> (Cow<'e, str>, CallFacts, String) {
        let call = self.calls.call_of(result);
        let tool = tool_of(call.as_ref(), result.event, result.block);
        let facts = call.map(|call| call.facts(self.tools)).unwrap_or_default();
        let target = call.map(|call| target(&facts, &call)).unwrap_or_default();
        (tool, facts, target)
    }

    /// Whether a person wrote words in an event, or showed media.
    pub fn says(&self, event: &Event) -> bool {
        let shows = |block: &BlockView| block.kind == BlockKind::Media;
        let media = || event.view.is_real_user() && event.view.blocks.iter().any(shows);
        !self.spoken_text(event).is_empty() || media()
    }

    /// The words that persons wrote in an event, as a message or in a result. Empty where there are none.
    pub fn spoken_text(&self, event: &Event) -> String {
        let Some(dialect) = self.dialect else { return String::new() };
        let finder = ResultWordFinder { tools: self.tools, dialect };
        let mut spoken = match event.view.is_real_user() {
            true => passages(event, dialect),
            false => Vec::new(),
        };
        for result in self.results_of(event.seq) {
            spoken.extend(finder.find(result, self.calls.call_of(result).as_ref()));
        }
        joined(&spoken, Passage::is_said)
    }

    /// The outcome of the call that a result answers.
    pub fn outcome(&self, result: &ResultSite<'e>) -> OutcomeWords {
        let facts = self.call_of(result).1;
        let flagged = match result.block.kind {
            BlockKind::Result { error, .. } => error,
            _ => None,
        };
        outcome_words(self.tools, &facts, &result.block.text(&result.event.bytes), flagged)
    }

    /// The headline of an event.
    pub fn headline(&self, event: &Event) -> MessageHeadline {
        let mut tools: Vec<String> = Vec::new();
        let mut targets: Vec<String> = Vec::new();
        for (_, call) in self.calls_of(event.seq) {
            tools.push(call.tool().into_owned());
            targets.push(target(&call.facts(self.tools), &call));
        }
        let mut outcomes = Vec::new();
        for result in self.results_of(event.seq) {
            let (tool, _, target) = self.call_of(result);
            tools.push(tool.into_owned());
            targets.push(target);
            outcomes.push(self.outcome(result));
        }
        MessageHeadline {
            event: event.seq.into(),
            role: role_word(event),
            injected: event.view.origin != TextOrigin::Genuine && outcomes.is_empty(),
            turn: event.turn,
            tools,
            targets,
            outcomes,
        }
    }
}

/// The role of an event for recall. Results count as the tool's, whatever role they were sent in.
pub(super) fn role_word(event: &Event) -> &'static str {
    if event.view.has_results() { Role::Tool.name() } else { event.view.role.name() }
}

/// The target of a call on one line: its file, its command, or what it searches for.
fn target(facts: &CallFacts, call: &CallSite<'_>) -> String {
    let command = facts.command.as_deref().map(without_cd);
    let path = || match facts.range {
        Some((first, lines)) if lines > 0 && facts.writes.is_empty() => {
            facts.reads.first().map(|path| match first.checked_add(lines) {
                Some(end) => format!("{path}:{first}-{}", end - 1),
                None => format!("{path}:{first}-"),
            })
        }
        _ => facts.writes.first().or(facts.reads.first()).cloned(),
    };
    let named = command.map(str::to_owned).or_else(path).or_else(|| facts.query.clone());
    let named = named.or_else(|| {
        let arguments = call.block.text(&call.event.bytes);
        ArgumentNode::read(&arguments)?.first_text().map(str::to_owned)
    });
    line(&named.unwrap_or_default(), TARGET)
}

/// The command without a `cd` at its start, which is the same for most commands of a session.
fn without_cd(command: &str) -> &str {
    let rest = command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    rest.map_or(command, |(_, rest)| rest.trim_start())
}

/// The text on one line of at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    // Four times as many, because space between words shrinks; of a long text the rest is not walked through.
    let part: String = text.chars().take(most * 4).collect();
    let words = part.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = part.len() == text.len();
    if whole && words.chars().count() <= most {
        return words;
    }
    let short: String = words.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

/// The first line of a text that is not blank.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The facts about a message that a headline shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MessageHeadline {
    pub event: u64,
    pub role: &'static str,
    /// Whether a client wrote it in the user's role: context, a reminder, a recap.
    pub injected: bool,
    pub turn: u32,
    /// The tools of its calls and results, in order.
    pub tools: Vec<String>,
    /// The target of each.
    pub targets: Vec<String>,
    /// For results, the outcome of each call.
    pub outcomes: Vec<OutcomeWords>,
}

impl MessageHeadline {
    /// The tool and target of each call or result, such as `Read src/a.rs; Bash make`. `None` where there are no calls
    /// and results.
    pub fn actions(&self) -> Option<String> {
        let one = |(tool, target): (&String, &String)| format!("{tool} {target}").trim().to_owned();
        let all: Vec<_> = self.tools.iter().zip(&self.targets).map(one).collect();
        let mut text = all.iter().take(4).cloned().collect::<Vec<_>>().join("; ");
        if all.len() > 4 {
            text += &format!("; and {} more", all.len() - 4);
        }
        (!all.is_empty()).then_some(text)
    }

    /// The outcome of its calls: `ok`, `failed (exit 1)`, `2 ok, 1 failed`; empty where it is unknown. `None` where it
    /// has no results.
    pub fn verdict(&self) -> Option<String> {
        match self.outcomes.as_slice() {
            [] => None,
            [one] => Some(one.verdict.clone()),
            many => {
                let failed = many.iter().filter(|words| words.failed).count();
                let ok = many.iter().filter(|words| words.verdict == "ok").count();
                let counts = [(ok, "ok"), (failed, "failed")];
                let parts = counts.iter().filter(|(count, _)| *count > 0);
                Some(parts.map(|(n, name)| format!("{n} {name}")).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Whether it is known how its calls ended. If not, the first line of an output says more than the last.
    pub fn is_known(&self) -> bool {
        self.outcomes.iter().any(|words| !words.verdict.is_empty())
    }

    /// The line that says most: of the first failed result, or else of the only result.
    pub fn telling(&self) -> Option<&str> {
        let failed = self.outcomes.iter().find(|words| words.failed);
        let only = || self.outcomes.first().filter(|_| self.outcomes.len() == 1);
        failed.or_else(only)?.telling.as_deref()
    }
}
