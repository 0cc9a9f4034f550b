//! Notes about content that could not be carried over, as text and as JSON.

use midfold::formats::ReadProblem;
use midfold::formats::read::Conversation;
use serde_json::{Value, json};

/// A problem and its place: the number of a line or of a message.
pub struct ProblemNote {
    place: Option<(&'static str, usize)>,
    code: &'static str,
    detail: String,
}

impl ProblemNote {
    /// Assigns the reader's problems to the conversations that they concern.
    pub fn by_conversation(problems: Vec<ReadProblem>, all: &[Conversation]) -> Vec<Vec<Self>> {
        let mut notes: Vec<Vec<Self>> = all.iter().map(|_| Vec::new()).collect();
        for problem in problems {
            let line = problem.at.unwrap_or(0);
            let at = all.iter().rposition(|found| found.line <= line).unwrap_or(0);
            if let Some(notes) = notes.get_mut(at) {
                notes.push(Self::of_reader(problem));
            }
        }
        notes
    }

    fn of_reader(problem: ReadProblem) -> Self {
        let place = problem.at.map(|at| ("line", at));
        Self { place, code: problem.code, detail: problem.detail }
    }

    pub fn of_conversion(problem: ReadProblem) -> Self {
        let place = problem.at.map(|at| ("message", at));
        Self { place, code: problem.code, detail: problem.detail }
    }

    pub fn to_json(&self) -> Value {
        let mut value = json!({ "code": self.code, "detail": self.detail });
        if let Some((name, at)) = self.place {
            value[name] = json!(at);
        }
        value
    }

    pub fn text(&self) -> String {
        let place = self.place.map_or(String::new(), |(name, at)| format!("{name} {at}: "));
        format!("{place}{} ({})", self.detail, self.code)
    }
}
