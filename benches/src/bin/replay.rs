//! How fast a replay is: megabytes of transcript JSON a minute on one core, for reading a recording
//! once and for each strategy and window on top of it.
//!
//! `cargo run --release -p midfold-benches --no-default-features --bin replay -- [FILE]`
//!
//! Without a file: the generated transcript of 10,000 messages. Counts are exact (o200k) and
//! remembered, as the command does. With `--only mask@128000` one row; with `--search` what a search
//! brings back is looked for, too.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use midfold::Policy;
use midfold::formats::profile;
use midfold::tokens::MemoCounter;
use midfold_benches::{counter, cpu_time, log, transcript};
use midfold_eval::prices::PriceTable;
use midfold_eval::replay::{Recording, ReplaySettings, ReplayStrategy, replay};

const WINDOWS: [u64; 3] = [16_000, 32_000, 128_000];
const ROUNDS: usize = 3;

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let search = arguments.iter().position(|argument| argument == "--search");
    let search = search.map(|at| arguments.remove(at)).is_some();
    let at = arguments.iter().position(|argument| argument == "--only");
    let only = at.map(|at| arguments.drain(at..).nth(1).unwrap_or_default());
    let input = match arguments.first() {
        Some(file) => Bytes::from(std::fs::read(file)?),
        None => transcript(),
    };
    let begun = cpu_time();
    let recording = Recording::new(log(&input, MemoCounter::around(counter("o200k")?))?);
    let mb = input.len() as f64 / 1e6;
    println!("{mb:.1} MB, {} requests; megabytes a minute, best of {ROUNDS}", recording.requests());
    println!("reading, counting, mentions (once): {:.0}", rate(mb, cpu_time() - begun));
    let rules = profile::rules(recording.log().profile());
    let prices = PriceTable::reference();
    for window in WINDOWS {
        for name in Policy::preset_names().into_iter().chain(Policy::baseline_names()) {
            if only.as_ref().is_some_and(|only| *only != format!("{name}@{window}")) {
                continue;
            }
            let policy = Policy::preset(name)?;
            let settings = ReplaySettings {
                window,
                rules: &rules,
                search,
                prices: &prices,
                clock: None,
                watch: None,
            };
            let mut best = Duration::MAX;
            for _ in 0..ROUNDS {
                let begun = cpu_time();
                replay(&recording, ReplayStrategy::Stateless(&policy), &settings)?;
                best = best.min(cpu_time() - begun);
            }
            println!("{window:>7} {name:<12} {:>7.0}", rate(mb, best));
        }
    }
    Ok(())
}

fn rate(mb: f64, time: Duration) -> f64 {
    mb / time.as_secs_f64() * 60.0
}
