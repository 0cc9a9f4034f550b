//! `midfold measure exam`: tests whether an agent could carry on from what compaction leaves.

use std::collections::BTreeSet;
use std::path::Path;

use midfold_args::{ExamArgs, ExamPart};
use midfold_eval::exam::engine::NoEngine;
use midfold_eval::exam::folder;
use midfold_eval::exam::paper::Paper;
use midfold_eval::exam::sitting::{ExamCandidate, Sitting};
use midfold_eval::exam::suites::ExamSuite;

use crate::error::CommandError;
use crate::output::{Output, ProgressLine};
use crate::prepare;
use crate::replay::engine;

/// The presets that are examined where the user names no candidate.
const PRESETS: [&str; 3] = ["default", "lean", "generous"];

pub fn run(args: &ExamArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let is_part = |part: ExamPart| match (args.suite.is_empty(), &args.exam) {
        (true, None) => true,
        // A folder of exams replaces the built-in ones, so nothing else was asked for.
        (true, Some(_)) => part == ExamPart::Reading,
        (false, _) => args.suite.contains(&part),
    };
    let is_read = is_part(ExamPart::Reading);
    if args.exam.is_some() && !is_read {
        let message = "--exam FOLDER is for the reading exam, which is not asked for";
        return Err(CommandError::usage(message).hint("add --suite reading"));
    }
    let suites = [
        (ExamPart::Standing, ExamSuite::Standing),
        (ExamPart::Small, ExamSuite::Small),
        (ExamPart::Attack, ExamSuite::Attack),
    ];
    let suites = suites.into_iter().filter(|(part, _)| is_part(*part)).map(|(_, suite)| suite);
    let paper = Paper {
        sittings: if is_read { sittings(args.exam.as_deref())? } else { Vec::new() },
        suites: suites.collect(),
        quick: args.quick,
        contexts: args.write.clone(),
    };
    let candidates = candidates(args)?;
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).map_err(|error| {
            let reason = crate::output::reason(&error);
            CommandError::failed(format!("--write {}: {reason}", folder.display()))
        })?;
    }
    let progress = ProgressLine::new(json);
    let results = paper.sit(&candidates, &|text| progress.show(text));
    progress.end();
    if results.failed.len() < candidates.len() || json {
        let text = match json {
            true => paper.json(&results).map_err(|e| CommandError::failed(e.to_string()))? + "\n",
            false => paper.text(&results, args.lost),
        };
        output.stdout(text)?;
    }
    let Some(first) = results.failed.first() else { return Ok(()) };
    let error = CommandError::failed(format!("{} failed: {}", first.strategy, first.why));
    let rest = results.failed.iter().skip(1);
    let error = rest
        .fold(error, |error, one| error.hint(format!("{} failed, too: {}", one.strategy, one.why)));
    let is_engine = |name: &str| {
        let mut named = candidates.iter().filter(|(other, _)| other == name);
        named.any(|(_, candidate)| matches!(candidate, ExamCandidate::Engine(_)))
    };
    Err(match results.failed.iter().any(|one| is_engine(&one.strategy)) {
        true => error.hint(engine::PROTOCOL).hint("--engine-timeout gives it more time"),
        false => error,
    })
}

/// The recorded conversations with their questions: those of a folder, or midfold's own.
fn sittings(exams: Option<&Path>) -> Result<Vec<Sitting>, CommandError> {
    let loaded = match exams {
        None => return folder::own().map_err(|error| CommandError::failed(error.to_string())),
        Some(path) if !path.is_dir() => {
            let place = path.display();
            Err(format!("--exam {place}: there is no such folder"))
        }
        Some(path) => folder::all(path).map_err(|error| error.to_string()),
    };
    loaded.map_err(|text| {
        CommandError::failed(text).hint(
            "a folder of exams has NAME.json with questions, and messages/NAME.json or .jsonl: see docs/COMPARE.md",
        )
    })
}

/// The candidates, with unique names. Each engine has to answer a small question first, so that a broken one fails
/// before the exam.
fn candidates(args: &ExamArgs) -> Result<Vec<(String, ExamCandidate)>, CommandError> {
    let mut named: Vec<(String, ExamCandidate)> = Vec::new();
    let limit = args.engine_timeout;
    let nobody = args.preset.is_empty() && args.policy.is_empty() && args.engine.is_empty();
    let mut presets: Vec<&str> = args.preset.iter().map(String::as_str).collect();
    if nobody {
        presets.extend(PRESETS);
    }
    let of = |policy, name: &str| {
        ExamCandidate::of(policy, limit)
            .map_err(|error: NoEngine| CommandError::failed(format!("{name}: {error}")))
    };
    for name in presets {
        named.push((name.to_owned(), of(midfold_eval::strategy(name)?, name)?));
    }
    for path in &args.policy {
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        named.push((name.clone(), of(Some(prepare::policy_file(path)?), &name)?));
    }
    for command in &args.engine {
        let engine = engine::start(command, limit)?;
        named.push((engine.name().to_owned(), ExamCandidate::Engine(engine)));
    }
    let mut names = BTreeSet::new();
    for (name, candidate) in &mut named {
        *name = free_name(&names, name);
        names.insert(name.clone());
        if let ExamCandidate::Engine(engine) = candidate {
            engine.check().map_err(|why| {
                CommandError::failed(format!(
                    "the engine {name} does not answer a small question: {why}"
                ))
                .hint(engine::PROTOCOL)
            })?;
        }
    }
    Ok(named)
}

/// The name, or where another one has it, the first free one of `NAME-2`, `NAME-3` …
pub fn free_name(others: &BTreeSet<String>, name: &str) -> String {
    let numbered = (2_usize..).map(|number| format!("{name}-{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !others.contains(name)).unwrap_or_default()
}
