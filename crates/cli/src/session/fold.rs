//! `midfold session compact`, `preview`, `undo`, `pin`, `unpin` and `fork`.

use midfold::{Fold, PlanOutcome, cache_check};
use midfold_args::{CompactionArgs, ForkArgs, PinArgs, UndoArgs};
use serde_json::json;

use super::context::counts_exactly;
use super::feedback::CompactionReport;
use crate::error::CommandError;
use crate::host::{self, OpenStore};
use crate::output::Output;
use crate::runtime;
use crate::words::{self, number, plural};

pub async fn compact(
    args: &CompactionArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    folded(args, false, host, json, output).await
}

pub async fn preview(
    args: &CompactionArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    folded(args, true, host, json, output).await
}

async fn folded(
    args: &CompactionArgs,
    preview: bool,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let now = runtime::now();
    let focus = args.focus.as_deref();
    let before = stored.status(now).await?;
    let outcome = match preview {
        true => stored.preview(focus).await?,
        false => stored.compact(focus, now).await?,
    };
    let folds = stored.folds().await?;
    let budget = stored.budget();
    let session = stored.whole().await?;
    if focus.is_some() {
        words::unheeded(session.policy(), output);
    }
    let budget = session.gate().budget(&budget, session.policy());
    let check =
        || cache_check(session.log(), session.policy(), &budget, *session.meter()).ok().flatten();
    let cache = preview.then(check).flatten();
    let id = match &outcome {
        PlanOutcome::Folded(fold) => Some(fold.id),
        PlanOutcome::Nothing(_) => None,
    };
    let place = folds.iter().position(|fold| Some(fold.id) == id).unwrap_or(folds.len());
    let feedback = CompactionReport {
        session: &args.id,
        outcome: &outcome,
        before: &before,
        counter: (&stored.row().new.counter, counts_exactly(&stored)),
        preview,
        number: place as u64 + 1,
        cache,
    };
    match json {
        true => output.stdout(format!("{}\n", feedback.to_json())),
        false => output.stdout(feedback.text(&output.stdout_style())),
    }
}

pub async fn undo(
    args: &UndoArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let folds = stored.folds().await?;
    let active = stored.row().active;
    let target = match &args.fold {
        Some(name) => Some(find(&folds, name, &args.id)?.1.id),
        None => active,
    };
    let Some(target) = target else {
        return Err(CommandError::failed(format!("session `{}` is not folded", args.id))
            .hint("there is nothing to take back: its context is the whole log"));
    };
    stored.undo(Some(target)).await?;
    let status = stored.status(runtime::now()).await?;
    if json {
        let value = json!({ "undone": target, "active": stored.row().active, "messages": status.messages, "tokens": status.context_tokens });
        return output.stdout(format!("{value}\n"));
    }
    let named = |id| folds.iter().position(|fold| fold.id == id).map_or(0, |at| at as u64 + 1);
    let through = match stored.row().active {
        Some(id) => format!("it is read through {} again", words::fold(named(id), id)),
        None => "it is the whole log again".to_owned(),
    };
    output.stdout(format!(
        "Took back {}\n  context      {}, {} tokens: {through}\n  next fold    when the window is full, or when you ask for one\n",
        words::fold(named(target), target),
        plural(status.messages, "message"),
        words::about(status.context_tokens, counts_exactly(&stored)),
    ))
}

/// The fold of this number, or whose id starts so; with its number.
pub fn find<'a>(
    folds: &'a [Fold],
    name: &str,
    session: &str,
) -> Result<(u64, &'a Fold), CommandError> {
    let place = name.parse::<usize>().ok().filter(|place| (1..=folds.len()).contains(place));
    if let Some(place) = place {
        return Ok((place as u64, &folds[place - 1]));
    }
    let starts =
        |fold: &&Fold| name.len() >= 4 && fold.id.to_hex().starts_with(&name.to_lowercase());
    let mut found = folds.iter().filter(starts);
    match (found.next(), found.next()) {
        (Some(fold), None) => {
            let at = folds.iter().position(|known| known.id == fold.id).unwrap_or(0);
            Ok((at as u64 + 1, fold))
        }
        (Some(_), Some(_)) => Err(CommandError::failed(format!(
            "more than one fold has an id that starts with `{name}`"
        ))
        .hint("give more of it, or its number")),
        (None, _) => {
            let error = CommandError::failed(format!("session `{session}` has no fold `{name}`"));
            Err(match folds.len() as u64 {
                0 => error.hint("nothing was folded in it yet"),
                1 => error.hint("it has one: 1"),
                many => error.hint(format!("it has {}: 1 to {many}", number(many))),
            })
        }
    }
}

pub async fn pin(
    args: &PinArgs,
    pinned: bool,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let before = stored.whole().await?.pins().to_vec();
    stored.pin(args.seq, pinned).await?;
    let pins = stored.whole().await?.pins().to_vec();
    if json {
        return output.stdout(format!("{}\n", json!({ "pins": pins, "changed": pins != before })));
    }
    let list: Vec<_> = pins.iter().map(u32::to_string).collect();
    let all = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let seq = args.seq;
    let what = match (pinned, pins == before) {
        (true, false) => format!("Pinned message {seq}"),
        (true, true) => format!("Nothing changed: message {seq} is pinned already"),
        (false, false) => format!("Unpinned message {seq}"),
        (false, true) => format!("Nothing changed: message {seq} is not pinned"),
    };
    output.stdout(format!("{what}; pinned now: {all}\n"))
}

pub async fn fork(
    args: &ForkArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let now = runtime::now();
    let fresh = || host::new_id(now, [host::random(), host::random()]);
    let id = args.new.clone().unwrap_or_else(fresh);
    let head = stored.row().head;
    if let Some(at) = args.at.filter(|at| *at > head) {
        return Err(CommandError::failed(format!(
            "session `{}` has {}, not {}",
            args.id,
            plural(head, "message"),
            number(at)
        ))
        .hint("--at is a number of messages; without it all of them are taken"));
    }
    let fork = stored.fork(&id, args.at, now).await?;
    let row = fork.row();
    if json {
        let value = json!({ "id": id, "parent": args.id, "events": row.head, "fold": row.active });
        return output.stdout(format!("{value}\n"));
    }
    let folded = if row.active.is_some() { ", with its fold" } else { "" };
    output.stderr(&format!("{} of {}{folded}\n", plural(row.head, "message"), args.id));
    output.stdout(format!("{id}\n"))
}
