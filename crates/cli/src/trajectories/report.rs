//! Reports on a run: the progress line, the summary for a terminal, and the metrics file.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use midfold::core::calendar::date;
use midfold::core::trajectory::LogHistogram;
use serde_json::{Value, json};

use super::files::{InputFiles, OutputPaths};
use super::job::TrajectoryJob;
use super::manifest::RunManifest;
use super::publish::OutputFormat;
use crate::output::{self, OutputColor, OutputStyle, PROGRESS_INTERVAL};
use crate::words::{number, plural};

/// A progress line that is overwritten again and again. Not shown where standard error is no terminal.
pub struct TrajectoryProgress {
    line: output::ProgressLine,
    bytes: Option<u64>,
    /// For each input file, the bytes of all files before it.
    before: Vec<u64>,
    begun: Instant,
    last_shown: Option<Instant>,
    /// The rows and the bytes that were done when the run began.
    at_start: (u64, u64),
}

impl TrajectoryProgress {
    pub fn new(quiet: bool, inputs: &InputFiles, manifest: &RunManifest) -> Self {
        let mut sum = 0;
        let before = inputs.identity().into_iter().map(|(_, size)| {
            sum += size;
            sum - size
        });
        let mut progress = Self {
            line: output::ProgressLine::new(quiet),
            bytes: inputs.bytes,
            before: before.collect(),
            begun: Instant::now(),
            last_shown: None,
            at_start: (0, 0),
        };
        progress.at_start = (manifest.rows(), progress.bytes_done(manifest));
        progress
    }

    fn bytes_done(&self, manifest: &RunManifest) -> u64 {
        let position = manifest.position;
        self.before.get(position.file).copied().unwrap_or(0) + position.read
    }

    pub fn show(&mut self, manifest: &RunManifest) {
        if !self.line.is_shown()
            || self.last_shown.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL)
        {
            return;
        }
        self.last_shown = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64().max(0.001);
        let bytes_done = self.bytes_done(manifest);
        let rate = (bytes_done - self.at_start.1.min(bytes_done)) as f64 / seconds;
        let rows = (manifest.rows() - self.at_start.0) as f64 / seconds;
        let mut line = format!(
            "{}, {} rows/s, {:.0} MB/s",
            plural(manifest.rows(), "row"),
            number(rows as u64),
            rate / 1e6
        );
        if let Some(bytes) = self.bytes.filter(|_| rate > 0.0) {
            let remaining = bytes.saturating_sub(bytes_done) as f64 / rate;
            line += &format!(
                ", {} %, {} left",
                bytes_done * 100 / bytes.max(1),
                duration(Duration::from_secs_f64(remaining))
            );
        }
        self.line.show(&line);
    }

    /// Clears the line.
    pub fn end(&self) {
        self.line.end();
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

/// The metrics, in the shape of Hermes' file. midfold's own ones are at its end.
pub fn document(manifest: &RunManifest, job: &TrajectoryJob) -> Value {
    let totals = &manifest.totals;
    let saved = signed(totals.tokens_before, totals.tokens_after);
    let removed = signed(totals.turns_before, totals.turns_after);
    let settings = &job.settings;
    let losses = job.transcripts.losses().into_iter().map(|(code, count, _)| (code, count));
    let losses: BTreeMap<_, _> = losses.collect();
    json!({
        "summary": {
            "total_trajectories": totals.trajectories,
            "trajectories_compressed": totals.compressed,
            "trajectories_skipped_under_target": totals.skipped_under_target,
            "trajectories_still_over_limit": totals.still_over_limit,
            "trajectories_failed": totals.failed,
            "compression_rate": totals.compression_rate(),
        },
        "tokens": {
            "total_before": totals.tokens_before,
            "total_after": totals.tokens_after,
            "total_saved": saved,
            "overall_compression_ratio": totals.overall_ratio(),
        },
        "turns": {
            "total_before": totals.turns_before,
            "total_after": totals.turns_after,
            "total_removed": removed,
        },
        "averages": {
            "avg_compression_ratio": totals.mean_ratio(),
            "avg_tokens_saved_per_compressed": totals.mean_saved(),
            "avg_turns_removed_per_compressed": totals.mean_removed(),
        },
        "summarization": summarization(manifest, job),
        "processing": {
            "start_time": time(manifest.started),
            "end_time": time(manifest.ended),
            "duration_seconds": manifest.worked as f64 / 1e3,
        },
        "distribution": {
            "tokens_before": quantiles_json(&totals.before),
            "tokens_after": quantiles_json(&totals.after),
        },
        "midfold": {
            "version": env!("CARGO_PKG_VERSION"),
            "tokenizer": job.counter.name(),
            "rows_counted": manifest.counted,
            "target_tokens": settings.limits.target,
            "summary_tokens": settings.limits.summary,
            "keep_last": settings.limits.keep_last,
            "placement": settings.limits.placement.name(),
            "trainer": settings.trainer.map(midfold::formats::trajectory::Trainer::name),
            "rejected": totals.rejected,
            "lost": losses,
        },
    })
}

/// The calls of this run. A row's own metrics count the calls for its summary even if an earlier run made them.
fn summarization(manifest: &RunManifest, job: &TrajectoryJob) -> Value {
    let mut totals = manifest.totals.clone();
    if let Some(ask_outcome) = &job.ask_outcome {
        (totals.calls, totals.call_errors) = (ask_outcome.calls, ask_outcome.errors);
    }
    let mut section = json!({
        "total_api_calls": totals.calls,
        "total_errors": totals.call_errors,
        "success_rate": totals.success_rate(),
    });
    if let Some(ask_outcome) = &job.ask_outcome {
        section["model"] = json!(ask_outcome.model);
        section["rows"] = json!(ask_outcome.rows);
        section["spans_asked"] = json!(ask_outcome.spans);
        section["answers"] = json!(ask_outcome.answers);
        section["computed_instead"] = json!(totals.refused);
    }
    section
}

fn signed(before: u64, after: u64) -> i64 {
    let part = i64::try_from(before.abs_diff(after)).unwrap_or(i64::MAX);
    if after > before { -part } else { part }
}

const QUANTILES: [u64; 4] = [50, 90, 99, 100];

fn quantiles_json(spread: &LogHistogram) -> Value {
    let [p50, p90, p99, max] = QUANTILES.map(|percent| spread.quantile(percent));
    json!({ "p50": p50, "p90": p90, "p99": p99, "max": max })
}

/// The summary for a terminal.
pub fn text(
    style: &OutputStyle,
    manifest: &RunManifest,
    job: &TrajectoryJob,
    paths: &OutputPaths,
    resumed: u64,
    took: Duration,
) -> String {
    let totals = &manifest.totals;
    let title = format!(
        "{}, {} with a summary, {} without one",
        plural(totals.trajectories, "row"),
        number(totals.compressed),
        number(totals.trajectories - totals.compressed)
    );
    let mut fields = token_fields(manifest, job);
    fields.extend(model_fields(manifest, job));
    fields.extend(left_out_fields(manifest, job, paths));
    fields.extend(transcript_fields(job));
    if resumed > 0 {
        fields.push(("resumed", format!("after {} done before", plural(resumed, "row"))));
    }
    let metrics = paths.metrics.as_ref().map(|path| format!(", metrics in {}", path.display()));
    let took = format!("{:.1} s", took.as_secs_f64());
    let output = paths.output.display();
    fields.push(("wrote", format!("{output} in {took}{}", metrics.unwrap_or_default())));
    let mut out = style.paint(OutputColor::Green, &title) + "\n";
    for (name, text) in fields {
        out += &format!("{} {text}\n", style.paint(OutputColor::Dim, &format!("{name:>9}")));
    }
    out
}

/// A line of the summary: its name, empty where it goes on with the line above, and its text.
type SummaryField = (&'static str, String);

/// The tokens before and after, and how they spread over the rows.
fn token_fields(manifest: &RunManifest, job: &TrajectoryJob) -> Vec<SummaryField> {
    let totals = &manifest.totals;
    let estimated = match totals.trajectories - manifest.counted {
        0 => String::new(),
        more => format!(" ({} short rows not counted: a quarter of their bytes)", number(more)),
    };
    let tokens = format!(
        "{} → {}, counted with {}{estimated}",
        number(totals.tokens_before),
        number(totals.tokens_after),
        job.counter.name(),
    );
    let spread = |spread: &LogHistogram| {
        QUANTILES.map(|p| format!("{:>12}", number(spread.quantile(p)))).concat()
    };
    vec![
        ("tokens", tokens),
        ("", "      median        90 %        99 %         max".to_owned()),
        ("before", spread(&totals.before)),
        ("after", spread(&totals.after)),
    ]
}

/// What a model was asked, and how many of its summaries were computed instead.
fn model_fields(manifest: &RunManifest, job: &TrajectoryJob) -> Vec<SummaryField> {
    let Some(ask_outcome) = &job.ask_outcome else { return Vec::new() };
    let question = format!(
        "{} to be written by {}; asked about {} in {}",
        plural(ask_outcome.rows, "row"),
        ask_outcome.model,
        plural(ask_outcome.spans, "span"),
        plural(ask_outcome.calls, "call")
    );
    let mut fields = vec![("model", question)];
    let refused = &manifest.totals.refused;
    if !refused.is_empty() {
        let count: u64 = refused.values().sum();
        fields.push(("", format!("{} computed instead: {}", number(count), counts(refused))));
    }
    fields
}

/// Rows that are still too long, and rows that were rejected.
fn left_out_fields(
    manifest: &RunManifest,
    job: &TrajectoryJob,
    paths: &OutputPaths,
) -> Vec<SummaryField> {
    let totals = &manifest.totals;
    let mut fields = Vec::new();
    if totals.still_over_limit > 0 {
        let count = number(totals.still_over_limit);
        let target = number(job.settings.limits.target);
        let text = format!(
            "{count} still longer than {target}: what is kept is too long \
             (--reject-over-limit leaves them out)"
        );
        fields.push(("over", text));
    }
    if totals.failed > 0 {
        let (count, reasons) = (number(totals.failed), counts(&totals.rejected));
        let file = paths.rejects.display();
        let text = format!("{count} ({reasons}), with line and reason in {file}");
        fields.push(("rejected", text));
        let remedies = remedies(job, &totals.rejected).into_iter();
        fields.extend(
            remedies
                .map(|(count, code, remedy)| ("", format!("{} {code}: {remedy}", number(count)))),
        );
    }
    fields
}

/// What rows could not hold of transcripts, and whether rows of two shapes were written.
fn transcript_fields(job: &TrajectoryJob) -> Vec<SummaryField> {
    let losses = job.transcripts.losses().into_iter().enumerate();
    let mut fields: Vec<SummaryField> = losses
        .map(|(at, (code, count, example))| {
            (if at == 0 { "lost" } else { "" }, format!("{} {code}: {example}", number(count)))
        })
        .collect();
    if let Some(other) = job.transcripts.other_shape() {
        let text = format!(
            "two were written: rows stay {}, and those of transcripts are {} (--shape {} makes them alike)",
            other.name(),
            job.transcripts.shape.name(),
            other.name()
        );
        fields.push(("shapes", text));
    }
    fields
}

/// What would help rows that were rejected for these reasons.
fn remedies<'a>(
    job: &TrajectoryJob,
    rejected: &'a BTreeMap<String, u64>,
) -> Vec<(u64, &'a str, &'static str)> {
    let is_lines = matches!(job.format, OutputFormat::Lines | OutputFormat::Packed);
    if job.settings.trim_turns || !is_lines {
        return Vec::new();
    }
    let remedy = |code: &str| match code {
        "last-turn" => Some("--trim-turns drops the turns behind the last answer"),
        "first-turn" => Some("--trim-turns drops the turns before the user's first"),
        _ => None,
    };
    let all = rejected.iter();
    all.filter_map(|(code, count)| Some((*count, code.as_str(), remedy(code)?))).collect()
}

/// Counts by name, such as `not-json 3, no-turns 1`.
fn counts(all: &BTreeMap<String, u64>) -> String {
    let all = all.iter().map(|(name, count)| format!("{name} {}", number(*count)));
    all.collect::<Vec<_>>().join(", ")
}

/// A time in milliseconds since 1970, as in `2026-01-31T12:00:00.000Z`.
pub fn time(millis: u64) -> String {
    let (seconds, rest) = (millis / 1_000 % 86_400, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}.{rest:03}Z", date(millis))
}
