//! Problems of reading and converting, by conversation.

use midfold::formats::ReadProblem;
use midfold::formats::read::Conversation;
use midfold::view::CarriedProblem;

/// Assigns the reader's problems to the conversations that they concern.
pub fn by_conversation<'a>(
    problems: Vec<ReadProblem>,
    all: impl IntoIterator<Item = &'a Conversation>,
) -> Vec<Vec<CarriedProblem>> {
    let starts: Vec<usize> = all.into_iter().map(|conversation| conversation.line).collect();
    let mut notes = vec![Vec::new(); starts.len()];
    for problem in problems {
        let line = problem.at.unwrap_or(0);
        let at = starts.iter().rposition(|start| *start <= line).unwrap_or(0);
        if let Some(notes) = notes.get_mut(at) {
            notes.push(CarriedProblem::of_reader(problem));
        }
    }
    notes
}
