//! Small chats, compacted twice to a half and to a quarter: a rule in passing, a decision that was replaced, names, and
//! "the second one".

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::carrier::Message;
use super::carrier::rng::Rng;
use super::carrier::talk::Talk;
use super::holder::{Holder, Sent, bytes};
use super::share::{Lost, Share};
use super::spread::spread;
use crate::error::{At as _, Error, Result};
use crate::passages::passages;
use crate::score::{Probe, pairs};
use crate::sitting::Candidate;

const CASES: &str = include_str!("../../data/cases.toml");

/// How much smaller a context has to be than what was said.
pub const RATIOS: [u64; 2] = [2, 4];

/// How it is compacted: somebody asks for a size, and what was answered is compacted again; or a session has a window of
/// that size.
pub const FORMS: [&str; 2] = ["asked", "window"];

/// A context may be larger than the size by this share, in per cent: an engine outside counts by its own counter.
const TOLERANCE: u64 = 10;

#[derive(Deserialize)]
struct File {
    case: Vec<Written>,
}

#[derive(Deserialize)]
struct Written {
    family: String,
    name: String,
    first: Vec<String>,
    second: Vec<String>,
    hold: Vec<Vec<Vec<String>>>,
    #[serde(default)]
    old: Vec<String>,
}

/// One case.
pub struct Case {
    /// Its family.
    pub family: String,
    /// Its name.
    pub name: String,
    /// What is said before the first compaction.
    pub first: Vec<Message>,
    /// What is said before the second one.
    pub second: Vec<Message>,
    hold: Vec<Probe>,
    old: Option<Probe>,
}

/// All cases.
///
/// # Errors
/// When they cannot be read.
pub fn cases() -> Result<Vec<Case>> {
    let file: File = toml::from_str(CASES).at("cases.toml")?;
    let talk = Talk::new()?;
    let made = file.case.into_iter().zip(101..).map(|(written, seed)| {
        let rng = &mut Rng::new(seed);
        let mut first = vec![Message::system("You are a helpful assistant.")];
        first.extend(said(&written.first, rng, &talk).at(&written.name)?);
        let probe = |groups: &Vec<Vec<String>>| Probe::new(groups).at(&written.name);
        Ok(Case {
            first,
            second: said(&written.second, rng, &talk).at(&written.name)?,
            hold: written.hold.iter().map(probe).collect::<Result<_>>()?,
            old: match written.old.as_slice() {
                [] => None,
                words => Some(Probe::new(&[words.to_vec()]).at(&written.name)?),
            },
            family: written.family,
            name: written.name,
        })
    });
    made.collect()
}

fn said(lines: &[String], rng: &mut Rng, talk: &Talk) -> Result<Vec<Message>> {
    let mut out = Vec::new();
    for line in lines {
        match line.split_once(' ') {
            Some(("u", text)) => out.push(Message::user(text)),
            Some(("a", text)) => out.push(Message::assistant(text)),
            _ => {
                let exchanges: usize = line.parse().at(line)?;
                (0..exchanges).for_each(|_| out.extend(talk.small(rng)));
            }
        }
    }
    Ok(out)
}

impl Case {
    /// The points that these messages hold.
    #[must_use]
    pub fn points(&self, sent: &Sent) -> Share {
        let passages = passages(sent.messages.iter().map(|bytes| &bytes[..]));
        let mut share = Share::default();
        for (at, point) in self.hold.iter().enumerate() {
            let stale = self.old.iter().any(|old| {
                // Alone, and not beside what replaced it.
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

/// What a strategy kept of a family at one ratio.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// The family.
    pub family: String,
    /// How much smaller.
    pub ratio: u64,
    /// Who compacts: `asked` for a size in a large window, or a session in a `window` of that size.
    pub form: &'static str,
    /// Points held after the first and after the second compaction.
    pub cycles: [Share; 2],
    /// Mean tokens of a context, as a share of the size that was asked for.
    pub context: f64,
    /// Compactions that failed or stayed over the size; nothing is kept then.
    pub failed: u64,
    /// What was not kept.
    pub lost: Vec<Lost>,
}

/// Runs all cases at all ratios; in a quick run every third case.
///
/// # Errors
/// When the cases cannot be read.
pub fn run(candidate: &Candidate, quick: bool, folder: Option<&Path>) -> Result<Vec<Row>> {
    let cases: Vec<Case> = cases()?.into_iter().step_by(if quick { 3 } else { 1 }).collect();
    let forms: &[&'static str] =
        if matches!(candidate, Candidate::Policy(_)) { &FORMS } else { &FORMS[..1] };
    let mut work: Vec<(&Case, u64, &'static str)> = Vec::new();
    for form in forms {
        for ratio in RATIOS {
            work.extend(cases.iter().map(|case| (case, ratio, *form)));
        }
    }
    let results = spread(&work, |(case, ratio, form)| cycles(candidate, case, *ratio, form));
    let mut rows: Vec<Row> = Vec::new();
    for ((case, ratio, form), result) in work.iter().zip(results) {
        for (cycle, result) in (1..).zip(&result) {
            if let Ok((sent, _)) = result {
                sent.write(
                    folder,
                    &format!("{} {} {form} {ratio}x {cycle}", case.family, case.name),
                )?;
            }
        }
        let same =
            |row: &Row| row.family == case.family && row.ratio == *ratio && row.form == *form;
        let at = rows.iter().position(same).unwrap_or_else(|| {
            let family = case.family.clone();
            rows.push(Row { family, ratio: *ratio, form, ..Row::default() });
            rows.len() - 1
        });
        rows[at].take(case, result);
    }
    for row in &mut rows {
        let contexts = 2 * cases.iter().filter(|case| case.family == row.family).count().max(1);
        row.context /= contexts as f64;
    }
    Ok(rows)
}

/// The contexts after both compactions, each with the size that was asked for.
type Cycles = [Result<(Sent, u64)>; 2];

fn cycles(candidate: &Candidate, case: &Case, ratio: u64, form: &str) -> Cycles {
    let made = if form == FORMS[0] { Holder::asked } else { Holder::new };
    let mut holder = match (made(candidate, 0), Holder::new(&Candidate::Raw, 0)) {
        (Ok(holder), Ok(raw)) => (holder, raw),
        (Err(error), _) | (_, Err(error)) => {
            let message = error.to_string();
            return [Err(error), Err(Error(message))];
        }
    };
    let mut cycle = |messages: &[Message]| {
        let (holder, raw) = (&mut holder.0, &mut holder.1);
        for message in bytes(messages) {
            holder.say(&message);
            raw.say(&message);
        }
        let size = raw.sent().tokens / ratio;
        holder.resize(size);
        holder.compact()?;
        let sent = holder.sent();
        if sent.tokens * 100 > size * (100 + TOLERANCE) {
            return Err(Error(format!("{} tokens, {size} were asked for", sent.tokens)));
        }
        Ok((sent, size))
    };
    [cycle(&case.first), cycle(&case.second)]
}

impl Row {
    fn take(&mut self, case: &Case, result: Cycles) {
        for (cycle, result) in result.into_iter().enumerate() {
            let share = match &result {
                Ok((sent, size)) => {
                    self.context += sent.tokens as f64 / (*size).max(1) as f64;
                    case.points(sent)
                }
                Err(_) => {
                    self.failed += 1;
                    Share { kept: 0, of: case.hold.len() as u64 }
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
                self.lost.push(Lost { what, why });
            }
        }
    }
}
