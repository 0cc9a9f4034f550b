//! Small chats that are compacted twice, to a half and to a quarter. They hold a rule in passing, a decision that was
//! replaced, names, and references such as "the second one".

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::carrier::CarrierMessage;
use super::carrier::rng::Rng;
use super::carrier::talk::CarrierTalk;
use super::holder::{ConversationHolder, HeldRequest, bytes};
use super::share::{FoundShare, MissedItem};
use super::spread::spread;
use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::passages::passages;
use crate::exam::score::{Probe, pairs};
use crate::exam::sitting::ExamCandidate;

/// The small cases, as TOML.
const CASES: &str = include_str!("../../../data/exam/cases.toml");

/// The factors by which a context has to be smaller than the messages so far.
pub const RATIOS: [u64; 2] = [2, 4];

/// The forms of compaction: `asked` compacts to a size on request, the second time from the first result; `window` is a
/// session with a window of that size.
pub const FORMS: [&str; 2] = ["asked", "window"];

/// The percentage by which a context may exceed the size, because an engine outside has its own counter.
const TOLERANCE: u64 = 10;

/// The file of cases.
#[derive(Deserialize)]
struct SmallFile {
    case: Vec<WrittenFamily>,
}

/// A case as the file has it.
#[derive(Deserialize)]
struct WrittenFamily {
    family: String,
    name: String,
    first: Vec<String>,
    second: Vec<String>,
    hold: Vec<Vec<Vec<String>>>,
    #[serde(default)]
    old: Vec<String>,
}

/// One small case.
pub struct SmallCase {
    /// The family of the case.
    pub family: String,
    /// The name of the case.
    pub name: String,
    /// The messages before the first compaction.
    pub first: Vec<CarrierMessage>,
    /// The messages before the second compaction.
    pub second: Vec<CarrierMessage>,
    /// The points that the context has to hold. A replaced decision that is left over makes the first one count as
    /// lost.
    hold: Vec<Probe>,
    /// The decision that was replaced. `None` where the case has none.
    old: Option<Probe>,
}

/// All small cases.
///
/// # Errors
/// The cases cannot be read.
pub fn cases() -> ExamResult<Vec<SmallCase>> {
    let file: SmallFile = toml::from_str(CASES).at("cases.toml")?;
    let talk = CarrierTalk::new()?;
    let built = file.case.into_iter().zip(101..).map(|(written, seed)| {
        let rng = &mut Rng::new(seed);
        let mut first = vec![CarrierMessage::system("You are a helpful assistant.")];
        first.extend(turns(&written.first, rng, &talk).at(&written.name)?);
        let probe = |groups: &Vec<Vec<String>>| Probe::new(groups).at(&written.name);
        Ok(SmallCase {
            first,
            second: turns(&written.second, rng, &talk).at(&written.name)?,
            hold: written.hold.iter().map(probe).collect::<ExamResult<_>>()?,
            old: match written.old.as_slice() {
                [] => None,
                words => Some(Probe::new(&[words.to_vec()]).at(&written.name)?),
            },
            family: written.family,
            name: written.name,
        })
    });
    built.collect()
}

fn turns(lines: &[String], rng: &mut Rng, talk: &CarrierTalk) -> ExamResult<Vec<CarrierMessage>> {
    let mut out = Vec::new();
    for line in lines {
        match line.split_once(' ') {
            Some(("u", text)) => out.push(CarrierMessage::user(text)),
            Some(("a", text)) => out.push(CarrierMessage::assistant(text)),
            _ => {
                let exchanges: usize = line.parse().at(line)?;
                (0..exchanges).for_each(|_| out.extend(talk.small(rng)));
            }
        }
    }
    Ok(out)
}

impl SmallCase {
    /// How many points of the case these messages hold.
    #[must_use]
    pub fn points(&self, request: &HeldRequest) -> FoundShare {
        let passages = passages(request.messages.iter().map(|bytes| &bytes[..]));
        let mut share = FoundShare::default();
        for (at, point) in self.hold.iter().enumerate() {
            let stale = self.old.iter().any(|old| {
                // The old decision counts as stale only where the new one is not beside it.
                let joined: Vec<String> = pairs(&passages).collect();
                let near = |passage: &String| {
                    point.holds(passage)
                        || joined.iter().any(|pair| {
                            (pair.starts_with(passage.as_str()) || pair.ends_with(passage.as_str()))
                                && point.holds(pair)
                        })
                };
                passages.iter().any(|passage| old.holds(passage) && !near(passage))
            });
            share.add(point.is_in(&passages) && !(at == 0 && stale));
        }
        share
    }
}

/// The results of a strategy for a family at one ratio.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SmallRow {
    /// The family.
    pub family: String,
    /// The factor by which the context has to be smaller.
    pub ratio: u64,
    /// The form of compaction: `asked` or `window`.
    pub form: &'static str,
    /// The points held after the first and after the second compaction.
    pub cycles: [FoundShare; 2],
    /// The mean tokens of a context, as a share of the requested size.
    pub context: f64,
    /// The number of compactions that failed or stayed above the size. They keep no points.
    pub failed: u64,
    /// The points that were not kept.
    pub lost: Vec<MissedItem>,
}

/// Runs all cases at all ratios. A quick run takes every third case.
///
/// # Errors
/// The cases cannot be read.
pub fn run(
    candidate: &ExamCandidate,
    quick: bool,
    folder: Option<&Path>,
) -> ExamResult<Vec<SmallRow>> {
    let cases: Vec<SmallCase> = cases()?.into_iter().step_by(if quick { 3 } else { 1 }).collect();
    let forms: &[&'static str] =
        if matches!(candidate, ExamCandidate::Policy(_)) { &FORMS } else { &FORMS[..1] };
    let mut work: Vec<(&SmallCase, u64, &'static str)> = Vec::new();
    for form in forms {
        for ratio in RATIOS {
            work.extend(cases.iter().map(|case| (case, ratio, *form)));
        }
    }
    let results = spread(&work, |(case, ratio, form)| cycles(candidate, case, *ratio, form));
    let mut rows: Vec<SmallRow> = Vec::new();
    for ((case, ratio, form), result) in work.iter().zip(results) {
        for (cycle, result) in (1..).zip(&result) {
            if let Ok((request, _)) = result {
                request.write(
                    folder,
                    &format!("{} {} {form} {ratio}x {cycle}", case.family, case.name),
                )?;
            }
        }
        let same =
            |row: &SmallRow| row.family == case.family && row.ratio == *ratio && row.form == *form;
        let at = rows.iter().position(same).unwrap_or_else(|| {
            let family = case.family.clone();
            rows.push(SmallRow { family, ratio: *ratio, form, ..SmallRow::default() });
            rows.len() - 1
        });
        rows[at].take(case, result);
    }
    for row in &mut rows {
        // Each case has two contexts. A failed one counts as an empty one.
        let contexts = 2 * cases.iter().filter(|case| case.family == row.family).count().max(1);
        row.context /= contexts as f64;
    }
    Ok(rows)
}

/// The contexts after both compactions, each with the requested size in tokens.
type CycleContexts = [ExamResult<(HeldRequest, u64)>; 2];

/// Runs a case through both compactions. A second holder without compaction gives the size of all messages so far.
fn cycles(candidate: &ExamCandidate, case: &SmallCase, ratio: u64, form: &str) -> CycleContexts {
    let start =
        if form == FORMS[0] { ConversationHolder::on_demand } else { ConversationHolder::new };
    let mut holder = match (start(candidate, 0), ConversationHolder::new(&ExamCandidate::Raw, 0)) {
        (Ok(holder), Ok(raw)) => (holder, raw),
        (Err(error), _) | (_, Err(error)) => {
            let message = error.to_string();
            return [Err(error), Err(ExamError(message))];
        }
    };
    let mut cycle = |messages: &[CarrierMessage]| {
        let (holder, raw) = (&mut holder.0, &mut holder.1);
        for message in bytes(messages) {
            holder.say(&message);
            raw.say(&message);
        }
        let size = raw.request().tokens / ratio;
        holder.resize(size);
        holder.compact()?;
        let request = holder.request();
        if request.tokens * 100 > size * (100 + TOLERANCE) {
            return Err(ExamError(format!("{} tokens, {size} were asked for", request.tokens)));
        }
        Ok((request, size))
    };
    [cycle(&case.first), cycle(&case.second)]
}

impl SmallRow {
    /// Counts the result of one case.
    fn take(&mut self, case: &SmallCase, result: CycleContexts) {
        for (cycle, result) in result.into_iter().enumerate() {
            let share = match &result {
                Ok((request, size)) => {
                    self.context += request.tokens as f64 / (*size).max(1) as f64;
                    case.points(request)
                }
                Err(_) => {
                    self.failed += 1;
                    FoundShare { kept: 0, of: case.hold.len() as u64 }
                }
            };
            self.cycles[cycle].join(share);
            if share.kept < share.of {
                let what =
                    format!("{}, {} {}x, cycle {}", case.name, self.form, self.ratio, cycle + 1);
                let why = match result {
                    Ok(_) => format!("{} of {}", share.kept, share.of),
                    Err(error) => error.to_string(),
                };
                self.lost.push(MissedItem { what, why });
            }
        }
    }
}
