//! Grounding: a computed recap names nothing that the log does not hold, and names that the record lists as kept are in
//! the context.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::{ProofChecker, ReadMessage, rule};
use crate::event::Hash;
use crate::fold::Fold;
use crate::ids::identifiers;
use crate::jsonstr;
use crate::put_back::lines_in;
use crate::recap::visible::visible;
use crate::recap::{LEFT_OUT, NOTE_START};
use crate::redact::REPLACEMENT;
use crate::seal::is_end;
use crate::view::BlockKind;

impl ProofChecker<'_> {
    /// Checks that identifiers on record as kept are in the context, and that the lists hold no secret.
    pub(super) fn check_kept_ids(&mut self, fold: &Fold) {
        let wanted: FxHashSet<&str> = fold.kept_ids.first.iter().map(String::as_str).collect();
        let missing = absent(wanted, &self.after);
        let list = self.shown_names(&missing);
        self.expect(rule::KEPT_IDS, missing.is_empty(), || {
            format!("kept on record, and not in the context: {list}")
        });
        // A compound is listed together with its parts, so the list may be longer than the count.
        let none = fold.kept_ids.count == 0 && !fold.kept_ids.first.is_empty();
        self.expect(rule::KEPT_IDS, !none, || "some are listed, and none counted".to_owned());
        let listed = fold.kept_ids.first.iter().chain(&fold.lost_ids.first);
        let secrets = listed.filter(|id| self.secrets.touch(id)).count();
        self.expect(rule::SECRET, secrets == 0, || {
            format!("{secrets} of the names that the record lists as kept or lost are secrets")
        });
        // Those of a narration were in lines that it lost for them.
        let invented = &fold.invented_ids;
        let is_grounded = invented.count == 0 && invented.first.is_empty();
        self.expect(rule::GROUNDED, is_grounded || fold.narrated.is_some(), || {
            format!("the record itself says that ids were invented: {:?}", invented.first)
        });
    }

    /// Checks that every identifier of the recap is in the log.
    pub(super) fn check_grounding(&mut self, fold: &Fold) {
        let Some(recap) = &fold.recap else { return };
        let lines = fold.put_back.as_ref().zip(lines_in(&recap.text));
        let is_known =
            lines.is_none_or(|(known, lines)| known.hash == Hash::ROOT.chain(lines.as_bytes()));
        self.expect(rule::RECAP, is_known, || {
            "what was put back is not what the record says".to_owned()
        });
        let put_back = lines.filter(|_| is_known).map_or("", |(_, lines)| lines);
        let body: String = recap
            .text
            .replacen(put_back, "", usize::from(!put_back.is_empty()))
            .lines()
            .skip_while(|line| !line.starts_with(NOTE_START))
            .skip(1)
            .filter(|line| {
                !is_end(line) && !line.starts_with("### ") && !line.starts_with(LEFT_OUT)
            })
            .map(|line| without_numbers(line) + "\n")
            .collect();
        let named: FxHashSet<&str> = identifiers(&body).collect();
        let invented = absent(named, &self.before);
        let list = self.shown_names(&invented);
        self.expect(rule::GROUNDED, invented.is_empty(), || {
            format!("named, and nowhere in the log: {list}")
        });
    }

    /// Names as the text of a finding, with secrets replaced.
    fn shown_names(&self, names: &[&str]) -> String {
        let shown = |name| if self.secrets.touch(name) { REPLACEMENT } else { name };
        names.iter().copied().map(shown).collect::<Vec<_>>().join(", ")
    }
}

/// The line without numbers that the recap itself made and that no log holds: `@12`, `(79 times)`.
fn without_numbers(line: &str) -> String {
    let counts = |word: &str| {
        ["times)", "lines):", "lines)", "lines;", "edits", "files", "file"].contains(&word)
    };
    let words: Vec<&str> = line.split(' ').collect();
    let of_message = |word: &str| {
        word.trim_start_matches('(')
            .strip_prefix('@')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let stays = |at: &usize| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        !of_message(words[*at]) && !counts(next)
    };
    (0..words.len()).filter(stays).map(|at| words[at]).collect::<Vec<_>>().join(" ")
}

/// The names of `wanted` that occur in no message, sorted.
fn absent<'w>(mut wanted: FxHashSet<&'w str>, messages: &[ReadMessage<'_>]) -> Vec<&'w str> {
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
    // The rest is searched as plain text: a name may be cut from a longer one, or have escapes of its own.
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
            // A recap leaves out invisible characters, and writes look-alike characters in their usual form.
            if let Cow::Owned(seen) = visible(&text) {
                wanted.retain(|id| !holds(&seen, id));
            }
            // Colour codes may begin and end inside a name.
            if text.contains('\u{1b}') {
                let shown = crate::screen::shown(&text);
                wanted.retain(|id| !holds(&shown, id));
            }
        }
    }
    let mut rest: Vec<_> = wanted.into_iter().collect();
    rest.sort_unstable();
    rest
}
