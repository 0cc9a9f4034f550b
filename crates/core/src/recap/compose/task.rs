//! The task: requests that are nowhere else, and the rules that the user stated.

use rustc_hash::FxHashSet;

use super::Writer;
use crate::recap::escape;
use crate::recap::group::Grouped;
use crate::recap::rules::is_strict;
use crate::recap::select::line;
use crate::recap::statement::{Kind, Statement};
use crate::recap::{RULES, section};

/// Longest rule, in characters.
const RULE_CHARS: usize = 320;

impl Writer<'_> {
    /// The first request and the newest, where they are nowhere else, and the rules.
    pub(super) fn task(&mut self, statements: &[Grouped], allowed: u64) -> Vec<u32> {
        let mut text = format!("### {}\n", section::TASK);
        let mut left = allowed.saturating_sub(self.cost(&text));
        let mut told = Vec::new();
        let asked = |one: &&Grouped| one.statement.kind == Kind::Asked;
        let first = statements.iter().find(asked).filter(|_| !self.frame.task_in_head);
        let newest = statements.iter().rfind(asked).filter(|_| !self.frame.task_elsewhere);
        let mut requests: Vec<&Statement> =
            first.into_iter().chain(newest).map(|one| &one.statement).collect();
        requests.dedup_by_key(|request| request.message);
        let share = left / (requests.len().max(1) as u64 + 1);
        for request in requests {
            // Three characters a token are less than it has room for in most texts.
            let line = line(request, usize::try_from(share * 3).unwrap_or(usize::MAX));
            let line = line.map(|line| line + "\n").unwrap_or_default();
            let cost = self.cost(&line);
            if cost > 0 && cost <= left {
                left -= cost;
                text.push_str(&line);
                told.push(request.message);
            }
        }
        let rules = self.rules(left);
        text.push_str(&rules);
        if text.lines().nth(1).is_some() {
            self.push(&text);
        }
        // A message that is a rule and nothing else has been told with it.
        let listed: FxHashSet<&str> = rules.lines().filter_map(|l| l.strip_prefix("- ")).collect();
        let is_rule = |one: &&Grouped| match &*one.statement.parts {
            [part] => listed.contains(&*escape::inline(&part.text, RULE_CHARS)),
            _ => false,
        };
        told.extend(
            statements.iter().filter(asked).filter(is_rule).map(|one| one.statement.message),
        );
        told
    }

    /// The rules that fit, orders before sentences that only may be some, in order.
    fn rules(&self, allowed: u64) -> String {
        let header = format!("{RULES}\n");
        let mut left = allowed.saturating_sub(self.cost(&header));
        let rules = self.gathered.rules.iter().rev().filter(|rule| is_strict(&rule.text));
        let mut lines = Vec::new();
        for rule in rules {
            let line = format!("- {}\n", escape::inline(&rule.text, RULE_CHARS));
            let cost = self.cost(&line);
            if cost <= left {
                left -= cost;
                lines.push(line);
            }
        }
        if lines.is_empty() {
            String::new()
        } else {
            header + &lines.into_iter().rev().collect::<String>()
        }
    }
}
