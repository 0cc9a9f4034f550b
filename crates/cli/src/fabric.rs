//! `midfold inspect --fold`: the fabric in the terminal. It shows what each fold did to each message, as one row for
//! each fold, or the details of one fold.

use std::collections::BTreeMap;

use midfold::core::fabric::FabricCell;
use midfold::core::texts::{ArgumentTexts, message_text};
use midfold::formats::profile;
use midfold::weave::{self, ALL, Glyph, Tint, glyph};
use midfold::{EventLog, Policy, PreparedConversation};
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{
    FoldRow, Recording, ReplayResult, ReplaySettings, ReplayStrategy, replay,
};
use unicode_width::UnicodeWidthStr;

use crate::error::CommandError;
use crate::output::{OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::report::{counted, window};
use crate::words::{grouped, number, plural};

/// The most folds that have a row. Older folds are only counted.
const ROWS: usize = 40;
/// The most lines of a recap that are shown.
const RECAP_LINES: usize = 12;
/// The most places that are listed for one fate.
const LISTED: usize = 6;

fn color(tint: Tint) -> OutputColor {
    match tint {
        Tint::Green => OutputColor::Green,
        Tint::Red => OutputColor::Red,
        Tint::Cyan => OutputColor::Cyan,
        Tint::Magenta => OutputColor::Magenta,
        Tint::Yellow => OutputColor::Yellow,
    }
}

/// The glyph of a fate in its colour, and its name.
fn painted(style: &OutputStyle, cell: FabricCell) -> (String, &'static str) {
    let Glyph { mark, tint, name } = glyph(cell);
    (style.paint(color(tint), &mark.to_string()), name)
}

/// Adds a row for each fold to the page, or the details of one fold, numbered from 1. Fails where there is no such
/// fold.
pub fn show(
    page: &mut LabelledPage<'_>,
    name: &str,
    prepared: &PreparedConversation,
    policy: &Policy,
    fold: Option<usize>,
) -> Result<(), CommandError> {
    let log = &prepared.log;
    let replay = replayed(prepared, policy)?;
    let file = std::path::Path::new(name).file_name().map_or(name.into(), |n| n.to_string_lossy());
    let title = format!(
        "{file}: {} of `{}` at {} tokens",
        plural(replay.folds.len() as u64, "fold"),
        policy.name,
        number(prepared.window)
    );
    page.title(OutputColor::Bold, &title);
    page.field("tokens", &format!("{}; counted with {}", number(log.tokens()), counted(prepared)));
    page.field("window", &window(prepared));
    page.field("form", "a session that holds the whole history, replayed request by request");
    let Some(last) = replay.folds.last() else {
        let peak = number(replay.measures.peak);
        page.text += &format!(
            "\nNothing folds: the largest context has {peak} of {} tokens. Try --window {}.\n",
            number(prepared.window),
            replay.measures.peak / 3
        );
        return Ok(());
    };
    match fold {
        None => {
            rows(page, &replay.folds, last.at);
            Ok(())
        }
        Some(number) => {
            let Some(upto @ [.., _]) = replay.folds.get(..number) else {
                let count = replay.folds.len();
                let error = format!("there is no fold {number} in {name}: there are {count}");
                return Err(CommandError::usage(error)
                    .hint(format!("--fold takes a number from 1 to {count}, or nothing")));
            };
            one(page, log, upto);
            Ok(())
        }
    }
}

fn replayed(
    prepared: &PreparedConversation,
    policy: &Policy,
) -> Result<ReplayResult, CommandError> {
    let recording = Recording::new(prepared.log.prefix(prepared.log.len()));
    let rules = profile::rules(prepared.log.profile());
    let prices = PriceTable::reference();
    let settings = ReplaySettings {
        window: prepared.window,
        rules: &rules,
        search: false,
        prices: &prices,
        clock: None,
        watch: None,
    };
    replay(&recording, ReplayStrategy::Session(policy), &settings)
        .map_err(|error| CommandError::failed(grouped(&error.to_string())))
}

/// The fate of every event, in order.
fn cells(row: &FoldRow) -> Vec<FabricCell> {
    row.fates.iter().flat_map(|(cell, count)| vec![*cell; *count as usize]).collect()
}

fn rows(page: &mut LabelledPage<'_>, folds: &[FoldRow], events: usize) {
    let style = page.style;
    let from = folds.len().saturating_sub(ROWS);
    let label = |at: usize, row: &FoldRow| {
        format!("{:>4} {:>8} → {:<8}", at + 1, number(row.before), number(row.after))
    };
    let labels: Vec<String> =
        folds.iter().enumerate().skip(from).map(|(at, row)| label(at, row)).collect();
    let room = labels.iter().map(|text| text.width()).max().unwrap_or(0);
    let columns = style.width.saturating_sub(room + 5).clamp(8, events.max(8));
    let head = format!("  {:>4} {:>8}   {:<8}", "fold", "tokens", "after");
    let space = " ".repeat((room + 4).saturating_sub(head.width()));
    let last = number(events.saturating_sub(1) as u64);
    let drawn = events.min(columns);
    let axis = format!("#0{}#{last}", " ".repeat(drawn.saturating_sub(last.len() + 3)));
    page.text += &format!("\n{}\n", style.paint(OutputColor::Dim, &format!("{head}{space}{axis}")));
    if from > 0 {
        page.text += &format!("  … {} before\n", plural(from as u64, "fold"));
    }
    for (row, label) in folds[from..].iter().zip(&labels) {
        let space = " ".repeat(room - label.width());
        let text = strip(style, &cells(row), events, columns);
        page.text += &format!("  {label}{space}  {text}\n");
    }
    page.text.push('\n');
    page.text += &legend(style, folds);
    let per = events.div_ceil(columns);
    let scale = match per {
        0 | 1 => "one column a message".to_owned(),
        per => format!("a column is up to {per} messages and shows what became of most of them"),
    };
    let hint = format!("  {scale}; --fold=N tells what fold N did\n");
    page.text += &style.paint(OutputColor::Dim, &hint);
}

/// The fates of the events of one fold, drawn in the given number of columns.
fn strip(style: &OutputStyle, cells: &[FabricCell], events: usize, columns: usize) -> String {
    let shown = weave::strip(cells, events, columns);
    shown.into_iter().map(|cell| painted(style, cell).0).collect()
}

fn legend(style: &OutputStyle, folds: &[FoldRow]) -> String {
    let there =
        |cell: &FabricCell| folds.iter().any(|row| row.fates.iter().any(|(c, _)| c == cell));
    let names = ALL.into_iter().filter(there).map(|cell| {
        let (glyph, name) = painted(style, cell);
        format!("{glyph} {name}")
    });
    format!("  {}\n", names.collect::<Vec<_>>().join("   "))
}

/// Adds the details of the last of these folds to the page.
fn one(page: &mut LabelledPage<'_>, log: &EventLog, folds: &[FoldRow]) {
    let Some(row) = folds.last() else { return };
    let style = page.style;
    let cells = cells(row);
    page.section(&format!("Fold {}, before message #{}", folds.len(), row.at));
    page.field("context", &format!("{} → {} tokens", number(row.before), number(row.after)));
    let columns = style.width.saturating_sub(4).clamp(8, cells.len().max(8));
    page.text += &format!("\n  {}\n\n", strip(style, &cells, cells.len(), columns));
    for cell in ALL {
        let all: Vec<usize> = (0..cells.len()).filter(|at| cells[*at] == cell).collect();
        if all.is_empty() {
            continue;
        }
        let tokens: u64 = all.iter().map(|at| log.tokens_in(*at..*at + 1)).sum();
        let (glyph, name) = painted(style, cell);
        page.text += &format!(
            "  {glyph} {name}: {} of {} tokens, {}\n",
            plural(all.len() as u64, "message"),
            number(tokens),
            ranges(&all)
        );
        if matches!(cell, FabricCell::Stub | FabricCell::Clipped) {
            reasons(page, folds, &all);
        }
        if matches!(cell, FabricCell::Pinned | FabricCell::Repaired) {
            first_lines(page, log, &all);
        }
    }
    if let Some(recap) = &row.recap {
        page.section(&format!("Recap, {} tokens", number(row.recap_tokens)));
        let lines: Vec<&str> = recap.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(RECAP_LINES) {
            page.text += &format!("  {}\n", cut(line, style.width.saturating_sub(4)));
        }
        let more = lines.len().saturating_sub(RECAP_LINES) as u64;
        if more > 0 {
            let more = format!("  … {} more\n", plural(more, "line"));
            page.text += &style.paint(OutputColor::Dim, &more);
        }
    }
}

/// The numbers as ranges: `#2–#134, #140`. At most [`LISTED`] ranges are named.
fn ranges(all: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in all {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *at => *end = *at,
            _ => runs.push((*at, *at)),
        }
    }
    let text = |(from, to): &(usize, usize)| match from == to {
        true => format!("#{from}"),
        false => format!("#{from}–#{to}"),
    };
    let mut out: Vec<String> = runs.iter().take(LISTED).map(text).collect();
    if runs.len() > LISTED {
        out.push(format!("… {} more", plural((runs.len() - LISTED) as u64, "place")));
    }
    out.join(", ")
}

/// Adds the reasons for the edits of these messages to the page, each with the number of messages.
fn reasons(page: &mut LabelledPage<'_>, folds: &[FoldRow], all: &[usize]) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for at in all {
        let reason = |seq| folds.iter().rev().find_map(|row| row.why.get(&seq));
        let why = u32::try_from(*at).ok().and_then(reason);
        *counts.entry(why.map_or("by an earlier fold", String::as_str)).or_default() += 1;
    }
    for (why, count) in counts {
        page.text += &format!("      {:>5}  {why}\n", number(count));
    }
}

fn first_lines(page: &mut LabelledPage<'_>, log: &EventLog, all: &[usize]) {
    for at in all.iter().take(LISTED) {
        let Some(event) = log.events().get(*at) else { continue };
        let text = message_text(&event.bytes, &event.view, ArgumentTexts::Sent);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line = cut(line.trim(), page.style.width.saturating_sub(24));
        page.text += &format!("      #{at:<5} {} {line}\n", event.view.role.name());
    }
}

/// The text cut to the given number of columns. Control characters become spaces: they could move the cursor.
fn cut(text: &str, width: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if clean.width() <= width {
        return clean;
    }
    let mut out = String::new();
    for c in clean.chars() {
        if out.width() + 2 > width {
            break;
        }
        out.push(c);
    }
    out + "…"
}
