//! The changes that a call makes in files: the lines that it removes and adds, without those that stay.

use super::args::CallArguments;
use super::command::script;
use super::words::file_name;
use super::{ToolTable, shell};

/// The arguments that hold the former text, in Claude Code, pi, Anthropic's editor, opencode, Cursor, Gemini CLI and
/// notebooks.
const OLD: &[&str] = &["old_string", "oldText", "old_str", "oldString", "old"];
/// The arguments that hold the new text, in the same tools.
const NEW: &[&str] = &["new_string", "newText", "new_str", "newString", "new", "replacement"];
/// The arguments that hold a whole text.
const WHOLE: &[&str] = &["content", "file_text", "contents", "new_source", "code_edit", "diff"];

/// One line of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeLine {
    /// A new line.
    Added(String),
    /// A line that was removed.
    Removed(String),
    /// A new line in the place of a similar one, and the part of the former line that differed.
    Replaced(String, String),
}

/// The changes that one call makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// The changed lines, in order.
    pub lines: Vec<ChangeLine>,
    /// The number of lines, where the call writes a whole text.
    pub whole: Option<usize>,
}

/// At most this many bytes of a text are compared, because a written file can be a megabyte.
const COMPARED: usize = 48_000;

impl ToolTable {
    /// The changes that a call makes, as far as its arguments show them. Empty where they show none.
    #[must_use]
    pub fn change(&self, name: &str, args: &str) -> FileChange {
        let arguments = CallArguments::read(args);
        let tool = self.lookup(name);
        let named = |names: &[&str]| {
            arguments.all(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let mut change = FileChange::default();
        let (old, new) = (named(OLD), named(NEW));
        if !new.is_empty() {
            // An insertion has a new text and no old one.
            let before = old.iter().map(String::as_str).chain(std::iter::repeat(""));
            before.zip(&new).for_each(|(old, new)| compare(old, new, &mut change.lines));
            return change;
        }
        let mut patches = arguments.all(&tool.patch_args);
        patches
            .extend(arguments.plain().filter(|_| !tool.patch_args.is_empty()).map(str::to_owned));
        let command = arguments.command(&tool.command_args);
        let code = arguments.first(&tool.code_args);
        let given = WrittenInput::of(command.as_deref(), code.as_deref());
        for text in patches.iter().chain(&given.patches).filter(|text| is_patch(text)) {
            patched(text, &mut change.lines);
        }
        if !change.lines.is_empty() {
            return change;
        }
        for text in named(WHOLE).iter().chain(&given.wholes) {
            change.whole = Some(change.whole.unwrap_or(0) + text.lines().count());
            compare("", text, &mut change.lines);
        }
        given.edits.iter().for_each(|(old, new)| compare(old, new, &mut change.lines));
        change
    }
}

/// Texts inside a command that it writes: patches, whole texts, and pairs of former and new texts.
#[derive(Default)]
struct WrittenInput {
    patches: Vec<String>,
    /// Texts that are written as whole files.
    wholes: Vec<String>,
    /// Pairs of a former text and its replacement.
    edits: Vec<(String, String)>,
}

impl WrittenInput {
    /// Reads the texts in a command and in a script.
    fn of(command: Option<&str>, code: Option<&str>) -> Self {
        let mut given = Self::default();
        code.into_iter().for_each(|code| given.script(code));
        let Some(command) = command else { return given };
        for part in shell::parts(command) {
            let program = part.words.first().map_or("", |word| file_name(word));
            if let Some(script) = script::given(&part.words) {
                given.script(&script);
            }
            let Some(body) = part.body else { continue };
            let writes =
                !part.writes.is_empty() && matches!(program, "cat" | "tee") || program == "tee";
            if is_patch(body) {
                given.patches.push(body.to_owned());
            } else if writes {
                given.wholes.push(body.to_owned());
            } else {
                given.script(body);
            }
        }
        given
    }

    /// Adds the texts that a script writes. Replacements count only where the script writes a file.
    fn script(&mut self, text: &str) {
        let wrote = script::wrote(text);
        self.edits.extend(wrote.edits.into_iter().filter(|_| !wrote.paths.is_empty()));
        self.wholes.extend(wrote.wholes);
    }
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch") || text.contains("\n@@ ") || text.starts_with("--- ")
}

/// Adds the `+` and `-` lines of a patch.
fn patched(text: &str, out: &mut Vec<ChangeLine>) {
    let (mut old, mut new) = (String::new(), String::new());
    let mut flush = |old: &mut String, new: &mut String| {
        compare(old, new, out);
        old.clear();
        new.clear();
    };
    for line in clip(text).lines() {
        match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => {
                new.push_str(&line[1..]);
                new.push('\n');
            }
            Some(b'-') if !line.starts_with("---") => {
                old.push_str(&line[1..]);
                old.push('\n');
            }
            _ => flush(&mut old, &mut new),
        }
    }
    flush(&mut old, &mut new);
}

/// Adds the lines that differ between two texts.
fn compare(old: &str, new: &str, out: &mut Vec<ChangeLine>) {
    let lines = |text| -> Vec<&str> { clip(text).lines().map(str::trim_end).collect() };
    let (old, new) = (lines(old), lines(new));
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - same], &new[..new.len() - same]);
    let only = |lines: &[&str], others: &[&str]| -> Vec<String> {
        let others: rustc_hash::FxHashSet<&str> = others.iter().map(|line| line.trim()).collect();
        let tells = |line: &&&str| {
            line.bytes().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
                // A line that only moved, or got another indentation, is no change.
                && !others.contains(line.trim())
        };
        lines.iter().filter(tells).map(|line| (*line).to_owned()).collect()
    };
    let (removed, added) = (only(old, new), only(new, old));
    if removed.len() == added.len() {
        let pairs = removed.into_iter().zip(added);
        for (before, after) in pairs {
            let was = differing(&before, &after);
            // Lines that have little in common are not a replacement of one by the other.
            if was.chars().count() * 3 <= before.trim().chars().count() * 2 {
                let was = was.to_owned();
                out.push(ChangeLine::Replaced(after, was));
            } else {
                out.extend([ChangeLine::Removed(before), ChangeLine::Added(after)]);
            }
        }
        return;
    }
    out.extend(removed.into_iter().map(ChangeLine::Removed));
    out.extend(added.into_iter().map(ChangeLine::Added));
}

/// The part of `before` that is not in `after`, in whole words.
fn differing<'a>(before: &'a str, after: &str) -> &'a str {
    let (before, after) = (before.trim(), after.trim());
    let word =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#' | b'.' | b'-') || b >= 128;
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let mut front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    while front > 0
        && (front < a.len() && word(a[front - 1]) && word(a[front])
            || !before.is_char_boundary(front))
    {
        front -= 1;
    }
    // No byte counts for the front and for the back.
    let rest = a.len().min(b.len()) - front;
    let mut back =
        a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(x, y)| x == y).count();
    while back > 0
        && (word(a[a.len() - back]) && a.len() > back && word(a[a.len() - back - 1])
            || !before.is_char_boundary(a.len() - back))
    {
        back -= 1;
    }
    before[front..before.len() - back].trim()
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, args: &serde_json::Value) -> Vec<ChangeLine> {
        ToolTable::builtin().change(name, &args.to_string()).lines
    }

    #[test]
    fn only_what_differs_is_told() {
        let edit = serde_json::json!({"file_path": "a.json",
            "old_string": "  \"gray\": \"#6c6c6c\",\n  \"dim\": \"#585858\",",
            "new_string": "  \"gray\": \"#808080\",\n  \"dim\": \"#585858\","});
        assert_eq!(
            of("Edit", &edit),
            [ChangeLine::Replaced("  \"gray\": \"#808080\",".into(), "#6c6c6c".into())]
        );
        let grown = serde_json::json!({"path": "a.py", "old_str": "a = 1\nb = 2", "new_str": "a = 1\nimport re\nb = 2"});
        assert_eq!(of("str_replace_editor", &grown), [ChangeLine::Added("import re".into())]);
    }

    #[test]
    fn a_patch_and_a_heredoc_are_read() {
        let patch = serde_json::json!({"input": "*** Begin Patch\n*** Update File: a.rs\n@@\n-let x = 1;\n+let x = 2;\n*** End Patch"});
        assert_eq!(
            of("apply_patch", &patch),
            [ChangeLine::Replaced("let x = 2;".into(), "1".into())]
        );
        let written = serde_json::json!({"command": "cat > t.py << 'EOF'\nimport os\n\nprint(os)\nEOF\npython t.py"});
        let change = ToolTable::builtin().change("bash", &written.to_string());
        assert_eq!(change.whole, Some(3));
        assert_eq!(
            change.lines,
            [ChangeLine::Added("import os".into()), ChangeLine::Added("print(os)".into())]
        );
    }
}
