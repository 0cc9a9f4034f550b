//! Scoring a context against an exam without a model: a key point is held where all groups of its
//! probe match within one passage. The same rule, and the same numbers, as `score.py` of the exams.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use fancy_regex::Regex;
use serde::Deserialize;

use crate::passages::{LONG, passages};

/// One exam: a recorded conversation and questions about it.
#[derive(Deserialize)]
pub struct Exam {
    pub window: u64,
    pub cut: usize,
    pub questions: Vec<Question>,
}

#[derive(Deserialize)]
pub struct Question {
    pub id: u32,
    pub kind: String,
    pub question: String,
    pub answer: String,
    pub key_points: Vec<KeyPoint>,
    /// Numbers of the messages that hold the facts.
    pub evidence: Vec<usize>,
}

#[derive(Deserialize)]
pub struct KeyPoint {
    pub says: String,
    /// Groups of alternatives; each group has to match.
    pub probe: Vec<Vec<String>>,
}

/// A compiled probe: one pattern a group.
struct Probe(Vec<Regex>);

/// Remembers what each passage holds: contexts of neighbouring requests share nearly all of them.
pub struct Scorer {
    probes: Vec<Probe>,
    /// Number of the first probe of each question, and how many it has.
    spans: Vec<(usize, usize)>,
    known: HashMap<String, Vec<u32>>,
}

impl Scorer {
    pub fn new(exam: &Exam) -> Result<Self> {
        let (mut probes, mut spans) = (Vec::new(), Vec::new());
        for question in &exam.questions {
            spans.push((probes.len(), question.key_points.len()));
            for point in &question.key_points {
                let group = |group: &Vec<String>| {
                    let parts: Vec<String> = group.iter().map(|one| format!("(?:{one})")).collect();
                    let pattern = format!("(?i){}", parts.join("|"));
                    Regex::new(&pattern)
                        .with_context(|| format!("question {}: {pattern}", question.id))
                };
                probes.push(Probe(point.probe.iter().map(group).collect::<Result<_>>()?));
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
        // Neighbouring short lines make one passage too: a heading and its item.
        for pair in passages.windows(2) {
            if pair[0].chars().count() + pair[1].chars().count() < LONG {
                self.take(&format!("{} {}", pair[0], pair[1]), &mut held);
            }
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
        let matches = |probe: &Probe| probe.0.iter().all(|r| r.is_match(passage).unwrap_or(false));
        let points = self.probes.iter().enumerate().filter(|(_, probe)| matches(probe));
        let points: Vec<u32> = points.map(|(at, _)| at as u32).collect();
        points.iter().for_each(|at| held[*at as usize] = true);
        self.known.insert(passage.to_owned(), points);
    }
}
