//! Finds messages by their text and by filters.

use std::collections::HashMap;
use std::ops::Range;

use midfold_core::log::Event;
use midfold_core::view::BlockKind;
use serde::Serialize;

use super::matches::{LineQuery, MessageLines, TextLine};
use super::outcome::OutcomeWords;
use super::reading::{LogReader, MessageHeadline, PairedEvents, first_line, line};
use super::versions::{FileVersion, FileVersions};
use super::{RecallError, readable, target};
use crate::store::Store;
use crate::types::{LogSearch, SearchMode};

/// Most messages that one [`grep()`] returns.
pub const MAX_HITS: u32 = 50;
/// How many messages come back where no limit is asked for.
pub const HITS: u32 = 10;
/// Most lines of context around a match.
pub const MAX_CONTEXT: usize = 50;
/// At most this many messages have their lines compared, to join messages with the same line.
const LOOKED_AT: usize = 1_000;
/// Length of the line that describes a result where there is no query, in characters.
const TELLING: usize = 240;
/// At most this many tools are listed in an error.
const TOOLS: usize = 20;
/// The roles that `role` accepts.
const ROLES: [&str; 6] = ["system", "developer", USER, "assistant", "tool", "other"];
/// The role of persons.
const USER: &str = "user";

/// How a call ended, for a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedOutcome {
    /// It failed, or was not allowed to run to its end.
    Failed,
    /// An exit code or a known line says that it went well.
    Passed,
}

impl WantedOutcome {
    fn is(self, words: &OutcomeWords) -> bool {
        match self {
            Self::Failed => words.failed,
            Self::Passed => !words.failed && !words.verdict.is_empty(),
        }
    }
}

/// A search in the log: the text to find, and filters for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The text to find. It may be empty where a filter is set: then all messages that pass are listed, the oldest
    /// first.
    pub query: String,
    /// How the query is matched.
    pub mode: SearchMode,
    /// Only messages of this role. `tool` means all results. `user` means a person's own words: messages
    /// that a person wrote, and a person's words inside tool results.
    pub role: Option<String>,
    /// Only calls of this tool and their results. A tool is given by its name or by a kind (`read`, `edit`, `shell`
    /// …).
    pub tool: Option<String>,
    /// Only results of calls that ended in this way.
    pub outcome: Option<WantedOutcome>,
    /// Only messages that the active fold removed from the context or shortened.
    pub folded: bool,
    /// Only messages with these numbers.
    pub within: Option<Vec<Range<u64>>>,
    /// Lines of context before and after each matching line (at most [`MAX_CONTEXT`]).
    pub context: usize,
    /// Most messages of one page (at most [`MAX_HITS`]).
    pub limit: u32,
    /// How many hits to skip, because they were on earlier pages.
    pub skip: u32,
}

impl Default for GrepQuery {
    fn default() -> Self {
        Self {
            query: String::new(),
            mode: SearchMode::Text,
            role: None,
            tool: None,
            outcome: None,
            folded: false,
            within: None,
            context: 0,
            limit: HITS,
            skip: 0,
        }
    }
}

impl GrepQuery {
    /// A search for this text in all messages.
    #[must_use]
    pub fn new(query: &str, mode: SearchMode) -> Self {
        Self { query: query.to_owned(), mode, ..Self::default() }
    }

    /// Reads the text form of `within`: a range such as `12-20`, or a list of numbers and ranges.
    ///
    /// # Errors
    /// Fails where the text has another form.
    pub fn range(text: &str) -> Result<Vec<Range<u64>>, RecallError> {
        match target::ExpandTarget::parse(text)? {
            target::ExpandTarget::Events(runs) => Ok(runs),
            target::ExpandTarget::Fold(_) => {
                Err(RecallError::What(text.chars().take(80).collect()))
            }
        }
    }

    fn filters(&self) -> bool {
        self.role.is_some() || self.tool.is_some() || self.outcome.is_some() || self.folded
    }

    /// Fails where no message has the role, or there is neither a query nor a filter.
    fn check(&self) -> Result<(), RecallError> {
        let known = |role: &String| ROLES.contains(&role.as_str());
        if let Some(role) = self.role.as_ref().filter(|role| !known(role)) {
            return Err(RecallError::Role(role.chars().take(80).collect()));
        }
        if self.query.trim().is_empty() && !self.filters() && self.within.is_none() {
            return Err(RecallError::Nothing);
        }
        Ok(())
    }
}

/// A message that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundMessage {
    /// The number of the message in the log, from 0, as [`super::expand`] takes it.
    pub event: u64,
    /// Who wrote the message; `tool` for every message with results.
    pub role: String,
    /// Whether a client wrote it in the user's role: context, a reminder, a recap. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// The turn that the message belongs to.
    pub turn: u32,
    /// The tool and the target of its calls, or of the calls that its results answer; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The length of its text in characters.
    pub chars: usize,
    /// The number of the line in `snippet`, from 1; left out if the message has one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The line that matches best.
    pub snippet: String,
    /// The lines to show, in order: lines that match, and lines around them.
    pub lines: Vec<TextLine>,
    /// The number of matching lines that are not in `lines`.
    pub more_lines: usize,
    /// Whether the message shows the newest state of its file; left out unless the log has the file at other times,
    /// too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<FileVersion>,
    /// Older messages about the same file or command whose best line is the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<u64>,
    /// Whether a line has several words of the query side by side, as the query has them.
    #[serde(skip)]
    pub is_phrase: bool,
}

/// A page of found messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HitPage {
    /// The messages of the page: with words to look for the best first, with another pattern the newest first, with
    /// filters alone the oldest first.
    pub found: Vec<FoundMessage>,
    /// The number of found messages on all pages. At least so many, if the search stopped counting.
    pub total: usize,
    /// The value of [`GrepQuery::skip`] for the next page; null on the last page.
    pub next: Option<u32>,
    /// The words of the query that no found message has; left out if each is somewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// Finds messages in the original log, in O(log).
///
/// # Errors
/// Fails where there is no such session, the query is not valid, no message has the role or the tool, or where
/// nothing is folded although `folded` is set.
pub async fn grep(
    store: &dyn Store,
    session: &str,
    ask: &GrepQuery,
) -> Result<HitPage, RecallError> {
    ask.check()?;
    let mut query = LineQuery::new(&ask.query, ask.mode)?;
    let reader = LogReader::of(store, session).await?;
    let events = reader.events(0..reader.row.head).await?;
    let log = reader.paired(&events);
    check_tool(&log, ask)?;
    let among = among(store, &reader, &log, ask).await?;
    let ranked = ranked(store, session, &log, ask, &query, among).await?;
    let (skip, limit) = (ask.skip as usize, ask.limit.clamp(1, MAX_HITS) as usize);
    let end = skip.saturating_add(limit);
    // Messages behind the limit are not joined, so each of them counts as a hit of its own.
    // A page behind the limit is looked at all the same.
    let (looked_at, unseen) = ranked.split_at(ranked.len().min(LOOKED_AT.max(end)));
    let texts: Vec<String> = looked_at.iter().map(|event| readable::text(&log, event)).collect();
    query.weigh(&texts);
    let mut groups = groups(&log, &query, looked_at.iter().copied().zip(texts), ask);
    // Messages with the query as it is come before those with its words somewhere.
    groups.sort_by_key(|group| !group.lines.is_phrase);
    let total = groups.len() + unseen.len();
    let words = groups.iter().fold(0, |all, group| all | group.lines.words);
    let missing = if groups.is_empty() { Vec::new() } else { query.words_without(words) };
    // Of the first page alone, so that each page continues the same order.
    cover(&mut groups, limit);
    groups.truncate(end);
    let shown = groups.split_off(skip.min(groups.len()));
    let versions = FileVersions::of(&log);
    let found: Vec<_> = shown.into_iter().map(|group| group.into_message(&versions)).collect();
    let more = end < total && !found.is_empty();
    let next = more.then(|| u32::try_from(end).unwrap_or(u32::MAX));
    Ok(HitPage { found, total, next, missing })
}

/// Puts hits with words of the query that the first `end` hits lack at the end of these.
fn cover(groups: &mut [HitGroup], end: usize) {
    if groups.len() <= end {
        return;
    }
    let mut words = groups[..end].iter().fold(0, |all, group| all | group.lines.words);
    let mut last = end;
    while last > 1
        && let Some(at) = (end..groups.len()).find(|at| groups[*at].lines.words & !words != 0)
    {
        last -= 1;
        words |= groups[at].lines.words;
        groups[last..=at].rotate_right(1);
    }
}

/// Whether a tool has this name, or is of this kind.
fn is_tool(log: &PairedEvents<'_>, name: &str, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
        || log.tools.lookup(name).kind.as_str().eq_ignore_ascii_case(wanted)
}

/// Refuses a tool that no message calls, and lists the tools that are called, because the wanted one is usually among
/// them under another name.
fn check_tool(log: &PairedEvents<'_>, ask: &GrepQuery) -> Result<(), RecallError> {
    let Some(wanted) = &ask.tool else { return Ok(()) };
    let used = log.tool_names();
    if used.iter().any(|name| is_tool(log, name, wanted)) {
        return Ok(());
    }
    let names: Vec<String> = used.into_iter().take(TOOLS).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(RecallError::Tool(wanted.chars().take(80).collect(), known))
}

/// The messages that pass the filters, in order.
async fn among<'e>(
    store: &dyn Store,
    reader: &LogReader<'_>,
    log: &PairedEvents<'e>,
    ask: &GrepQuery,
) -> Result<Vec<&'e Event>, RecallError> {
    let folded = match ask.folded {
        true if reader.row.active.is_none() => return Err(RecallError::Unfolded),
        true => target::folded(store, &reader.row).await?,
        false => Vec::new(),
    };
    let inside = |runs: &[Range<u64>], event: &Event| {
        let at = runs.partition_point(|run| run.end <= u64::from(event.seq));
        runs.get(at).is_some_and(|run| run.contains(&u64::from(event.seq)))
    };
    let within = ask.within.clone().map(target::merged);
    let passes = |event: &&Event| {
        within.as_ref().is_none_or(|runs| inside(runs, event))
            && (!ask.folded || inside(&folded, event))
            && is_from(log, event, ask)
    };
    Ok(log.events.iter().filter(passes).collect())
}

/// Whether a message has the wanted role, tool and outcome.
fn is_from(log: &PairedEvents<'_>, event: &Event, ask: &GrepQuery) -> bool {
    let role = ask.role.as_deref();
    let is_of = |role: &str| match role {
        USER => log.says(event),
        role => role == super::reading::role_word(event),
    };
    if !role.is_none_or(is_of) {
        return false;
    }
    let wanted = ask.tool.as_deref().unwrap_or_default();
    let uses = || {
        log.calls_of(event.seq).any(|(_, call)| is_tool(log, &call.tool(), wanted))
            || log.results_of(event.seq).any(|result| is_tool(log, &log.call_of(result).0, wanted))
    };
    let ended = |wanted: WantedOutcome| {
        log.results_of(event.seq).any(|result| wanted.is(&log.outcome(result)))
    };
    (ask.tool.is_none() || uses()) && ask.outcome.is_none_or(ended)
}

/// The messages that match, in the order of display.
async fn ranked<'e>(
    store: &dyn Store,
    session: &str,
    log: &PairedEvents<'e>,
    ask: &GrepQuery,
    query: &LineQuery,
    among: Vec<&'e Event>,
) -> Result<Vec<&'e Event>, RecallError> {
    if query.is_empty() {
        return Ok(among);
    }
    if ask.mode == SearchMode::Text && !ask.filters() && ask.within.is_none() {
        // The store's word index can rank the messages where no filter is set.
        let limit = u32::try_from(LOOKED_AT).unwrap_or(u32::MAX);
        let search = LogSearch { query: ask.query.clone(), mode: ask.mode, range: None, limit };
        let hits = store.search(session, &search).await?;
        return Ok(hits.iter().filter_map(|hit| log.event(hit.seq)).collect());
    }
    let mut ranked = query.ranked(log, among);
    // A result may hold a person's words beside a tool's; the match has to be in the person's.
    if ask.role.as_deref() == Some(USER) {
        ranked.retain(|event| query.is_in(&log.spoken_text(event)));
    }
    Ok(ranked)
}

/// Hits of one file or command with the same best line; only the newest is shown.
struct HitGroup {
    /// The newest of the hits.
    head: MessageHeadline,
    /// Characters of its text.
    chars: usize,
    lines: MessageLines,
    /// The numbers of the older hits.
    also: Vec<u64>,
}

/// Finds the lines of each message, and joins results of one file or command with the same best line.
fn groups<'e>(
    log: &PairedEvents<'_>,
    query: &LineQuery,
    ranked: impl Iterator<Item = (&'e Event, String)>,
    ask: &GrepQuery,
) -> Vec<HitGroup> {
    let context = ask.context.min(MAX_CONTEXT);
    let only_said = ask.role.as_deref() == Some(USER);
    let mut groups: Vec<HitGroup> = Vec::new();
    let mut known: HashMap<(Option<String>, String), usize> = HashMap::new();
    for (event, text) in ranked {
        let mut lines = query.lines(&text, &event.text(), context);
        let mut head = log.headline(event);
        if only_said {
            head.role = USER;
            lines = query.lines_within(lines, &log.spoken_text(event), context);
        }
        // Without a query, a result is described by the line that says most, or by its outcome alone.
        // What a call says for itself is its target, which the headline has.
        if query.is_empty() && head.outcomes.is_empty() && !head.tools.is_empty() {
            let prose = event.view.text_of(&event.bytes, |kind| matches!(kind, BlockKind::Text));
            lines = MessageLines { best: line(prose.trim(), TELLING), ..lines };
        }
        if query.is_empty() && !head.outcomes.is_empty() && !only_said {
            let telling =
                head.telling().filter(|_| head.is_known()).unwrap_or_else(|| first_line(&text));
            lines = MessageLines { best: line(telling, TELLING), ..lines };
        }
        let group = HitGroup { head, chars: text.chars().count(), lines, also: Vec::new() };
        // Calls may share a line and differ elsewhere, so they are not joined.
        let joins = !query.is_empty() && (group.head.tools.is_empty() || group.is_result());
        // The same line in two files is two hits.
        let key = (group.head.actions(), group.lines.best.clone());
        match known.get(&key).copied().filter(|_| joins) {
            Some(at) => groups[at].join(group),
            None => {
                if joins {
                    known.insert(key, groups.len());
                }
                groups.push(group);
            }
        }
    }
    groups
}

impl HitGroup {
    fn is_result(&self) -> bool {
        !self.head.outcomes.is_empty()
    }

    /// Adds a hit to the group. The newer of the two is shown.
    fn join(&mut self, mut other: Self) {
        if other.head.event > self.head.event {
            std::mem::swap(self, &mut other);
            // The list of older hits stays with the group, not with the hit that is shown.
            std::mem::swap(&mut self.also, &mut other.also);
        }
        self.also.push(other.head.event);
    }

    fn into_message(mut self, versions: &FileVersions) -> FoundMessage {
        self.also.sort_unstable();
        let head = &self.head;
        FoundMessage {
            event: head.event,
            role: head.role.to_owned(),
            injected: head.injected,
            turn: head.turn,
            action: head.actions(),
            outcome: head.verdict(),
            chars: self.chars,
            line: self.lines.number,
            snippet: self.lines.best,
            lines: self.lines.shown,
            more_lines: self.lines.more,
            version: versions.of_event(head.event),
            also: self.also,
            is_phrase: self.lines.is_phrase,
        }
    }
}
