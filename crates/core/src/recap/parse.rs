//! Reads recaps that the input already holds, whoever wrote them, so that the context has one recap and never a
//! stack. The sections of midfold's own recaps are merged as data; the text of other authors is kept as notes. Files
//! are read from lists under known headers only, never from prose.

use std::borrow::Cow;

use crate::ids::identifiers;
use crate::recap::checks::CheckResult;
use crate::recap::deed::{Deed, Speaker};
use crate::recap::gather::{GatheredFacts, Quote};
use crate::recap::history::{CommitRecord, MergeRequest};
use crate::recap::print::is_whole;
use crate::recap::prose;
use crate::recap::read_line::{deed, number_in};
use crate::recap::{NOTE_START, PATHS_BELOW, section, state};
use crate::seal::is_end;

/// Blocks that list one path on each line, and whether the files were modified (as in What Survives the Compression
/// and pi).
const FILE_BLOCKS: &[(&str, &str, bool)] =
    &[("<read-files>", "</read-files>", false), ("<modified-files>", "</modified-files>", true)];
/// Headers of other authors that are followed by a list of paths.
const FILE_HEADERS: &[&str] =
    &["relevant files", "files read", "files modified", "files and code sections"];
/// How older compactors began a summary (Hermes Agent: `LEGACY_SUMMARY_PREFIX`).
pub(crate) const LEGACY_PREFIX: &str = "[CONTEXT SUMMARY]:";
/// Beginnings of other authors' summaries, which say nothing about the work. Facts may follow on the same line.
const PREFIXES: &[&str] = &[LEGACY_PREFIX, "## Conversation Summary"];
/// The start of a line that says nothing about the work as a whole.
const PREFIX_LINE: &str = "[CONTEXT COMPACTION";

impl GatheredFacts {
    /// Merges an earlier recap, which is the event `seq`. Only one that midfold wrote (`is_own`) may say what the user
    /// asked for and which rules hold; other recaps may be forged, so they are kept as notes.
    pub(crate) fn add_recap(&mut self, text: &str, seq: u32, is_own: bool) {
        if let Some(at) = text.find(NOTE_START).filter(|_| is_own) {
            let note = text[at + NOTE_START.len()..].lines().next().unwrap_or_default();
            let count = number_in(note).unwrap_or(1);
            self.messages += count as usize;
            if let Some((first, last)) = numbers_in(note) {
                self.numbers = Some((self.numbers.map_or(first, |(known, _)| known), last));
                // Numbers continue after the recap. Messages that stayed between the folded ones come first there, and
                // their numbers are within the recap's range already.
                let stayed = (last + 1).saturating_sub(first + count);
                self.shift = last.saturating_sub(seq + stayed);
            }
            self.add_own(text, root_in(note));
        } else {
            self.messages += 1;
            self.add_foreign(text, seq + self.shift);
        }
    }

    /// Reads the sections of a recap that midfold wrote. Paths are below the folder `root`, as its note says.
    fn add_own(&mut self, text: &str, root: &str) {
        let mut current = "";
        let mut body: Vec<&str> = Vec::new();
        // The added heading ends the last section.
        for line in text.lines().chain(["### "]) {
            let Some(name) = line.strip_prefix("### ") else {
                if !is_end(line) {
                    body.push(line);
                }
                continue;
            };
            self.add_section(current, &body, root);
            body.clear();
            current = section::ALL.iter().find(|known| **known == name).copied().unwrap_or("");
        }
        self.add_blocks(text);
    }

    /// Adds the facts of one section, and carries the identifiers in it over.
    fn add_section(&mut self, name: &str, lines: &[&str], root: &str) {
        if ![section::INDEX, section::PUT_BACK].contains(&name) {
            // The recap gave these names a place, so they count as written.
            for line in lines {
                for (entry, _) in line.split(", ").map(file_entry) {
                    self.carry(identifiers(entry));
                }
            }
        }
        match name {
            section::TASK => {
                self.add_deeds(lines);
                // Recaps from before 27 November 2026 list rules of the user apart from requests.
                for rule in lines.iter().filter_map(|line| line.strip_prefix("- ")) {
                    self.push(Deed::words(0, Speaker::User, prose::quoted(rule)));
                }
            }
            section::NOTES => self.add_note(0, &indented(lines)),
            // Notes of the agent are kept. Texts that settings put back are put back anew at each fold, so they are
            // not read.
            section::NOTED => self.add_note(0, &lines.join("\n")),
            section::PUT_BACK => {}
            section::STATE => self.add_state(lines, root),
            // A short recap has no headings, so its deeds are in the section without a name.
            section::DONE | section::FAILED | "" => self.add_deeds(lines),
            section::FILES => self.add_file_lines(lines, root),
            section::INDEX => self.add_index(lines),
            _ => {}
        }
    }

    fn add_deeds(&mut self, lines: &[&str]) {
        for deed in lines.iter().filter_map(|line| deed(line)) {
            self.push(deed);
        }
    }

    /// Adds the text of another author, or a note of the agent.
    fn add_note(&mut self, message: u32, text: &str) {
        let parts = prose::parts(text);
        if !parts.is_empty() {
            self.push(Deed::words(message, Speaker::Note, parts));
        }
    }

    /// Reads the lines of the state section: labels at the start of a line, further entries indented below them.
    fn add_state(&mut self, lines: &[&str], root: &str) {
        let mut todo: Option<Quote> = None;
        let mut read = RecapState::default();
        // The label whose list an indented line continues.
        let mut label = "";
        for line in lines {
            let known = state::ALL.iter().find(|label| line.starts_with(**label)).copied();
            let rest = match (known, line.strip_prefix("  ")) {
                (Some(known), _) => {
                    label = known;
                    &line[known.len()..]
                }
                (None, Some(rest)) => rest,
                // The form in which older recaps listed checks.
                (None, None) => {
                    read.checks.extend(check(line));
                    continue;
                }
            };
            match label {
                state::TASKS if known.is_some() => {
                    let message = number_in(rest).unwrap_or(0);
                    todo = Some(Quote { message, text: String::new() });
                }
                state::TASKS => {
                    if let Some(todo) = &mut todo {
                        if !todo.text.is_empty() {
                            todo.text.push('\n');
                        }
                        todo.text.push_str(rest);
                    }
                }
                label => {
                    self.standing.read(label, rest, known.is_some());
                    read.add(label, rest);
                }
            }
        }
        if todo.is_some() {
            self.todo = todo;
        }
        self.add_read_state(read, root);
    }

    /// Adds the state that an earlier recap lists.
    fn add_read_state(&mut self, read: RecapState, root: &str) {
        // A recap lists the newest check first.
        read.checks.into_iter().rev().for_each(|check| self.add_check(check));
        self.history.commits.extend(read.commits.into_iter().rev());
        self.history.older += read.older;
        if let Some(push) = read.push {
            let pushed = |commit: &&CommitRecord| commit.message <= push.0;
            self.history.pushed = self.history.commits.iter().filter(pushed).count();
            self.history.push = Some(push);
        }
        self.history.requests.extend(read.requests);
        for entry in read.changed {
            let (path, message) = file_entry(&entry);
            self.use_file(&below(root, path), true, message);
        }
    }

    /// Reads the lists of the files section.
    fn add_file_lines(&mut self, lines: &[&str], root: &str) {
        for line in lines {
            let Some((kind, paths)) = line.split_once(": ") else { continue };
            let modified = match kind {
                "changed" | "scratch" => true,
                "read" => false,
                _ => continue,
            };
            // A recap lists the newest file first, but uses are numbered in the order in which they are added.
            for entry in paths.split(", ").collect::<Vec<_>>().into_iter().rev() {
                let (path, message) = file_entry(entry);
                self.use_file(&below(root, path), modified, message);
            }
        }
    }

    /// Reads the identifiers of an index section.
    fn add_index(&mut self, lines: &[&str]) {
        let names = lines.iter().map(|line| line.strip_prefix("names: ").unwrap_or(line));
        self.carry(names.flat_map(|line| line.split(", ")).map(|entry| file_entry(entry).0));
    }

    /// Takes over identifiers that an earlier recap named.
    fn carry<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) {
        for id in ids {
            let order = self.next_order();
            self.ids.note(id, order, true);
        }
    }

    /// Keeps the text of another author as a note, and takes over its files and identifiers.
    fn add_foreign(&mut self, text: &str, message: u32) {
        self.add_blocks(text);
        self.add_listed_files(text);
        self.carry(identifiers(text));
        self.add_note(message, strip_prefix_line(text).trim());
    }

    /// Reads `<read-files>` and `<modified-files>` blocks.
    fn add_blocks(&mut self, text: &str) {
        for (open, close, modified) in FILE_BLOCKS {
            let Some(start) = text.find(open).map(|at| at + open.len()) else { continue };
            let Some(end) = text[start..].find(close) else { continue };
            // A block lists the newest file first, but uses are numbered in the order in which they are added.
            for path in text[start..start + end].lines().map(str::trim).rev() {
                self.use_file(path.trim_start_matches("- "), *modified, None);
            }
        }
    }

    /// Reads the lists of paths below known headers.
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
                self.use_file(path, modified, None);
            }
        }
    }
}

/// Splits an entry of the files section, such as `src/a.rs @12`, into the path and the number of the message that used
/// it last. The number is `None` where the entry has none.
pub(crate) fn file_entry(entry: &str) -> (&str, Option<u32>) {
    let parts = entry.rsplit_once(" @").and_then(|(path, at)| Some((path, at.parse().ok()?)));
    parts.map_or((entry, None), |(path, at)| (path, Some(at)))
}

/// The lists that were read from a recap's state section, each in the recap's order.
#[derive(Default)]
struct RecapState {
    checks: Vec<CheckResult>,
    commits: Vec<CommitRecord>,
    /// How many older commits the recap only counts.
    older: usize,
    /// The message of the last push, and its branch.
    push: Option<(u32, String)>,
    requests: Vec<MergeRequest>,
    /// The files that changed after the last commit.
    changed: Vec<String>,
}

impl RecapState {
    /// Reads one entry of the list with this label.
    fn add(&mut self, label: &str, text: &str) {
        match label {
            state::CHECKS => self.checks.extend(check(text)),
            state::COMMITS => match text.strip_prefix(state::OLDER) {
                Some(count) => self.older = count.parse().unwrap_or(0),
                None => self.commits.extend(commit(text)),
            },
            state::REQUESTS => self.requests.extend(request(text)),
            state::PUSHED => {
                let (message, branch) = text.split_once(": ").unwrap_or((text, ""));
                self.push = message.parse().ok().map(|message| (message, branch.to_owned()));
            }
            state::CHANGED => {
                let names = text.split_once(": ").map_or("", |(_, names)| names);
                let names = names.split(", ").filter(|name| !matches!(*name, "" | "…"));
                self.changed = names.map(str::to_owned).collect();
            }
            _ => {}
        }
    }
}

/// Reads a check: `` `cargo test` ok @12 (3 passed) ``, or the older form `` `…` @12 ok: … ``.
fn check(line: &str) -> Option<CheckResult> {
    let (command, rest) = line.strip_prefix('`')?.split_once("` ")?;
    if let Some(rest) = rest.strip_prefix('@') {
        let (message, rest) = rest.split_once(' ')?;
        let telling = rest.split_once(": ").map_or("", |(_, telling)| telling);
        return Some(CheckResult::new(
            command,
            message.parse().ok()?,
            rest.starts_with("ok"),
            telling,
        ));
    }
    let (verdict, rest) = rest.split_once(" @")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (message, telling) = rest.split_at(end);
    let passed = verdict == "ok";
    let telling = match passed {
        true => telling.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')),
        false => telling.strip_prefix(": "),
    };
    Some(CheckResult::new(command, message.parse().ok()?, passed, telling.unwrap_or_default()))
}

/// Reads a commit, such as `1a2b3c4 Fix the parser @40`.
fn commit(line: &str) -> Option<CommitRecord> {
    let (rest, message) = line.rsplit_once(" @")?;
    let moved = rest.strip_prefix(state::MOVED);
    let named = moved.or_else(|| rest.strip_prefix("(no hash) ")).map(|subject| ("", subject));
    let (hash, subject) = named.or_else(|| rest.split_once(' '))?;
    let (hash, subject) = (hash.to_owned(), subject.to_owned());
    let (message, moved) = (message.parse().ok()?, moved.is_some());
    Some(CommitRecord { hash, subject, message, moved, ..CommitRecord::default() })
}

/// Reads a request to merge, such as `#12 Mend the parser @44`.
fn request(line: &str) -> Option<MergeRequest> {
    let (rest, message) = line
        .strip_prefix('#')?
        .rsplit_once(" @")
        .or_else(|| line.strip_prefix('#')?.split_once('@'))?;
    let (number, title) = rest.split_once(' ').unwrap_or((rest, ""));
    let title = title.to_owned();
    Some(MergeRequest { number: number.parse().ok()?, title, message: message.parse().ok()? })
}

fn indented(lines: &[&str]) -> String {
    let body: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("    ")).collect();
    body.join("\n")
}

/// Reads `@3 to @95` from the note at the start of a recap.
fn numbers_in(text: &str) -> Option<(u32, u32)> {
    let (_, rest) = text.split_once(", @")?;
    let (first, rest) = rest.split_once(" to @")?;
    Some((first.parse().ok()?, number_in(rest)?))
}

/// The common folder that the note of a recap names, with its last `/`; empty where it names no folder.
fn root_in(note: &str) -> &str {
    let rest = note.split_once(PATHS_BELOW).map_or("", |(_, rest)| rest);
    rest.find("/.").map_or("", |at| &rest[..=at])
}

/// A path as it was before it was shortened.
fn below<'p>(root: &str, path: &'p str) -> Cow<'p, str> {
    // A path of another folder begins otherwise: `./` means the folder of the work.
    if root.is_empty() || is_whole(path) {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("{root}{path}"))
    }
}

/// Removes a known beginning of other authors' summaries.
fn strip_prefix_line(text: &str) -> &str {
    let text = text.trim_start();
    if let Some(rest) = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        return rest;
    }
    match text.split_once('\n') {
        Some((_, rest)) if text.starts_with(PREFIX_LINE) => rest,
        // The text is one line, so the part without facts cannot be separated from the rest.
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_files_section_may_tell_its_last_message() {
        assert_eq!(file_entry("src/a b.rs @12"), ("src/a b.rs", Some(12)));
        assert_eq!(file_entry("pkg@1.2/index.js"), ("pkg@1.2/index.js", None));
        assert_eq!(file_entry("a @b"), ("a @b", None));
    }

    #[test]
    fn the_numbers_of_a_recap_are_read() {
        assert_eq!(numbers_in(" 93 earlier messages, @3 to @95, are"), Some((3, 95)));
    }
}
