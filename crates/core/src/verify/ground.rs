//! Grounding: a computed recap names nothing that the log does not hold, and what the record says
//! was kept is there.

use rustc_hash::FxHashSet;

use super::{Checker, Message, rule};
use crate::fold::Fold;
use crate::ids::identifiers;
use crate::jsonstr;
use crate::recap::parse::file_entry;
use crate::recap::{END, NOTE_START};
use crate::view::BlockKind;

impl Checker<'_> {
    /// Identifiers that were kept stand in the context.
    pub(super) fn kept_ids(&mut self, fold: &Fold) {
        let wanted: FxHashSet<&str> = fold.kept_ids.first.iter().map(String::as_str).collect();
        let missing = absent(wanted, &self.after);
        self.expect(rule::KEPT_IDS, missing.is_empty(), || {
            format!("kept on record, and not in the context: {}", missing.join(", "))
        });
        // A compound is listed with its parts, so that more may be listed than counted.
        let none = fold.kept_ids.count == 0 && !fold.kept_ids.first.is_empty();
        self.expect(rule::KEPT_IDS, !none, || "some are listed, and none counted".to_owned());
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
            .map(|line| without_messages(line) + "\n")
            .collect();
        let named: FxHashSet<&str> = identifiers(&body).collect();
        let invented = absent(named, &self.before);
        self.expect(rule::GROUNDED, invented.is_empty(), || {
            format!("named, and nowhere in the log: {}", invented.join(", "))
        });
    }
}

/// A line of the files section without the numbers of messages, which no log holds; any other line
/// as it is.
fn without_messages(line: &str) -> String {
    if !["modified: ", "read: "].iter().any(|label| line.starts_with(label)) {
        return line.to_owned();
    }
    let paths: Vec<&str> = line.split(", ").map(|entry| file_entry(entry).0).collect();
    paths.join(", ")
}

/// Those of `wanted` that stand in no message, sorted.
fn absent<'w>(mut wanted: FxHashSet<&'w str>, messages: &[Message<'_>]) -> Vec<&'w str> {
    for message in messages {
        for block in &message.view.blocks {
            if wanted.is_empty() {
                return Vec::new();
            }
            let text = block.plain(&message.bytes);
            for id in identifiers(&text) {
                wanted.remove(id);
            }
            if let BlockKind::Call { name: Some(name), .. } = &block.kind {
                for id in identifiers(&name.decode(&message.bytes)) {
                    wanted.remove(id);
                }
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
