//! Formats the answers of recall as plain text, for people at a terminal and for agents. It is brief, because agents
//! pay for every character.

use std::fmt::Write;

use midfold_core::reduce::thousands;
use midfold_core::references::NameReference;
use midfold_core::screen::{without_escapes, without_overwritten};

use super::describe::FoldDescription;
use super::expand::{Original, OriginalPage};
use super::grep::{FoundMessage, HitPage};
use super::outline::{OutlinePage, OutlineRow};

/// Longest pattern of repeats that is written as one line, in messages.
const PERIOD: usize = 8;
/// Messages of more characters than this have their length in the headline.
const LONG: usize = 8_000;
/// At most this many runs of numbers are listed.
pub const RUNS: usize = 8;

/// A page of originals as text: for each message a headline, then its text.
#[must_use]
pub fn page_text(page: &OriginalPage) -> String {
    originals_text(&page.originals, str::to_owned)
}

/// Originals as text, each text in the form in which it is `shown`, without what a terminal would obey.
pub(super) fn originals_text(originals: &[Original], shown: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let (mut turn, mut action) = (None, None);
    let mut rest = originals;
    while let Some(original) = rest.first() {
        if original.same_as.is_some() {
            let run = rest.iter().take_while(|other| other.same_as.is_some()).count();
            let (repeats, after) = rest.split_at(run);
            push_repeats(&mut out, repeats);
            (rest, action) = (after, None);
            continue;
        }
        let text = seen(original, &shown(&original.text));
        out += &format!("── {}", headline(original, action));
        action = original.action.as_deref();
        if turn != Some(original.turn) {
            out += &format!(", turn {}", original.turn);
            turn = Some(original.turn);
        }
        let text = match original.hint.is_empty() {
            true => text.trim_end_matches('\n'),
            false => &text,
        };
        out.push('\n');
        if !text.is_empty() || !original.hint.is_empty() {
            out += text;
            out += &original.hint;
            out.push('\n');
        }
        rest = &rest[1..];
    }
    out
}

/// A text of an original as a reader sees it. Only results come from a terminal, where a carriage return overwrites its
/// line. In words it is a line break.
fn seen(original: &Original, text: &str) -> String {
    match original.role == "tool" || !text.contains('\r') {
        true => clean(text),
        false => clean(&text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace('\r', "\n")),
    }
}

/// The headline of an original. It names the action only for results, because a call shows its action itself, and not
/// where the headline before has the same action.
pub fn headline(original: &Original, before: Option<&str>) -> String {
    let mut out = head(original.event, &original.role, false);
    let action = original.action.as_deref().filter(|action| Some(*action) != before);
    if let (Some(action), true) = (action, original.outcome.is_some()) {
        out += &format!(": {}", clean(action));
    }
    if let Some(outcome) = original.outcome.as_ref().filter(|text| !text.is_empty()) {
        out += &format!(", {outcome}");
    }
    if original.offset > 0 || original.cut {
        let end = original.offset + original.text.chars().count();
        let (from, to) = (thousands(original.offset), thousands(end));
        out += &format!(", characters {from} to {to} of {}", thousands(original.chars));
    }
    out
}

/// Writes lines for repeated messages. A pattern of repeats, such as one step again and again, gets one line.
pub fn push_repeats(out: &mut String, repeats: &[Original]) {
    let mut rest = repeats;
    while !rest.is_empty() {
        let (period, length) = pattern(rest);
        let (run, after) = rest.split_at(length);
        let of: Vec<u64> = run[..period].iter().filter_map(|original| original.same_as).collect();
        // Other messages may stand between the repeats.
        let events: Vec<u64> = run.iter().map(|original| original.event).collect();
        let _ = write!(out, "── {}: same as {}", list(&events), list(&of));
        if length > period {
            let _ = write!(out, ", {} times", thousands(length / period));
        }
        out.push('\n');
        rest = after;
    }
}

/// The length of the shortest pattern at the start of these repeats that occurs at least twice, and the length of
/// all its occurrences. (1, 1) where there is no pattern.
fn pattern(repeats: &[Original]) -> (usize, usize) {
    let same = |at: usize| repeats[at].same_as;
    let run = |period: usize| {
        let length =
            (period..repeats.len()).take_while(|at| same(*at) == same(*at - period)).count();
        (length + period) / period * period
    };
    let best = (1..=PERIOD.min(repeats.len() / 2)).find(|period| run(*period) >= 2 * period);
    best.map_or_else(|| (1, 1), |period| (period, run(period)))
}

/// A page of hits as text: for each message a headline, then its lines.
#[must_use]
pub fn hits_text(hits: &HitPage) -> String {
    let mut out = String::new();
    for hit in &hits.found {
        out += &hit_head(hit);
        out.push('\n');
        if hit.lines.is_empty() && !hit.snippet.is_empty() {
            out += &format!("  {}\n", clean(hit.snippet.trim()));
        }
        let mut before: Option<usize> = None;
        for line in &hit.lines {
            let gap = before.is_some_and(|before| line.number > before + 1);
            before = Some(line.number);
            if gap && hit.lines.iter().any(|line| !line.hit) {
                out += "  …\n";
            }
            let text = clean(line.text.trim_end());
            match (hit.line, line.hit) {
                (None, _) => out += &format!("  {}\n", text.trim_start()),
                (Some(_), true) => out += &format!("  {}: {text}\n", line.number),
                (Some(_), false) => out += &format!("  {}- {text}\n", line.number),
            }
        }
        if hit.more_lines > 0 {
            out += &format!("  and {}\n", plural(hit.more_lines, "more line"));
        }
    }
    out
}

fn hit_head(hit: &FoundMessage) -> String {
    let mut out = head(hit.event, &hit.role, hit.injected);
    if let Some(action) = &hit.action {
        out += &format!(": {}", clean(action));
    }
    out += &format!("{}, turn {}", hit_outcome(hit), hit.turn);
    out + &hit_state(hit)
}

/// How a result ended, and what is to know of the message.
pub(super) fn hit_notes(hit: &FoundMessage) -> String {
    hit_outcome(hit) + &hit_state(hit)
}

fn hit_outcome(hit: &FoundMessage) -> String {
    let outcome = hit.outcome.as_ref().filter(|text| !text.is_empty());
    outcome.map_or_else(String::new, |outcome| format!(", {outcome}"))
}

/// Its length where it is long, newer versions of its file, and repetitions.
fn hit_state(hit: &FoundMessage) -> String {
    let mut out = String::new();
    if hit.chars > LONG {
        out += &format!(", {} chars", thousands(hit.chars));
    }
    match &hit.version {
        Some(version) if version.newest => out += "; newest of this file",
        Some(version) => out += &format!("; older: newest is @{}", version.see),
        None => {}
    }
    if !hit.also.is_empty() {
        out += &format!("; same line before in {}", list(&hit.also));
    }
    out
}

/// An outline as text, one line for each message.
#[must_use]
pub fn outline_text(outline: &OutlinePage) -> String {
    let mut out = plural(outline.total as usize, "message");
    match outline.folded.as_slice() {
        [] => out += "; nothing is folded\n",
        folded => out += &format!("; folded: {}\n", runs(folded)),
    }
    let mut turn = None;
    let mut action: Option<&str> = None;
    for row in &outline.rows {
        out += &row_text(row, turn != Some(row.turn), action);
        out.push('\n');
        turn = Some(row.turn);
        action = row.action.as_deref();
    }
    out
}

/// The line of a message. A result right behind its call does not repeat the call's target.
fn row_text(row: &OutlineRow, turn: bool, before: Option<&str>) -> String {
    let mut out = head(row.event, &row.role, row.injected);
    if turn {
        out += &format!(", turn {}", row.turn);
    }
    let action = row.action.as_deref().map(clean);
    let result = row.outcome.is_some();
    if let (Some(action), true) = (&action, result && row.action.as_deref() != before) {
        out += &format!(", {action}");
    }
    if let Some(outcome) = row.outcome.as_ref().filter(|words| !words.is_empty()) {
        out += &format!(", {outcome}");
    }
    out += &format!(", {}", plural(row.chars, "char"));
    if !row.text.is_empty() {
        out += &format!(": {}", clean(&row.text));
    }
    if let (Some(action), false) = (action, result) {
        out += &format!(" → {action}");
    }
    out
}

/// The description of a fold as text. The recap of the active fold is left out, because the context holds it.
#[must_use]
pub fn described_text(fold: &FoldDescription) -> String {
    let active = if fold.active { "active" } else { "not active" };
    let id: String = fold.id.chars().take(12).collect();
    let count: u64 = fold.covered.iter().map(|(from, to)| to - from + 1).sum();
    let mut out = format!("fold {} ({id}), {active}\n", fold.number);
    out += &format!("folded: {}: {}\n", plural(count as usize, "message"), runs(&fold.covered));
    if !fold.edited.is_empty() {
        let edited: Vec<u64> = fold.edited.iter().map(|seq| u64::from(*seq)).collect();
        out += &format!("sent shortened: {}\n", list(&edited));
    }
    let (before, after) =
        (thousands(fold.tokens_before as usize), thousands(fold.tokens_after as usize));
    out += &format!("tokens: {before} to {after}; policy {}\n", fold.policy);
    if !fold.lost_ids.is_empty() {
        out += &format!("no longer named: {}\n", clean(&fold.lost_ids.join(" ")));
    }
    if !fold.asked_again.is_empty() {
        out += &format!("{}\n", clean(&asked_again_text(fold)));
    }
    if let (Some(recap), false) = (&fold.recap, fold.active) {
        out += &format!("its recap:\n{}\n", clean(recap.trim_end()));
    }
    out
}

/// The names that were used again after the fold: `folded at 3, asked for again: src/app.py @7`.
#[must_use]
pub fn asked_again_text(fold: &FoldDescription) -> String {
    let again = |one: &NameReference| format!("{} @{}", one.name, one.seq);
    let shown: Vec<String> = fold.asked_again.iter().take(RUNS).map(again).collect();
    let more = fold.asked_again.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("folded at {}, asked for again: {}{more}", fold.folded_at, shown.join(", "))
}

fn head(event: u64, role: &str, injected: bool) -> String {
    let by = if injected { " (by the client)" } else { "" };
    format!("@{event} {role}{by}")
}

/// Formats a run of numbers: `@3`, or `@3-@7`.
fn span(first: u64, last: u64) -> String {
    if first == last { format!("@{first}") } else { format!("@{first}-@{last}") }
}

fn runs(runs: &[(u64, u64)]) -> String {
    let shown = runs.iter().take(RUNS).map(|(first, last)| span(*first, *last));
    let more = runs.len().saturating_sub(RUNS);
    let more = if more > 0 { format!(" and {}", plural(more, "other run")) } else { String::new() };
    shown.collect::<Vec<_>>().join(", ") + &more
}

/// Formats numbers; neighbouring ones become a range.
pub fn list(seqs: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for seq in seqs {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *seq => *last = *seq,
            _ => ranges.push((*seq, *seq)),
        }
    }
    runs(&ranges)
}

fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {noun}{s}", thousands(count))
}

/// The text without control sequences, which move a cursor or change colours, because they cost tokens and say nothing.
/// A progress bar that wrote over its own line keeps its last state.
pub fn clean(text: &str) -> String {
    let safe = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c };
    without_overwritten(&without_escapes(text)).chars().map(safe).collect()
}
