//! The section of a recap with the user's requests, as far as the context shows them nowhere else.

use super::RecapWriter;
use crate::recap::group::GroupedStatement;
use crate::recap::section;
use crate::recap::select::line;
use crate::recap::statement::{Statement, StatementKind};

impl RecapWriter<'_> {
    /// Writes the user's first and newest request, unless the context holds them elsewhere. Returns the numbers of the
    /// messages that it wrote. The section takes at most `max_tokens`.
    pub(super) fn task(&mut self, statements: &[GroupedStatement], max_tokens: u64) -> Vec<u32> {
        let mut text = format!("### {}\n", section::TASK);
        let mut left = max_tokens.saturating_sub(self.cost(&text));
        let mut written = Vec::new();
        let asked = |one: &&GroupedStatement| one.statement.kind == StatementKind::Asked;
        let first = statements.iter().find(asked).filter(|_| !self.frame.task_in_head);
        let newest = statements.iter().rfind(asked).filter(|_| !self.frame.task_elsewhere);
        let mut requests: Vec<&Statement> =
            first.into_iter().chain(newest).map(|one| &one.statement).collect();
        requests.dedup_by_key(|request| request.message);
        // One share more than there are requests, because the estimate below may be too low for a line.
        let share = left / (requests.len().max(1) as u64 + 1);
        for request in requests {
            // Three characters for each token is a low estimate, so the line fits for most texts.
            let line = line(request, usize::try_from(share * 3).unwrap_or(usize::MAX));
            let line = line.map(|line| line + "\n").unwrap_or_default();
            let cost = self.cost(&line);
            if cost > 0 && cost <= left {
                left -= cost;
                text.push_str(&line);
                written.push(request.message);
            }
        }
        // A heading without a request below it is not written.
        if text.lines().nth(1).is_some() {
            self.push(&text);
        }
        written
    }
}
