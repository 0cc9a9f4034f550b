//! `midfold trajectories`: rows of training sets, made to fit. Streams: memory does not depend on
//! the size of the input.

mod cache;
#[cfg(feature = "parquet")]
mod columns;
mod config;
mod files;
mod lines;
mod lock;
mod manifest;
mod packed;
mod passes;
mod publish;
mod report;
mod work;

use std::sync::Arc;
use std::time::Instant;

use midfold::Counter;
use midfold::core::trajectory::{Limits, Placement, Protect};
use midfold::formats::trajectory::{Settings, Trainer};

use crate::args::Trajectories;
use crate::error::{CommandError, unknown};
use crate::host::now;
use crate::output::{Color, Output};
use crate::prepare;
use config::Config;
use files::{Inputs, Kind, Paths};
use lock::Lock;
use manifest::{Manifest, Sink};
use passes::{Asked, Options, Summaries};
use publish::{Format, publish};

/// How rows are counted where nothing tells.
const TOKENIZER: &str = "o200k";

/// Everything that a run is told.
struct Job {
    settings: Settings,
    /// Rows that do not fit after all are written; if not, rejected.
    save_over_limit: bool,
    counter: Arc<dyn Counter>,
    workers: usize,
    /// Bytes that are read at once.
    chunk: usize,
    summaries: Summaries,
    /// What asking a model for them came to.
    asked: Option<Asked>,
    format: Format,
}

pub fn run(args: &Trajectories, json: bool, output: &Output) -> Result<(), CommandError> {
    let config = match &args.config {
        Some(path) => Config::load(path, args.model.is_some())?,
        None => Config::default(),
    };
    let style = output.stderr_style();
    for note in &config.notes {
        output.stderr(&format!("{} {note}\n", style.paint(Color::Yellow, "note:")));
    }
    let options = Options::of(args, &config, json)?;
    let inputs = Inputs::new(&args.input, &args.output)?;
    let (mut job, note) = job(args, &config, &inputs)?;
    if let Some(note) = note {
        output.stderr(&format!("{} {note}\n", style.paint(Color::Yellow, "note:")));
    }
    let paths = Paths::new(&args.output, config.metrics_file.as_deref())?;
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
    let _lock = Lock::take(&paths.lock, &paths.output)?;
    let fingerprint = fingerprint(&job, options.as_ref(), &inputs);
    let sink = match args.resume.then(|| Manifest::load(&paths)).transpose()?.flatten() {
        Some(manifest) => manifest.check(&fingerprint, &paths)?.resume(&paths)?,
        None => Sink::create(&paths, Manifest::new(fingerprint, now()))?,
    };
    let (begun, resumed) = (Instant::now(), sink.manifest().rows());
    if let Some(options) = options.filter(|_| !sink.manifest().is_finished()) {
        let from = sink.manifest().position;
        let (written, asked) = passes::ask(&options, |wanted| {
            job.summaries = wanted;
            let looked = work::look(&job, &inputs, from);
            job.summaries = Summaries::Computed;
            looked
        })?;
        (job.summaries, job.asked) = (written, Some(asked));
    }
    let mut manifest = work::work(&job, &inputs, &paths, sink, json)?;
    manifest.finish(now(), begun.elapsed());
    let document = report::document(&manifest, &job);
    publish(&paths, &manifest, &job.format, job.workers)?;
    if let Some(path) = &paths.metrics {
        output.file(path, (report::pretty(&document) + "\n").as_bytes())?;
    }
    paths.clear();
    if json {
        return output.stdout(document.to_string() + "\n");
    }
    output.stderr(&report::text(&style, &manifest, &job, &paths, resumed, begun.elapsed()));
    Ok(())
}

/// What the command line and the file say together, and what has to be said about it.
fn job(
    args: &Trajectories,
    config: &Config,
    inputs: &Inputs,
) -> Result<(Job, Option<String>), CommandError> {
    let trainer = args.trainer.as_deref().map(trainer).transpose()?;
    let placement = match (&args.placement, trainer) {
        (Some(name), _) => placement(name)?,
        (None, Some(Trainer::LlamaFactory)) => Placement::MergeIntoPreviousObservation,
        (None, Some(Trainer::Trl)) => Placement::UserMessage,
        (None, None) => Placement::HumanTurn,
    };
    let (counter, note) = counter(args.tokenizer.as_deref(), config)?;
    let default = Limits::default();
    let limits = Limits {
        target: args.target_tokens.or(config.target).unwrap_or(default.target),
        summary: args.summary_tokens.or(config.summary).unwrap_or(default.summary),
        keep_last: args.keep_last.or(config.keep_last).unwrap_or(default.keep_last),
        protect: Protect {
            system: config.first_system.unwrap_or(true),
            human: config.first_human.unwrap_or(true),
            gpt: config.first_gpt.unwrap_or(true),
            tool: config.first_tool.unwrap_or(true),
        },
        placement,
        skip_under_target: config.skip_under_target.unwrap_or(true),
    };
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let workers = args.workers.map(usize::from).or(config.workers).unwrap_or_else(cores);
    let settings = Settings {
        limits,
        notice: args.notice.clone().or_else(|| config.notice.clone()),
        row_metrics: args.row_metrics || config.row_metrics,
        trainer,
        count_all: args.count_all,
        aligned: args.align.clone(),
    };
    let save_over_limit = config.save_over_limit.unwrap_or(true);
    let workers = workers.max(1);
    let chunk = args.chunk_bytes;
    let format = format(args, inputs)?;
    let job = Job {
        settings,
        save_over_limit,
        counter,
        workers,
        chunk,
        format,
        summaries: Summaries::Computed,
        asked: None,
    };
    Ok((job, note))
}

/// The format of the output, which says what the inputs have to be.
fn format(args: &Trajectories, inputs: &Inputs) -> Result<Format, CommandError> {
    let kind = Kind::of(&args.output);
    let is_other =
        |path: &&std::path::PathBuf| (Kind::of(path) == Kind::Parquet) != (kind == Kind::Parquet);
    if let Some(other) = inputs.files.iter().find(is_other) {
        return Err(CommandError::usage(format!(
            "{} and {}: Parquet is written from Parquet, and lines from lines",
            other.display(),
            args.output.display()
        )));
    }
    match kind {
        Kind::Lines | Kind::Packed if args.column.is_some() => {
            Err(CommandError::usage("--column is for Parquet: lines have no columns"))
        }
        Kind::Lines => Ok(Format::Lines),
        Kind::Packed => Ok(Format::Packed),
        #[cfg(feature = "parquet")]
        Kind::Parquet => {
            columns::Table::of(&inputs.files, args.column.as_deref()).map(Format::Parquet)
        }
        #[cfg(not(feature = "parquet"))]
        Kind::Parquet => Err(CommandError::usage("this midfold was built without Parquet")
            .hint("build it with: cargo install midfold-cli --features parquet")),
    }
}

fn placement(name: &str) -> Result<Placement, CommandError> {
    let known = Placement::ALL.map(Placement::name);
    Placement::from_name(name).ok_or_else(|| unknown("placement", name, &known))
}

fn trainer(name: &str) -> Result<Trainer, CommandError> {
    let known = Trainer::ALL.map(Trainer::name);
    Trainer::from_name(name).ok_or_else(|| unknown("trainer", name, &known))
}

/// The counter that was asked for here; else the one that the file names, if there is such a one.
fn counter(
    asked: Option<&str>,
    config: &Config,
) -> Result<(Arc<dyn Counter>, Option<String>), CommandError> {
    if let Some(name) = asked {
        return Ok((prepare::tokenizer(name)?, None));
    }
    let Some(name) = &config.tokenizer else {
        return Ok((prepare::tokenizer(TOKENIZER)?, None));
    };
    let family = config::family(name);
    if let Some(counter) = family.and_then(|family| prepare::tokenizer(family).ok()) {
        return Ok((counter, None));
    }
    if std::path::Path::new(name).is_file() {
        return Ok((prepare::tokenizer(name)?, None));
    }
    let counter = prepare::tokenizer(midfold::tokens::for_model(name))?;
    let note = format!(
        "this build has no tokenizer `{name}`: rows are counted with {}. For exact counts give its \
         tokenizer.json with --tokenizer",
        counter.name()
    );
    Ok((counter, Some(note)))
}

/// Names all that the output depends on: a run goes on only where it is the same.
fn fingerprint(job: &Job, options: Option<&Options>, inputs: &Inputs) -> String {
    let what = format!(
        "{} {:?} {} {} {} {:?} {:?}",
        env!("CARGO_PKG_VERSION"),
        job.settings,
        job.format.identity(),
        job.save_over_limit,
        job.counter.name(),
        inputs.identity(),
        options.map(Options::identity),
    );
    midfold::core::Hash::ROOT.chain(what.as_bytes()).to_hex()
}
