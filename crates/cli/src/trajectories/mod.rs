//! `midfold trajectories`: makes rows of training sets fit a number of tokens. Rows are streamed, so memory does not
//! grow with the input.

pub mod cache;
#[cfg(feature = "parquet")]
mod column_rows;
#[cfg(feature = "parquet")]
mod columns;
pub mod config;
mod files;
mod job;
pub mod lines;
pub mod lock;
mod manifest;
pub mod packed;
mod passes;
mod publish;
pub mod report;
pub mod transcripts;
mod work;

use std::sync::Arc;
use std::time::Instant;

use midfold::formats::trajectory::{Trainer, TurnShape};
use midfold::{
    Counter, Failure, FailureArea, ROW_TOKENIZER, RowSettings, is_tokenizer_file, tokenizer,
};
use midfold_args::TrajectoriesArgs;

use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::prepare::HOST;
use crate::presets::pretty;
use crate::runtime::now;
use crate::words::plural;
use config::JobFile;
use files::{InputFiles, OutputPaths, RowFileKind};
use job::TrajectoryJob;
use lock::RunLock;
use manifest::{RowSink, RunManifest};
use passes::{SummaryOptions, SummarySource};
use publish::{OutputFormat, publish};
use transcripts::TranscriptRows;

pub fn run(args: &TrajectoriesArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let config = match &args.config {
        Some(path) => JobFile::load(path, args.model.is_some())?,
        None => JobFile::default(),
    };
    let style = output.stderr_style();
    for note in &config.notes {
        output.stderr(&format!("{} {note}\n", style.paint(OutputColor::Yellow, "note:")));
    }
    let options = SummaryOptions::of(args, &config, json)?;
    let inputs = InputFiles::new(&args.input, &args.output)?;
    for closed in &inputs.closed {
        output.stderr(&format!("{} {closed}\n", style.paint(OutputColor::Yellow, "warning:")));
    }
    let (mut job, note) = job(args, &config, &inputs)?;
    if let Some(note) = note {
        output.stderr(&format!("{} {note}\n", style.paint(OutputColor::Yellow, "note:")));
    }
    let paths = OutputPaths::new(&args.output, config.metrics_file.as_deref())?;
    if args.resume && inputs.has_stdin() {
        return Err(CommandError::usage(
            "standard input cannot be read again: --resume needs files",
        ));
    }
    if options.is_some() && inputs.has_stdin() {
        return Err(CommandError::usage(
            "standard input cannot be read again: summaries by a model need files",
        ));
    }
    let _lock = RunLock::take(&paths.lock, &paths.output)?;
    let fingerprint = fingerprint(&job, options.as_ref(), &inputs);
    let sink = match args.resume.then(|| RunManifest::load(&paths)).transpose()?.flatten() {
        Some(manifest) => manifest.check(&fingerprint, &paths)?.resume(&paths)?,
        None => RowSink::create(&paths, RunManifest::new(fingerprint, now()))?,
    };
    let (begun, resumed) = (Instant::now(), sink.manifest().rows());
    if let Some(options) = options.filter(|_| !sink.manifest().is_finished()) {
        let from = sink.manifest().position;
        let (written, ask_outcome) = passes::ask(&options, |wanted| {
            job.summaries = wanted;
            let looked = work::look(&job, &inputs, from);
            // This drops the source of the first passes, which closes the queue. Otherwise the asking thread would wait
            // for more without an end.
            job.summaries = SummarySource::Computed;
            looked
        })?;
        (job.summaries, job.ask_outcome) = (written, Some(ask_outcome));
    }
    let mut manifest = work::work(&job, &inputs, &paths, sink, json)?;
    manifest.finish(now(), begun.elapsed());
    let document = report::document(&manifest, &job);
    let has_rows = some_rows(&manifest, &paths);
    // A run without a row leaves an older output as it is.
    let format = has_rows.is_ok().then_some(&job.format);
    publish(&paths, &manifest, format, job.workers)?;
    if let Some(path) = &paths.metrics {
        output.file(path, pretty(&document)?.as_bytes())?;
    }
    paths.clear();
    if json {
        output.stdout(document.to_string() + "\n")?;
    } else {
        output.stderr(&report::text(&style, &manifest, &job, &paths, resumed, begun.elapsed()));
    }
    has_rows
}

/// The reasons of rows that were not read at all.
const UNREAD: [&str; 3] = ["not-utf8", "not-json", "not-an-object"];

/// Fails where no row was written. Where none could be read, the file was probably meant for something else.
fn some_rows(manifest: &RunManifest, paths: &OutputPaths) -> Result<(), CommandError> {
    let totals = &manifest.totals;
    if totals.trajectories > 0 || totals.failed == 0 {
        return Ok(());
    }
    let error = CommandError::failed(format!(
        "all rows were rejected ({}); {} says why of each",
        plural(totals.failed, "row"),
        paths.rejects.display()
    ));
    let is_unread = |code: &String| UNREAD.contains(&code.as_str());
    if totals.rejected.keys().all(is_unread) {
        return Err(error
            .hint("a row is a JSON object with `conversations` or `messages`, one a line")
            .hint("a file that `midfold compact` reads becomes rows, too"));
    }
    Err(error)
}

/// The job that the command line and the file describe, and a note for the user if there is one.
fn job(
    args: &TrajectoriesArgs,
    config: &JobFile,
    inputs: &InputFiles,
) -> Result<(TrajectoryJob, Option<String>), CommandError> {
    let (counter, note) = counter(args.tokenizer.as_deref(), config)?;
    let settings = RowSettings {
        target: args.target_tokens.or(config.target),
        summary: args.summary_tokens.or(config.summary),
        keep_last: args.keep_last.or(config.keep_last),
        placement: args.placement.clone(),
        trainer: args.trainer.clone(),
        protect: Some(config.protect()),
        notice: args.notice.clone().or_else(|| config.notice.clone()),
        row_metrics: args.row_metrics || config.row_metrics,
        count_all: args.count_all,
        align: args.align.clone(),
        trim_turns: args.trim_turns,
        fold_all: config.skip_under_target == Some(false),
    };
    let settings = settings.settings()?;
    let shape = shape(args.shape.as_deref(), settings.trainer)?;
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = args.workers.map(usize::from).or(config.workers).unwrap_or_else(cores);
    let save_over_limit = config.save_over_limit.unwrap_or(true) && !args.reject_over_limit;
    let workers = workers.max(1);
    let chunk = args.chunk_bytes;
    let format = format(args, inputs)?;
    let job = TrajectoryJob {
        settings,
        save_over_limit,
        counter,
        workers,
        chunk,
        format,
        summaries: SummarySource::Computed,
        ask_outcome: None,
        transcripts: TranscriptRows::new(shape),
    };
    Ok((job, note))
}

/// The shape of rows that are made of transcripts: the named one, or the one that the trainer reads.
fn shape(name: Option<&str>, trainer: Option<Trainer>) -> Result<TurnShape, CommandError> {
    let known = TurnShape::ALL.map(TurnShape::name);
    match (name, trainer) {
        (Some(name), _) => TurnShape::from_name(name)
            .ok_or_else(|| Failure::unknown(FailureArea::Input, "shape", name, &known).into()),
        (None, Some(Trainer::LlamaFactory)) => Ok(TurnShape::ShareGpt),
        (None, Some(Trainer::Trl) | None) => Ok(TurnShape::Messages),
    }
}

/// The format of the output. Fails where an input has a form that cannot be written so.
fn format(args: &TrajectoriesArgs, inputs: &InputFiles) -> Result<OutputFormat, CommandError> {
    let kind = RowFileKind::of(&args.output);
    let is_other = |path: &&std::path::PathBuf| {
        (RowFileKind::of(path) == RowFileKind::Parquet) != (kind == RowFileKind::Parquet)
    };
    if let Some(other) = inputs.files.iter().find(is_other) {
        return Err(CommandError::usage(format!(
            "{} and {}: Parquet is written from Parquet, and lines from lines",
            other.display(),
            args.output.display()
        )));
    }
    match kind {
        RowFileKind::Parquet if args.trim_turns => Err(CommandError::usage(
            "--trim-turns is for lines: it cannot cut the columns of Parquet",
        )),
        RowFileKind::Lines | RowFileKind::Packed if args.column.is_some() => {
            Err(CommandError::usage("--column is for Parquet: lines have no columns"))
        }
        RowFileKind::Lines => Ok(OutputFormat::Lines),
        RowFileKind::Packed => Ok(OutputFormat::Packed),
        #[cfg(feature = "parquet")]
        RowFileKind::Parquet => columns::ColumnTable::of(&inputs.files, args.column.as_deref())
            .map(OutputFormat::Parquet),
        #[cfg(not(feature = "parquet"))]
        RowFileKind::Parquet => Err(CommandError::usage("this midfold was built without Parquet")
            .hint("build it with: cargo install midfold-cli --features parquet")),
    }
}

/// The counter that the user names, or the one that the file names. If midfold has no such tokenizer, a similar one is
/// taken, and a note says so.
fn counter(
    wanted: Option<&str>,
    config: &JobFile,
) -> Result<(Arc<dyn Counter>, Option<String>), CommandError> {
    if let Some(name) = wanted {
        return Ok((tokenizer(name, &HOST)?, None));
    }
    let Some(name) = &config.tokenizer else {
        return Ok((tokenizer(ROW_TOKENIZER, &HOST)?, None));
    };
    let family = config::family(name);
    if let Some(counter) = family.and_then(|family| tokenizer(family, &HOST).ok()) {
        return Ok((counter, None));
    }
    if is_tokenizer_file(name) {
        return Ok((tokenizer(name, &HOST)?, None));
    }
    let counter = tokenizer(midfold::tokens::for_model(name), &HOST)?;
    let note = format!(
        "this build has no tokenizer `{name}`: rows are counted with {}. For exact counts give its \
         tokenizer.json with --tokenizer",
        counter.name()
    );
    Ok((counter, Some(note)))
}

/// The hash of all settings, and of the names and sizes of the inputs. A run is resumed only where it is the same.
fn fingerprint(
    job: &TrajectoryJob,
    options: Option<&SummaryOptions>,
    inputs: &InputFiles,
) -> String {
    let facts = format!(
        "{} {:?} {} {} {} {:?} {:?} {}",
        env!("CARGO_PKG_VERSION"),
        job.settings,
        job.format.identity(),
        job.save_over_limit,
        job.counter.name(),
        inputs.identity(),
        options.map(SummaryOptions::identity),
        job.transcripts.shape.name(),
    );
    midfold::core::Hash::ROOT.chain(facts.as_bytes()).to_hex()
}
