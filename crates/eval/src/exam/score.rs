//! Scoring a context against an exam without a model: a key point is held where all groups of its
//! probe match within one passage. The same rule, and the same numbers, as `score.py` of the exams.

use std::collections::HashMap;

use fancy_regex::Regex;
use serde::Deserialize;

use crate::exam::error::{ErrorPlace as _, ExamResult};
use crate::exam::passages::{LONG, passages};

/// One exam: a recorded conversation and questions about it.
#[derive(Deserialize)]
pub struct ReadingExam {
    /// The window that it is walked in, in tokens.
    pub window: u64,
    /// The message up to which history is walked.
    pub cut: usize,
    /// What an agent has to know.
    pub questions: Vec<ExamQuestion>,
}

/// A question about the conversation.
#[derive(Deserialize)]
pub struct ExamQuestion {
    /// Its number.
    pub id: u32,
    /// State, decision, attempt, artifact, value, request or next step.
    pub kind: String,
    /// What is asked.
    pub question: String,
    /// The whole answer.
    pub answer: String,
    /// What an answer has to hold.
    pub key_points: Vec<KeyPoint>,
    /// Numbers of the messages that hold the facts.
    pub evidence: Vec<usize>,
}

/// A part of an answer.
#[derive(Deserialize)]
pub struct KeyPoint {
    /// What it says.
    pub says: String,
    /// Groups of alternatives; each group has to match.
    pub probe: Vec<Vec<String>>,
}

/// A compiled probe: one pattern a group. It holds where all groups match.
pub struct Probe(Vec<Regex>);

impl Probe {
    /// Compiles groups of alternatives; upper and lower case are the same.
    ///
    /// # Errors
    /// When an alternative is no pattern.
    pub fn new(groups: &[Vec<String>]) -> ExamResult<Self> {
        let group = |group: &Vec<String>| {
            let parts: Vec<String> = group.iter().map(|one| format!("(?:{one})")).collect();
            let pattern = format!("(?i){}", parts.join("|"));
            Regex::new(&pattern).at(pattern)
        };
        groups.iter().map(group).collect::<ExamResult<_>>().map(Self)
    }

    /// Whether this text alone holds it.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        self.0.iter().all(|group| group.is_match(text).unwrap_or(false))
    }

    /// Whether a passage, or two short ones beside each other, hold it.
    #[must_use]
    pub fn is_in(&self, passages: &[String]) -> bool {
        passages.iter().any(|passage| self.holds(passage))
            || pairs(passages).any(|pair| self.holds(&pair))
    }
}

/// Neighbouring short passages make one, too: a heading and its item.
pub fn pairs(passages: &[String]) -> impl Iterator<Item = String> {
    let short = |pair: &&[String]| pair[0].chars().count() + pair[1].chars().count() < LONG;
    passages.windows(2).filter(short).map(|pair| format!("{} {}", pair[0], pair[1]))
}

/// Remembers what each passage holds: contexts of neighbouring requests share nearly all of them.
pub struct Scorer {
    probes: Vec<Probe>,
    /// Number of the first probe of each question, and how many it has.
    spans: Vec<(usize, usize)>,
    known: HashMap<String, Vec<u32>>,
}

impl Scorer {
    /// Compiles the probes of an exam.
    ///
    /// # Errors
    /// When a probe is no pattern.
    pub fn new(exam: &ReadingExam) -> ExamResult<Self> {
        let (mut probes, mut spans) = (Vec::new(), Vec::new());
        for question in &exam.questions {
            spans.push((probes.len(), question.key_points.len()));
            for point in &question.key_points {
                let probe = Probe::new(&point.probe);
                probes.push(probe.at(format!("question {}", question.id))?);
            }
        }
        Ok(Self { probes, spans, known: HashMap::new() })
    }

    /// The share of its key points that each question has held, in the exam's order.
    pub fn score<'a>(&mut self, messages: impl Iterator<Item = &'a [u8]>) -> Vec<f64> {
        let passages = passages(messages);
        let mut held = vec![false; self.probes.len()];
        for passage in &passages {
            self.take(passage, &mut held);
        }
        for pair in pairs(&passages) {
            self.take(&pair, &mut held);
        }
        let share = |&(from, count): &(usize, usize)| {
            let points = &held[from..from + count];
            points.iter().filter(|held| **held).count() as f64 / count.max(1) as f64
        };
        self.spans.iter().map(share).collect()
    }

    fn take(&mut self, passage: &str, held: &mut [bool]) {
        if let Some(points) = self.known.get(passage) {
            points.iter().for_each(|at| held[*at as usize] = true);
            return;
        }
        let points = self.probes.iter().enumerate().filter(|(_, probe)| probe.holds(passage));
        let points: Vec<u32> = points.map(|(at, _)| at as u32).collect();
        points.iter().for_each(|at| held[*at as usize] = true);
        self.known.insert(passage.to_owned(), points);
    }
}
