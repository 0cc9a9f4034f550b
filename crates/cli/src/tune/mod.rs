//! `midfold tune`: a policy that suits one's own conversations better than `default`, if there is
//! one.

mod file;
mod json;
mod report;
mod tuned;
mod work;

use std::sync::atomic::{AtomicUsize, Ordering};

use midfold::Policy;
use midfold::core::tune::{Pair, Plan, Prefer, judge, search};
use midfold_args::{Tune, Wish};

use crate::error::CommandError;
use crate::output::Output;
use crate::replay::{self, Corpus, Outcome, Progress};
use crate::tune::tuned::{BASE, Tuned};
use crate::tune::work::Bench;

pub fn run(args: &Tune, json: bool, output: &Output) -> Result<(), CommandError> {
    let base = Policy::preset(BASE).map_err(|error| CommandError::failed(error.to_string()))?;
    let prices = replay::prices(&args.measure)?;
    let windows = replay::windows(&args.files, &args.measure, output)?;
    let corpus = Corpus::new(&args.files, &args.measure, &windows)?;
    let progress = Progress::new(json);
    let read = Bench::read(corpus, &args.measure, &windows, &prices, &progress);
    progress.end();
    let mut bench = read?;
    if bench.conversations.is_empty() {
        let skipped = std::mem::take(&mut bench.skipped);
        let none = Outcome { conversations: Vec::new(), results: Vec::new(), skipped };
        return replay::enough(&none, &args.measure, &windows);
    }
    let left_out = bench.leave_out(&base);
    if bench.conversations.is_empty() {
        let error = CommandError::failed("`default` can replay none of these conversations");
        return Err(left_out.into_iter().take(3).fold(error, CommandError::hint));
    }
    let tuned = tune(args, &bench, &base, left_out, &progress);
    progress.end();
    finish(&tuned, json, output)
}

fn tune<'a>(
    args: &'a Tune,
    bench: &'a Bench<'a>,
    base: &'a Policy,
    left_out: Vec<String>,
    progress: &Progress,
) -> Tuned<'a> {
    let prefer = match args.prefer {
        Wish::Recall => Prefer::Recall,
        Wish::Cost => Prefer::Cost,
        Wish::Balance => Prefer::Balance,
    };
    let priced = bench.prices.name != "reference";
    let tries = args.tries as usize;
    let plan = Plan { base, prefer, tries, priced };
    let (searched, held) = bench.halves();
    let done = AtomicUsize::new(0);
    let whole = tries * searched.len();
    let step = || {
        let share = done.fetch_add(1, Ordering::Relaxed) * 100 / whole.max(1);
        progress.say(&format!("{share} % of {tries} tries"));
    };
    let found = search(&plan, |policies| bench.measure(policies, &searched, &step));
    let chosen = &found.trials[found.chosen].policy;
    let mut both = match held.is_empty() {
        true => Vec::new(),
        false => bench.measure(&[base.clone(), chosen.clone()], &held, &|| {}),
    };
    let other = both.pop().flatten();
    let pair = both.pop().flatten().map(|base| (base, other));
    let verdict = judge(
        &plan,
        &found,
        pair.as_ref().map(|(base, chosen)| Pair { base, chosen: chosen.as_deref() }),
    );
    let sum = midfold::core::tune::sum;
    let on_held = pair.map(|(base, chosen)| (sum(&base), chosen.map(|each| sum(&each))));
    Tuned { args, bench, base, prefer, priced, searched, held, found, on_held, verdict, left_out }
}

fn finish(tuned: &Tuned<'_>, json: bool, output: &Output) -> Result<(), CommandError> {
    if json {
        output.stdout(json::document(tuned).to_string() + "\n")?;
    } else {
        output.stdout(report::report(&output.stdout_style(), tuned))?;
    }
    let Some(path) = &tuned.args.output else { return Ok(()) };
    output.file(path, file::text(tuned).as_bytes())?;
    let what = if tuned.is_better() { "" } else { ": it says `default`" };
    output.stderr(&format!("wrote {}{what}\n", path.display()));
    Ok(())
}
