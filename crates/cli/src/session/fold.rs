//! `midfold session compact`, `undo`, `pin`, `unpin` and `fork`: the commands that fold a session or change
//! its folds.

use midfold::Fold;
use midfold::view::{self, counts_exactly};
use midfold_args::{CompactionArgs, ForkArgs, PinArgs, UndoArgs};

use super::feedback;
use super::text::json_line;
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
    let mut stored = host.session(&args.id).await?;
    let now = runtime::now();
    let before = stored.status(now).await?;
    if args.focus.is_some() {
        words::unheeded(stored.whole().await?.policy(), output);
    }
    let compaction = view::compact(&mut stored, args.focus.as_deref(), args.dry_run, now).await?;
    if json {
        return output.stdout(json_line(&compaction)?);
    }
    let is_provided = before.last_prompt_tokens > 0 || before.meter.samples > 0;
    output.stdout(feedback::page(&compaction, is_provided, &output.stdout_style()))
}

pub async fn undo(
    args: &UndoArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let folds = stored.folds().await?;
    let named = match &args.fold {
        Some(name) => Some(find(&folds, name, &args.id)?.0),
        None => None,
    };
    if named.is_none() && stored.row().active.is_none() {
        return Err(CommandError::failed(format!("session `{}` is not folded", args.id))
            .hint("there is nothing to take back: its context is the whole log"));
    }
    let change = view::undo(&mut stored, named, false, runtime::now()).await?;
    if json {
        return output.stdout(json_line(&change)?);
    }
    let fold = |number: u64| {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let id = at.and_then(|at| folds.get(at)).map(|fold| fold.id);
        id.map_or_else(|| number.to_string(), |id| words::fold(number, id))
    };
    let undone: Vec<_> = change.undone.iter().map(|number| fold(*number)).collect();
    let through = match change.active {
        Some(number) => format!("it is read through {} again", fold(number)),
        None => "it is the whole log again".to_owned(),
    };
    let due = super::show::due(&stored.status(runtime::now()).await?);
    output.stdout(format!(
        "Took back {}\n  context      {}, {} tokens: {through}\n  next fold    {due}\n",
        undone.join(" and "),
        plural(change.after.messages, "message"),
        words::about(change.after.tokens, counts_exactly(&stored)),
    ))
}

/// The fewest digits by which a fold's id is named. Fewer are too easily those of another fold, or a number.
const LEAST_DIGITS: usize = 4;

/// The fold with this number, or whose id starts with `name`; and its number.
pub fn find<'a>(
    folds: &'a [Fold],
    name: &str,
    session: &str,
) -> Result<(u64, &'a Fold), CommandError> {
    let place = name.parse::<usize>().ok().filter(|place| (1..=folds.len()).contains(place));
    if let Some(place) = place {
        return Ok((place as u64, &folds[place - 1]));
    }
    let starts = |fold: &&Fold| fold.id.to_hex().starts_with(&name.to_lowercase());
    let is_short = name.len() < LEAST_DIGITS;
    if is_short && name.contains(char::is_alphabetic) && folds.iter().any(|fold| starts(&fold)) {
        let text = format!("`{name}` is too short for the id of a fold");
        let hint = format!("give at least {LEAST_DIGITS} digits of it, or the fold's number");
        return Err(CommandError::failed(text).hint(hint));
    }
    let mut matching = folds.iter().filter(starts).filter(|_| !is_short);
    match (matching.next(), matching.next()) {
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
    let change = view::pin(&mut stored, args.seq, pinned, false).await?;
    if json {
        return output.stdout(json_line(&change)?);
    }
    let list: Vec<_> = change.pins.iter().map(u32::to_string).collect();
    let all = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let seq = args.seq;
    let text = match (pinned, !change.changed) {
        (true, false) => format!("Pinned message {seq}"),
        (true, true) => format!("Nothing changed: message {seq} is pinned already"),
        (false, false) => format!("Unpinned message {seq}"),
        (false, true) => format!("Nothing changed: message {seq} is not pinned"),
    };
    output.stdout(format!("{text}; pinned now: {all}\n"))
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
        return output.stdout(json_line(&*host.overviews().one(&id).await?)?);
    }
    let folded = if row.active.is_some() { ", with its fold" } else { "" };
    output.stderr(&format!("{} of {}{folded}\n", plural(row.head, "message"), args.id));
    output.stdout(format!("{id}\n"))
}
