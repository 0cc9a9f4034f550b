//! midfold's side of `benches/peers/trajectories` where both sides are handed the same summary:
//!
//! ```text
//! stubbed FOLDER OUT TOKENIZER TARGET SUMMARY-TOKENS NOTICE STUB [ask]
//! ```
//!
//! Every row of the `*.jsonl` in FOLDER goes to OUT, in order, one thread, one row in memory at a
//! time, with the metrics of all rows beside it. These are the passes that `midfold trajectories`
//! runs: the row is read, counted with the `tokenizer.json` and planned; the text of the file STUB
//! is its summary; and the row is written with it. The stub stands as it is given: it is not judged,
//! and nothing is computed beside it. With `ask`, what a model would be asked is made, too, as if
//! the stub were its answer. Printed: the processor time, user and system, from where the vocabulary
//! is loaded to where all is written.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use midfold::Counter;
use midfold::core::budget::Ratio;
use midfold::core::trajectory::{SummaryPlacement, TrajectoryLimits, TrajectoryTotals};
use midfold::formats::trajectory::{
    AskOptions, CompressedRow, PlannedRow, SummaryCost, TrajectorySettings, plan_row,
};
use midfold::tokens::{MemoCounter, hf_from_bytes};
use midfold_benches as bench;

/// Counts that the command remembers.
const MEMO: usize = 1 << 15;
/// Bytes that the command reads at once.
const CHUNK: usize = 1 << 20;

/// Everything that a row is told.
struct Job {
    settings: TrajectorySettings,
    counter: Arc<dyn Counter>,
    ask: AskOptions,
    stub: String,
    asks: bool,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out, tokenizer, target, summary, notice, stub, ask @ ..] = &arguments[..] else {
        bail!("usage: stubbed FOLDER OUT TOKENIZER TARGET SUMMARY-TOKENS NOTICE STUB [ask]");
    };
    let limits = TrajectoryLimits {
        target: target.parse()?,
        summary: summary.parse()?,
        keep_last: 4,
        placement: SummaryPlacement::HumanTurn,
        ..TrajectoryLimits::default()
    };
    let settings = TrajectorySettings {
        limits,
        notice: Some(notice.clone()),
        row_metrics: true,
        ..TrajectorySettings::default()
    };
    let counter: Arc<dyn Counter> = hf_from_bytes(tokenizer, &fs::read(tokenizer)?)?;
    let job = Job {
        settings,
        counter: Arc::new(MemoCounter::new(counter, MEMO)),
        ask: AskOptions {
            model: "stub".to_owned(),
            temperature: Ratio(3_000),
            timeout_seconds: 60,
        },
        stub: fs::read_to_string(stub)?,
        asks: !ask.is_empty(),
    };
    let start = bench::process_time();
    let totals = job.run(&files(Path::new(folder))?, Path::new(out))?;
    let metrics = serde_json::to_vec_pretty(&totals)?;
    fs::write(Path::new(out).with_extension("metrics.json"), metrics)?;
    let seconds = bench::process_time().saturating_sub(start).as_secs_f64();
    Ok(writeln!(std::io::stdout(), "{seconds}")?)
}

/// The files of rows, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|name| name == "jsonl"));
    files.sort();
    Ok(files)
}

impl Job {
    fn run(&self, files: &[PathBuf], out: &Path) -> Result<TrajectoryTotals> {
        let mut out = BufWriter::with_capacity(CHUNK, File::create(out)?);
        let mut totals = TrajectoryTotals::default();
        let mut line = Vec::new();
        for path in files {
            let mut lines = BufReader::with_capacity(CHUNK, File::open(path)?);
            while lines.read_until(b'\n', &mut line)? > 0 {
                let row = line.strip_suffix(b"\n").unwrap_or(&line);
                if !row.trim_ascii().is_empty() {
                    let done = self.row(row).with_context(|| path.display().to_string())?;
                    out.write_all(done.bytes.as_deref().unwrap_or(row))?;
                    out.write_all(b"\n")?;
                    totals.add(&done.metrics);
                }
                line.clear();
            }
        }
        out.flush()?;
        Ok(totals)
    }

    fn row(&self, row: &[u8]) -> Result<CompressedRow> {
        let folding = match plan_row(row, &self.settings, &*self.counter)? {
            PlannedRow::Done(done) => return Ok(done),
            PlannedRow::Fold(folding) => folding,
        };
        if self.asks {
            black_box(folding.request(&self.ask));
        }
        let spent = SummaryCost { calls: 1, ..SummaryCost::default() };
        Ok(folding.finish_with(&self.stub, &spent, &self.settings, &*self.counter)?)
    }
}
