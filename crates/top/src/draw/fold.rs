//! Draws one fold: what it freed and lost, its edits, and the recap.

use std::collections::BTreeMap;

use midfold::{number, plural};
use ratatui::style::Style;
use ratatui::text::Line;

use super::parts::{indented, rule, strip, title};
use super::sheet::{ScreenSheet, ViewRoom};
use crate::figures::{age, facts};
use crate::paint::{PaintStyle, dim};
use crate::state::TopState;
use crate::views::{EditLine, FoldPage, LostGroup};

/// How many messages are named for edits of one kind.
const PLACES: usize = 8;

pub(super) fn sheet(state: &TopState, room: ViewRoom) -> ScreenSheet {
    let mut sheet = ScreenSheet::default();
    let Some(opened) = &state.opened else { return sheet };
    let number = opened.number().unwrap_or(0);
    let name = opened.detail.as_ref().map_or(opened.id.shown(), |detail| detail.row.name());
    sheet.head.push(title(&format!("fold {number}"), name, room.width));
    let Some(fold) = opened.read() else {
        sheet.body.push(Line::from("  reading the fold …"));
        return sheet;
    };
    let events = opened.fabric.as_ref().map_or(0, |fabric| fabric.events);
    let cells = fold.fold.cells(events);
    let mut line = Line::from(" ");
    let paint = PaintStyle { color: state.color };
    for span in strip(paint, &cells, cells.len(), room.width.saturating_sub(2)) {
        line.push_span(span);
    }
    sheet.head.extend([line, Line::default()]);
    sheet.body = outline(state, fold, room.width);
    sheet
}

/// All lines of a fold.
pub(super) fn outline(state: &TopState, fold: &FoldPage, width: usize) -> Vec<Line<'static>> {
    let brief = &fold.fold;
    let mut all = vec![format!("{} → {} tokens", number(brief.before), number(brief.after))];
    all.push(format!("{} freed", number(brief.freed)));
    all.push(format!("by {}", brief.cause));
    all.push(format!("policy {}", brief.policy));
    all.push(format!("stand-in {}", brief.stand_in));
    all.extend(brief.made.map(|moment| format!("made {} ago", age(moment, state.now))));
    if brief.active {
        all.push("read now".to_owned());
    }
    all.extend(brief.aside().map(str::to_owned));
    all.push(format!("{} out of the context", plural(fold.gone, "message")));
    let names =
        format!("{} kept, {} lost", plural(fold.kept_names, "name"), number(fold.lost_names));
    all.push(names);
    let mut lines: Vec<Line<'static>> = facts(&all, width.saturating_sub(2))
        .into_iter()
        .map(|line| Line::from(format!(" {line}")))
        .collect();
    if let Some(recap) = &fold.recap {
        lines.extend([
            Line::default(),
            rule(&format!("recap, {} tokens", number(recap.tokens)), width),
        ]);
        for line in recap.text.lines() {
            lines.extend(indented(line, 1, width, Style::new()));
        }
    }
    if !fold.edits.is_empty() {
        let count = plural(fold.edits.len() as u64, "edit");
        lines.extend([Line::default(), rule(&count, width)]);
        for line in edits(&fold.edits) {
            lines.extend(indented(&line, 1, width, Style::new()));
        }
    }
    fold.lost.iter().for_each(|group| lines.extend(lost_group(group, width)));
    lines
}

/// The lost statements of one kind: those of a message on a line each, names next to each other.
fn lost_group(group: &LostGroup, width: usize) -> Vec<Line<'static>> {
    let title = format!("lost: {}, {}", group.title, number(group.count));
    let mut lines = vec![Line::default(), rule(&title, width)];
    let (statements, names): (Vec<_>, Vec<_>) =
        group.first.iter().partition(|one| one.seq.is_some());
    for one in statements {
        let at = one.seq.map(|seq| format!("@{seq} ")).unwrap_or_default();
        lines.extend(indented(&format!("{at}{}", one.text), 1, width, Style::new()));
    }
    let names: Vec<String> = names.iter().map(|one| one.text.to_string()).collect();
    let names = facts(&names, width.saturating_sub(2));
    lines.extend(names.iter().map(|line| Line::from(format!(" {line}"))));
    let more = group.count.saturating_sub(group.first.len() as u64);
    if more > 0 {
        lines.push(Line::from(dim(format!(" … {} more", number(more)))));
    }
    lines
}

/// The edits in groups of the same reducer, reason and kind, the largest group first.
fn edits(edits: &[EditLine]) -> Vec<String> {
    let mut kinds: BTreeMap<(&str, &str, &str), Vec<&EditLine>> = BTreeMap::new();
    for edit in edits {
        let kind = (edit.reducer.as_str(), edit.reason.as_str(), edit.kind.as_str());
        kinds.entry(kind).or_default().push(edit);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, edits)| std::cmp::Reverse(edits.len()));
    let line = |((reducer, reason, kind), edits): ((&str, &str, &str), Vec<&EditLine>)| {
        let sum = |of: fn(&EditLine) -> u64| number(edits.iter().map(|edit| of(edit)).sum());
        let (before, after) = (sum(|edit| edit.tokens_before), sum(|edit| edit.tokens_after));
        let mut seqs: Vec<u64> = edits.iter().map(|edit| edit.seq).collect();
        seqs.dedup();
        let places: Vec<String> = seqs.iter().take(PLACES).map(|seq| format!("@{seq}")).collect();
        let more = if seqs.len() > PLACES { " …" } else { "" };
        let count = number(edits.len() as u64);
        format!(
            "{count} {kind} by {reducer} ({reason}): {before} → {after} tokens, {}{more}",
            places.join(" ")
        )
    };
    kinds.into_iter().map(line).collect()
}
