//! Rows of training sets: what the engine's own passes cost beside a bare JSON scan of the same
//! rows, in one run: `cargo run --release -p midfold-benches --no-default-features --bin
//! trajectories [-- FILE]`. Without a file, rows are generated.
//!
//! Each line is the median and the best of alternating rounds, in processor time of one thread.

use std::hint::black_box;
use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use midfold::core::trajectory::{SummaryPlacement, TrajectoryLimits};
use midfold::formats::scan;
use midfold::formats::trajectory::{
    Bytes4, PlannedRow, Trainer, TrajectoryRow, TrajectorySettings, compress, plan_row, weigh,
};
use midfold::{Counter, core::jsonstr};
use midfold_benches as bench;
use serde::de::IgnoredAny;

const ROUNDS: usize = 15;
/// Rows that are generated.
const ROWS: usize = 200;
/// A target that no row reaches, so that nothing is cut (and nothing need be counted).
const WIDE: u64 = 1 << 40;

fn settings(target: u64) -> TrajectorySettings {
    let limits = TrajectoryLimits {
        target,
        placement: SummaryPlacement::HumanTurn,
        ..TrajectoryLimits::default()
    };
    TrajectorySettings { limits, ..TrajectorySettings::default() }
}

/// What is measured: a name, and one pass over all rows. The first is what all others are beside.
type Pass<'a> = (&'static str, Box<dyn Fn() -> Result<u64> + 'a>);

fn main() -> Result<()> {
    let text = match std::env::args().nth(1) {
        Some(file) => std::fs::read_to_string(&file).with_context(|| file)?,
        None => (0..ROWS).map(|n| bench::trajectory(n) + "\n").collect(),
    };
    let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    ensure!(!rows.is_empty(), "there are no rows");
    let exact = bench::counter("o200k")?;
    // Half of what a row has on average: most are cut.
    let half = (text.len() / rows.len() / 8) as u64;
    let run = |settings: TrajectorySettings, counter: &dyn Counter| {
        let mut out = Vec::with_capacity(text.len() + rows.len());
        for row in &rows {
            let done = compress(row.as_bytes(), &settings, counter)?;
            out.extend_from_slice(done.bytes.as_deref().unwrap_or(row.as_bytes()));
            out.push(b'\n');
        }
        Ok(black_box(out).len() as u64)
    };
    let trained = || TrajectorySettings { trainer: Some(Trainer::LlamaFactory), ..settings(WIDE) };
    let each = |pass: &dyn Fn(&str) -> u64| Ok(rows.iter().map(|row| pass(row)).sum::<u64>());
    let passes: Vec<Pass<'_>> = vec![
        (
            "bare JSON scan (serde_json, nothing kept)",
            Box::new(|| {
                each(&|row| u64::from(serde_json::from_str::<IgnoredAny>(black_box(row)).is_ok()))
            }),
        ),
        (
            "bare scan of positions (no check)",
            Box::new(|| {
                each(&|row| scan::value(black_box(row).as_bytes(), 0).map_or(0, |v| v.end as u64))
            }),
        ),
        ("rows that need no cut: read and written", Box::new(|| run(settings(WIDE), &Bytes4))),
        ("the same, checked for a trainer", Box::new(|| run(trained(), &Bytes4))),
        (
            "the same, texts decoded (bytes / 4 for tokens)",
            Box::new(|| run(TrajectorySettings { count_all: true, ..settings(WIDE) }, &Bytes4)),
        ),
        ("most rows cut, bytes / 4 for tokens", Box::new(|| run(settings(half), &Bytes4))),
        ("most rows cut, counted exactly (o200k)", Box::new(|| run(settings(half), &*exact))),
        (
            "of that: reading and counting",
            Box::new(|| {
                each(&|row| {
                    TrajectoryRow::read(row.as_bytes())
                        .map_or(0, |row| weigh(&row, &*exact).total())
                })
            }),
        ),
        (
            "of that: reading, decoding and planning",
            Box::new(|| {
                let settings = settings(half);
                each(&|row| {
                    let planned = plan_row(row.as_bytes(), &settings, &Bytes4);
                    u64::from(matches!(planned, Ok(PlannedRow::Fold(_))))
                })
            }),
        ),
        (
            "of that: decoding every turn once",
            Box::new(|| {
                each(&|line| {
                    let Ok(row) = TrajectoryRow::read(line.as_bytes()) else { return 0 };
                    let values = row.turns().iter().filter_map(|turn| turn.value.clone());
                    values.map(|at| jsonstr::decode(&row.text()[at]).len() as u64).sum()
                })
            }),
        ),
    ];
    print(&passes, text.len())
}

fn print(passes: &[Pass<'_>], bytes: usize) -> Result<()> {
    let mut times = vec![Vec::new(); passes.len()];
    for _ in 0..ROUNDS {
        for ((name, pass), times) in passes.iter().zip(&mut times) {
            let before = bench::cpu_time();
            let made = black_box(pass()?);
            times.push(bench::cpu_time().saturating_sub(before));
            ensure!(made > 0, "{name}: nothing came of it");
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    let median = |times: &[Duration]| rate(times[times.len() / 2]);
    let best = |times: &[Duration]| rate(times[0]);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:.1} MB, {ROUNDS} rounds\n", bytes as f64 / 1e6)?;
    writeln!(out, "| | MB/s | of the bare scan | of the best |")?;
    writeln!(out, "| --- | ---: | ---: | ---: |")?;
    for ((name, _), own) in passes.iter().zip(&times) {
        let (own_median, own_best) = (median(own), best(own));
        let of = own_median / median(&times[0]);
        let of_best = own_best / best(&times[0]);
        writeln!(out, "| {name} | {own_median:.0} | {of:.2} | {of_best:.2} |")?;
    }
    Ok(())
}
