//! The comparison of strategies in the terminal: retention and cost, one line for each strategy.

use std::collections::HashSet;

use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{KeptShare, ReplayMeasures, percentile};
use unicode_width::UnicodeWidthStr;

use crate::output::{OutputColor, OutputStyle};
use crate::replay::line::StrategyLine;
use crate::replay::strategies::StrategyRun;
use crate::replay::work::{RunOutcome, WorkOutcome};
use crate::replay::{chart, cold};
use crate::words::{grouped, number, plural, wrap};

/// The columns between two cells. The first of them has the mark of the best figure.
const GAP: usize = 2;
/// The text of a cell without a figure.
const NOTHING: &str = "–";

/// Which figures of a column are the best.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BestEnd {
    High,
    Low,
    None,
}

/// Computes the figure of a strategy. `None` where it has none.
type StrategyFigure<'a> = Box<dyn Fn(&StrategyLine<'_>) -> Option<f64> + 'a>;

/// A column of the table: its name, its best end, and the figure of each strategy.
struct FigureColumn<'a> {
    name: &'static str,
    best: BestEnd,
    value: StrategyFigure<'a>,
    text: fn(f64) -> String,
    /// On a narrow terminal the columns with the highest number are left out first. Columns with 0 always stay.
    spare: u8,
}

/// The tables of all windows, one after the other.
pub fn report(
    style: &OutputStyle,
    runs: &[StrategyRun],
    outcome: &WorkOutcome,
    prices: &PriceTable,
) -> String {
    let mut out = String::new();
    let mut windows: Vec<u64> = runs.iter().map(|run| run.window).collect();
    windows.dedup();
    let (mut shown, mut columns) = (0, Vec::new());
    for window in &windows {
        let all = runs.iter().zip(&outcome.results).filter(|(run, _)| run.window == *window);
        let lines = lines(all);
        shown += usize::from(lines.iter().any(|line| line.ran.conversations > 0));
        out += &one_window(style, *window, &lines, prices, &mut columns);
        out += &left_out(style, &lines, &outcome.conversations);
        out += &chart::picture(style, &lines);
    }
    if shown > 0 {
        out += &legend(style, prices, &columns);
    }
    out
}

/// The strategies of one window, sorted by at-risk retention, with `fair` and `front` filled in.
fn lines<'a>(
    all: impl Iterator<Item = (&'a StrategyRun, &'a RunOutcome)>,
) -> Vec<StrategyLine<'a>> {
    let line = |(run, ran): (&'a StrategyRun, &'a RunOutcome)| {
        let sum = &ran.totals;
        let fair = sum.requests > 0 && sum.over == 0 && sum.invalid == 0;
        StrategyLine { run, ran, fair, front: false }
    };
    let mut lines: Vec<StrategyLine<'a>> = all.map(line).collect();
    // Only the raw history got through some conversations. Those are not held against any strategy.
    let through: HashSet<usize> = lines
        .iter()
        .filter(|line| !line.run.is_raw())
        .flat_map(|line| line.ran.each.iter().filter(|(_, outcome)| outcome.is_ok()))
        .map(|(at, _)| *at)
        .collect();
    for line in &mut lines {
        // A strategy that failed where another one got through would be compared on fewer conversations.
        let missing = line.failed().any(|(at, _)| through.contains(&at));
        line.fair &= !missing;
    }
    let figures = |line: &StrategyLine<'_>| (line.sum().at_risk.ratio(), line.sum().cost_ratio());
    let fair: Vec<(f64, f64)> = lines.iter().filter(|line| line.fair).map(figures).collect();
    for line in &mut lines {
        let (recall, cost) = figures(line);
        let beaten =
            fair.iter().any(|(r, c)| *r >= recall && *c <= cost && (*r > recall || *c < cost));
        line.front = line.fair && !beaten;
    }
    let key =
        |line: &StrategyLine<'_>| if line.sum().requests > 0 { figures(line).0 } else { -1.0 };
    // A strategy without a request has no figures and comes last.
    lines.sort_by(|a, b| key(b).total_cmp(&key(a)));
    lines
}

/// The tables of one window. The names of their columns are added to `shown`, for the legend.
fn one_window(
    style: &OutputStyle,
    window: u64,
    lines: &[StrategyLine<'_>],
    prices: &PriceTable,
    shown: &mut Vec<&'static str>,
) -> String {
    let conversations = lines.iter().map(|line| line.ran.conversations).max().unwrap_or(0);
    let requests = lines.iter().map(|line| line.sum().requests).max().unwrap_or(0);
    let title = format!(
        "window {}: {}, {}",
        number(window),
        plural(conversations as u64, "conversation"),
        plural(requests, "request")
    );
    let mut out = format!("\n{}\n\n", style.paint(OutputColor::Bold, &title));
    if conversations == 0 {
        return out + "  no conversation is long enough for this window\n";
    }
    out += &grid(style, lines, judged(window, prices), shown);
    out += "\n";
    out += &grid(style, lines, details(), shown);
    if let Some(text) = cold::sentence(lines, prices) {
        out += "\n";
        out += &paragraph(style, OutputColor::Dim, &text);
    }
    for line in lines.iter().filter(|line| line.ran.totals.summaries > 0) {
        let sum = &line.ran.totals;
        let text = format!(
            "{}: {} asked for, {} accepted; what they cost is in its cost",
            line.label(),
            plural(sum.summaries, "narration"),
            number(sum.accepted)
        );
        out += "\n";
        out += &paragraph(style, OutputColor::Dim, &text);
    }
    out
}

/// The conversations that each strategy did not get through, and the reason for the first.
fn left_out(
    style: &OutputStyle,
    lines: &[StrategyLine<'_>],
    conversations: &[midfold_eval::ConversationFacts],
) -> String {
    /// The most conversations that are named.
    const NAMED: usize = 3;
    let mut out = String::new();
    for line in lines {
        let failed: Vec<_> = line.failed().collect();
        let Some((_, why)) = failed.first() else { continue };
        let about = failed.iter().take(NAMED).filter_map(|(at, _)| conversations.get(*at));
        let mut names = about.map(|about| about.name.as_str()).collect::<Vec<_>>().join(", ");
        let more = failed.len().saturating_sub(NAMED);
        if more > 0 {
            names += &format!(" and {more} more");
        }
        let text = format!(
            "{}: {} of {} left out, and not in its figures: {names}. {}: {}",
            line.label(),
            failed.len(),
            plural(line.ran.conversations as u64, "conversation"),
            if failed.len() > 1 { "The first" } else { "Why" },
            grouped(why)
        );
        out += "\n";
        out += &paragraph(style, OutputColor::Yellow, &text);
    }
    out
}

/// Text of the full width, below the table.
fn paragraph(style: &OutputStyle, color: OutputColor, text: &str) -> String {
    let lines = wrap(text, style.width.saturating_sub(4));
    lines.iter().map(|line| format!("  {}\n", style.paint(color, line))).collect()
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn whole(value: f64) -> String {
    number(value as u64)
}

fn one(value: f64) -> String {
    format!("{value:.1}")
}

fn dear(value: f64) -> String {
    if value < 100.0 { format!("{value:.3}") } else { number(value as u64) }
}

/// The share that was kept. `None` where nothing was needed.
fn of(share: KeptShare) -> Option<f64> {
    (share.need > 0).then(|| share.ratio())
}

/// The columns that strategies are chosen by.
fn judged(window: u64, prices: &PriceTable) -> Vec<FigureColumn<'static>> {
    let column = |name, best, value: fn(&ReplayMeasures) -> Option<f64>, text| FigureColumn {
        name,
        best,
        value: Box::new(move |line| value(line.sum())),
        text,
        spare: 0,
    };
    let mut columns = vec![
        column("at risk", BestEnd::High, |m| of(m.at_risk), three),
        column("retention", BestEnd::High, |m| of(m.recall), three),
        column("rare", BestEnd::High, |m| of(m.rare), three),
        column("rules", BestEnd::High, |m| of(m.rules), three),
        FigureColumn {
            name: "mean",
            best: BestEnd::None,
            value: Box::new(move |line| Some(line.sum().mean_context() / window as f64)),
            text: three,
            spare: 0,
        },
        column("cost", BestEnd::Low, |m| (m.raw_cost > 0).then(|| m.cost_ratio()), three),
    ];
    if prices.unit != "tokens" {
        columns.push(column("USD", BestEnd::Low, |m| Some(m.price), dear));
    }
    columns.push(column("over", BestEnd::None, |m| Some(m.over as f64), whole));
    columns.push(column("invalid", BestEnd::None, |m| Some(m.invalid as f64), whole));
    columns
}

/// The columns that explain the others.
fn details() -> Vec<FigureColumn<'static>> {
    let column = |name, best, spare, value: fn(&ReplayMeasures) -> Option<f64>, text| {
        FigureColumn { name, best, value: Box::new(move |line| value(line.sum())), text, spare }
    };
    let reach = |m: &ReplayMeasures| {
        let searched = m.reachable.need > 0 || m.at_risk.have == m.at_risk.need;
        (m.at_risk.need > 0 && searched).then(|| m.within_reach())
    };
    vec![
        column("in reach", BestEnd::High, 1, reach, three),
        column("changed", BestEnd::High, 0, |m| of(m.modified), three),
        column("read", BestEnd::High, 0, |m| of(m.read), three),
        column("re-reads", BestEnd::Low, 2, |m| (m.folds > 0).then_some(m.rereads as f64), whole),
        column("folds", BestEnd::None, 3, |m| Some(m.folds as f64), whole),
        column("breaks", BestEnd::Low, 0, |m| Some(m.breaks as f64), whole),
        column("cached", BestEnd::High, 4, |m| Some(m.hit_share()), three),
        column("peak", BestEnd::None, 5, |m| Some(m.peak as f64), whole),
        column(
            "fold ms",
            BestEnd::None,
            0,
            |m| percentile(&m.fold_time, 0.5).map(|nanos| nanos as f64 / 1e6),
            one,
        ),
    ]
}

/// A table that fits the terminal: spare columns are left out until it does.
fn grid(
    style: &OutputStyle,
    lines: &[StrategyLine<'_>],
    mut columns: Vec<FigureColumn<'_>>,
    shown: &mut Vec<&'static str>,
) -> String {
    let names: Vec<String> = lines.iter().map(StrategyLine::label).collect();
    let first = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let width = |column: &FigureColumn<'_>| {
        let cells = lines.iter().map(|line| cell(column, line).width());
        cells.max().unwrap_or(0).max(column.name.width()) + GAP
    };
    let room = style.width.saturating_sub(first + 5);
    while columns.iter().map(width).sum::<usize>() > room {
        let Some(spare) = columns.iter().map(|c| c.spare).max().filter(|spare| *spare > 0) else {
            break;
        };
        columns.retain(|column| column.spare != spare);
    }
    shown.extend(columns.iter().map(|column| column.name));
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let mut head = format!("    {}", " ".repeat(first));
    for (column, width) in columns.iter().zip(&widths) {
        head += &format!("{:>1$} ", column.name, width - 1);
    }
    let mut out = style.paint(OutputColor::Dim, head.trim_end()) + "\n";
    let best: Vec<Option<f64>> = columns.iter().map(|column| best(column, lines)).collect();
    for (line, name) in lines.iter().zip(&names) {
        let mark = if line.front { "◆" } else { " " };
        let space = " ".repeat(first - name.width());
        let mut row = format!(
            "  {} {}{space}",
            style.paint(OutputColor::Green, mark),
            style.paint(OutputColor::Bold, name)
        );
        for ((column, width), best) in columns.iter().zip(&widths).zip(&best) {
            let text = cell(column, line);
            let space = " ".repeat((width - 1).saturating_sub(text.width()));
            let wins = line.fair && best.is_some_and(|best| best_is(column, line, best));
            let bad = ["over", "invalid"].contains(&column.name) && text != "0" && text != NOTHING;
            row += &space;
            row += &match (wins, bad) {
                (true, _) => style.paint(OutputColor::Green, &text) + "*",
                (false, true) => style.paint(OutputColor::Red, &text) + " ",
                (false, false) => text + " ",
            };
        }
        out += row.trim_end();
        out.push('\n');
    }
    out
}

fn cell(column: &FigureColumn<'_>, line: &StrategyLine<'_>) -> String {
    let value = (column.value)(line).filter(|_| line.sum().requests > 0);
    value.map_or(NOTHING.to_owned(), |value| (column.text)(value))
}

/// The best figure of a column among the fair strategies. `None` where all of them show the same.
fn best(column: &FigureColumn<'_>, lines: &[StrategyLine<'_>]) -> Option<f64> {
    let fair = lines.iter().filter(|line| line.fair);
    let values: Vec<f64> = fair.filter_map(|line| (column.value)(line)).collect();
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    let best_value = match column.best {
        BestEnd::High => most,
        BestEnd::Low => least,
        BestEnd::None => return None,
    };
    ((column.text)(least) != (column.text)(most)).then_some(best_value)
}

/// Whether a figure is as good as the best one when both are rounded as shown.
fn best_is(column: &FigureColumn<'_>, line: &StrategyLine<'_>, best: f64) -> bool {
    (column.value)(line).is_some_and(|value| (column.text)(value) == (column.text)(best))
}

/// The meaning of the columns, once below the tables of all windows.
fn legend(style: &OutputStyle, prices: &PriceTable, shown: &[&str]) -> String {
    let mut meanings = vec![
        (
            "at risk",
            "of the names (paths, symbols, ids, numbers …) that the agent used next and that are not in the newest 12,000 characters, the share that the context held",
        ),
        ("retention", "the same of all names of the history"),
        ("rare", "at risk by a second reader: words that occurred fewer than 5 times"),
        ("rules", "what the user said must, never, always … be done, held word for word"),
        ("mean", "context, in windows"),
        ("cost", "with a prompt cache, in times the raw history"),
    ];
    let usd = format!("all prompts by the prices of {}", prices.name);
    if prices.unit != "tokens" {
        meanings.push(("USD", &usd));
    }
    meanings.extend([
        ("over", "requests above the window"),
        ("invalid", "requests that a provider would refuse"),
        ("in reach", "at risk, with one search over the log"),
        ("changed", "files that calls changed before the fold and the context names so"),
        ("read", "the same of files that they read"),
        ("re-reads", "reads of a file whose contents a fold took"),
        ("folds", "contexts that were made anew"),
        ("breaks", "requests that do not begin with the one before"),
        ("cached", "share of all tokens that a cache serves"),
        ("peak", "tokens of the largest context"),
        ("fold ms", "median time of a fold"),
    ]);
    meanings.retain(|(name, _)| shown.contains(name));
    let text: Vec<String> = meanings.iter().map(|(name, text)| format!("{name}: {text}")).collect();
    let mut out = "\n".to_owned();
    out += &paragraph(style, OutputColor::Dim, &(text.join("; ") + "."));
    out += &paragraph(
        style,
        OutputColor::Dim,
        "* best of its column; ◆ no other is better at one of at risk and cost and as good at the \
         other. Both among strategies that got through every conversation that any did, none over \
         the window, none invalid.",
    );
    out
}
