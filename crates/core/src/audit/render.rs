//! The audit as text for people.

use std::fmt::{Display, Formatter, Result};

use crate::references::NameReference;

use super::{Audit, AuditFinding, FoldReceipt, RemovedByRule};

impl Display for Audit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let outcome = match self.findings.len() {
            0 => "everything holds".to_owned(),
            1 => "1 thing does not hold".to_owned(),
            many => format!("{many} things do not hold"),
        };
        writeln!(f, "{} folds, {} calls: {outcome}", self.folds, self.calls)?;
        for finding in &self.findings {
            writeln!(f, "  {finding}")?;
        }
        for receipt in &self.receipts {
            write!(f, "{receipt}")?;
        }
        Ok(())
    }
}

impl Display for AuditFinding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} [{}]: {}", self.at, self.rule, self.detail)
    }
}

impl Display for FoldReceipt {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !self.standing.is_in_force() {
            return writeln!(f, "{}, policy {}: {}", self.fold, self.policy, self.standing);
        }
        writeln!(
            f,
            "{}, policy {}, events {} to {}: {} → {} tokens, {} → {} messages",
            self.fold,
            self.policy,
            self.start,
            self.end.saturating_sub(1),
            self.tokens_before,
            self.tokens_after,
            self.messages_before,
            self.messages_after
        )?;
        for removed in &self.removed {
            writeln!(f, "  left by {removed}")?;
        }
        if !self.pins.is_empty() {
            writeln!(f, "  kept, pinned: events {:?}", self.pins)?;
        }
        list(f, "still named", &self.kept_ids)?;
        list(f, "no longer named", &self.lost_ids)?;
        if !self.asked_again.is_empty() {
            let again = |one: &NameReference| format!("{} at {}", one.name, one.seq);
            let again: Vec<String> = self.asked_again.iter().take(10).map(again).collect();
            let more = self.asked_again.len() - again.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let folded = self.fold.events;
            writeln!(f, "  folded at {folded}, asked for again: {}{more}", again.join(", "))?;
        }
        let can = if self.intact {
            "can be brought back"
        } else {
            "CANNOT all be brought back: the log differs"
        };
        writeln!(f, "  {} events {can}", self.recallable.len())
    }
}

impl Display for RemovedByRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let RemovedByRule { rule, reason, items, tokens_before, tokens_after } = self;
        write!(f, "{rule} ({reason}): {items} items, {tokens_before} → {tokens_after} tokens")
    }
}

fn list(f: &mut Formatter<'_>, label: &str, (count, first): &(u32, Vec<String>)) -> Result {
    if *count == 0 {
        return Ok(());
    }
    let more = (*count as usize).saturating_sub(first.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(f, "  {label}: {}{more}", first.join(", "))
}
