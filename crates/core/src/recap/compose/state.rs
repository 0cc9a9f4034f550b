//! The state: what is known to be so now.

use super::Writer;
use crate::recap::checks::Check;
use crate::recap::escape;
use crate::recap::gather::FileUse;
use crate::recap::{SINCE, section};

/// Most checks that are told.
const CHECKS: usize = 6;

impl Writer<'_> {
    /// The newest to-do list, and the last outcome of each check.
    pub(super) fn state(&mut self, allowed: u64) {
        let later = self.frame.later;
        let mut lines = Vec::new();
        if let Some(todo) = &self.gathered.todo
            && later.is_none_or(|later| later.todo.is_none())
        {
            lines.push(format!("to-do list @{}:\n", todo.message));
            lines
                .extend(todo.text.lines().map(|line| format!("  {}\n", escape::inline(line, 200))));
        }
        let newer = || self.gathered.checks.iter().chain(later.into_iter().flat_map(|l| &l.checks));
        // What ran again in a message that stays is told there.
        let again = |check: &&Check| {
            !later.is_some_and(|later| later.checks.iter().any(|l| l.command == check.command))
        };
        let checks = self.gathered.checks.iter().rev().filter(again);
        let (failing, passing): (Vec<_>, Vec<_>) = checks.partition(|check| !check.passed);
        let failing: Vec<_> = failing
            .into_iter()
            .filter(|check| !newer().any(|other| other.settles(check)))
            .collect();
        let passing: Vec<_> = passing.into_iter().filter(|check| check.watched).collect();
        lines.extend(failing.iter().take(CHECKS).map(|check| check_line(check)));
        lines.extend(passing.iter().take(CHECKS / 2).map(|check| check_line(check)));
        if let Some(check) = passing.first() {
            let newer = |used: &&FileUse| used.modified && used.message > Some(check.message);
            let count = self.gathered.files.values().filter(newer).count();
            if count > 0 {
                let s = if count == 1 { "" } else { "s" };
                lines.push(format!("{SINCE}{count} file{s}\n"));
            }
        }
        self.list(section::STATE, lines.into_iter().enumerate().collect(), allowed);
    }
}

fn check_line(check: &Check) -> String {
    let verdict = if check.passed { "ok" } else { "failed, not seen to pass since" };
    let telling = match check.telling.is_empty() {
        true => String::new(),
        false => format!(": {}", escape::inline(&check.telling, 160)),
    };
    format!("`{}` @{} {verdict}{telling}\n", escape::inline(&check.command, 120), check.message)
}
