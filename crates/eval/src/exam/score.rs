//! Scores a context against an exam without a model. A key point is held where all groups of its probe match within one
//! passage. `score.py` of the exams has the same rule and gives the same numbers.

use std::collections::HashMap;

use fancy_regex::Regex;
use serde::Deserialize;

use crate::exam::error::{ErrorPlace as _, ExamError, ExamResult};
use crate::exam::passages::{LONG, passages};

/// One exam: questions about a recorded conversation.
#[derive(Deserialize)]
pub struct ReadingExam {
    /// The window in which it is replayed, in tokens.
    pub window: u64,
    /// The index of the message up to which the history is replayed.
    pub cut: usize,
    /// What an agent has to know.
    pub questions: Vec<ExamQuestion>,
}

/// A question about the conversation.
#[derive(Deserialize)]
pub struct ExamQuestion {
    /// The number of the question.
    pub id: u32,
    /// The kind: state, decision, attempt, artifact, value, request or next step.
    pub kind: String,
    /// The text of the question.
    pub question: String,
    /// The whole answer.
    pub answer: String,
    /// The parts that an answer has to hold.
    pub key_points: Vec<KeyPoint>,
    /// The numbers of the messages that hold the facts.
    pub evidence: Vec<usize>,
}

/// A part of an answer.
#[derive(Deserialize)]
pub struct KeyPoint {
    /// The part in words.
    pub says: String,
    /// Groups of alternative patterns. Each group has to match.
    pub probe: Vec<Vec<String>>,
}

/// A compiled probe: one pattern per group. It holds where all groups match.
pub struct Probe(Vec<Regex>);

impl Probe {
    /// Compiles groups of alternatives. Upper and lower case are equal.
    ///
    /// # Errors
    /// An alternative is not a valid pattern.
    pub fn new(groups: &[Vec<String>]) -> ExamResult<Self> {
        let group = |group: &Vec<String>| {
            let parts: Vec<String> = group.iter().map(|one| format!("(?:{one})")).collect();
            let pattern = format!("(?i){}", parts.join("|"));
            Regex::new(&pattern).at(pattern)
        };
        groups.iter().map(group).collect::<ExamResult<_>>().map(Self)
    }

    /// Whether every group can fail. A group that matches an empty text matches all texts.
    fn is_selective(&self) -> bool {
        let matches_all = |group: &Regex| group.is_match("").unwrap_or(false);
        !self.0.is_empty() && !self.0.iter().any(matches_all)
    }

    /// Whether this text alone holds the probe.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        // An expression that takes too long to match counts as one that does not.
        self.0.iter().all(|group| group.is_match(text).unwrap_or(false))
    }

    /// Whether one passage, or two short neighbours together, hold the probe.
    #[must_use]
    pub fn is_in(&self, passages: &[String]) -> bool {
        passages.iter().any(|passage| self.holds(passage))
            || pairs(passages).any(|pair| self.holds(&pair))
    }
}

/// The pairs of short neighbouring passages, such as a heading and its item, each joined to one text.
pub fn pairs(passages: &[String]) -> impl Iterator<Item = String> {
    let short = |pair: &&[String]| pair[0].chars().count() + pair[1].chars().count() < LONG;
    passages.windows(2).filter(short).map(|pair| format!("{} {}", pair[0], pair[1]))
}

/// Scores contexts. It remembers what each passage holds, because contexts of neighbouring requests share nearly all
/// passages.
pub struct Scorer {
    probes: Vec<Probe>,
    /// The index of the first probe of each question, and the number of its probes.
    spans: Vec<(usize, usize)>,
    /// For each passage seen so far, the indices of the probes that it holds.
    known: HashMap<String, Vec<u32>>,
}

impl Scorer {
    /// Compiles the probes of an exam.
    ///
    /// # Errors
    /// A probe is not a valid pattern or matches every text, or a question has no key points.
    pub fn new(exam: &ReadingExam) -> ExamResult<Self> {
        let (mut probes, mut spans) = (Vec::new(), Vec::new());
        for question in &exam.questions {
            let place = format!("question {}", question.id);
            if question.key_points.is_empty() {
                return Err(ExamError(format!("{place}: it has no key points")));
            }
            spans.push((probes.len(), question.key_points.len()));
            for point in &question.key_points {
                let probe = Probe::new(&point.probe).at(&place)?;
                if !probe.is_selective() {
                    let text = format!("{place}: the probe of `{}` matches any text", point.says);
                    return Err(ExamError(text));
                }
                probes.push(probe);
            }
        }
        Ok(Self { probes, spans, known: HashMap::new() })
    }

    /// For each question, the share of its key points that these messages hold, in the exam's order.
    pub fn score<'a>(&mut self, messages: impl Iterator<Item = &'a [u8]>) -> Vec<f64> {
        let passages = passages(messages);
        let mut hits = vec![false; self.probes.len()];
        for passage in &passages {
            self.take(passage, &mut hits);
        }
        for pair in pairs(&passages) {
            self.take(&pair, &mut hits);
        }
        let share = |&(from, count): &(usize, usize)| {
            let points = &hits[from..from + count];
            points.iter().filter(|hit| **hit).count() as f64 / count as f64
        };
        self.spans.iter().map(share).collect()
    }

    fn take(&mut self, passage: &str, hits: &mut [bool]) {
        if let Some(points) = self.known.get(passage) {
            points.iter().for_each(|at| hits[*at as usize] = true);
            return;
        }
        let points = self.probes.iter().enumerate().filter(|(_, probe)| probe.holds(passage));
        let points: Vec<u32> = points.map(|(at, _)| at as u32).collect();
        points.iter().for_each(|at| hits[*at as usize] = true);
        self.known.insert(passage.to_owned(), points);
    }
}
