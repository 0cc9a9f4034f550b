//! `midfold measure replay`: replays recorded conversations under strategies, and measures their contexts against what the
//! agent really used next.

mod chart;
mod cold;
mod corpus;
pub mod engine;
mod exam;
pub mod json;
mod line;
mod progress;
mod strategies;
mod table;
mod window;
mod work;

use midfold::Settings;
use midfold_args::{CacheLifetime, ReplayArgs, ReplayMeasure};
use midfold_eval::named_prices;
use midfold_eval::prices::{FIVE_MINUTES, HOUR, PriceTable};
use strategies::StrategyRun;

use crate::config;
use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::prepare::HOST;
use crate::words::{number, plural};

pub use corpus::{CorpusConversation, ReplayCorpus, SkippedConversations};
pub use progress::ReplayProgress;
pub use window::windows;
pub use work::{RunOutcome, WorkOutcome, WorkTask, work};

pub fn run(args: &ReplayArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let prices = prices(&args.measure)?;
    let windows = windows(&args.files, &args.measure, output)?;
    let runs = strategies::runs(args, &windows)?;
    let exam = args.exam.as_deref().map(exam::read).transpose()?;
    let corpus = ReplayCorpus::new(&args.files, &args.measure, &windows)?;
    let progress = ReplayProgress::new(json);
    let task = WorkTask {
        runs: &runs,
        prices: &prices,
        longer_than: args.measure.longer_than,
        details: json || args.output.is_some(),
        jobs: jobs(&args.measure),
    };
    let outcome = work(&task, corpus, &progress);
    progress.end();
    let outcome = outcome?;
    enough(&outcome, &args.measure, &windows)?;
    if !json {
        let style = output.stdout_style();
        let report = table::report(&style, &runs, &outcome, &prices);
        output.stdout(report + &left_out(&style, &outcome.skipped))?;
    }
    if task.details {
        let mut document = json::document(&outcome, &runs, &prices, &args.measure);
        if let Some(exam) = exam {
            document["exam"] = exam;
        }
        let text = document.to_string();
        if let Some(path) = &args.output {
            let mut page = Vec::with_capacity(text.len() * 2);
            crate::html::write(&text, &mut page)
                .map_err(|error| CommandError::failed(format!("the page: {error}")))?;
            output.file(path, &page)?;
            output.stderr(&format!("wrote {}\n", path.display()));
        }
        if json {
            output.stdout(text + "\n")?;
        }
    }
    got_through(&outcome, &runs)
}

/// The number of conversations that are replayed at the same time.
pub fn jobs(measure: &ReplayMeasure) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    measure.jobs.unwrap_or_else(cores).max(1)
}

/// The prices that `--prices` and `--cache-lifetime` ask for.
pub fn prices(measure: &ReplayMeasure) -> Result<PriceTable, CommandError> {
    let prices = measure.prices.clone();
    let flags = Settings { prices, ..Settings::default() };
    let prices = named_prices(&flags.over(config::settings()?), &HOST)?;
    Ok(match measure.cache_lifetime {
        None => prices,
        Some(CacheLifetime::FiveMinutes) => prices.living(Some(FIVE_MINUTES)),
        Some(CacheLifetime::Hour) => prices.living(Some(HOUR)),
        Some(CacheLifetime::Never) => prices.living(None),
    })
}

/// Fails where no conversation was replayed, and says why.
pub fn enough(
    outcome: &WorkOutcome,
    measure: &ReplayMeasure,
    windows: &[u64],
) -> Result<(), CommandError> {
    if !outcome.conversations.is_empty() {
        return Ok(());
    }
    let (skipped, window) = (&outcome.skipped, windows.iter().min().copied().unwrap_or(0));
    if skipped.short == 0 {
        let error = CommandError::failed("there is no conversation in these files");
        return Err(skipped.unreadable.iter().take(3).fold(error, |e, text| e.hint(text.clone())));
    }
    Err(CommandError::failed(format!(
        "no conversation is longer than {} windows of {}: the longest has {} tokens",
        measure.longer_than,
        number(window),
        number(skipped.longest)
    ))
    .hint(format!("try --window {}", skipped.longest / 3))
    .hint("or --longer-than 0.8: below that nothing folds, and there is nothing to measure"))
}

/// Fails where an engine answered for no conversation, because it then measured nothing.
fn got_through(outcome: &WorkOutcome, runs: &[StrategyRun]) -> Result<(), CommandError> {
    let silent = |(run, ran): &(&StrategyRun, &RunOutcome)| {
        run.is_engine()
            && !ran.each.is_empty()
            && ran.each.iter().all(|(_, result)| result.is_err())
    };
    let Some((run, ran)) = runs.iter().zip(&outcome.results).find(silent) else { return Ok(()) };
    let why = ran.each.iter().find_map(|(_, result)| result.as_ref().err());
    Err(CommandError::failed(format!(
        "--engine {} failed in every conversation: {}",
        run.name,
        why.map_or("", String::as_str)
    ))
    .hint(engine::PROTOCOL))
}

/// The conversations and files that were left out, as lines of text.
pub fn left_out(style: &crate::output::OutputStyle, skipped: &SkippedConversations) -> String {
    let mut out = String::new();
    if skipped.short > 0 {
        let short = skipped.short as u64;
        let are = if short == 1 { "is" } else { "are" };
        out += &format!("\n  {} {are} too short\n", plural(short, "conversation"));
    }
    if let Some(first) = skipped.unreadable.first() {
        let count = plural(skipped.unreadable.len() as u64, "file");
        out += &format!("\n  {count} could not be read, the first: {first}\n");
    }
    style.paint(OutputColor::Dim, &out)
}
