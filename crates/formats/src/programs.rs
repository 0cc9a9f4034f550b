//! Finds output of programs in a message of the user's role: elements, envelopes, tables, logs, diffs, mail, labelled
//! output. The form decides. The only words that count are those by which protocols name a speaker or a program's
//! output.

use rustc_hash::FxHashMap;

use crate::elements::{OpeningTag, element_end, last_closes, opening_tag, tag_end};
use crate::labels::{LabelForm, first_word, is_conversation, label_form, names_speaker};
use crate::lines::{line_end, paragraph_end, while_lines};

/// Positions that were found in a text. They are kept so that the rest of the text is not searched again for each line.
#[derive(Debug, Default)]
pub(crate) struct ProgramMarks<'a> {
    /// The position of the last closing tag of each element; filled at the first tag.
    closes: Option<FxHashMap<&'a str, usize>>,
    /// The position of the last closing form of each label in brackets.
    labels: Option<FxHashMap<&'a str, usize>>,
    /// Before this position no open bracket is closed.
    unclosed: usize,
    /// Whether the rest of the text ends no turn of a chat template.
    endless: bool,
    /// Whether labels make the text a conversation; found out at the first label with words behind it.
    conversation: Option<bool>,
}

impl<'a> ProgramMarks<'a> {
    /// The end of a program's output that starts at `start`, on the line that ends at `end`. `None` where no such
    /// output starts there. `fresh` says that the text or a paragraph starts here.
    pub(crate) fn end(
        &mut self,
        text: &'a str,
        start: usize,
        end: usize,
        fresh: bool,
    ) -> Option<usize> {
        let line = text[start..end].trim_end();
        if line.starts_with('<') {
            return self.element(text, start, end);
        }
        if line.starts_with(['{', '['])
            && let Some(past) = self.brackets(text, start)
        {
            return Some(past);
        }
        if is_banner(line) {
            return Some(banner_end(text, end));
        }
        if line == "---" && text[..start].trim().is_empty() {
            return front_matter_end(text, end);
        }
        if line.starts_with("HTTP/") || heads_mail(&text[start..]) {
            return Some(text.len());
        }
        if starts_diff(line) {
            return Some(while_lines(text, end, is_diff));
        }
        if line.starts_with("\"\"\"") || line.starts_with("'''") {
            let mark = &line[..3];
            let closes = text[end..].find(mark).map(|at| line_end(text, end + at));
            return Some(closes.unwrap_or_else(|| paragraph_end(text, end)));
        }
        // One line with bars may be a sentence; two in a row are a table.
        if is_row(line) && text[end..].lines().next().is_some_and(is_row) {
            return Some(while_lines(text, end, is_row));
        }
        if is_prompt(line) {
            return Some(paragraph_end(text, end));
        }
        // A level in brackets may be the user's own word: `[CRITICAL] Never deploy on Fridays.`
        let is_level = has_bracketed_level(line);
        if is_logged(line) && (!is_level || text[end..].lines().next().is_some_and(is_logged)) {
            return Some(while_lines(text, end, |line| {
                is_logged(line) || line.starts_with([' ', '\t'])
            }));
        }
        let is_foreign = match label_form(line) {
            Some(LabelForm::Named(_)) => self.has_conversation(text),
            form => form.is_some(),
        };
        if is_foreign {
            return Some(self.labelled_end(text, end, line));
        }
        // A paragraph that starts with an indent of four is code, as in Markdown. An item of a list is not.
        let raw = text[..start].len() - text[..start].trim_end_matches([' ', '\t']).len();
        let tabbed = text[..start].ends_with('\t');
        let marked = line.starts_with(['-', '*', '+', '•'])
            || line.starts_with(|c: char| c.is_ascii_digit());
        if fresh && (raw >= 4 || tabbed) && !marked {
            return Some(paragraph_end(text, end));
        }
        None
    }

    /// The end of the element that opens at `start`. `None` where it is part of the user's sentence.
    fn element(&mut self, text: &'a str, start: usize, end: usize) -> Option<usize> {
        if text[start..].starts_with("<|") || text[start..].starts_with("<<") {
            return Some(self.turn(text, start, end));
        }
        if text[start..].starts_with("<!--") {
            let closes = text[start..].find("-->").map(|at| line_end(text, start + at));
            return Some(closes.unwrap_or_else(|| paragraph_end(text, end)));
        }
        let OpeningTag { name, body, is_self_closing } = opening_tag(text, start)?;
        let is_coded = name.contains(['_', '-', ':']);
        let is_alone = |past: usize| text[past..line_end(text, past)].trim().is_empty();
        if is_self_closing {
            return (is_coded || is_alone(body)).then_some(body);
        }
        // In a sentence about an element, a blank is between the tag and the next word.
        let inside = text[body..end].trim_end();
        let is_in_sentence = inside.starts_with([' ', '\t']) && !is_coded;
        let closes = self.closes.get_or_insert_with(|| last_closes(text));
        let Some(last) = closes.get(name).copied().filter(|last| *last > start) else {
            // The element never closes. It counts if its tag is alone on the line or directly at its text.
            let counts = !is_in_sentence || name.contains('.');
            return counts.then(|| paragraph_end(text, end));
        };
        let past = element_end(text, body, name).unwrap_or_else(|| tag_end(text, last));
        // `<b>Please</b> fix it.` is the user's own sentence, as is one that names both tags of an element.
        let is_sentence = if past <= end {
            !is_alone(past)
        } else {
            is_in_sentence && !names_speaker(name) && !ends_with_line_of_tag(&text[start..past])
        };
        (is_coded || !is_sentence).then_some(past)
    }

    /// The end of a turn of a chat template: `<|im_start|>system … <|im_end|>`.
    fn turn(&mut self, text: &str, start: usize, end: usize) -> usize {
        const CLOSES: [&str; 5] = ["<|im_end|>", "<|eot_id|>", "<</", ">>>", "<|end|>"];
        let line = text[start..end].trim_end();
        if let Some(past) = self.marked_end(text, end, line) {
            return past;
        }
        if CLOSES.iter().any(|close| line.ends_with(close)) {
            return end;
        }
        if self.endless {
            return paragraph_end(text, end);
        }
        let near = |close: &&str| text[end..].find(*close).map(|at| line_end(text, end + at));
        let close = CLOSES.iter().filter_map(near).min();
        self.endless = close.is_none();
        close.unwrap_or_else(|| paragraph_end(text, end))
    }

    /// The end of a text between marks of its own, `<<<NAME>>>` and `<<<END_NAME>>>`. `None` where the line is no such mark,
    /// or is not closed.
    fn marked_end(&mut self, text: &str, end: usize, line: &str) -> Option<usize> {
        let name = line.strip_prefix("<<<")?.strip_suffix(">>>")?;
        let name = name.strip_prefix("BEGIN_").unwrap_or(name);
        if self.endless || name.starts_with("END") {
            return None;
        }
        let close = text[end..].find(&format!("<<<END_{name}>>>"));
        self.endless = close.is_none();
        close.map(|at| line_end(text, end + at))
    }

    /// The end of a value in brackets that starts a line and ends one: JSON, or a similar print.
    fn brackets(&mut self, text: &'a str, start: usize) -> Option<usize> {
        let inner = text[start + 1..].trim_start();
        let opens = inner.starts_with(['"', '\'', '{', '[']);
        if !opens || start < self.unclosed {
            return None;
        }
        let bytes = text.as_bytes();
        let (mut depth, mut quote, mut at) = (0_usize, None, start);
        while at < bytes.len() {
            match (bytes[at], quote) {
                (b'\\', Some(_)) => at += 1,
                (byte, Some(open)) if byte == open => quote = None,
                (_, Some(_)) => {}
                (byte @ (b'"' | b'\''), None) => quote = Some(byte),
                (b'{' | b'[', None) => depth += 1,
                (b'}' | b']', None) => {
                    depth -= 1;
                    if depth == 0 {
                        let past = line_end(text, at + 1);
                        let ends = text[at + 1..past].trim().is_empty();
                        // Remembers the range that was read, so that no bracket inside it is read again.
                        self.unclosed = self.unclosed.max(at);
                        return ends.then_some(past);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        // Later brackets are not tried any more: each would be read to the end of the text again.
        self.unclosed = text.len();
        Some(paragraph_end(text, start))
    }

    fn has_conversation(&mut self, text: &str) -> bool {
        let labels = || text.lines().filter_map(|line| label_form(line.trim()));
        *self.conversation.get_or_insert_with(|| is_conversation(labels()))
    }

    /// The end of the text that a label introduces: the rest of its paragraph, the next paragraph where the label is
    /// alone, or the label that closes it.
    fn labelled_end(&mut self, text: &'a str, end: usize, line: &str) -> usize {
        if let Some(label) = line.strip_prefix('[').map(first_word) {
            let labels = self.labels.get_or_insert_with(|| last_ends(text));
            if labels.get(label).is_some_and(|last| *last >= end) {
                let close = ["[/", "[END "].iter().filter_map(|open| {
                    let at = text[end..].find(&[open, label].concat())?;
                    Some(line_end(text, end + at))
                });
                return close.min().unwrap_or(text.len());
            }
        }
        let alone =
            line.trim_end_matches(['*', '#', ' ']).ends_with([':', ']']) || line.starts_with('#');
        let blank = text[end..].len() - text[end..].trim_start_matches(['\n', '\r']).len();
        paragraph_end(text, if alone { end + blank } else { end })
    }
}

/// The position of the last closing form of each label in brackets: `[/tool_result]`, `[END tool_result]`.
fn last_ends(text: &str) -> FxHashMap<&str, usize> {
    let ends = |open: &'static str| {
        text.match_indices(open).map(move |(at, _)| (first_word(&text[at + open.len()..]), at))
    };
    let mut all: Vec<(&str, usize)> = ends("[/").chain(ends("[END ")).collect();
    // The order matters: of equal names, the map keeps the last one.
    all.sort_unstable_by_key(|(_, at)| *at);
    all.into_iter().collect()
}

/// Whether the closing tag of an element starts a line.
fn ends_with_line_of_tag(element: &str) -> bool {
    let before = element.rfind('<').map_or("", |close| &element[..close]);
    before.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// Whether a line is a banner: `--- Tool output ---`, `=== x ===`, `---------- Forwarded message ---------`.
fn is_banner(line: &str) -> bool {
    let Some(mark) = line.chars().next().filter(|c| "-=*#_~+".contains(*c)) else { return false };
    let front = line.len() - line.trim_start_matches(mark).len();
    let back = line.len() - line.trim_end_matches(mark).len();
    let words = line.trim_matches(mark);
    let bold = mark == '*' && front == 3;
    front >= 3 && back >= 3 && !bold && words.chars().any(char::is_alphabetic)
}

/// The position after the next banner, which closes this one, or the end of the text.
fn banner_end(text: &str, from: usize) -> usize {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        at += line.len();
        if is_banner(line.trim()) {
            return at;
        }
    }
    text.len()
}

/// The position after the front matter of a document whose first line ends at `from`: fields up to the next `---`. `None`
/// where there is none.
fn front_matter_end(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        at += line.len();
        let field = line.contains(':') || line.starts_with([' ', '\t', '-', '#']);
        if line.trim_end() == "---" {
            return Some(at);
        }
        if !field {
            return None;
        }
    }
    None
}

/// Whether a text starts with the head of a mail: one of its fields, and another one in the next two lines.
fn heads_mail(text: &str) -> bool {
    const HEADS: [&str; 8] =
        ["from", "to", "cc", "date", "sent", "subject", "reply-to", "message-id"];
    let head = |line: &str| {
        let line = line.trim_matches(|c: char| c == '*' || c.is_whitespace());
        line.split_once(':').is_some_and(|(name, _)| {
            HEADS.iter().any(|head| name.trim_matches('*').eq_ignore_ascii_case(head))
        })
    };
    text.lines().take(3).filter(|line| head(line)).count() >= 2
        && text.lines().next().is_some_and(head)
}

fn starts_diff(line: &str) -> bool {
    ["diff --git ", "--- a/", "+++ b/", "@@ -", "Index: ", "--- /", "*** Begin Patch"]
        .iter()
        .any(|start| line.starts_with(start))
}

fn is_diff(line: &str) -> bool {
    // Editors remove the blank with which an empty line of context starts.
    line.is_empty()
        || line.starts_with(['+', '-', ' ', '@', '\\', '*'])
        || starts_diff(line)
        || line.starts_with("index ")
        || line.starts_with("new file")
}

/// Whether a line is a row of a table.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    let drawn = line.starts_with(['│', '┌', '├', '└', '┃'])
        || line.contains('|') && line.chars().all(|c| "-|+: ".contains(c));
    drawn
        || line.starts_with(['|', '+']) && line.ends_with(['|', '+']) && line.len() > 2
        || line.matches(" | ").count() >= 1 && !line.starts_with(['-', '*'])
        || line.matches('\t').count() >= 2
}

/// Whether a line is of a log, a compiler, a shell or a listing with line numbers.
fn is_logged(line: &str) -> bool {
    let start = line.trim_start().trim_start_matches(['[', '(', '<']);
    starts_time(start)
        || has_level(line.trim_start())
        || is_pairs(start)
        || is_located(start)
        || is_numbered(line)
        || is_prompt(line)
        || line.starts_with('\u{1b}')
        || is_piped(line)
}

/// Whether a text starts with a date or a time: `2026-11-24T10:00:00`, `10:00:00.1`, `Nov 24 10:00:00`.
fn starts_time(text: &str) -> bool {
    let shape: String =
        text.chars().take(19).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let dated = [
        "0000-00-00 00:00",
        "0000-00-00T00:00",
        "0000/00/00 00:00",
        "00:00:00",
        "00/00/0000",
        "00/Nov/",
        "0000000000.",
    ];
    let named = shape.len() >= 12
        && shape.as_bytes()[..3].iter().all(u8::is_ascii_alphabetic)
        && shape[3..].starts_with([' '])
        && shape.contains("00:00:00");
    dated.iter().any(|date| shape.starts_with(date)) || named
}

/// The levels of a log.
const LEVELS: [&str; 9] =
    ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"];

/// Whether a line starts with a level in brackets: `[INFO] …`.
fn has_bracketed_level(line: &str) -> bool {
    let bracketed = line.strip_prefix('[').and_then(|line| line.split_once(']'));
    bracketed
        .is_some_and(|(word, _)| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word.trim())))
}

/// Whether a line has a level in brackets or as a word in capitals: `[INFO] …`, `INFO  module …`.
fn has_level(line: &str) -> bool {
    if has_bracketed_level(line) {
        return true;
    }
    let word = line.split([' ', '\t', ':']).next().unwrap_or_default();
    let behind = &line[word.len()..];
    LEVELS.contains(&word)
        && (behind.starts_with(' ') && !behind.starts_with(" :"))
        && behind.contains([':', '=', ']'])
}

/// Whether a line starts with two pairs or more: `level=info msg="…"`.
fn is_pairs(text: &str) -> bool {
    let pair = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
        })
    };
    text.split(' ').take(2).filter(|word| pair(word)).count() == 2
}

/// Whether a line names a place in a file: `src/a.rs:12: …`, `error[E0308]: …`, `at f (a.js:1:2)`, `File "a.py", line
/// 3`.
fn is_located(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let mut parts = first.split(':');
    let file = parts.next().is_some_and(|file| file.contains('.') && !file.starts_with("http"));
    let line = parts
        .next()
        .is_some_and(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()));
    file && line
        || text.starts_with("at ") && text.ends_with(')')
        || text.starts_with("File \"")
        || text.starts_with("error[E")
}

/// Whether a line is of a listing: `  12→text`, `12| text`, `   12\ttext`.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.trim_start().len()
        && rest.trim_start_matches(' ').starts_with(['→', '|', '\t', '│'])
}

/// Whether a line has a prompt: `$ cmd`, `>>> x`, `root@box:~# x`, `PS C:\> x`, `In [1]: x`, `npm ERR! x`.
fn is_prompt(line: &str) -> bool {
    let user = line.split(' ').next().unwrap_or_default();
    let shell = user.contains('@') && user.ends_with(['#', '$']);
    ["$ ", "# $ ", ">>> ", "PS ", "In [", "Out[", "npm ERR!", "npm error", "% "]
        .iter()
        .any(|start| line.starts_with(start))
        // This is a postscript: `PS I forgot the tests.`
        && !line.starts_with("PS I")
        || shell
}

/// Whether a line has the name of its program before it, as in the output of several programs: `app-1  | text`.
fn is_piped(line: &str) -> bool {
    line.split_once(" | ").is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && !name.contains(' ') && name.contains(['-', '_', '.'])
    })
}
