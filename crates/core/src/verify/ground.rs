//! Grounding: a computed recap names nothing that the log does not hold, and what the record says
//! was kept is there.

use rustc_hash::FxHashSet;

use super::{Checker, Message, rule};
use crate::fold::Fold;
use crate::ids::identifiers;
use crate::jsonstr;
use crate::recap::{END, NOTE_START};

impl Checker<'_> {
    /// Identifiers that were kept stand in the context.
    pub(super) fn kept_ids(&mut self, fold: &Fold) {
        let wanted: FxHashSet<&str> = fold.kept_ids.first.iter().map(String::as_str).collect();
        let missing = absent(wanted, &self.after);
        self.expect(rule::KEPT_IDS, missing.is_empty(), || {
            format!("kept on record, and not in the context: {}", missing.join(", "))
        });
        let shown = fold.kept_ids.first.len() as u64 <= u64::from(fold.kept_ids.count);
        self.expect(rule::KEPT_IDS, shown, || "more are shown than there are".to_owned());
        let invented = &fold.invented_ids;
        self.expect(rule::GROUNDED, invented.count == 0 && invented.first.is_empty(), || {
            format!("the record itself says that ids were invented: {:?}", invented.first)
        });
    }

    /// Every identifier of the recap stands in the log.
    pub(super) fn grounding(&mut self, fold: &Fold) {
        let Some(recap) = &fold.recap else { return };
        let body: String = recap
            .text
            .lines()
            .skip_while(|line| !line.starts_with(NOTE_START))
            .skip(1)
            .filter(|line| *line != END && !line.starts_with("### "))
            .flat_map(|line| [line, "\n"])
            .collect();
        let named: FxHashSet<&str> = identifiers(&body).collect();
        let invented = absent(named, &self.before);
        self.expect(rule::GROUNDED, invented.is_empty(), || {
            format!("named, and nowhere in the log: {}", invented.join(", "))
        });
    }
}

/// Those of `wanted` that stand in no message, sorted.
fn absent<'w>(mut wanted: FxHashSet<&'w str>, messages: &[Message<'_>]) -> Vec<&'w str> {
    for message in messages {
        for block in &message.view.blocks {
            if wanted.is_empty() {
                return Vec::new();
            }
            let text = block.text(&message.bytes);
            for id in identifiers(&text) {
                wanted.remove(id);
            }
        }
    }
    // What was cut, or is written with escapes of its own, takes a closer look.
    let holds =
        |text: &str, id: &str| memchr::memmem::find(text.as_bytes(), id.as_bytes()).is_some();
    for message in messages {
        for block in &message.view.blocks {
            if wanted.is_empty() {
                return Vec::new();
            }
            let text = block.text(&message.bytes);
            wanted.retain(|id| !holds(&text, id));
            if text.contains('\\') {
                let inner = jsonstr::decode(text.as_bytes());
                wanted.retain(|id| !holds(&inner, id));
            }
        }
    }
    let mut left: Vec<_> = wanted.into_iter().collect();
    left.sort_unstable();
    left
}
