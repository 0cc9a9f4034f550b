//! The speed of midfold as ratios, all measured in one run on one machine:
//! `cargo run --release -p midfold-benches --bin ratios [-- --json]`.
//!
//! Absolute times say more about a machine than about a program. Each cold figure is the best of
//! several fresh processes, so that nothing is warm that a user's first call would find cold. All
//! times are processor time of the one thread that works.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use midfold::Budget;
use midfold_benches as bench;

/// Fresh processes for each cold figure.
const ROUNDS: usize = 9;
/// What each of them measures.
const CHILDREN: [&str; 5] = ["compact-exact", "compact-estimated", "tokenizer", "scan", "read"];
/// Appends measured at each size.
const APPENDS: usize = 4_000;

/// One line of the table.
struct Row {
    key: String,
    name: String,
    value: f64,
    unit: &'static str,
    /// What the value should not exceed (or, where `at_least`, should reach).
    target: Option<f64>,
    at_least: bool,
}

impl Row {
    fn at_most(key: &str, name: &str, value: f64, unit: &'static str, target: f64) -> Self {
        Self { target: Some(target), ..Self::plain(key, name, value, unit) }
    }

    fn plain(key: &str, name: &str, value: f64, unit: &'static str) -> Self {
        let (key, name) = (key.to_owned(), name.to_owned());
        Self { key, name, value, unit, target: None, at_least: false }
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print(&measure()?, false),
        ["--json"] => print(&measure()?, true),
        ["--child", what, file] => child(what, Path::new(file)),
        _ => bail!("usage: ratios [--json]"),
    }
}

fn measure() -> Result<Vec<Row>> {
    let input = bench::transcript();
    let file = std::env::temp_dir().join(format!("midfold-ratios-{}.json", std::process::id()));
    std::fs::write(&file, &input)?;
    let rows = cold(&file, input.len()).and_then(|mut rows| {
        rows.extend(held(&input)?);
        Ok(rows)
    });
    std::fs::remove_file(&file)?;
    rows
}

fn cold(file: &Path, size: usize) -> Result<Vec<Row>> {
    // Round by round, so that a busy minute of the machine does not hit one figure alone.
    let mut best = CHILDREN.map(|_| Figures { seconds: f64::INFINITY, peak: f64::INFINITY });
    for _ in 0..ROUNDS {
        for (what, best) in CHILDREN.iter().zip(&mut best) {
            let now = in_fresh_process(file, what)?;
            best.seconds = best.seconds.min(now.seconds);
            best.peak = best.peak.min(now.peak);
        }
    }
    let [exact, estimated, tokenizer, scan, read] = best;
    let mut rows = vec![
        Row::plain("cold_exact_s", "cold compact, exact", exact.seconds, "s"),
        Row::plain("cold_estimated_s", "cold compact, estimated", estimated.seconds, "s"),
        Row::plain("tokenizer_s", "tokenizer start + bare pass", tokenizer.seconds, "s"),
        Row::plain("scan_s", "JSON scan (serde_json)", scan.seconds, "s"),
        Row::at_most(
            "exact_per_tokenizer",
            "cold compact, exact / (tokenizer start + bare pass)",
            exact.seconds / tokenizer.seconds,
            "x",
            1.8,
        ),
        Row::plain(
            "estimated_per_scan",
            "cold compact, estimated / JSON scan",
            estimated.seconds / scan.seconds,
            "x",
        ),
        Row::plain("read_per_scan", "read alone / JSON scan", read.seconds / scan.seconds, "x"),
    ];
    // The target: twice the file and 60 MB.
    let limit = 2.0 + 60e6 / to_f64(size);
    let memory = |peak: f64| peak / to_f64(size);
    rows.push(Row::at_most(
        "memory_exact",
        "peak memory of a cold compact, exact / file",
        memory(exact.peak),
        "x",
        limit,
    ));
    rows.push(Row::at_most(
        "memory_estimated",
        "peak memory of a cold compact, estimated / file",
        memory(estimated.peak),
        "x",
        limit,
    ));
    if let Some(cli) = beside("midfold")
        && let Some(peak) = peak_of(Command::new(cli).arg("compact").arg(file))?
    {
        rows.push(Row::at_most(
            "memory_cli",
            "peak memory of `midfold compact` / file",
            memory(peak),
            "x",
            limit,
        ));
    }
    Ok(rows)
}

fn held(input: &Bytes) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for messages in [100, 1_000, 10_000, 100_000] {
        let times = appends(messages)?;
        let at = |share: usize| times[times.len() * share / 1_000].as_secs_f64() * 1e6;
        rows.push(Row::plain(
            &format!("append_p50_{messages}"),
            &format!("append 4 KB + exact count + context, {messages} held, p50"),
            at(500),
            "us",
        ));
        rows.push(Row::at_most(
            &format!("append_p99_{messages}"),
            &format!("append 4 KB + exact count + context, {messages} held, p99"),
            at(990),
            "us",
            100.0,
        ));
    }
    let context = bench::session(bench::log(input, bench::counter("chars:4")?)?)?.view();
    let mut fastest = f64::INFINITY;
    for _ in 0..20 {
        let start = bench::cpu_time();
        let bytes = std::hint::black_box(&context).bytes();
        let took = bench::cpu_time().saturating_sub(start);
        fastest = fastest.min(took.as_secs_f64() / to_f64(bytes.len()));
    }
    rows.push(Row {
        target: Some(1.0),
        at_least: true,
        ..Row::plain("context_bytes", "context to bytes, 17 MB", 1e-9 / fastest, "GB/s")
    });
    Ok(rows)
}

/// The times of many appends to a session that holds about `messages`, sorted.
fn appends(messages: usize) -> Result<Vec<Duration>> {
    let held = bench::holding(messages)?;
    let events = bench::appended(APPENDS);
    let budget = Budget::new(1 << 40);
    let batch = (messages / 2).clamp(50, 1_000);
    let mut times = Vec::with_capacity(events.len());
    for events in events.chunks(batch) {
        let mut session = held.clone();
        // The copy is exactly as large as what it holds: the first append makes room.
        session.append(events[0].clone());
        for event in events {
            let event = event.clone();
            let start = bench::cpu_time();
            session.append(event);
            let context = session.context(&budget, 0);
            times.push(bench::cpu_time().saturating_sub(start));
            context?;
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// What a child reports.
struct Figures {
    seconds: f64,
    peak: f64,
}

fn in_fresh_process(file: &Path, what: &str) -> Result<Figures> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--child", what])
        .arg(file)
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak) = text.trim().split_once(' ').with_context(|| format!("{what}: {text}"))?;
    Ok(Figures { seconds: seconds.parse()?, peak: peak.parse()? })
}

/// One measurement in a process of its own. The file is in memory before the clock starts.
fn child(what: &str, file: &Path) -> Result<()> {
    let input = Bytes::from(std::fs::read(file)?);
    let seconds = match what {
        "compact-exact" => timed(|| compact(&input, "o200k"))?,
        "compact-estimated" => timed(|| compact(&input, "estimate:openai"))?,
        "tokenizer" => {
            let texts = bench::texts(&bench::log(&input, bench::counter("chars:4")?)?);
            timed(|| {
                let counter = bench::counter("o200k")?;
                std::hint::black_box(bench::count(&*counter, &texts));
                Ok(())
            })?
        }
        "scan" => timed(|| {
            serde_json::from_slice::<&serde_json::value::RawValue>(&input)?;
            Ok(())
        })?,
        "read" => timed(|| {
            std::hint::black_box(midfold::formats::read::read(&input, None)?);
            Ok(())
        })?,
        _ => bail!("unknown measurement {what}"),
    };
    let peak = bench::high_water(std::process::id()).unwrap_or(f64::NAN);
    writeln!(std::io::stdout(), "{seconds} {peak}")?;
    Ok(())
}

fn compact(input: &Bytes, counter: &str) -> Result<()> {
    std::hint::black_box(bench::compact(input, bench::counter(counter)?)?);
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = bench::cpu_time();
    work()?;
    Ok(bench::cpu_time().saturating_sub(start).as_secs_f64())
}

/// Peak memory of a command: its high-water mark, asked for until it ends.
fn peak_of(command: &mut Command) -> Result<Option<f64>> {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peak = None;
    let status = loop {
        peak = bench::high_water(process.id()).or(peak);
        if let Some(status) = process.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    Ok(peak.filter(|_| status.success()))
}

/// An executable beside this one.
fn beside(name: &str) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of files")]
fn to_f64(size: usize) -> f64 {
    size as f64
}

fn print(rows: &[Row], json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let object: serde_json::Map<_, _> = rows
            .iter()
            .map(|row| {
                let figure = serde_json::json!({
                    "name": row.name, "value": row.value, "unit": row.unit,
                    "target": row.target, "at_least": row.at_least,
                });
                (row.key.clone(), figure)
            })
            .collect();
        serde_json::to_writer_pretty(&mut out, &object)?;
        writeln!(out)?;
        return Ok(());
    }
    for row in rows {
        write!(out, "{:<62} {:>9.3} {:<4}", row.name, row.value, row.unit)?;
        match row.target {
            Some(target) => {
                let (sign, held) = if row.at_least {
                    (">=", row.value >= target)
                } else {
                    ("<=", row.value <= target)
                };
                let word = if held { "ok" } else { "MISSED" };
                writeln!(out, " {sign} {target:<8.2} {word}")?;
            }
            None => writeln!(out)?,
        }
    }
    Ok(())
}
