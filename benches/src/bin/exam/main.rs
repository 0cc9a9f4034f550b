//! What `midfold measure exam` does, and what only we need of it: pictures, marks of readers, sessions, all baselines.
//!
//! Could an agent carry on from this context? Walks the recorded conversations of an exam folder
//! with each strategy, and scores every context of the last 30 % before the cut against questions
//! about what an agent has to know: state, decisions, failed attempts, artifacts, values, requests,
//! next step. No model is called; the probes are in for a reader (docs/MEASURES.md).
//!
//! `cargo run --release -p midfold-benches --no-default-features --bin exam -- FOLDER [OPTIONS]`
//!
//! - `--strategies a,b`: presets, baselines, `raw` or policy files; all built-in ones by default
//! - `--engine CMD`: an engine outside, too (the protocol of `midfold measure replay --engine`)
//! - `--narrate-with CMD`: each policy once more, in a session with a model that narrates: it reads one line of JSON a
//!   request and answers with one (benches/README.md)
//! - `--exams a,b`: only these
//! - `--session`: a session that holds the whole history; else repeated `midfold compact`
//! - `--json`: JSON
//! - `--svg FILE`: a picture of score against context and cost (`docs/exam.svg`)
//! - `--figures FILE`: the picture of what `--json` printed before; nothing is walked
//! - `--questions`: the score of every question
//! - `--write DIR`: the contexts at the cut and the questions, for a reader
//! - `--mark DIR`: the same table from sheets that a reader marked
//!
//! `-- --suites` needs no folder: standing instructions, small cases, rules under attack, in conversations that are made
//! up (`midfold_eval::exam::suites`). With `--strategies`, `--engine` and `--json` as above, and
//!
//! - `--suite NAME`: only this one: `standing`, `small`, `attack`; may be repeated
//! - `--quick`: a third of each
//! - `--lost`: what was not kept, too
//! - `--write DIR`: the contexts, too
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

mod labels;
mod marks;
mod svg;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use midfold::Policy;
use midfold_eval::exam::engine::{ExamEngine, LIMIT};
use midfold_eval::exam::narrator::ExamNarrator;
use midfold_eval::exam::sitting::{ExamCandidate, Sitting, SittingRow, StrategyOutcome};
use midfold_eval::exam::suites::{self, ExamSuite, SuiteMarks, SuiteRequest};
use midfold_eval::exam::{folder, sheets, table};

/// Who is put through the suites where nobody is named.
const SUITES_BY: [&str; 6] = ["default", "lean", "generous", "sliding", "mask", "clear"];

/// What is asked for.
#[derive(Default)]
struct Options {
    folder: PathBuf,
    strategies: Vec<String>,
    engines: Vec<String>,
    narrate_with: Option<String>,
    exams: Vec<String>,
    session: bool,
    json: bool,
    svg: Option<PathBuf>,
    figures: Option<PathBuf>,
    questions: bool,
    write: Option<PathBuf>,
    mark: Option<PathBuf>,
    /// The suites to run instead of the reading exam; empty: all of them.
    suites: Option<Vec<ExamSuite>>,
    quick: bool,
    lost: bool,
}

fn main() -> Result<()> {
    let options = options()?;
    if let Some(folder) = &options.mark {
        return marks::print(folder, &options.folder);
    }
    if let (Some(figures), Some(svg)) = (&options.figures, &options.svg) {
        let json =
            std::fs::read_to_string(figures).with_context(|| figures.display().to_string())?;
        return Ok(std::fs::write(svg, svg::picture(&json)?)?);
    }
    if let Some(asked) = &options.suites {
        let request = SuiteRequest { quick: options.quick, contexts: options.write.clone() };
        let asked = if asked.is_empty() { &ExamSuite::ALL[..] } else { asked };
        let mut marks = Vec::new();
        for (name, candidate) in candidates(&options)? {
            let mut all = SuiteMarks::of(&name);
            for suite in asked {
                all.join(suites::run(*suite, &name, &candidate, &request)?);
            }
            marks.push(all);
        }
        match options.json {
            true => println!("{}", suites::report::json(&marks)?),
            false => print!("{}", suites::report::text(&marks, options.lost)),
        }
        return Ok(());
    }
    let names = match options.exams.is_empty() {
        true => folder::names(&options.folder)?,
        false => options.exams.clone(),
    };
    let exams: Vec<Sitting> =
        names.iter().map(|name| folder::open(&options.folder, name)).collect::<Result<_, _>>()?;
    let start =
        |command: &String| ExamNarrator::start(command, LIMIT).with_context(|| command.clone());
    let narrator = options.narrate_with.as_ref().map(start).transpose()?;
    let mut results = Vec::new();
    for (name, candidate) in candidates(&options)? {
        let mut walked =
            vec![(name.clone(), rows(&exams, |exam| exam.walk(&candidate, options.session)))];
        if let (ExamCandidate::Policy(policy), Some(narrator)) = (&candidate, &narrator) {
            let with = rows(&exams, |exam| exam.walk_narrated(policy, narrator));
            walked.push((format!("{name} + model"), with));
        }
        for (name, rows) in walked {
            let rows = rows.with_context(|| name.clone())?;
            if let Some(folder) = &options.write {
                for (exam, row) in exams.iter().zip(&rows) {
                    sheets::write(folder, exam, &name, row)?;
                }
            }
            results.push(StrategyOutcome { name, rows });
        }
    }
    if let Some(path) = &options.svg {
        let picture = svg::picture(&table::json(&exams, &results)?)?;
        std::fs::write(path, picture).with_context(|| path.display().to_string())?;
    }
    if options.json {
        println!("{}", table::json(&exams, &results)?);
    } else {
        print!("{}", table::text(&exams, &results, options.questions));
        narrator.iter().for_each(|narrator| println!("{}", narrator.counts()));
    }
    Ok(())
}

fn rows(
    exams: &[Sitting],
    walk: impl Fn(&Sitting) -> midfold_eval::exam::error::ExamResult<SittingRow>,
) -> midfold_eval::exam::error::ExamResult<Vec<SittingRow>> {
    exams.iter().map(walk).collect()
}

fn options() -> Result<Options> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--strategies" => options.strategies = list(value()?),
            "--engine" => options.engines.push(value()?),
            "--narrate-with" => options.narrate_with = Some(value()?),
            "--exams" => options.exams = list(value()?),
            "--session" => options.session = true,
            "--json" => options.json = true,
            "--svg" => options.svg = Some(value()?.into()),
            "--figures" => options.figures = Some(value()?.into()),
            "--questions" => options.questions = true,
            "--write" => options.write = Some(value()?.into()),
            "--mark" => options.mark = Some(value()?.into()),
            "--suites" => options.suites = Some(options.suites.unwrap_or_default()),
            "--suite" => {
                let name = value()?;
                let Some(suite) = ExamSuite::named(&name) else {
                    let names = ExamSuite::ALL.map(ExamSuite::name).join(", ");
                    bail!("no suite {name}: there are {names}");
                };
                options.suites.get_or_insert_default().push(suite);
            }
            "--quick" => options.quick = true,
            "--lost" => options.lost = true,
            other if other.starts_with("--") => bail!("unknown option {other}"),
            folder => options.folder = folder.into(),
        }
    }
    if options.figures.is_some() && options.svg.is_none() {
        bail!("--figures needs --svg FILE");
    }
    let needs_folder = options.figures.is_none() && options.suites.is_none();
    if options.folder.as_os_str().is_empty() && needs_folder {
        bail!("which folder? It holds exams.tsv, NAME.json and messages/NAME.json");
    }
    Ok(options)
}

fn candidates(options: &Options) -> Result<Vec<(String, ExamCandidate)>> {
    let names = match options.strategies.is_empty() {
        true if options.suites.is_some() => SUITES_BY.map(str::to_owned).to_vec(),
        true => std::iter::once("raw")
            .chain(Policy::preset_names())
            .chain(Policy::baseline_names())
            .map(str::to_owned)
            .collect(),
        false => options.strategies.clone(),
    };
    let mut found = Vec::new();
    for name in names {
        let policy = match name.as_str() {
            file if file.ends_with(".toml") => {
                Some(Policy::from_toml(&std::fs::read_to_string(file)?)?)
            }
            name => {
                midfold_eval::strategy(name).map_err(|failure| anyhow::anyhow!(failure.message))?
            }
        };
        let short = std::path::Path::new(&name).file_stem().unwrap_or_default();
        found.push((short.to_string_lossy().into_owned(), ExamCandidate::of(policy, LIMIT)?));
    }
    for command in &options.engines {
        let engine = ExamEngine::start(command, LIMIT).with_context(|| command.clone())?;
        found.push((engine.name().to_owned(), ExamCandidate::Engine(Arc::new(engine))));
    }
    Ok(found)
}
