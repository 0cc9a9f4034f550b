//! Reads original messages, one page at a time. Calls come with their results, and a repeated text comes once.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use midfold_core::log::Event;
use serde::Serialize;

use super::reading::{LogReader, MessageHeadline, PairedEvents, begins};
use super::{ExpandTarget, RecallError, readable, target};
use crate::store::Store;

/// Default length of a page of [`expand()`], in characters.
pub const PAGE_CHARS: usize = 8_000;

/// Greatest length of a page, in characters.
pub const MAX_PAGE_CHARS: usize = 100_000;

/// Most messages on a page. Messages without text cost no characters, so their number needs a limit.
const PAGE_EVENTS: usize = 500;
/// What a message's headline costs on a page, in characters.
const HEAD: usize = 40;
/// How many messages are read at a time.
const CHUNK: u64 = 64;
/// A shorter text is shown again, because looking at another message would be more work. In characters.
const REPEAT: usize = 80;
/// Steps of more messages than this are not compared as a whole.
const STEP: usize = 64;

/// In place of a message that the reader has in front of it.
const VISIBLE: &str = "(in front of you)";

/// A message that is longer than allowed by at most this part is shown whole, because a look-up for the rest costs more
/// than the rest: a half.
const LITTLE_MORE: usize = 2;

/// The original of a message, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Original {
    /// The number of the message in the log, from 0.
    pub event: u64,
    /// Who wrote the message; `tool` for every message with results.
    pub role: String,
    /// The turn that the message belongs to.
    pub turn: u32,
    /// The tool and the target of its calls, or of the calls that its results answer; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The outcome of its results: `ok`, `failed (exit 1)`; left out for other messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The length of the whole text in characters.
    pub chars: usize,
    /// The place in the whole text where `text` begins, in characters.
    pub offset: usize,
    /// The text: prose and results as they are, arguments of calls without escapes, edits as diffs.
    pub text: String,
    /// Whether the whole text goes on after `text`.
    pub cut: bool,
    /// The number of a message on this page with the same text; `text` is empty then. Left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<u64>,
}

/// A page of originals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OriginalPage {
    /// The originals of the page, in the order of the log.
    pub originals: Vec<Original>,
    /// The cursor of the next page; null on the last page.
    pub next: Option<String>,
}

/// Reads original messages, `max_chars` characters at a time (at most [`MAX_PAGE_CHARS`]), from the end of the
/// previous page. A call comes with its results, and a result names its call. A page ends between two messages where
/// possible, or else between two lines.
///
/// `from` is the [`OriginalPage::next`] of the previous page, or any place: `12`, `12:4000` (from that character of
/// the message's text), `12:L310` (from that line, counted from 1).
///
/// # Errors
/// Fails where there is no such session, message or fold, or the cursor is not valid.
pub async fn expand(
    store: &dyn Store,
    session: &str,
    what: &ExpandTarget,
    from: Option<&str>,
    max_chars: usize,
) -> Result<OriginalPage, RecallError> {
    let style = ExpandStyle {
        without_reminders: false,
        visible: &|_| false,
        leaves_out: &|_| false,
        most: usize::MAX,
        alone: false,
        until: None,
    };
    let start = from.map(PageCursor::parse).transpose()?.unwrap_or_default();
    expand_in(store, session, what, start, max_chars, style).await
}

/// How messages are shown.
#[derive(Clone, Copy)]
pub(super) struct ExpandStyle<'a> {
    /// Whether reminders of a client are one line.
    pub without_reminders: bool,
    /// Whether the reader has a message in front of it already: then its text is left out.
    pub visible: &'a (dyn Fn(u64) -> bool + Sync),
    /// Whether a message is left out, because an earlier page of the same answer has it.
    pub leaves_out: &'a (dyn Fn(u64) -> bool + Sync),
    /// About this many characters of a message are shown at most.
    pub most: usize,
    /// Whether calls come without their results.
    pub alone: bool,
    /// The place in the message where the page starts at which it ends.
    pub until: Option<CursorPlace>,
}

/// Reads original messages as [`expand()`] does, in a style.
pub(super) async fn expand_in(
    store: &dyn Store,
    session: &str,
    what: &ExpandTarget,
    start: PageCursor,
    max_chars: usize,
    style: ExpandStyle<'_>,
) -> Result<OriginalPage, RecallError> {
    let reader = LogReader::of(store, session).await?;
    let asked = target::runs(store, &reader.row, what).await?;
    let mut pager = Pager::new(start, max_chars, style);
    let asked = if style.alone { asked } else { with_results(&reader, asked).await? };
    for run in asked {
        let mut at = run.start.max(start.event);
        while at < run.end {
            let chunk = at..run.end.min(at + CHUNK);
            let events = reader.around(&chunk).await?;
            let log = reader.paired(&events);
            // Steps stay whole, so the chunk is extended to the end of its last step.
            let last = events.last().map_or(chunk.end, |event| u64::from(event.seq) + 1);
            let end = last.max(chunk.end).min(run.end);
            for step in steps(&events, at..end) {
                if pager.step(&log, step) {
                    return Ok(pager.page);
                }
            }
            at = end;
        }
    }
    Ok(pager.page)
}

/// The runs, extended by the results of the calls at their ends. A result says in its headline which call it answers, so
/// a call, which may be long, comes only where it is asked for.
async fn with_results(
    reader: &LogReader<'_>,
    runs: Vec<Range<u64>>,
) -> Result<Vec<Range<u64>>, RecallError> {
    let mut all = Vec::with_capacity(runs.len());
    for run in runs {
        let last = run.end.saturating_sub(1);
        let events = reader.around(&(last..run.end)).await?;
        let log = reader.paired(&events);
        let inside = events.iter().filter(|event| run.contains(&event.seq.into()));
        let results: BTreeSet<u64> = inside.flat_map(|event| log.answers(event.seq)).collect();
        all.push(run);
        all.extend(results.into_iter().map(|seq| seq..seq + 1));
    }
    Ok(target::merged(all))
}

/// The events of a range, grouped by step.
fn steps(events: &[Event], range: Range<u64>) -> Vec<&[Event]> {
    let from = events.partition_point(|event| u64::from(event.seq) < range.start);
    let to = events.partition_point(|event| u64::from(event.seq) < range.end);
    let mut steps = Vec::new();
    let mut start = from;
    for at in from + 1..=to {
        if at == to || begins(events, at) {
            steps.push(&events[start..at]);
            start = at;
        }
    }
    steps
}

/// The place where a page starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCursor {
    event: u64,
    place: CursorPlace,
}

/// A place in the text of a message: a character offset, or a line counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorPlace {
    Char(usize),
    Line(usize),
}

impl CursorPlace {
    /// Reads `4000` or `L310`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().strip_prefix(['L', 'l']) {
            Some(line) => line.parse().ok().map(Self::Line),
            None => text.trim().parse().ok().map(Self::Char),
        }
    }

    /// The place as a character offset in a text.
    pub fn offset(self, text: &str) -> usize {
        match self {
            Self::Char(at) => at.min(text.chars().count()),
            Self::Line(line) => {
                let before = text.split_inclusive('\n').take(line.saturating_sub(1));
                before.map(|line| line.chars().count()).sum()
            }
        }
    }

    /// The place behind the character or line.
    pub fn behind(self) -> Self {
        match self {
            Self::Char(at) => Self::Char(at),
            Self::Line(line) => Self::Line(line.saturating_add(1)),
        }
    }
}

impl Default for CursorPlace {
    fn default() -> Self {
        Self::Char(0)
    }
}

impl PageCursor {
    /// Reads `12`, `12:4000` (a character offset) or `12:L310` (a line, counted from 1).
    pub fn parse(text: &str) -> Result<Self, RecallError> {
        let wrong = || RecallError::Cursor(text.chars().take(80).collect());
        let text = text.trim();
        let (event, place) = text.split_once(':').unwrap_or((text, "0"));
        let event = target::number(event).ok_or_else(wrong)?;
        let place = CursorPlace::parse(place).ok_or_else(wrong)?;
        Ok(Self { event, place })
    }

    /// The place as a character offset in the text of its message.
    pub fn offset(self, text: &str) -> usize {
        self.place.offset(text)
    }

    /// The place in a message.
    pub(super) fn of(event: u64, place: CursorPlace) -> Self {
        Self { event, place }
    }
}

/// Fills a page with messages.
struct Pager<'s> {
    style: ExpandStyle<'s>,
    /// Where the page starts.
    start: PageCursor,
    /// Length of a page, in characters.
    max: usize,
    /// Characters that are left.
    room: usize,
    page: OriginalPage,
    /// For the texts of each step on this page, the numbers of that step's messages.
    steps: HashMap<Vec<String>, Vec<u64>>,
    /// For each text on this page, the number of the first message with it.
    texts: HashMap<String, u64>,
}

/// A message that is about to be put on the page.
struct WaitingMessage {
    head: MessageHeadline,
    /// Where the text starts in the message, in characters.
    offset: usize,
    text: String,
    /// Characters of the message's whole text.
    chars: usize,
    /// The message on this page with the same text.
    same_as: Option<u64>,
}

impl<'s> Pager<'s> {
    fn new(start: PageCursor, max_chars: usize, style: ExpandStyle<'s>) -> Self {
        let max = max_chars.clamp(1, MAX_PAGE_CHARS);
        let (steps, texts) = (HashMap::new(), HashMap::new());
        Self { style, start, max, room: max, page: OriginalPage::default(), steps, texts }
    }

    /// Puts as much of a step on the page as fits. Returns whether the page is full.
    fn step(&mut self, log: &PairedEvents<'_>, events: &[Event]) -> bool {
        let events = events.iter().filter(|event| !(self.style.leaves_out)(event.seq.into()));
        let mut items: Vec<WaitingMessage> = events.map(|event| self.item(log, event)).collect();
        self.find_repeats(&mut items);
        let cost = items.iter().map(WaitingMessage::cost).sum::<usize>();
        let empty = self.page.originals.is_empty();
        // A step that fits on an empty page goes to a new page. A step that fits on no page does so only where this
        // page is more than half full.
        if !empty && cost > self.room && (cost <= self.max || self.room < self.max / 2) {
            return self.end(items.first(), 0);
        }
        for item in items {
            if self.page.originals.len() >= PAGE_EVENTS {
                return self.end(Some(&item), 0);
            }
            let empty = self.page.originals.is_empty();
            // On an empty page the headline costs nothing, so that a message as long as the page is not cut.
            let fits = item.cost() <= self.room || (empty && item.len() <= self.room);
            if !fits && !empty && (item.cost() <= self.max || self.room < self.max / 4) {
                return self.end(Some(&item), 0);
            }
            if !fits {
                return self.cut(item);
            }
            self.room = self.room.saturating_sub(item.cost());
            self.page.originals.push(item.original());
        }
        false
    }

    /// The message as it would be put on the page, from where the page starts in it.
    fn item(&self, log: &PairedEvents<'_>, event: &Event) -> WaitingMessage {
        let head = log.headline(event);
        let text = self.text(log, event);
        let chars = text.chars().count();
        // Only the message in which the previous page ended starts in the middle.
        let is_start = head.event == self.start.event;
        let offset = if is_start { self.start.offset(&text) } else { 0 };
        let until = self.style.until.filter(|_| is_start).map(|place| place.offset(&text));
        let before = text.chars().take(offset).filter(|c| *c == '\n').count();
        let rest = text.chars().skip(offset);
        let mut text: String = match until {
            Some(until) => rest.take(until.saturating_sub(offset)).collect(),
            None => rest.collect(),
        };
        let most = self.style.most;
        let is_long = text.chars().nth(most.saturating_add(most / LITTLE_MORE)).is_some();
        if let Some((cut, _)) = text.char_indices().nth(most).filter(|_| is_long) {
            let end = text[..cut].rfind('\n').map_or(cut, |line| line + 1);
            // By a line where one ends here, because hits and ranges name lines.
            let next = match text[..end].ends_with('\n') {
                true => format!("L{}", before + text[..end].matches('\n').count() + 1),
                false => (offset + text[..end].chars().count()).to_string(),
            };
            text.truncate(end);
            text += &format!("… (it goes on at {}:{next})", head.event);
        }
        WaitingMessage { head, offset, text, chars, same_as: None }
    }

    fn text(&self, log: &PairedEvents<'_>, event: &Event) -> String {
        if (self.style.visible)(event.seq.into()) {
            return VISIBLE.to_owned();
        }
        let text = readable::text(log, event);
        if self.style.without_reminders { readable::without_reminders(&text) } else { text }
    }

    /// Marks messages that repeat others on this page. Steps with calls are compared as a whole, however short they
    /// are; single messages only where they are long.
    fn find_repeats(&mut self, items: &mut [WaitingMessage]) {
        let calls = items.iter().any(|item| !item.head.tools.is_empty());
        if calls && items.len() <= STEP {
            let key: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
            let seqs: Vec<u64> = items.iter().map(|item| item.head.event).collect();
            if let Some(first) = self.steps.get(&key) {
                items.iter_mut().zip(first).for_each(|(item, first)| item.same_as = Some(*first));
                return;
            }
            self.steps.insert(key, seqs);
        }
        for item in items.iter_mut().filter(|item| item.len() >= REPEAT && item.head.role != "user")
        {
            match self.texts.get(&item.text) {
                Some(first) => item.same_as = Some(*first),
                None => {
                    self.texts.insert(item.text.clone(), item.head.event);
                }
            }
        }
    }

    /// Ends the page before a message, or at this offset in it. Always returns true: the page is full.
    fn end(&mut self, next: Option<&WaitingMessage>, offset: usize) -> bool {
        self.page.next = next.map(|item| match item.offset + offset {
            0 => item.head.event.to_string(),
            at => format!("{}:{at}", item.head.event),
        });
        true
    }

    /// Puts the start of a long message on the page. It ends with a whole line, unless that would leave more than half
    /// of the room empty.
    fn cut(&mut self, mut item: WaitingMessage) -> bool {
        // At least one character, so that each page gets further.
        let room = self.room.max(1);
        let end = item.text.char_indices().nth(room).map_or(item.text.len(), |(at, _)| at);
        let line = item.text[..end].rfind('\n').map(|at| at + 1);
        let shown = |at: &usize| item.text[..*at].chars().count() >= room.div_ceil(2);
        let end = line.filter(shown).unwrap_or(end);
        self.end(Some(&item), item.text[..end].chars().count());
        item.text.truncate(end);
        self.page.originals.push(Original { cut: true, ..item.original() });
        true
    }
}

impl WaitingMessage {
    fn len(&self) -> usize {
        if self.same_as.is_some() { 0 } else { self.text.chars().count() }
    }

    /// What the message costs on a page, in characters. A repeat is shown in a part of a line.
    fn cost(&self) -> usize {
        if self.same_as.is_some() { 1 } else { self.len() + HEAD }
    }

    fn original(self) -> Original {
        Original {
            event: self.head.event,
            role: self.head.role.to_owned(),
            turn: self.head.turn,
            action: self.head.actions(),
            outcome: self.head.verdict(),
            chars: self.chars,
            offset: self.offset,
            text: if self.same_as.is_some() { String::new() } else { self.text },
            cut: false,
            same_as: self.same_as,
        }
    }
}
