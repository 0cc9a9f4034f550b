//! A search in the terminal: the front, what each knob does, what is chosen, and whether it holds.

use midfold::core::replay::{Measures, Share};
use midfold::core::tune::{Gain, KNOBS, Point, Prefer, Trial, Verdict, changes};

use crate::output::{Color, Style};
use crate::table::Table;
use crate::tune::tuned::{BASE, Tuned};
use crate::tune::work::Half;
use crate::words::{number, plural, wrap};

/// Most points of the front that are listed.
const LISTED: usize = 12;
/// Rows of the picture.
const HEIGHT: usize = 9;

pub fn report(style: &Style, tuned: &Tuned<'_>) -> String {
    let listed = listed(tuned);
    let mut out = head(style, tuned);
    out += &front(style, tuned, &listed);
    out += &picture(style, tuned, &listed);
    out += &knobs(style, tuned);
    out += &chosen(style, tuned, &listed);
    out += &held(style, tuned);
    out += &verdict(style, tuned);
    if let Some(first) = tuned.left_out.first() {
        let count = number(tuned.left_out.len() as u64);
        let text = format!("{count} left out, `{BASE}` cannot replay it: {first}");
        out += &format!("\n{}", lines(style, Color::Yellow, &text));
    }
    out + &crate::replay::left_out(style, &tuned.bench.skipped)
}

/// What is wanted, in words.
pub fn wish(prefer: Prefer) -> &'static str {
    match prefer {
        Prefer::Recall => "the best at-risk retention at no more than the cost of `default`",
        Prefer::Cost => "the least cost at no less than the at-risk retention of `default`",
        Prefer::Balance => "the most at-risk retention less cost",
    }
}

/// The windows, in words.
pub fn windows(windows: &[u64]) -> String {
    let list: Vec<String> = windows.iter().map(|window| number(*window)).collect();
    format!("{} {}", if list.len() == 1 { "window" } else { "windows" }, list.join(" and "))
}

/// The halves, in words.
pub fn halves(tuned: &Tuned<'_>) -> String {
    let all = tuned.searched.len() + tuned.held.len();
    if tuned.held.is_empty() {
        let one = if all == 1 {
            "1 conversation"
        } else {
            &format!("{all} conversations of one session")
        };
        return format!("{one}; nothing is held out");
    }
    let (searched, held) = (tuned.searched.len(), tuned.held.len());
    format!("{all} conversations; {searched} to search on, {held} held out")
}

fn head(style: &Style, tuned: &Tuned<'_>) -> String {
    let title = format!("{}: {}", windows(tuned.bench.windows), halves(tuned));
    let tries = match tuned.found.trials.len() {
        1 => "1 policy".to_owned(),
        count => format!("{} policies", number(count as u64)),
    };
    let fit = tuned.found.trials.iter().filter(|trial| trial.fit).count();
    let unfit = tuned.found.trials.len() - fit;
    let mut about = format!("{tries} tried; wanted: {}.", wish(tuned.prefer));
    if unfit > 0 {
        about += &format!(
            " {} out of the running: over the window, invalid, not possible somewhere, or \
             more than 0.01 below `{BASE}` in rules, rare words or files.",
            number(unfit as u64)
        );
    }
    format!("\n{}\n", style.paint(Color::Bold, &title)) + &lines(style, Color::Dim, &about)
}

/// A text, wrapped and set in.
fn lines(style: &Style, color: Color, text: &str) -> String {
    let wrapped = wrap(text, style.width.saturating_sub(2));
    wrapped.iter().map(|line| format!("  {}\n", style.paint(color, line))).collect()
}

/// The trials that are listed: the front, thinned where it is long, and the base.
fn listed(tuned: &Tuned<'_>) -> Vec<usize> {
    let front = &tuned.found.front;
    let every = front.len().div_ceil(LISTED).max(1);
    let kept = |at: usize, trial: usize| {
        at.is_multiple_of(every) || at + 1 == front.len() || trial == tuned.found.chosen
    };
    let mut listed: Vec<usize> = front
        .iter()
        .enumerate()
        .filter(|(at, trial)| kept(*at, **trial) && **trial != 0)
        .map(|(_, trial)| *trial)
        .collect();
    listed.push(0);
    let cost = |at: &usize| tuned.found.trials[*at].point.cost;
    listed.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    listed
}

const FIGURES: [&str; 7] = ["at risk", "retention", "rare", "rules", "mean", "cost", "folds"];

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn share(share: Share) -> String {
    if share.need == 0 { "–".to_owned() } else { three(share.ratio()) }
}

/// The cost ratio that the search went by.
pub fn cost(tuned: &Tuned<'_>, measures: &Measures) -> f64 {
    match tuned.priced && measures.raw_price > 0.0 {
        true => measures.price / measures.raw_price,
        false => measures.cost_ratio(),
    }
}

fn figures(tuned: &Tuned<'_>, half: &Half, measures: Option<&Measures>) -> [String; 7] {
    let Some(sum) = measures else { return std::array::from_fn(|_| "–".to_owned()) };
    [
        share(sum.at_risk),
        share(sum.recall),
        share(sum.rare),
        share(sum.rules),
        three(mean(tuned, half, sum)),
        three(cost(tuned, sum)),
        number(sum.folds),
    ]
}

/// Mean context, as a share of the window.
pub fn mean(tuned: &Tuned<'_>, half: &Half, measures: &Measures) -> f64 {
    measures.tokens as f64 / tuned.bench.room(half).max(1.0)
}

/// What a policy changes, on one line.
fn changed(tuned: &Tuned<'_>, trial: &Trial) -> String {
    let list: Vec<String> = changes(tuned.base, &trial.policy)
        .into_iter()
        .map(|change| format!("{} {}", change.key, value(&change.to)))
        .collect();
    if list.is_empty() { format!("nothing: this is `{BASE}`") } else { list.join(", ") }
}

/// A value, short.
fn value(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(list) => {
            list.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>().join("+")
        }
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn front(style: &Style, tuned: &Tuned<'_>, listed: &[usize]) -> String {
    let title = match tuned.searched.len() == 1 {
        true => "Front, on the conversation it was searched on".to_owned(),
        false => format!(
            "Front, on the {} it was searched on",
            plural(tuned.searched.len() as u64, "conversation")
        ),
    };
    let mut out = format!("\n{}\n", style.paint(Color::Bold, &title));
    let [a, b, c, d, e, f, g] = FIGURES;
    let table = Table::new(["", a, b, c, d, e, f, g, "changes"]);
    let mut table = table.right(1..8).color(0, Color::Bold).color(8, Color::Cyan);
    for at in listed {
        let trial = &tuned.found.trials[*at];
        let [a, b, c, d, e, f, g] = figures(tuned, &tuned.searched, trial.total.as_ref());
        let mut name = letter(listed, *at).to_string();
        if *at == tuned.found.chosen && *at != 0 {
            name.push('*');
        }
        table.row([name, a, b, c, d, e, f, g, changed(tuned, trial)]);
    }
    out += &table.render(style, 2);
    let hidden = tuned.found.front.iter().filter(|at| !listed.contains(at)).count();
    if hidden > 0 {
        out += &lines(style, Color::Dim, &format!("and {} between them", number(hidden as u64)));
    }
    out
}

/// `D` for the base, else a letter by place.
fn letter(listed: &[usize], trial: usize) -> char {
    if trial == 0 {
        return 'D';
    }
    let place = listed.iter().filter(|at| **at != 0).position(|at| *at == trial);
    place.and_then(|place| (b'a'..=b'z').nth(place)).map_or('?', char::from)
}

/// At-risk retention (up) against cost (right): every policy that was tried, the front by letters.
fn picture(style: &Style, tuned: &Tuned<'_>, listed: &[usize]) -> String {
    let shown = |trial: &&Trial| trial.total.is_some();
    let points: Vec<Point> = tuned.found.trials.iter().filter(shown).map(|t| t.point).collect();
    if listed.len() < 2 || points.len() < 2 {
        return String::new();
    }
    // The scale is that of the front: what is far away is at the rim.
    let on = |figure: fn(&Point) -> f64| {
        let values = listed.iter().map(|at| figure(&tuned.found.trials[*at].point));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let room = ((high - low) * 0.15).max(0.002);
        (low - room, high + room)
    };
    let ((left, right), (bottom, top)) = (on(|p| p.cost), on(|p| p.recall));
    let width = style.width.saturating_sub(14).clamp(20, 66);
    let mut cells = vec![vec![' '; width]; HEIGHT];
    let place = |at: f64, low: f64, high: f64, most: usize| {
        (((at - low) / (high - low)).clamp(0.0, 1.0) * (most - 1) as f64).round() as usize
    };
    let cell = |point: &Point| {
        (
            place(point.cost, left, right, width),
            HEIGHT - 1 - place(point.recall, bottom, top, HEIGHT),
        )
    };
    for point in points.iter().filter(|p| p.recall >= bottom && p.cost <= right && p.cost >= left) {
        let (x, y) = cell(point);
        cells[y][x] = '·';
    }
    for at in listed {
        let (x, y) = cell(&tuned.found.trials[*at].point);
        // Where two meet, the next free place to the right says so.
        let x = (x..width).find(|x| matches!(cells[y][*x], ' ' | '·')).unwrap_or(x);
        cells[y][x] = letter(listed, *at);
    }
    let mut out = String::from("\n");
    for (at, line) in cells.iter().enumerate() {
        let scale = match at {
            0 => three(top.min(1.0)),
            at if at == HEIGHT - 1 => three(bottom),
            _ => "     ".to_owned(),
        };
        let line: String = line.iter().collect();
        let line = format!("  {} {line}", style.paint(Color::Dim, &format!("{scale} │")));
        out += line.trim_end();
        out.push('\n');
    }
    let axis = format!("        └{}", "─".repeat(width + 1));
    let scale = format!("         {left:<.3}{right:>room$.3}", room = width.saturating_sub(4));
    let about = "          up: at-risk retention, right: cost; D `default`, · other policies";
    out + &style.paint(Color::Dim, &format!("{axis}\n{scale}\n{about}\n"))
}

/// What one step of a knob did.
struct Effect {
    key: &'static str,
    steps: usize,
    recall: (f64, f64),
    cost: (f64, f64),
}

impl Effect {
    fn size(&self) -> f64 {
        [self.recall.0, self.recall.1, self.cost.0, self.cost.1]
            .into_iter()
            .fold(0.0, |most, value| value.abs().max(most))
    }
}

fn effects(tuned: &Tuned<'_>) -> Vec<Effect> {
    let trials = &tuned.found.trials;
    let mut effects: Vec<Effect> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.total.is_some()) {
        let Some((from, knob)) = trial.from else { continue };
        let by = |figure: fn(&Point) -> f64| figure(&trial.point) - figure(&trials[from].point);
        let (recall, cost) = (by(|p| p.recall), by(|p| p.cost));
        let key = KNOBS[knob].key;
        let widen = |range: &mut (f64, f64), v: f64| *range = (range.0.min(v), range.1.max(v));
        match effects.iter_mut().find(|effect| effect.key == key) {
            Some(effect) => {
                effect.steps += 1;
                widen(&mut effect.recall, recall);
                widen(&mut effect.cost, cost);
            }
            None => {
                effects.push(Effect { key, steps: 1, recall: (recall, recall), cost: (cost, cost) })
            }
        }
    }
    effects.sort_by(|a, b| b.size().total_cmp(&a.size()).then(a.key.cmp(b.key)));
    effects
}

/// `+0.012`, `−0.004`, `0`.
fn signed(value: f64) -> String {
    let text = format!("{:.3}", value.abs());
    match text.as_str() {
        "0.000" => "0".to_owned(),
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

fn knobs(style: &Style, tuned: &Tuned<'_>) -> String {
    let effects = effects(tuned);
    if effects.is_empty() {
        return String::new();
    }
    let mut out =
        format!("\n{}\n", style.paint(Color::Bold, "What one step of a knob changed there"));
    let names = ["", "steps", "at risk, worst", "best", "cost, least", "most"];
    let mut table = Table::new(names).right(1..6).color(0, Color::Cyan);
    let (moves, still): (Vec<_>, Vec<_>) = effects.iter().partition(|e| e.size() >= 0.0005);
    for effect in moves {
        table.row([
            effect.key.to_owned(),
            effect.steps.to_string(),
            signed(effect.recall.0),
            signed(effect.recall.1),
            signed(effect.cost.0),
            signed(effect.cost.1),
        ]);
    }
    out += &table.render(style, 2);
    if !still.is_empty() {
        let keys: Vec<&str> = still.iter().map(|effect| effect.key).collect();
        out += &lines(style, Color::Dim, &format!("nothing: {}", keys.join(", ")));
    }
    out
}

fn chosen(style: &Style, tuned: &Tuned<'_>, listed: &[usize]) -> String {
    let at = tuned.found.chosen;
    if at == 0 {
        return String::new();
    }
    let word = if tuned.is_better() { "Chosen" } else { "Best found" };
    let title = format!("{word}: {}", letter(listed, at));
    let mut out = format!("\n{}\n", style.paint(Color::Bold, &title));
    let mut table = Table::new(["key", "default", "tuned"]).color(0, Color::Cyan);
    for change in changes(tuned.base, &tuned.found.trials[at].policy) {
        table.row([change.key, value(&change.from), value(&change.to)]);
    }
    out += &table.render(style, 2);
    out
}

fn held(style: &Style, tuned: &Tuned<'_>) -> String {
    let trials = &tuned.found.trials;
    if tuned.found.chosen == 0 {
        return String::new();
    }
    let (title, half, base, other) = match &tuned.on_held {
        Some((base, other)) => {
            let count = tuned.held.len() as u64;
            let title = format!(
                "On the {} held out, {} that the search has not seen",
                plural(count, "conversation"),
                plural(base.requests, "request")
            );
            (title, &tuned.held, Some(base), other.as_ref())
        }
        None => (
            "On the conversation it was searched on (nothing is held out: this flatters)"
                .to_owned(),
            &tuned.searched,
            trials[0].total.as_ref(),
            trials[tuned.found.chosen].total.as_ref(),
        ),
    };
    let mut out = format!("\n{}\n", style.paint(Color::Bold, &title));
    let [a, b, c, d, e, f, g] = FIGURES;
    let names = ["", a, b, c, d, e, f, g];
    let mut table = Table::new(names).right(1..8).color(0, Color::Bold);
    for (name, measures) in [(BASE, base), ("tuned", other)] {
        let [a, b, c, d, e, f, g] = figures(tuned, half, measures);
        table.row([name.to_owned(), a, b, c, d, e, f, g]);
    }
    if let (Some(base), Some(other)) = (base, other) {
        let by = |of: &dyn Fn(&Measures) -> f64| signed(of(other) - of(base));
        table.row([
            "change".to_owned(),
            by(&|m| m.at_risk.ratio()),
            by(&|m| m.recall.ratio()),
            by(&|m| m.rare.ratio()),
            by(&|m| m.rules.ratio()),
            by(&|m| mean(tuned, half, m)),
            by(&|m| cost(tuned, m)),
            format!("{:+}", other.folds.cast_signed() - base.folds.cast_signed())
                .replace('-', "−")
                .replace("+0", "0"),
        ]);
    }
    out += &table.render(style, 2);
    out
}

/// The verdict, in one sentence.
pub fn sentence(tuned: &Tuned<'_>) -> String {
    let gained = |gain: &Gain| {
        let what = match tuned.prefer {
            Prefer::Recall => format!("at-risk retention {}", signed(gain.by)),
            Prefer::Cost => format!("cost {}", signed(-gain.by)),
            Prefer::Balance => format!("at-risk retention less cost {}", signed(gain.by)),
        };
        format!("{what}, noise ±{:.3}", gain.noise)
    };
    match &tuned.verdict {
        Verdict::Better { gain } if tuned.held.is_empty() => format!(
            "Better than `{BASE}` on the one conversation that it was searched on ({}). Nothing is \
             held out, so nobody knows whether it is better on the next.",
            gained(gain)
        ),
        Verdict::Better { gain } => format!(
            "Better than `{BASE}`, on conversations that the search has not seen, too ({}).",
            gained(gain)
        ),
        Verdict::Nothing => {
            format!("Nothing better than `{BASE}` was found. Keep `{BASE}`.")
        }
        Verdict::Noise { gain } => format!(
            "No better than `{BASE}`: what was gained where the search looked is within noise \
             ({}). Keep `{BASE}`.",
            gained(gain)
        ),
        Verdict::NotHeld { gain } if gain.is_real() => format!(
            "No better than `{BASE}`: on the conversations held out it gains, too ({}), but pays \
             for it there: more than noise on the other axis, a context that is over the window or \
             invalid, or rules, rare words or files. Keep `{BASE}`.",
            gained(gain)
        ),
        Verdict::NotHeld { gain } => format!(
            "No better than `{BASE}`: what was gained where the search looked does not hold on the \
             conversations held out ({} there). Keep `{BASE}`.",
            gained(gain)
        ),
    }
}

fn verdict(style: &Style, tuned: &Tuned<'_>) -> String {
    let color = if tuned.is_better() { Color::Green } else { Color::Yellow };
    let mut out = format!("\n{}", lines(style, color, &sentence(tuned)));
    if tuned.is_better() && tuned.args.output.is_none() {
        out += &lines(style, Color::Dim, "-o policy.toml writes it, for --policy");
    }
    out
}
