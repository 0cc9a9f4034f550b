//! Draws the answer to "why did it forget this text?".

use midfold::plural;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::parts::{indented, title};
use super::sheet::{ScreenSheet, ViewRoom};
use crate::paint::PaintStyle;
use crate::state::TopState;
use crate::views::{ExplainedText, OccurrenceLine, SightLine, SightWord};
use midfold::weave::Tint;

/// The most messages that are listed.
const TOLD: usize = 50;

pub(super) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    let mut sheet = ScreenSheet::default();
    let Some(question) = &state.question else { return sheet };
    sheet.head.push(title("why forgotten", question.id.shown(), room.width));
    sheet.head.push(Line::default());
    match &question.answer {
        Some(explained) => sheet.body = told_of(state, explained, room.width),
        None if state.trouble.is_some() => {}
        None => sheet.body.push(Line::from("  looking for it …")),
    }
    sheet
}

/// The answer in lines: the verdict, the folds that matter, and each message with the text.
fn told_of(state: &TopState, explained: &ExplainedText, width: usize) -> Vec<Line<'static>> {
    let paint = PaintStyle { color: state.color };
    let tint = match explained.answer {
        SightWord::NeverSaid | SightWord::NotYet => Tint::Yellow,
        SightWord::Verbatim | SightWord::Edited | SightWord::InRecap => Tint::Green,
        SightWord::Gone => Tint::Red,
    };
    let plain = Style::new();
    let strong = plain.add_modifier(Modifier::BOLD);
    let mut lines = indented(&format!("\"{}\"", explained.text), 1, width, strong);
    lines.extend(indented(&as_sentence(explained.verdict.as_str()), 1, width, paint.tint(tint)));
    let read = match &explained.fold {
        Some(fold) => {
            format!("{}, read through fold {}.", plural(explained.events, "message"), fold.number)
        }
        None => format!("{}, nothing is folded.", plural(explained.events, "message")),
    };
    lines.extend(indented(&read, 1, width, plain));
    if let Some(fold) = &explained.lost_with {
        let when = plural(fold.events, "message");
        let text = format!("It left with fold {}, made when there were {when}.", fold.number);
        lines.extend(indented(&text, 1, width, plain));
    }
    for again in &explained.asked_again {
        let text = format!(
            "{}: lost with fold {}, used again in message {}.",
            again.name, again.fold.number, again.seq
        );
        lines.extend(indented(&text, 1, width, plain));
    }
    for occurrence in explained.occurrences.iter().take(TOLD) {
        one(&mut lines, occurrence, width);
    }
    let more = explained.occurrences.len().saturating_sub(TOLD) as u64;
    if more > 0 {
        lines.push(Line::default());
        lines.push(Line::from(format!(" and {}", plural(more, "more message"))));
    }
    for near in &explained.near {
        lines.push(Line::default());
        let head = format!("Message {} ({}) has words of it:", near.seq, near.role);
        lines.extend(indented(&head, 1, width, strong));
        quote(&mut lines, near.snippet.as_str(), width);
    }
    lines
}

/// The words of an answer as a sentence of their own.
fn as_sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(chars).chain(['.']).collect()
}

/// The words of a message, behind a bar.
fn quote(lines: &mut Vec<Line<'static>>, snippet: &str, width: usize) {
    let dim = Style::new().add_modifier(Modifier::DIM);
    for line in indented(snippet, 0, width.saturating_sub(4), Style::new()) {
        let mut spans = vec![Span::styled("   │ ", dim)];
        spans.extend(line.spans);
        lines.push(Line::from(spans));
    }
}

fn one(lines: &mut Vec<Line<'static>>, occurrence: &OccurrenceLine, width: usize) {
    lines.push(Line::default());
    let head =
        format!("Message {} ({}): {}", occurrence.seq, occurrence.role, sight(&occurrence.sight));
    lines.extend(indented(&head, 1, width, Style::new().add_modifier(Modifier::BOLD)));
    let dim = Style::new().add_modifier(Modifier::DIM);
    quote(lines, occurrence.snippet.as_str(), width);
    if let Some(loss) = &occurrence.left {
        let text = format!("left with fold {}: {}, {}", loss.fold.number, loss.rule, loss.reason);
        lines.extend(indented(&text, 3, width, Style::new()));
    }
    if let Some(used) = &occurrence.used {
        let when = if used.after_left { "after it had left" } else { "while it was there" };
        let text = format!("used again in message {} by the {}, {when}", used.seq, used.by);
        lines.extend(indented(&text, 3, width, Style::new()));
    }
    if occurrence.recall && !matches!(occurrence.sight, SightLine::Verbatim { .. }) {
        lines.extend(indented("the original is in the log: recall brings it back", 3, width, dim));
    }
}

fn sight(sight: &SightLine) -> String {
    let still = |named: bool| if named { "still says it" } else { "does not say it any more" };
    match sight {
        SightLine::Transcript => "in the transcript, as it is".to_owned(),
        SightLine::NotYet => "came later".to_owned(),
        SightLine::Verbatim { place } => format!("sent as it is ({place})"),
        SightLine::Edited { named } => format!("sent shortened, {}", still(*named)),
        SightLine::Repaired { named } => format!("sent otherwise, to be valid; {}", still(*named)),
        SightLine::Cut { named } => format!("sent cut, too long to fit; {}", still(*named)),
        SightLine::Recap { named: true } => "in the recap, which says it".to_owned(),
        SightLine::Recap { named: false } => "in the recap, which does not say it".to_owned(),
        SightLine::Marker => "behind the marker".to_owned(),
    }
}
