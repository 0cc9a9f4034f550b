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

/// The turn of the instruction in the position `middle`, counted in messages of the user.
const MIDDLE_TURN: usize = 45;
/// The turn of the long message in the position `inside`.
const INSIDE_TURN: usize = 30;
/// The turn of the first instruction in the position `together`.
const TOGETHER_TURN: usize = 4;
/// How many turns later the next instruction comes in the position `together`.
const TOGETHER_STEP_TURNS: usize = 4;

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
    instructions_in(INSTRUCTIONS)
}

/// The instructions of a file. It has at least one preamble.
fn instructions_in(text: &str) -> ExamResult<Vec<StandingInstruction>> {
    let file: StandingFile = toml::from_str(text).at("instructions.toml")?;
    if file.preambles.is_empty() {
        return Err(ExamError("instructions.toml: there is no preamble".to_owned()));
    }
    let instructions = file.instruction.into_iter().zip(0..).map(|(written, at)| {
        // The divisor keeps the preambles independent of the positions of a quick run.
        let preamble = file.preambles.get(at / 3 % file.preambles.len()).map_or("", String::as_str);
        let probe = Probe::new(&written.probe).at(&written.kind)?;
        let behind = format!("{preamble}{}", behind_preamble(&written.plain, preamble));
        let WrittenInstruction { kind, plain, polite, reason, other, .. } = written;
        Ok(StandingInstruction { kind, wordings: [plain, polite, reason, other, behind], probe })
    });
    instructions.collect()
}

/// The text as it follows a preamble: its first letter is small after a colon, unless it is a capital in any place, as
/// in `I` and `API`.
fn behind_preamble(text: &str, preamble: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next();
    let is_word = chars.clone().next().is_some_and(char::is_lowercase) || text.starts_with("A ");
    match first.filter(|_| is_word && preamble.ends_with(": ")) {
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
    let mut out = Vec::new();
    for (seed, name) in (11..).zip(agent::NAMES) {
        let messages = agent::session(name, seed, LENGTH)?;
        out.push(InstructionCarrier {
            name: format!("{name} 32k"),
            size: 32_000,
            messages,
            facts: vec![],
        });
    }
    let facts: Vec<String> = talk.facts().iter().map(|fact| fact.word.clone()).collect();
    for (name, size) in [("chat 32k", 32_000), ("chat 16k", 16_000)] {
        let messages = talk.chat(5, LENGTH);
        out.push(InstructionCarrier {
            name: name.to_owned(),
            size,
            messages,
            facts: facts.clone(),
        });
    }
    Ok(out)
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
    /// The share of kept facts that the user said once, over the same conversations. A run that failed keeps none.
    pub facts: FoundShare,
    /// The mean tokens of the last context, as a share of the size, over the runs that gave one; 0 without such runs.
    pub context: f64,
    /// The mean number of folds over the runs that gave a last context; 0 without such runs.
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
        let request = walk(candidate, carrier.size, &messages)?;
        let kind = one.instruction.map_or("all", |at| &instructions[at].kind);
        let (wording, position) = (WORDINGS[one.wording], POSITIONS[one.position]);
        request.write(folder, &format!("{} {kind} {wording} {position}", carrier.name))?;
        Ok(seen(&request, carrier, &instructions, one))
    });
    // A strategy that fails in every run has lost nothing: it does not work at all.
    if let Some(Err(error)) = results.first().filter(|_| results.iter().all(ExamResult::is_err)) {
        return Err(ExamError(error.to_string()));
    }
    Ok(rows(&walks, results, &carriers, &instructions))
}

/// The results by carrier. `results` are those of `walks`, in the same order.
fn rows(
    walks: &[InstructionWalk],
    results: Vec<ExamResult<LastContext>>,
    carriers: &[InstructionCarrier],
    instructions: &[StandingInstruction],
) -> Vec<InstructionRow> {
    let row = |carrier: &InstructionCarrier| InstructionRow {
        carrier: carrier.name.clone(),
        ..InstructionRow::default()
    };
    let mut rows: Vec<InstructionRow> = carriers.iter().map(row).collect();
    let mut contexts = vec![0_u32; rows.len()];
    for (walk, result) in walks.iter().zip(results) {
        contexts[walk.carrier] += u32::from(result.is_ok());
        rows[walk.carrier].add_run(walk, result, &carriers[walk.carrier], instructions);
    }
    for (row, contexts) in rows.iter_mut().zip(contexts) {
        let runs = f64::from(contexts.max(1));
        (row.context, row.folds) = (row.context / runs, row.folds / runs);
    }
    rows
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
                let place = turn_at(&carrier.messages, TOGETHER_TURN + at * TOGETHER_STEP_TURNS);
                let turn = pair(&instruction.wordings[walk.wording], "Understood.");
                messages.splice(place..place, turn);
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
                    let place = turn_at(&messages, MIDDLE_TURN);
                    messages.splice(place..place, pair(text, "Understood."));
                }
                _ => {
                    let place = turn_at(&messages, INSIDE_TURN);
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
    hits: Vec<bool>,
    /// For each fact, whether the context holds its word.
    facts: Vec<bool>,
    tokens: u64,
    folds: usize,
}

/// Looks for the instruction of the run, or for all of them.
fn seen(
    request: &HeldRequest,
    carrier: &InstructionCarrier,
    instructions: &[StandingInstruction],
    walk: &InstructionWalk,
) -> LastContext {
    let passages = passages(request.messages.iter().map(|bytes| &bytes[..]));
    let is_walked = |at: usize| walk.instruction.is_none_or(|only| only == at);
    let hits = (0..).zip(instructions);
    let hits = hits.map(|(at, one)| is_walked(at) && one.probe.is_in(&passages)).collect();
    let known = |word: &String| passages.iter().any(|passage| passage.contains(word.as_str()));
    let facts = carrier.facts.iter().map(known).collect();
    LastContext { hits, facts, tokens: request.tokens, folds: request.folds }
}

impl InstructionRow {
    /// Adds the result of one run. `context` and `folds` are sums until the last run is added.
    fn add_run(
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
        }
        for at in 0..carrier.facts.len() {
            self.facts.add(seen.as_ref().is_some_and(|seen| seen.facts[at]));
        }
        for (at, instruction) in instructions.iter().enumerate() {
            if walk.instruction.is_some_and(|only| only != at) {
                continue;
            }
            let is_kept = seen.as_ref().is_some_and(|seen| seen.hits[at]);
            self.positions.entry(position).or_default().add(is_kept);
            if walk.instruction.is_some() {
                self.all.add(is_kept);
                self.wordings.entry(wording).or_default().add(is_kept);
                self.kinds.entry(instruction.kind.clone()).or_default().add(is_kept);
            }
            if !is_kept {
                let what = format!("{}, {wording}, {position}", instruction.kind);
                let why =
                    error.clone().unwrap_or_else(|| instruction.wordings[walk.wording].clone());
                self.lost.push(MissedItem { what, why });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_behind_a_colon_keeps_its_names() {
        let behind = |text| behind_preamble(text, "Keep in mind: ");
        assert_eq!(behind("Give all distances."), "give all distances.");
        assert_eq!(behind("A table is best."), "a table is best.");
        for text in ["I want tables.", "I'd like tables.", "API keys stay out.", ""] {
            assert_eq!(behind(text), text);
        }
        assert_eq!(behind_preamble("Give all.", "Keep in mind. "), "Give all.");
    }

    #[test]
    fn a_file_without_preambles_is_an_error() {
        let error = instructions_in("preambles = []\ninstruction = []").err();
        assert!(error.is_some_and(|error| error.0.contains("no preamble")));
    }

    #[test]
    fn a_failed_run_keeps_nothing_and_has_no_part_in_the_means() {
        let carrier = InstructionCarrier {
            name: "chat".to_owned(),
            size: 100,
            messages: Vec::new(),
            facts: vec!["wren".to_owned(), "lighthouse".to_owned()],
        };
        let instruction = StandingInstruction {
            kind: "units".to_owned(),
            wordings: WORDINGS.map(str::to_owned),
            probe: Probe::new(&[]).unwrap(),
        };
        let walk = || InstructionWalk { carrier: 0, instruction: Some(0), wording: 0, position: 0 };
        let context =
            || LastContext { hits: vec![true], facts: vec![true, false], tokens: 50, folds: 4 };
        let results = vec![Ok(context()), Err(ExamError("it broke".to_owned())), Ok(context())];
        let rows = rows(&[walk(), walk(), walk()], results, &[carrier], &[instruction]);
        let [row] = &rows[..] else { unreachable!("one carrier") };
        assert_eq!((row.context, row.folds, row.failed), (0.5, 4.0, 1));
        assert_eq!((row.facts.kept, row.facts.of), (2, 6));
        assert_eq!((row.all.kept, row.all.of), (2, 3));
        assert_eq!(row.lost.iter().map(|item| &*item.why).collect::<Vec<_>>(), ["it broke"]);
    }
}
