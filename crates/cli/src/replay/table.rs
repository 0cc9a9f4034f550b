//! The comparison in the terminal: one line a strategy, and a small picture.

use midfold::core::replay::percentile;

use crate::output::{Color, Style};
use crate::replay::strategies::Run;
use crate::replay::work::{Outcome, Ran};
use crate::report::number;
use crate::table::Table;

/// All windows, one after the other.
pub fn report(style: &Style, runs: &[Run], outcome: &Outcome) -> String {
    let mut out = String::new();
    let mut windows: Vec<u64> = runs.iter().map(|run| run.window).collect();
    windows.dedup();
    for window in windows {
        let ran = runs.iter().zip(&outcome.results).filter(|(run, _)| run.window == window);
        let ran: Vec<_> = ran.collect();
        out += &one_window(style, window, &ran);
    }
    out
}

fn one_window(style: &Style, window: u64, ran: &[(&Run, &Ran)]) -> String {
    let conversations = ran.iter().map(|(_, ran)| ran.conversations).max().unwrap_or(0);
    let requests = ran.iter().map(|(_, ran)| ran.totals.requests).max().unwrap_or(0);
    let title = format!(
        "window {}: {} conversations, {} requests",
        number(window),
        number(conversations as u64),
        number(requests)
    );
    let mut out = format!("\n{}\n", style.paint(Color::Bold, &title));
    if conversations == 0 {
        return out + "  no conversation is long enough\n";
    }
    let names = [
        "", "at risk", "recall", "rare", "rules", "changed", "read", "mean", "cost", "breaks",
        "over", "invalid", "fold ms",
    ];
    let mut table = Table::new(names).right(1..13).color(0, Color::Bold);
    for (run, ran) in ran {
        table.row(row(run, ran));
    }
    out += &table.render(style, 2);
    out += &picture(style, ran);
    for (run, ran) in ran {
        let failed: Vec<&String> = ran.each.iter().filter_map(|(_, r)| r.as_ref().err()).collect();
        if let Some(first) = failed.first() {
            let text = format!("  {}: {} left out: {first}\n", run.name, failed.len());
            out += &style.paint(Color::Yellow, &text);
        }
    }
    out
}

fn row(run: &Run, ran: &Ran) -> [String; 13] {
    let sum = &ran.totals;
    let three = |ratio: f64| format!("{ratio:.3}");
    let of = |share: midfold::core::replay::Share| match share.need {
        0 => "–".to_owned(),
        _ => three(share.ratio()),
    };
    let fold = percentile(&sum.fold_time, 0.5);
    [
        label(run),
        of(sum.at_risk),
        of(sum.recall),
        of(sum.rare),
        of(sum.rules),
        of(sum.modified),
        of(sum.read),
        three(sum.mean_context() / run.window as f64),
        three(sum.cost_ratio()),
        number(sum.breaks),
        number(sum.over),
        number(sum.invalid),
        fold.map_or("–".to_owned(), |nanos| format!("{:.1}", nanos as f64 / 1e6)),
    ]
}

/// Its name, and its form where that is not the usual one.
pub fn label(run: &Run) -> String {
    match run.form {
        "stateless" => run.name.clone(),
        form => format!("{} ({form})", run.name),
    }
}

/// Rows of the picture.
const HEIGHT: usize = 10;

/// At-risk recall (up) against cost (right), one letter a strategy.
fn picture(style: &Style, ran: &[(&Run, &Ran)]) -> String {
    let points: Vec<(usize, f64, f64)> = ran
        .iter()
        .enumerate()
        .filter(|(_, (_, ran))| ran.totals.at_risk.need > 0 && ran.totals.cost > 0)
        .map(|(at, (_, ran))| (at, ran.totals.cost_ratio(), ran.totals.at_risk.ratio()))
        .collect();
    if points.len() < 2 {
        return String::new();
    }
    let width = style.width.saturating_sub(40).clamp(20, 60);
    let (low, high) = range(points.iter().map(|(_, cost, _)| *cost));
    let mut cells = vec![vec![' '; width]; HEIGHT];
    for (at, cost, recall) in &points {
        let x = ((cost - low) / (high - low) * (width - 1) as f64).round() as usize;
        let y = ((1.0 - recall) * (HEIGHT - 1) as f64).round() as usize;
        let (x, y) = (x.min(width - 1), y.min(HEIGHT - 1));
        // Where two meet, the next free place to the right says so.
        let x = (x..width).find(|x| cells[y][*x] == ' ').unwrap_or(x);
        cells[y][x] = letter(*at);
    }
    let mut legend = points.iter().map(|(at, ..)| format!("{} {}", letter(*at), label(ran[*at].0)));
    let mut out = String::from("\n");
    for (at, line) in cells.iter().enumerate() {
        let scale = match at {
            0 => "1.0",
            at if at == HEIGHT - 1 => "0.0",
            _ => "   ",
        };
        let line: String = line.iter().collect();
        let names = legend.next().unwrap_or_default();
        out += &format!("  {} {line}  {names}\n", style.paint(Color::Dim, &format!("{scale} │")));
    }
    for rest in legend {
        out += &format!("  {}  {rest}\n", " ".repeat(width + 6));
    }
    let axis = format!("      └{}", "─".repeat(width));
    let scale = format!("       {low:<.2}{:>1$.2}", high, width.saturating_sub(4));
    let about = "       up: at-risk recall; right: cost, 1 is the raw history";
    out + &style.paint(Color::Dim, &format!("{axis}\n{scale}\n{about}\n"))
}

fn letter(at: usize) -> char {
    (b'a'..=b'z').chain(b'A'..=b'Z').nth(at).map_or('*', char::from)
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
    if high - low < 1e-9 { (low - 0.01, high + 0.01) } else { (low, high) }
}
