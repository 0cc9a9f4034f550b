//! Reading a recap that the input already holds, whoever wrote it, so that there is one recap and
//! never a stack. Sections of ours are merged as data; another author's text is kept as notes.
//! Files come from list blocks under known headers only, never from prose.

use crate::ids::identifiers;
use crate::recap::gather::{Command, Gathered, Quote};
use crate::recap::{END, NOTE_START, section};

/// The weight of an identifier that an earlier recap names first; it falls to 0 at its last.
pub(crate) const CARRIED_WEIGHT: u32 = 1_000;

/// Blocks that list paths, one a line (seed 003, pi).
const FILE_BLOCKS: &[(&str, &str, bool)] =
    &[("<read-files>", "</read-files>", false), ("<modified-files>", "</modified-files>", true)];
/// Headers of other authors below which a list of paths stands.
const FILE_HEADERS: &[&str] =
    &["relevant files", "files read", "files modified", "files and code sections"];
/// Opening sentences of other authors, which are about the hand-over and not about the work.
const PREFIXES: &[&str] = &["[CONTEXT SUMMARY]:", "[CONTEXT COMPACTION", "## Conversation Summary"];

impl Gathered {
    /// Merges an earlier recap.
    pub(crate) fn add_recap(&mut self, text: &str) {
        if let Some(at) = text.find(NOTE_START) {
            self.messages += number_after(&text[at + NOTE_START.len()..]);
            self.add_own(text);
        } else {
            self.messages += 1;
            self.add_foreign(text);
        }
    }

    fn add_own(&mut self, text: &str) {
        let mut current = "";
        let mut body: Vec<&str> = Vec::new();
        for line in text.lines().chain(["### "]) {
            let Some(name) = line.strip_prefix("### ") else {
                if line != END {
                    body.push(line);
                }
                continue;
            };
            self.add_section(current, &body);
            body.clear();
            current = section::ALL.iter().find(|known| **known == name).copied().unwrap_or("");
        }
        self.add_blocks(text);
    }

    fn add_section(&mut self, name: &str, lines: &[&str]) {
        let items = || lines.iter().filter_map(|line| line.strip_prefix("- "));
        // Plain words are no identifiers; `Words` reads them.
        if !matches!(name, section::IDENTIFIERS | section::WORDS) {
            // What a section named was worth a place, and may lose it there.
            lines
                .iter()
                .flat_map(|line| line.split(", "))
                .flat_map(|entry| identifiers(file_entry(entry).0))
                .for_each(|id| self.carry(&[id], CARRIED_WEIGHT));
        }
        match name {
            section::TASK => {
                self.requests.extend(items().map(carried));
                let task = indented(lines);
                if !task.is_empty() {
                    self.requests.push(carried(&task));
                }
            }
            section::RULES => {
                for rule in items() {
                    if self.rules.iter().all(|known| known.text != rule) {
                        self.rules.push(carried(rule));
                    }
                }
            }
            section::NOTES => {
                let notes = indented(lines);
                if !notes.is_empty() {
                    self.notes.push(notes);
                }
            }
            section::STEPS => self.steps.extend(items().map(str::to_owned)),
            section::FILES => self.add_file_lines(lines),
            section::COMMANDS => self.commands.extend(items().filter_map(command)),
            section::ERRORS => self.errors.extend(items().map(str::to_owned)),
            section::IDENTIFIERS => self.add_identifier_lines(lines),
            _ => {}
        }
    }

    fn add_file_lines(&mut self, lines: &[&str]) {
        for line in lines {
            let Some((kind, paths)) = line.split_once(": ") else { continue };
            let modified = match kind {
                "modified" => true,
                "read" => false,
                _ => continue,
            };
            // The newest stands first; uses are numbered in the order they come in.
            for entry in paths.split(", ").collect::<Vec<_>>().into_iter().rev() {
                let (path, message) = file_entry(entry);
                self.use_file(path, modified, message);
            }
        }
    }

    fn add_identifier_lines(&mut self, lines: &[&str]) {
        for line in lines {
            let Some((_, ids)) = line.split_once(": ") else { continue };
            let ids: Vec<&str> = ids.split(' ').filter(|id| !id.is_empty()).collect();
            self.carry(&ids, CARRIED_WEIGHT);
        }
    }

    /// Takes over identifiers in the order of their rank; the first weighs `top`.
    fn carry(&mut self, ids: &[&str], top: u32) {
        self.carries |= !ids.is_empty();
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1);
        for (rank, id) in ids.iter().enumerate() {
            let rank = u32::try_from(rank).unwrap_or(u32::MAX);
            let weight = top - top * rank / count;
            let order = self.next_order();
            let used = self.ids.get_or_new(id, order);
            used.carried = used.carried.max(weight.max(1));
        }
    }

    fn add_foreign(&mut self, text: &str) {
        self.add_blocks(text);
        self.add_listed_files(text);
        let ids: Vec<&str> = identifiers(text).collect();
        self.carry(&ids, CARRIED_WEIGHT / 2);
        let notes = strip_prefix_line(text).trim();
        if !notes.is_empty() {
            self.notes.push(notes.to_owned());
        }
    }

    /// `<read-files>` and `<modified-files>`.
    fn add_blocks(&mut self, text: &str) {
        for (open, close, modified) in FILE_BLOCKS {
            let Some(start) = text.find(open).map(|at| at + open.len()) else { continue };
            let Some(end) = text[start..].find(close) else { continue };
            for path in text[start..start + end].lines().map(str::trim) {
                self.use_file(path.trim_start_matches("- "), *modified, 0);
            }
        }
    }

    /// Lists below a header that is known to list files.
    fn add_listed_files(&mut self, text: &str) {
        let mut modified = None;
        for line in text.lines().map(str::trim) {
            let header = line.trim_start_matches([
                '#', '*', ' ', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.',
            ]);
            let header = header.trim_end_matches([':', '*']).to_lowercase();
            if FILE_HEADERS.contains(&header.as_str()) {
                modified = Some(header.contains("modified"));
            } else if line.starts_with('#') {
                modified = None;
            } else if let Some(modified) = modified
                && let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))
                && let Some(path) = identifiers(item).next().filter(|id| id.contains(['/', '.']))
            {
                self.use_file(path, modified, 0);
            }
        }
    }
}

/// The path of an entry of the files section and the message that used it last: `src/a.rs @12`.
pub(crate) fn file_entry(entry: &str) -> (&str, u32) {
    let parts = entry.rsplit_once(" @").and_then(|(path, at)| Some((path, at.parse().ok()?)));
    parts.unwrap_or((entry, 0))
}

fn carried(text: &str) -> Quote {
    Quote { seq: None, text: text.to_owned() }
}

fn indented(lines: &[&str]) -> String {
    let body: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("    ")).collect();
    body.join("\n")
}

fn command(item: &str) -> Option<Command> {
    let (text, outcome) = item.strip_prefix('`')?.rsplit_once("` -> ")?;
    Some(Command { text: text.to_owned(), outcome: outcome.to_owned() })
}

fn number_after(text: &str) -> usize {
    let digits: String =
        text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(1)
}

/// Drops the first line where it is a known prefix.
fn strip_prefix_line(text: &str) -> &str {
    let text = text.trim_start();
    if PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        text.split_once('\n').map_or("", |(_, rest)| rest)
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_files_section_may_tell_its_last_message() {
        assert_eq!(file_entry("src/a b.rs @12"), ("src/a b.rs", 12));
        assert_eq!(file_entry("pkg@1.2/index.js"), ("pkg@1.2/index.js", 0));
        assert_eq!(file_entry("a @b"), ("a @b", 0));
    }

    #[test]
    fn what_a_section_named_is_handed_on_as_an_identifier() {
        let text = format!(
            "## Conversation Summary\n{NOTE_START} 4 earlier messages]\n### Files\nmodified: src/a.rs @3\n\
             ### Steps the assistant stated\n- I changed parse_header now.\n### Commands\n\
             - `cargo test -p core_x` -> exit 101: test t_1 failed\n{END}"
        );
        let mut gathered = Gathered::default();
        gathered.add_recap(&text);
        for id in ["src/a.rs", "parse_header", "core_x", "t_1"] {
            let expected = id.len() >= 4;
            assert_eq!(gathered.ids.iter().any(|(known, _)| known == id), expected, "{id}");
        }
        let file = &gathered.files["src/a.rs"];
        assert!(file.modified && file.message == 3);
        assert_eq!(gathered.steps, ["I changed parse_header now."]);
        assert_eq!(gathered.commands.len(), 1);
    }
}
