//! Problems of reading and converting, by conversation.

use midfold::formats::ReadProblem;
use midfold::formats::read::Conversation;
use midfold::view::CarriedProblem;

/// Assigns the reader's problems to the conversations that they concern.
pub fn by_conversation(
    problems: Vec<ReadProblem>,
    all: &[Conversation],
) -> Vec<Vec<CarriedProblem>> {
    let mut notes: Vec<Vec<CarriedProblem>> = all.iter().map(|_| Vec::new()).collect();
    for problem in problems {
        let line = problem.at.unwrap_or(0);
        let at = all.iter().rposition(|conversation| conversation.line <= line).unwrap_or(0);
        if let Some(notes) = notes.get_mut(at) {
            notes.push(CarriedProblem::of_reader(problem));
        }
    }
    notes
}
