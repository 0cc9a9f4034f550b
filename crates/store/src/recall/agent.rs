//! The two look-ups of an agent: it finds messages, and it shows them. An agent pays for each character, so a hit is
//! one line where that is enough, and what the agent has in front of it already is one line, too.

use std::collections::BTreeSet;
use std::ops::Range;

use midfold_core::reduce::thousands;

use super::cursor::{CursorPlace, PageCursor};
use super::expand::{ExpandStyle, Original, ShownOriginals, expand_in};
use super::grep::{FoundMessage, GrepQuery, HitPage, MAX_HITS, WantedOutcome, grep};
use super::render::{clean, hit_notes, originals_text};
use super::{ExpandTarget, RecallError};
use super::{readable, target};
use crate::store::Store;
use crate::types::SearchMode;

/// Length of a page of hits, in characters. Forty short lines: more is seldom read.
pub const FOUND_CHARS: usize = 4_000;

/// The answer where no message matches.
pub const NO_MATCH: &str = "no message matches; try other or fewer words\n";

/// What an agent wants to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindRequest {
    /// Words, or a phrase in quotation marks. Empty: list what passes the filters, in order.
    pub query: String,
    /// Only messages of this role.
    pub role: Option<String>,
    /// Only calls of this tool or kind of tools, and their results.
    pub tool: Option<String>,
    /// Only results that ended in this way.
    pub outcome: Option<WantedOutcome>,
    /// Only these messages, such as `12-80`.
    pub messages: Option<String>,
    /// At most this many messages on a page; `None` for as many as have room.
    pub limit: Option<u32>,
    /// How many hits to skip, because they were on earlier pages.
    pub skip: u32,
}

/// A page for an agent, and where the next one begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentPage<N> {
    /// The text of the page.
    pub text: String,
    /// The place of the next page; `None` on the last one.
    pub next: Option<N>,
}

/// Finds messages, at most `chars` characters of them. The best hits come on the first page, and the hits of a page in
/// the order of the log. Messages that a fold took out come first; only where no such message matches, the others do.
/// `None` where no message matches.
///
/// # Errors
/// Fails where there is no such session, role or tool, or where the range is none.
pub async fn find(
    store: &dyn Store,
    session: &str,
    ask: &FindRequest,
    chars: usize,
) -> Result<Option<AgentPage<u32>>, RecallError> {
    let named = ask.messages.as_deref().filter(|range| !range.trim().is_empty());
    let within = match named {
        Some(range) => Some(GrepQuery::range(range)?),
        None if ask.query.trim().is_empty() => Some(std::iter::once(0..u64::MAX).collect()),
        None => None,
    };
    // Words that match nothing may be a text with punctuation.
    let words = phrase(&ask.query).map_or_else(
        || vec![(ask.query.as_str(), SearchMode::Text), (&ask.query, SearchMode::Literal)],
        |phrase| vec![(phrase, SearchMode::Literal)],
    );
    // Who names messages means these, wherever they are.
    let folded_first: &[bool] = if named.is_some() { &[false] } else { &[true, false] };
    for folded in folded_first {
        for (query, mode) in &words {
            let query = GrepQuery {
                role: ask.role.clone(),
                tool: ask.tool.clone(),
                outcome: ask.outcome,
                within: within.clone(),
                folded: *folded,
                limit: ask.limit.unwrap_or(MAX_HITS),
                skip: ask.skip,
                ..GrepQuery::new(query, *mode)
            };
            let hits = match grep(store, session, &query).await {
                Err(RecallError::Unfolded) => continue,
                hits => hits?,
            };
            if !hits.found.is_empty() {
                let folded = covered(store, session).await?;
                let mut page = page_of(&hits, ask.skip, &folded, chars);
                page.text += &missing_words_note(store, session, &hits.missing, &folded).await?;
                return Ok(Some(page));
            }
        }
    }
    Ok(None)
}

/// The words between quotation marks, where the query is a phrase.
fn phrase(query: &str) -> Option<&str> {
    let inner = query.trim().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.trim().is_empty() && !inner.contains('"')).then_some(inner)
}

/// The messages that the active fold took out; empty where no fold is active.
async fn covered(store: &dyn Store, session: &str) -> Result<Vec<Range<u64>>, RecallError> {
    target::folded(store, &store.session(session).await?).await
}

/// Says of the words that no hit has where else they are: in front of the agent, in messages that the filters left out,
/// or nowhere.
async fn missing_words_note(
    store: &dyn Store,
    session: &str,
    missing: &[String],
    folded: &[Range<u64>],
) -> Result<String, RecallError> {
    if missing.is_empty() {
        return Ok(String::new());
    }
    let query = GrepQuery { limit: 3, ..GrepQuery::new(&missing.join(" "), SearchMode::Text) };
    let hits = grep(store, session, &query).await?;
    let mut text = String::new();
    let mut nowhere = missing;
    if !hits.found.is_empty() {
        let seen: Vec<String> = hits.found.iter().map(|hit| format!("@{}", hit.event)).collect();
        nowhere = &hits.missing;
        let words: Vec<&str> =
            missing.iter().filter(|word| !nowhere.contains(word)).map(String::as_str).collect();
        let is_gone = |seq: u64| folded.iter().any(|run| run.contains(&seq));
        let is_seen = !folded.is_empty() && !hits.found.iter().any(|hit| is_gone(hit.event));
        let place = if is_seen { "in front of you" } else { "elsewhere" };
        text += &format!("{place}: {} ({})\n", clean(&words.join(", ")), seen.join(", "));
    }
    if !nowhere.is_empty() {
        text += &format!("nowhere: {}\n", clean(&nowhere.join(", ")));
    }
    Ok(text)
}

/// As many hits as fit, in the order of the log.
fn page_of(hits: &HitPage, skip: u32, folded: &[Range<u64>], chars: usize) -> AgentPage<u32> {
    let mut room = chars;
    let mut chosen: Vec<(u64, String)> = Vec::new();
    // Where messages have the query as it is, those with single words of it come on later pages.
    let phrases = hits.found.iter().take_while(|hit| hit.is_phrase).count();
    let best = if phrases > 0 { &hits.found[..phrases] } else { &hits.found[..] };
    for hit in best {
        let text = hit_text(hit, folded);
        let cost = text.chars().count();
        if cost > room && !chosen.is_empty() {
            break;
        }
        room = room.saturating_sub(cost);
        chosen.push((hit.event, text));
    }
    let shown = chosen.len();
    chosen.sort_by_key(|(event, _)| *event);
    let mut text: String = chosen.into_iter().map(|(_, text)| text).collect();
    let more = shown < hits.found.len() || hits.next.is_some();
    if more {
        text += &format!("{} of {}\n", thousands(shown), thousands(hits.total));
    }
    let next = more.then(|| skip.saturating_add(u32::try_from(shown).unwrap_or(u32::MAX)));
    AgentPage { text, next }
}

/// A hit: one line where it has one line to show.
fn hit_text(hit: &FoundMessage, folded: &[Range<u64>]) -> String {
    let mut head = format!("@{} {}", hit.event, hit.role);
    // Lines of a call show its target already.
    let shows_target = hit.outcome.is_none() && !hit.lines.is_empty();
    if let Some(action) = &hit.action {
        let tool = action.split(' ').next().unwrap_or_default();
        head += &format!(" {}", clean(if shows_target { tool } else { action }));
    }
    head += &hit_notes(hit);
    if !folded.is_empty() && !folded.iter().any(|run| run.contains(&hit.event)) {
        head += ", in front of you";
    }
    let lines: Vec<String> = match hit.lines.as_slice() {
        [] => vec![clean(hit.snippet.trim())],
        lines => lines
            .iter()
            .map(|line| {
                // By its number, a line of a long message can be shown.
                let place = if hit.chars > OF_SEVERAL {
                    format!("L{} ", line.number)
                } else {
                    String::new()
                };
                place + &clean(line.text.trim())
            })
            .collect(),
    };
    let more = match hit.more_lines {
        0 => String::new(),
        1 => " (and 1 more line)".to_owned(),
        more => format!(" (and {} more lines)", thousands(more)),
    };
    match lines.as_slice() {
        [one] if one.is_empty() => format!("{head}\n"),
        [one] => format!("{head}: {one}{more}\n"),
        many => format!("{head}{more}\n  {}\n", many.join("\n  ")),
    }
}

/// Of several messages, each is shown up to this many characters, so that a long one does not take the page.
const OF_SEVERAL: usize = 2_500;
/// With fewer characters left, a page ends before the next entry.
const LEAST_ROOM: usize = 400;

/// Shows messages in full, at most `chars` characters of them. `messages` is a list of numbers, ranges and places in long
/// messages (`12,15-20,31:4000,40:L310,41:L20-L35`), and what is asked for first is shown first, each message once. Of
/// several messages, a long one is cut, and so is what follows a line. Reminders of a client are one line, and so are
/// messages that the agent has in front of it, unless it asks for nothing else, or for a place in them.
///
/// # Errors
/// Fails where there is no such session or message, or an entry has another form.
pub async fn show(
    store: &dyn Store,
    session: &str,
    messages: &str,
    chars: usize,
) -> Result<AgentPage<String>, RecallError> {
    let entries = entries(messages)?;
    let folded = covered(store, session).await?;
    let is_gone = |seq: u64| folded.iter().any(|run| run.contains(&seq));
    // Who asks for nothing else wants just these.
    let asks_gone = entries.iter().any(|entry| entry.overlaps(&folded));
    let is_only_one = is_only_one(&entries);
    let (mut text, mut room) = (String::new(), chars);
    let mut shown = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 && room < LEAST_ROOM {
            return Ok(AgentPage { text, next: Some(rest(None, &entries[at..])) });
        }
        // A place in a message is asked for because the message was shown only in part.
        let is_placed = entry.from.is_some();
        let visible = |seq: u64| !is_placed && asks_gone && !is_gone(seq);
        let leaves_out = |seq: u64| !is_placed && shown.contains(&seq);
        let style = ExpandStyle {
            without_reminders: true,
            visible: &visible,
            leaves_out: &leaves_out,
            most_of_each: if at == 0 && is_only_one { usize::MAX } else { OF_SEVERAL },
            without_results: is_placed,
            until: entry.until,
        };
        let start = entry.from.unwrap_or_default();
        let mut page = expand_in(store, session, &entry.wanted, start, room, style).await?;
        // A message of a range with nothing to read, such as hidden reasoning, is no line.
        let says = |one: &Original| !one.text.is_empty() || one.outcome.is_some();
        page.originals.retain(|one| entry.is_one() || one.same_as.is_some() || says(one));
        let entry_text = originals_text(&page.originals, readable::without_reminders);
        shown.extend(page.originals.iter().map(|one| one.event));
        room = room.saturating_sub(entry_text.chars().count());
        text += &entry_text;
        if let Some(own) = entry.rest_of(&page) {
            return Ok(AgentPage { text, next: Some(rest(Some(own), &entries[at + 1..])) });
        }
    }
    Ok(AgentPage { text, next: None })
}

/// Whether a list asks for one message, or for the rest of it and then for its results, as the page before says.
fn is_only_one(entries: &[ListEntry]) -> bool {
    let Some((first, others)) = entries.split_first() else { return false };
    let is_by_line = matches!(first.from.map(|from| from.place), Some(CursorPlace::Line(_)));
    let is_rest = first.from.is_some() && others.iter().all(|entry| entry.from.is_none());
    first.is_one() && !is_by_line && (others.is_empty() || is_rest)
}

/// An entry of a list of messages.
struct ListEntry {
    /// As it was written.
    written: String,
    wanted: ExpandTarget,
    /// The place where a message begins to be shown.
    from: Option<PageCursor>,
    /// The place where it ends to be shown.
    until: Option<CursorPlace>,
}

impl ListEntry {
    fn of(written: &str) -> Result<Self, RecallError> {
        let written = written.trim().to_owned();
        let placed = written
            .split_once(':')
            .and_then(|(event, place)| target::number(event).map(|number| (number, place.trim())));
        let Some((event, place)) = placed else {
            let wanted = ExpandTarget::parse(&written)?;
            return Ok(Self { written, wanted, from: None, until: None });
        };
        let wrong = || RecallError::Cursor(written.chars().take(80).collect());
        let (first, last) = match place.split_once('-') {
            Some((first, last)) => (first, Some(last)),
            None => (place, None),
        };
        let from = CursorPlace::parse(first).ok_or_else(wrong)?;
        let until = match (last, from) {
            (None, _) => None,
            (Some(last), CursorPlace::Line(_)) if !last.trim().starts_with(['L', 'l']) => {
                Some(CursorPlace::Line(last.trim().parse().map_err(|_| wrong())?))
            }
            (Some(last), _) => Some(CursorPlace::parse(last).ok_or_else(wrong)?),
        };
        let (from, until) = (PageCursor { event, place: from }, until.map(CursorPlace::as_end));
        Ok(Self { written, wanted: ExpandTarget::event(event), from: Some(from), until })
    }

    /// Whether it asks for a single message.
    fn is_one(&self) -> bool {
        match &self.wanted {
            ExpandTarget::Events(runs) => matches!(&runs[..], [run] if run.end - run.start == 1),
            ExpandTarget::Fold(_) => false,
        }
    }

    fn overlaps(&self, folded: &[Range<u64>]) -> bool {
        let meets =
            |run: &Range<u64>| folded.iter().any(|own| own.start < run.end && run.start < own.end);
        match &self.wanted {
            ExpandTarget::Fold(_) => true,
            ExpandTarget::Events(runs) => runs.iter().any(meets),
        }
    }

    /// What a page left of it, as entries of a list; `None` where nothing is left.
    fn rest_of(&self, page: &ShownOriginals) -> Option<String> {
        let next = page.next?;
        let place =
            next.is_inside().then(|| format!("{next}{}", CursorPlace::written_end(self.until)));
        let start = next.event + u64::from(next.is_inside());
        let runs = page.runs.iter().map(|run| (run.start.max(start), run.end));
        let runs = runs.filter(|(start, end)| start < end).map(|(start, end)| match end - start {
            1 => start.to_string(),
            _ => format!("{start}-{}", end - 1),
        });
        Some(place.into_iter().chain(runs).collect::<Vec<_>>().join(","))
    }
}

/// The entries of a list. A list may also be written as JSON.
fn entries(list: &str) -> Result<Vec<ListEntry>, RecallError> {
    let bare = list.trim();
    let inner = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_numbers =
        |inner: &&str| inner.starts_with(|c: char| c.is_ascii_digit() || "@\"' ".contains(c));
    let bare = inner.filter(is_numbers).unwrap_or(bare);
    let parts = bare.split([',', ';']).map(|part| part.trim().trim_matches(['"', '\'']));
    let parsed: Vec<ListEntry> =
        parts.filter(|part| !part.is_empty()).map(ListEntry::of).collect::<Result<_, _>>()?;
    if parsed.is_empty() { Err(RecallError::What(String::new())) } else { Ok(parsed) }
}

/// The entries that were not shown, as a list.
fn rest(first: Option<String>, entries: &[ListEntry]) -> String {
    let others = entries.iter().map(|entry| entry.written.clone());
    first.into_iter().chain(others).collect::<Vec<_>>().join(",")
}
