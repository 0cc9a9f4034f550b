//! Standing instructions: orders that a user gives once, for good. The suite tests whether an order is still in the
//! context after its message was folded.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::carrier::talk::CarrierTalk;
use super::carrier::{CarrierMessage, agent, turn_at};
use super::holder::{HeldRequest, bytes, walk};
use super::share::{FoundShare, MissedItem};
use super::spread::spread;
use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::passages::passages;
use crate::exam::score::Probe;
use crate::exam::sitting::ExamCandidate;

/// The instructions, as TOML.
const INSTRUCTIONS: &str = include_str!("../../../data/exam/instructions.toml");

/// The tokens of a carrier.
const LENGTH: usize = 100_000;

/// The names of the wordings of an instruction.
pub const WORDINGS: [&str; 5] = ["plain", "polite", "reason", "other", "preamble"];

/// The positions of an instruction: in the first message, in a message of its own in the middle, inside a long message
/// on other topics. In `together`, all fifteen are in one conversation, each in a message of its own.
pub const POSITIONS: [&str; 4] = ["first", "middle", "inside", "together"];

/// The file of instructions.
#[derive(Deserialize)]
struct StandingFile {
    preambles: Vec<String>,
    instruction: Vec<WrittenInstruction>,
}

/// An instruction as the file has it.
#[derive(Deserialize)]
struct WrittenInstruction {
    kind: String,
    plain: String,
    polite: String,
    reason: String,
    other: String,
    probe: Vec<Vec<String>>,
}

/// A standing instruction.
pub struct StandingInstruction {
    /// The kind of instruction.
    pub kind: String,
    /// The texts of the instruction, in the order of [`WORDINGS`].
    pub wordings: [String; 5],
    /// The probe for a passage that holds it.
    pub probe: Probe,
}

/// All instructions.
///
/// # Errors
/// The instructions cannot be read.
pub fn instructions() -> ExamResult<Vec<StandingInstruction>> {
    let file: StandingFile = toml::from_str(INSTRUCTIONS).at("instructions.toml")?;
    let made = file.instruction.into_iter().zip(0..).map(|(written, at)| {
        // The divisor keeps the preambles independent of the positions of a quick run.
        let preamble = file.preambles.get(at / 3 % file.preambles.len()).map_or("", String::as_str);
        let probe = Probe::new(&written.probe).at(&written.kind)?;
        let behind = format!("{preamble}{}", lower(&written.plain, preamble));
        let WrittenInstruction { kind, plain, polite, reason, other, .. } = written;
        Ok(StandingInstruction { kind, wordings: [plain, polite, reason, other, behind], probe })
    });
    made.collect()
}

/// The text as it follows a preamble: in lower case after a colon.
fn lower(text: &str, preamble: &str) -> String {
    let mut chars = text.chars();
    match chars.next().filter(|_| preamble.ends_with(": ")) {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => text.to_owned(),
    }
}

/// A conversation that carries instructions.
pub struct InstructionCarrier {
    /// The name of the carrier, with the size of the context.
    pub name: String,
    /// The most tokens of a context.
    pub size: u64,
    /// The messages, without an instruction.
    pub messages: Vec<CarrierMessage>,
    /// The words of the facts that the user says once.
    pub facts: Vec<String>,
}

/// The conversations: three agents and a chat, and the chat in half the size.
///
/// # Errors
/// The conversations cannot be made.
pub fn carriers(talk: &CarrierTalk) -> ExamResult<Vec<InstructionCarrier>> {
    let mut made = Vec::new();
    for (seed, name) in (11..).zip(agent::NAMES) {
        let messages = agent::session(name, seed, LENGTH)?;
        made.push(InstructionCarrier {
            name: format!("{name} 32k"),
            size: 32_000,
            messages,
            facts: vec![],
        });
    }
    let facts: Vec<String> = talk.facts().iter().map(|fact| fact.word.clone()).collect();
    for (name, size) in [("chat 32k", 32_000), ("chat 16k", 16_000)] {
        let messages = talk.chat(5, LENGTH);
        made.push(InstructionCarrier {
            name: name.to_owned(),
            size,
            messages,
            facts: facts.clone(),
        });
    }
    Ok(made)
}

/// One run.
struct InstructionWalk {
    carrier: usize,
    /// The index of the instruction. `None` for all of them together.
    instruction: Option<usize>,
    /// The index in [`WORDINGS`].
    wording: usize,
    /// The index in [`POSITIONS`].
    position: usize,
}

/// The results of a strategy in one carrier.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InstructionRow {
    /// The carrier.
    pub carrier: String,
    /// The share of kept instructions, over runs with one instruction.
    pub all: FoundShare,
    /// The share of kept instructions by wording.
    pub wordings: BTreeMap<&'static str, FoundShare>,
    /// The share of kept instructions by position. `together` is the share over runs with all instructions, which is
    /// not part of `all`.
    pub positions: BTreeMap<&'static str, FoundShare>,
    /// The share of kept instructions by kind.
    pub kinds: BTreeMap<String, FoundShare>,
    /// The share of kept facts that the user said once, over the same conversations.
    pub facts: FoundShare,
    /// The mean tokens of the last context, as a share of the size.
    pub context: f64,
    /// The mean number of folds.
    pub folds: f64,
    /// The number of runs that failed, which keep nothing, or whose last context is above the size.
    pub failed: u64,
    /// The items that were not kept.
    pub lost: Vec<MissedItem>,
}

/// Runs every carrier with every instruction.
///
/// # Errors
/// The instructions or the carriers cannot be made. A run that fails is only counted.
pub fn run(
    candidate: &ExamCandidate,
    quick: bool,
    folder: Option<&Path>,
) -> ExamResult<Vec<InstructionRow>> {
    let (talk, instructions) = (CarrierTalk::new()?, instructions()?);
    let carriers = carriers(&talk)?;
    let walks = walks(carriers.len(), instructions.len(), quick);
    let results = spread(&walks, |one| {
        let carrier = &carriers[one.carrier];
        let messages = place(carrier, &instructions, one, &talk);
        let sent = walk(candidate, carrier.size, &messages)?;
        let kind = one.instruction.map_or("all", |at| &instructions[at].kind);
        let (wording, position) = (WORDINGS[one.wording], POSITIONS[one.position]);
        sent.write(folder, &format!("{} {kind} {wording} {position}", carrier.name))?;
        Ok(seen(&sent, carrier, &instructions, one))
    });
    // A strategy that fails in every run has lost nothing: it does not work at all.
    if let Some(Err(error)) = results.first().filter(|_| results.iter().all(ExamResult::is_err)) {
        return Err(ExamError(error.to_string()));
    }
    let mut rows: Vec<InstructionRow> = carriers
        .iter()
        .map(|carrier| InstructionRow {
            carrier: carrier.name.clone(),
            ..InstructionRow::default()
        })
        .collect();
    for (one, result) in walks.iter().zip(results) {
        rows[one.carrier].take(one, result, &carriers[one.carrier], &instructions);
    }
    for (row, at) in rows.iter_mut().zip(0..) {
        let walked = walks.iter().filter(|one| one.carrier == at).count().max(1) as f64;
        (row.context, row.folds) = (row.context / walked, row.folds / walked);
    }
    Ok(rows)
}

/// All runs. In a quick run, each wording of an instruction is in one position only.
fn walks(carriers: usize, instructions: usize, quick: bool) -> Vec<InstructionWalk> {
    let mut walks = Vec::new();
    for carrier in 0..carriers {
        for wording in 0..WORDINGS.len() {
            for instruction in 0..instructions {
                for position in 0..POSITIONS.len() - 1 {
                    if !quick || (instruction + wording) % 3 == position {
                        let instruction = Some(instruction);
                        walks.push(InstructionWalk { carrier, instruction, wording, position });
                    }
                }
            }
            walks.push(InstructionWalk { carrier, instruction: None, wording, position: 3 });
        }
    }
    walks
}

/// The conversation with the instruction in its position.
fn place(
    carrier: &InstructionCarrier,
    instructions: &[StandingInstruction],
    walk: &InstructionWalk,
    talk: &CarrierTalk,
) -> Vec<Bytes> {
    let mut messages = carrier.messages.clone();
    let pair =
        |text: &str, answer: &str| [CarrierMessage::user(text), CarrierMessage::assistant(answer)];
    match walk.instruction {
        None => {
            // The instructions are inserted from the back, so that the earlier positions stay valid.
            for (at, instruction) in instructions.iter().enumerate().rev() {
                let place = turn_at(&carrier.messages, 4 + at * 4);
                let said = pair(&instruction.wordings[walk.wording], "Understood.");
                messages.splice(place..place, said);
            }
        }
        Some(at) => {
            let text = &instructions[at].wordings[walk.wording];
            match POSITIONS[walk.position] {
                "first" => {
                    let first = messages.iter_mut().find(|message| message.role == "user");
                    if let Some(first) = first {
                        first.content = format!("{}\n\n{text}", first.content);
                    }
                }
                "middle" => {
                    let place = turn_at(&messages, 45);
                    messages.splice(place..place, pair(text, "Understood."));
                }
                _ => {
                    let place = turn_at(&messages, 30);
                    let long = talk.long_message(at as u64, text);
                    messages.splice(place..place, pair(&long, "Thank you for all the news!"));
                }
            }
        }
    }
    bytes(&messages)
}

/// What the last context of a run holds.
struct LastContext {
    /// For each instruction, whether the context holds it.
    held: Vec<bool>,
    /// For each fact, whether the context holds its word.
    facts: Vec<bool>,
    tokens: u64,
    folds: usize,
}

/// Looks for the instruction of the run, or for all of them.
fn seen(
    sent: &HeldRequest,
    carrier: &InstructionCarrier,
    instructions: &[StandingInstruction],
    walk: &InstructionWalk,
) -> LastContext {
    let passages = passages(sent.messages.iter().map(|bytes| &bytes[..]));
    let asked = |at: usize| walk.instruction.is_none_or(|only| only == at);
    let held = (0..).zip(instructions);
    let held = held.map(|(at, one)| asked(at) && one.probe.is_in(&passages)).collect();
    let known = |word: &String| passages.iter().any(|passage| passage.contains(word.as_str()));
    let facts = carrier.facts.iter().map(known).collect();
    LastContext { held, facts, tokens: sent.tokens, folds: sent.folds }
}

impl InstructionRow {
    /// Counts the result of one run.
    fn take(
        &mut self,
        walk: &InstructionWalk,
        result: ExamResult<LastContext>,
        carrier: &InstructionCarrier,
        instructions: &[StandingInstruction],
    ) {
        let (wording, position) = (WORDINGS[walk.wording], POSITIONS[walk.position]);
        let (seen, error) = match result {
            Ok(seen) => (Some(seen), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let over = seen.as_ref().is_some_and(|seen| seen.tokens > carrier.size);
        self.failed += u64::from(seen.is_none() || over);
        if let Some(seen) = &seen {
            self.context += seen.tokens as f64 / carrier.size as f64;
            self.folds += seen.folds as f64;
            seen.facts.iter().for_each(|known| self.facts.add(*known));
        }
        for (at, instruction) in instructions.iter().enumerate() {
            if walk.instruction.is_some_and(|only| only != at) {
                continue;
            }
            let held = seen.as_ref().is_some_and(|seen| seen.held[at]);
            self.positions.entry(position).or_default().add(held);
            if walk.instruction.is_some() {
                self.all.add(held);
                self.wordings.entry(wording).or_default().add(held);
                self.kinds.entry(instruction.kind.clone()).or_default().add(held);
            }
            if !held {
                let what = format!("{}, {wording}, {position}", instruction.kind);
                let why =
                    error.clone().unwrap_or_else(|| instruction.wordings[walk.wording].clone());
                self.lost.push(MissedItem { what, why });
            }
        }
    }
}
