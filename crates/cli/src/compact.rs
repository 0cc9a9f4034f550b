//! `midfold compact`.

use bytes::Bytes;
use midfold::core::plan::{Cause, FloorError, Plan, plan};
use midfold::core::project::project;
use midfold::{Budget, NoOp, Outcome, PlanError, Policy, Prepared};
use regex::Regex;
use serde_json::json;

use crate::args::Compact;
use crate::done::Done;
use crate::error::CommandError;
use crate::input::{Input, is_stdin};
use crate::note::Note;
use crate::output::{Color, Output};
use crate::picture;
use crate::prepare;
use crate::presets::pretty;
use crate::report;
use crate::transcript::{Transcript, flat};
use crate::words::number;

pub fn run(args: &Compact, json: bool, output: &Output) -> Result<(), CommandError> {
    let from = args.from.as_deref().map(prepare::format).transpose()?;
    let mut setup = prepare::setup(&args.measure, args.to.as_deref())?;
    let mut policy = prepare::policy(args.preset.as_deref(), args.policy.as_deref())?;
    if let Some(messages) = args.keep_last {
        policy.tail.min_messages = messages;
    }
    let pins = args.pin.iter().map(|pin| regex(pin)).collect::<Result<Vec<_>, _>>()?;
    let input = Input::load(&args.file)?;
    let found = input.conversations(from)?;
    let wish = Wish { policy, pins, args };
    let count = found.conversations.len();
    let notes = Note::by_conversation(found.problems, &found.conversations);
    let mut all = Vec::with_capacity(count);
    for (at, (conversation, notes)) in found.conversations.into_iter().zip(notes).enumerate() {
        let place = if count == 1 {
            String::new()
        } else {
            format!("conversation {} of {count}: ", at + 1)
        };
        let prepared = setup.prepare(conversation)?;
        all.push(wish.compact(prepared, notes, &format!("{}: {place}", input.name))?);
    }
    emit(args, json, output, &input.name, &all)
}

fn emit(
    args: &Compact,
    json: bool,
    output: &Output,
    name: &str,
    all: &[Done],
) -> Result<(), CommandError> {
    let on_terminal = args.output.is_none() && output.is_terminal() && !json;
    let report = |style| report::report(&style, name, all);
    if args.preview || on_terminal {
        if json {
            return output.stdout(objects(all, false)?);
        }
        let style = output.stdout_style();
        let mut text = report(style);
        if let [only] = all {
            text += &picture::folded(&style, only);
        }
        text += &style.paint(Color::Dim, &how_to_get_it(args));
        output.stdout(text)?;
        if let Some(path) = &args.record {
            output.file(path, &records(all)?)?;
        }
    } else {
        let result = if json { objects(all, true)? } else { transcripts(all) };
        if let Some(path) = &args.record {
            output.file(path, &records(all)?)?;
        }
        let to_file = args.output.as_ref().filter(|path| !is_stdin(path));
        if let Some(path) = to_file {
            output.file(path, &result)?;
        }
        output.stderr(&report(output.stderr_style()));
        if to_file.is_none() {
            output.stdout(result)?;
        }
    }
    Ok(())
}

fn how_to_get_it(args: &Compact) -> String {
    if args.preview {
        return "preview: nothing was written\n".to_owned();
    }
    let file = args.file.display();
    format!(
        "nothing was written: `midfold compact {file} -o FILE` writes the result, so does a pipe\n"
    )
}

/// The compacted messages, in the shape of the input.
fn transcripts(all: &[Done]) -> Vec<u8> {
    let transcript = |done: &Done| Transcript::new(&done.prepared, &done.context).line();
    match all {
        [only] => Transcript::new(&only.prepared, &only.context).document(),
        _ => all.iter().flat_map(transcript).collect(),
    }
}

/// The folds: one, pretty; several, one on each line. `null` where nothing was folded.
fn records(all: &[Done]) -> Result<Vec<u8>, CommandError> {
    if let [only] = all {
        return Ok(pretty(&only.fold())?.into_bytes());
    }
    let mut lines = Vec::new();
    for done in all {
        lines.extend_from_slice(&encoded(&done.fold())?);
        lines.push(b'\n');
    }
    Ok(lines)
}

/// `{messages, system?, tools?, fold, noop?, problems}`, one on each line.
fn objects(all: &[Done], with_messages: bool) -> Result<Vec<u8>, CommandError> {
    let mut out = Vec::new();
    for done in all {
        let object = object(done, with_messages)?;
        // The only one keeps the bytes of its messages, line breaks between tokens and all.
        out.extend_from_slice(&if all.len() == 1 { object } else { flat(&object) });
        out.push(b'\n');
    }
    Ok(out)
}

fn object(done: &Done, with_messages: bool) -> Result<Vec<u8>, CommandError> {
    let envelope = &done.prepared.source.envelope;
    let messages = with_messages
        .then(|| Bytes::from(Transcript::new(&done.prepared, &done.context).messages()));
    let noop = done.noop().map(|reason| encoded(&reason.to_string())).transpose()?;
    let notes: Vec<_> = done.notes.iter().map(Note::to_json).collect();
    let members = [
        ("messages", messages),
        ("system", envelope.system.clone()),
        ("tools", envelope.tools.clone()),
        ("fold", Some(encoded(&done.fold())?.into())),
        ("noop", noop.map(Bytes::from)),
        ("problems", Some(encoded(&json!(notes))?.into())),
    ];
    let mut out = vec![b'{'];
    for (name, value) in members.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        out.extend_from_slice(value);
    }
    out.push(b'}');
    Ok(out)
}

fn encoded(value: &impl serde::Serialize) -> Result<Vec<u8>, CommandError> {
    serde_json::to_vec(value).map_err(|error| CommandError::failed(error.to_string()))
}

fn regex(pattern: &str) -> Result<Regex, CommandError> {
    Regex::new(pattern).map_err(|error| {
        CommandError::usage(format!("--pin: {error}")).hint(
            "a pin is a regular expression; put a \\ before characters that should be literal",
        )
    })
}

/// What is to be done to each conversation.
struct Wish<'a> {
    policy: Policy,
    pins: Vec<Regex>,
    args: &'a Compact,
}

/// Rounds of narrowing for `--target`: each takes off what was over.
const ROUNDS: usize = 5;

impl Wish<'_> {
    fn compact(
        &self,
        mut prepared: Prepared,
        mut notes: Vec<Note>,
        place: &str,
    ) -> Result<Done, CommandError> {
        let pins = self.pinned(&prepared);
        notes.extend(prepared.problems.drain(..).map(Note::of_conversion));
        let (outcome, missed) = match self.args.target {
            Some(target) => self.fold_to(&prepared, &pins, target, place)?,
            None => {
                let outcome = self.fold(&prepared, &pins, &self.policy, prepared.window);
                (outcome.map_err(|error| self.explain(&prepared, &pins, &error, place))?, None)
            }
        };
        let fold = match &outcome {
            Outcome::Folded(fold) => Some(&**fold),
            Outcome::Nothing(_) => None,
        };
        let context = project(&prepared.log, fold);
        Ok(Done { prepared, outcome, context, notes, missed })
    }

    fn fold(
        &self,
        prepared: &Prepared,
        pins: &[u32],
        policy: &Policy,
        window: u64,
    ) -> Result<Outcome, PlanError> {
        plan(&Plan {
            pins,
            focus: self.args.focus.as_deref(),
            cause: if self.args.if_needed { Cause::Check } else { Cause::Manual },
            ..prepared.plan(policy, &Budget::new(window))
        })
    }

    /// Folds so that at most `target` tokens are left: the policy aims there, and where its tail
    /// and recap alone are larger, they shrink together.
    fn fold_to(
        &self,
        prepared: &Prepared,
        pins: &[u32],
        target: u64,
        place: &str,
    ) -> Result<(Outcome, Option<u64>), CommandError> {
        let budget = prepared.window.saturating_sub(self.policy.trigger.injection_reserve);
        if target > budget {
            return Err(CommandError::usage(format!(
                "{place}a target of {} tokens is larger than the budget of {}",
                number(target),
                number(budget)
            ))
            .hint("lower --target or raise --window"));
        }
        let mut policy = self.policy.clone();
        policy.fold.target.0 = ratio(target, budget);
        let mut outcome = Ok(Outcome::Nothing(NoOp::NothingNew));
        for _ in 0..ROUNDS {
            outcome = self.fold(prepared, pins, &policy, prepared.window);
            let Ok(Outcome::Folded(fold)) = &outcome else { break };
            let after = prepared.meter.calibrated(fold.tokens_after);
            if after <= target {
                return outcome.map(|outcome| (outcome, None)).map_err(|_| CommandError::silent(1));
            }
            let fixed = prepared.meter.calibrated(fold.head_tokens);
            let (room, now) = (target.saturating_sub(fixed), after.saturating_sub(fixed).max(1));
            // A little more than asked for: cuts fall between units.
            let scale = |part: u32| ratio(u64::from(part) * room, now * 10_000) / 20 * 19;
            // What they took may be less than what they were allowed.
            let took = |tokens: u64, most: u32| most.min(ratio(tokens, budget).max(1));
            let recap = fold.recap.as_ref().map_or(0, |recap| recap.tokens);
            policy.tail.ratio.0 = scale(took(fold.tail_tokens, policy.tail.ratio.0));
            policy.recap.cap.0 = scale(took(recap, policy.recap.cap.0));
        }
        let outcome = outcome.map_err(|error| self.explain(prepared, pins, &error, place))?;
        let missed = matches!(outcome, Outcome::Folded(_)).then_some(target);
        Ok((outcome, missed))
    }

    fn pinned(&self, prepared: &Prepared) -> Vec<u32> {
        if self.pins.is_empty() {
            return Vec::new();
        }
        let matches = |text: &str| self.pins.iter().any(|pin| pin.is_match(text));
        let events = prepared.log.events().iter();
        events.filter(|event| matches(&event.text())).map(|event| event.seq).collect()
    }

    fn explain(
        &self,
        prepared: &Prepared,
        pins: &[u32],
        error: &PlanError,
        place: &str,
    ) -> CommandError {
        let PlanError::Floor(floor) = error else {
            return CommandError::usage(format!("{place}{error}")).hint("raise --window");
        };
        let mut failed = CommandError::failed(format!(
            "{place}what may not be folded needs {} tokens, more than the window of {} allows ({})",
            number(floor.needed),
            number(prepared.window),
            number(floor.limit),
        ))
        .hint(parts(floor));
        let fold = |window| self.fold(prepared, pins, &self.policy, window);
        if let Some(window) = floor.enough(&self.policy, prepared.meter, prepared.window, fold) {
            failed = failed.hint(format!("--window {window} is enough"));
        }
        let fits = self.fitting_presets(prepared, pins);
        if !fits.is_empty() {
            failed = failed
                .hint(format!("or choose --preset {}, which fits this window", fits.join(" or ")));
        }
        if !pins.is_empty() && floor.pinned > 0 {
            failed = failed.hint("or pin less: --pin matched ".to_owned() + &messages(pins.len()));
        }
        failed
    }

    fn fitting_presets(&self, prepared: &Prepared, pins: &[u32]) -> Vec<&'static str> {
        let fits = |name: &&str| {
            Policy::preset(name).is_ok_and(|policy| {
                policy.name != self.policy.name
                    && self.fold(prepared, pins, &policy, prepared.window).is_ok()
            })
        };
        Policy::preset_names().into_iter().filter(fits).collect()
    }
}

/// The parts of a floor that are there, largest first.
fn parts(floor: &FloorError) -> String {
    let part = |(what, tokens): (&str, u64)| format!("{what} {}", number(tokens));
    let texts: Vec<_> = floor.parts().into_iter().map(part).collect();
    format!("that is {}", texts.join(", "))
}

fn messages(count: usize) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{} messages", number(count as u64)) }
}

/// `part / whole` in parts per 10,000, rounded down.
fn ratio(part: u64, whole: u64) -> u32 {
    u32::try_from(u128::from(part) * 10_000 / u128::from(whole.max(1))).unwrap_or(u32::MAX)
}
