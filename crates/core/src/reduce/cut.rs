//! `cut`: shows the longest results cut, with their first and last lines, and a line between them that says which ones
//! are left out. As the newest step's last resort it makes a step fit that alone is longer than the window; there the
//! arguments of calls are cut, too.

use bytes::Bytes;

use super::arguments::{quoted, with_strings};
use super::{BlockRef, Middle, MiddleBudget, MiddleEdit, Reducer, ReducerState, thousands};
use crate::edit;
use crate::log::EventLog;
use crate::policy::ReducerName;
use crate::tools::ToolTable;
use crate::view::{BlockView, TextCoding};

/// The reducer `cut`.
pub struct CutReducer;

/// A result, or the arguments of a call, keeps at least this many tokens: with fewer it would be little more than the line
/// about the rest.
pub(crate) const LEAST: u64 = 120;

/// How often a cut text is shortened until its tokens are few enough. The first length is a guess by the text's mean,
/// and a part of a text may have more tokens a character than the whole.
const TRIES: usize = 8;

impl Reducer for CutReducer {
    fn name(&self) -> ReducerName {
        ReducerName::Cut
    }

    fn reduce<'a>(
        &self,
        middle: &mut Middle<'_>,
        budget: &MiddleBudget,
        state: ReducerState<'a>,
    ) -> ReducerState<'a> {
        shorten(middle, budget.tokens, BlockView::is_result);
        state
    }
}

/// Whether a block of the newest step is shown cut where nothing smaller fits: a result, or the arguments of a call.
pub(crate) fn may_cut(block: &BlockView) -> bool {
    block.is_result() || block.is_call()
}

/// Cuts the longest blocks that `may_cut` lets, so that the middle has at most `tokens` tokens where these blocks leave
/// that.
pub(crate) fn shorten(middle: &mut Middle<'_>, tokens: u64, may_cut: impl Fn(&BlockView) -> bool) {
    let over = middle.tokens().saturating_sub(tokens);
    let open = middle.blocks().filter(|(at, _, block)| may_cut(block) && !middle.is_edited(*at));
    let long: Vec<(BlockRef, u64)> = open.map(|(at, ..)| (at, middle.tokens_at(at))).collect();
    let sizes: Vec<u64> = long.iter().map(|(_, tokens)| *tokens).collect();
    let room = sizes.iter().sum::<u64>().saturating_sub(over);
    // Only the longest are cut, and all to the same size: a short result beside a long one stays whole.
    let most = level(&sizes, room).max(LEAST);
    for (at, tokens) in long.into_iter().filter(|(_, tokens)| over > 0 && *tokens > most) {
        let text = middle.text(at);
        let coding = middle.call_coding(at);
        let shown = |keep: usize| match coding {
            Some(coding) => arguments_with_gaps(&text, keep, coding),
            None => with_gap(&text, keep, RESULT),
        };
        if let Some(cut) = cut(&text, tokens, most, shown, |text| middle.tokens_as(at, text)) {
            middle.replace(at, cut, ReducerName::Cut, "too-long");
        }
    }
}

/// Cuts the longest results of a log, so that all its messages have at most `most` tokens where the results leave that.
/// Returns the messages that change, with their places.
#[must_use]
pub fn cut_results(log: &EventLog, most: u64) -> Vec<(usize, Bytes)> {
    let (events, tools) = (log.events(), ToolTable::of(&[]));
    let editable = vec![true; events.len()];
    let mut all = Middle::new(events, 0..events.len(), editable, &**log.counter(), &tools);
    shorten(&mut all, most, may_cut);
    let apply = |(at, edits): (usize, Vec<(usize, MiddleEdit)>)| {
        let blocks = &events[at].view.blocks;
        let changes: Vec<_> =
            edits.iter().map(|(block, edited)| (&blocks[*block], &edited.change)).collect();
        (at, edit::apply(&events[at].bytes, &changes))
    };
    let mut cut: Vec<_> = all.into_edits().into_iter().map(apply).collect();
    cut.sort_unstable_by_key(|(at, _)| *at);
    cut
}

/// The largest size so that `sizes`, with each larger one lowered to it, have at most `room` together.
fn level(sizes: &[u64], room: u64) -> u64 {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let mut rest = room;
    for (index, size) in sorted.iter().enumerate() {
        // All that are left are at least this large, so an equal share is the most that each may have.
        let share = rest / (sorted.len() - index) as u64;
        if *size > share {
            return share;
        }
        rest -= size;
    }
    u64::MAX
}

/// The text with lines left out of its middle, in at most `most` tokens. `tokens` is the size of the whole, and `shown`
/// makes the text with about so many characters. `None` if no part of it is that short.
fn cut(
    text: &str,
    tokens: u64,
    most: u64,
    shown: impl Fn(usize) -> Option<String>,
    count: impl Fn(&str) -> u64,
) -> Option<String> {
    let chars = text.chars().count();
    let mut keep = chars * usize::try_from(most).ok()? / usize::try_from(tokens.max(1)).ok()?;
    for _ in 0..TRIES {
        let cut = shown(keep)?;
        let has = count(&cut);
        if has <= most {
            return Some(cut);
        }
        // At least a tenth less each time, so that the search ends.
        let fits = keep * usize::try_from(most).ok()? / usize::try_from(has).ok()?;
        keep = fits.min(keep - keep.div_ceil(10).min(keep));
    }
    None
}

/// The arguments of a call with their longest strings cut, in about `keep` characters. JSON stays JSON.
fn arguments_with_gaps(text: &str, keep: usize, coding: TextCoding) -> Option<String> {
    let mut sizes: Vec<u64> = Vec::new();
    let measure = |value: &str| {
        sizes.push(value.chars().count() as u64);
        String::new()
    };
    let Some(beside) = with_strings(text, 0, measure) else {
        return match coding {
            TextCoding::Str => with_gap(text, keep, ARGUMENT),
            TextCoding::Raw => with_gap(text, keep, ARGUMENT).map(|cut| quoted(&cut)),
        };
    };
    let room = keep.saturating_sub(beside.chars().count());
    let longest = usize::try_from(level(&sizes, room as u64)).unwrap_or(usize::MAX);
    if room == 0 {
        // Numbers and names alone are too long.
        return with_gap(text, keep, ARGUMENT).map(|cut| quoted(&cut));
    }
    let cut = |value: &str| match value.chars().nth(longest) {
        Some(_) => with_gap(value, longest, ARGUMENT).unwrap_or_else(|| value.to_owned()),
        None => value.to_owned(),
    };
    with_strings(text, longest, cut).filter(|cut| cut != text)
}

/// The first and the last lines of `text`, in about `keep` characters, around the line that says what is left out, for
/// this reason. `None` if nothing would be left out.
fn with_gap(text: &str, keep: usize, why: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let half = keep / 2;
    let first = whole_lines(lines.iter(), half);
    let last = whole_lines(lines[first..].iter().rev(), half);
    if first > 0 && last > 0 {
        let gap = lines.len() - first - last;
        let place = format!(
            "lines {} to {} of {}",
            thousands(first + 1),
            thousands(lines.len() - last),
            thousands(lines.len())
        );
        let (start, end) = (lines[..first].join("\n"), lines[lines.len() - last..].join("\n"));
        return (gap > 0).then(|| format!("{start}\n{}\n{end}", gap_line(&place, why)));
    }
    // A line alone is longer than the room, as in minified JSON: the cut is inside it.
    let chars = text.chars().count();
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(chars.saturating_sub(half)).collect();
    let place = format!(
        "characters {} to {} of {}",
        thousands(half + 1),
        thousands(chars - half),
        thousands(chars)
    );
    (half * 2 < chars).then(|| format!("{start}\n{}\n{end}", gap_line(&place, why)))
}

/// How many of these lines fit in `chars` characters with their line breaks.
fn whole_lines<'a>(lines: impl Iterator<Item = &'a &'a str>, chars: usize) -> usize {
    let mut room = chars;
    lines
        .take_while(|line| match room.checked_sub(line.chars().count() + 1) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        })
        .count()
}

/// How the line begins that is in the place of what is left out.
const GAP: &str = "[midfold left out ";

/// The lines of a cut text that are in the place of what is left out.
pub(crate) fn gap_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with(GAP))
}

/// Why a part of a result is left out, and how to see it.
const RESULT: &str = "the whole result is too long for the context window. To see more, ask for a smaller part, such as \
                      a range of lines or the matches of a search";
/// Why a part of an argument is left out.
const ARGUMENT: &str =
    "the whole argument is too long for the context window. The call was made with all of it";

/// The line in the place of what is left out.
fn gap_line(place: &str, why: &str) -> String {
    format!("{GAP}{place}: {why}.]")
}
