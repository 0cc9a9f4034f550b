//! Reads original messages, one page at a time. Calls come with their results, and a repeated text comes once.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use midfold_core::log::Event;
use serde::Serialize;

use super::cursor::{CursorPlace, PageCursor};
use super::readable::TextPart;
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
const OVERRUN_PART: usize = 2;

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
    /// The line behind `text` that says where the message goes on; empty where nothing was left out.
    #[serde(skip)]
    pub hint: String,
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
    wanted: &ExpandTarget,
    from: Option<&str>,
    max_chars: usize,
) -> Result<OriginalPage, RecallError> {
    let style = ExpandStyle {
        without_reminders: false,
        visible: &|_| false,
        leaves_out: &|_| false,
        most_of_each: usize::MAX,
        without_results: false,
        until: None,
    };
    let start = from.map(PageCursor::parse).transpose()?.unwrap_or_default();
    let shown = expand_in(store, session, wanted, start, max_chars, style).await?;
    Ok(OriginalPage { originals: shown.originals, next: shown.next.map(|next| next.to_string()) })
}

/// How messages are shown.
#[derive(Clone, Copy)]
pub(super) struct ExpandStyle<'a> {
    /// Whether each reminder of a client will be shown as one line, and so takes the room of one.
    pub without_reminders: bool,
    /// Whether the reader has a message in front of it already: then its text is left out.
    pub visible: &'a (dyn Fn(u64) -> bool + Sync),
    /// Whether a message is left out, because an earlier page of the same answer has it.
    pub leaves_out: &'a (dyn Fn(u64) -> bool + Sync),
    /// About this many characters of a message are shown at most.
    pub most_of_each: usize,
    /// Whether calls come without their results.
    pub without_results: bool,
    /// The place in the message where the page starts at which it ends.
    pub until: Option<CursorPlace>,
}

/// The originals of a page, and what is left of the messages that were asked for.
pub(super) struct ShownOriginals {
    pub originals: Vec<Original>,
    /// The place of the next page; `None` on the last one.
    pub next: Option<PageCursor>,
    /// All messages that were asked for, with the results of their calls.
    pub runs: Vec<Range<u64>>,
}

/// Reads original messages as [`expand()`] does, in a style.
pub(super) async fn expand_in(
    store: &dyn Store,
    session: &str,
    wanted: &ExpandTarget,
    start: PageCursor,
    max_chars: usize,
    style: ExpandStyle<'_>,
) -> Result<ShownOriginals, RecallError> {
    let reader = LogReader::of(store, session).await?;
    let mut runs = target::runs(store, &reader.row, wanted).await?;
    if !style.without_results {
        runs = with_results(&reader, runs).await?;
    }
    let mut pager = Pager::new(start, max_chars, style);
    'runs: for run in &runs {
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
                    break 'runs;
                }
            }
            at = end;
        }
    }
    Ok(ShownOriginals { originals: pager.originals, next: pager.next, runs })
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

/// Fills a page with messages.
struct Pager<'s> {
    style: ExpandStyle<'s>,
    /// Where the page starts.
    start: PageCursor,
    /// Length of a page, in characters.
    max: usize,
    /// Characters that are left.
    room: usize,
    originals: Vec<Original>,
    /// Where the next page starts.
    next: Option<PageCursor>,
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
    /// Characters that the text takes on the page.
    shown: usize,
    /// Where the message goes on, if the text ends early because it is long.
    hint: String,
    /// Characters of the message's whole text.
    chars: usize,
    /// Whether the text is the whole text.
    is_whole: bool,
    /// The message on this page with the same text.
    same_as: Option<u64>,
}

impl<'s> Pager<'s> {
    fn new(start: PageCursor, max_chars: usize, style: ExpandStyle<'s>) -> Self {
        let max = max_chars.clamp(1, MAX_PAGE_CHARS);
        let (steps, texts) = (HashMap::new(), HashMap::new());
        Self { style, start, max, room: max, originals: Vec::new(), next: None, steps, texts }
    }

    /// Puts as much of a step on the page as fits. Returns whether the page is full.
    fn step(&mut self, log: &PairedEvents<'_>, events: &[Event]) -> bool {
        let events = events.iter().filter(|event| !(self.style.leaves_out)(event.seq.into()));
        let mut items: Vec<WaitingMessage> = events.map(|event| self.item(log, event)).collect();
        self.find_repeats(&mut items);
        let cost = items.iter().map(WaitingMessage::cost).sum::<usize>();
        let empty = self.originals.is_empty();
        // A step that fits on an empty page goes to a new page. A step that fits on no page does so only where this
        // page is more than half full.
        if !empty && cost > self.room && (cost <= self.max || self.room < self.max / 2) {
            return self.end(items.first(), 0);
        }
        for item in items {
            if self.originals.len() >= PAGE_EVENTS {
                return self.end(Some(&item), 0);
            }
            let empty = self.originals.is_empty();
            // On an empty page the headline costs nothing, so that a message as long as the page is not cut.
            let fits = item.cost() <= self.room || (empty && item.len() <= self.room);
            if !fits && !empty && (item.cost() <= self.max || self.room < self.max / 4) {
                return self.end(Some(&item), 0);
            }
            if !fits {
                return self.cut(item);
            }
            self.room = self.room.saturating_sub(item.cost());
            self.originals.push(item.original());
        }
        false
    }

    /// The message as it would be put on the page, from where the page starts in it.
    fn item(&self, log: &PairedEvents<'_>, event: &Event) -> WaitingMessage {
        let head = log.headline(event);
        let is_visible = (self.style.visible)(head.event);
        let whole = if is_visible { VISIBLE.to_owned() } else { readable::text(log, event) };
        let chars = whole.chars().count();
        // Only the message in which the previous page ended starts in the middle.
        let is_start = head.event == self.start.event;
        let offset = if is_start { self.start.offset(&whole) } else { 0 };
        let until = self.style.until.filter(|_| is_start);
        let end = until.map_or(chars, |place| place.offset(&whole));
        let text: String = whole.chars().skip(offset).take(end.saturating_sub(offset)).collect();
        let shown = readable::shown_chars(&self.parts(&text));
        let is_whole = !is_visible && text.len() == whole.len();
        let hint = String::new();
        let mut item =
            WaitingMessage { head, offset, text, shown, hint, chars, is_whole, same_as: None };
        let most = self.style.most_of_each;
        if shown > most.saturating_add(most / OVERRUN_PART) {
            let lines_before = whole.chars().take(offset).filter(|c| *c == '\n').count();
            self.shorten(&mut item, lines_before, until);
        }
        item
    }

    /// Cuts a long text to what is shown of each message, and hints at the place where it goes on.
    fn shorten(&self, item: &mut WaitingMessage, lines_before: usize, until: Option<CursorPlace>) {
        let (end, line) = readable::cut(&self.parts(&item.text), self.style.most_of_each);
        let end = line.unwrap_or(end);
        item.text.truncate(end);
        // By a line where one ends here, because hits and ranges name lines. Both ends of a range are of one kind.
        let place = match (line, until) {
            (Some(_), None | Some(CursorPlace::Line(_))) => {
                CursorPlace::Line(lines_before + item.text.matches('\n').count() + 1)
            }
            _ => CursorPlace::Char(item.offset + item.text.chars().count()),
        };
        let next = PageCursor { event: item.head.event, place };
        item.hint = format!("… (it goes on at {next}{})", CursorPlace::written_end(until));
        item.shown = readable::shown_chars(&self.parts(&item.text)) + item.hint.chars().count();
        item.is_whole = false;
    }

    /// The text in parts, of which those that are not shown as they are are parts of their own.
    fn parts<'t>(&self, text: &'t str) -> Vec<TextPart<'t>> {
        match self.style.without_reminders {
            true => readable::parts(text),
            false => vec![TextPart { text, is_reminder: false }],
        }
    }

    /// Marks messages that repeat others on this page, where both are whole. Steps with calls are compared as a whole,
    /// however short they are; single messages only where they are long.
    fn find_repeats(&mut self, items: &mut [WaitingMessage]) {
        let calls = items.iter().any(|item| !item.head.tools.is_empty());
        if calls && items.len() <= STEP && items.iter().all(|item| item.is_whole) {
            let key: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
            let seqs: Vec<u64> = items.iter().map(|item| item.head.event).collect();
            if let Some(first) = self.steps.get(&key) {
                items.iter_mut().zip(first).for_each(|(item, first)| item.same_as = Some(*first));
                return;
            }
            self.steps.insert(key, seqs);
        }
        let is_compared = |item: &&mut WaitingMessage| {
            item.is_whole && item.len() >= REPEAT && item.head.role != "user"
        };
        for item in items.iter_mut().filter(is_compared) {
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
        self.next = next.map(|item| PageCursor {
            event: item.head.event,
            place: CursorPlace::Char(item.offset + offset),
        });
        true
    }

    /// Puts the start of a long message on the page. It ends with a whole line, unless that would leave more than half
    /// of the room empty.
    fn cut(&mut self, mut item: WaitingMessage) -> bool {
        // At least one character, so that each page gets further.
        let room = self.room.max(1);
        let (end, line) = readable::cut(&self.parts(&item.text), room);
        let shown = |at: &usize| readable::shown_chars(&self.parts(&item.text[..*at]));
        let end = line.filter(|at| shown(at) >= room.div_ceil(2)).unwrap_or(end);
        self.end(Some(&item), item.text[..end].chars().count());
        item.text.truncate(end);
        item.hint.clear();
        self.originals.push(Original { cut: true, ..item.original() });
        true
    }
}

impl WaitingMessage {
    fn len(&self) -> usize {
        if self.same_as.is_some() { 0 } else { self.shown }
    }

    /// What the message costs on a page, in characters. A repeat is shown in a part of a line.
    fn cost(&self) -> usize {
        if self.same_as.is_some() { 1 } else { self.len() + HEAD }
    }

    fn original(self) -> Original {
        let (text, hint) = match self.same_as {
            Some(_) => (String::new(), String::new()),
            None => (self.text, self.hint),
        };
        Original {
            event: self.head.event,
            role: self.head.role.to_owned(),
            turn: self.head.turn,
            action: self.head.actions(),
            outcome: self.head.verdict(),
            chars: self.chars,
            offset: self.offset,
            text,
            cut: false,
            hint,
            same_as: self.same_as,
        }
    }
}
