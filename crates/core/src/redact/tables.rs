//! Finds secrets in the columns of tables: CSV, console output, Markdown, and `INSERT` statements.

use std::ops::Range;

use super::names::{self, SecretNameKind};

/// The head of a table reaches at most this many bytes to either side of a name in it.
const LINE: usize = 1_024;
/// A table has at most this many columns.
const COLUMNS: usize = 64;

/// What the head of a column says: the kind of secret, and whether its name is a short word by itself.
type SecretHead = (SecretNameKind, bool);

/// A cell in a column of secrets.
pub(super) type SecretCell = (Range<usize>, SecretHead);

/// The position up to which a text was read as a table.
#[derive(Debug, Default)]
pub(super) struct SecretTables {
    /// Byte offset up to which the text was read.
    read: usize,
}

impl SecretTables {
    /// The cells below a name, where the name is in the head of a table. Each head is read once.
    pub(super) fn below(&mut self, text: &str, name: &Range<usize>) -> Vec<SecretCell> {
        if name.start < self.read {
            return Vec::new();
        }
        let listed = text[name.end..]
            .trim_start_matches(['"', '\'', '`', ' '])
            .starts_with([',', ')', '\n']);
        if listed && let Some(cells) = self.inserted(text, name) {
            return cells;
        }
        // A cell of a head has to end behind the name.
        let behind = text[name.end..].trim_start_matches(['"', '\'', '`', '*']);
        let edge = |c: char| ",;\t|│\r\n".contains(c);
        if !(behind.starts_with("  ") || behind.trim_start_matches(' ').starts_with(edge)) {
            return Vec::new();
        }
        let Some(line) = line_around(text, name) else { return Vec::new() };
        // A single cell, or a line without a row below it, is no table. A rule below shows that a single cell is one.
        let below = text[line.end..].strip_prefix('\n').and_then(|below| below.lines().next());
        let Some(below) = below else { return Vec::new() };
        let is_ruled = is_rule(below) && below.trim().len() > 2;
        let mark = CellMark::beside(text, name).or(is_ruled.then_some(CellMark::Line));
        let Some(mark) = mark else { return Vec::new() };
        let heads = mark.cells(text, line.clone());
        if heads.len() < 2 && !is_ruled || heads.len() > COLUMNS {
            return Vec::new();
        }
        // The name has to be a whole cell, or nearly the whole one.
        let of = |cell: &Range<usize>| cell.start <= name.start && name.end <= cell.end;
        // Heads are often in bold.
        let word = |cell: &Range<usize>| text[cell.clone()].trim_matches('*');
        let whole = |cell: &Range<usize>| {
            let bold = text[cell.clone()].len() - text[cell.clone()].trim_end_matches('*').len();
            cell.len() <= name.len() + 24 && cell.end - bold == name.end
        };
        if !heads.iter().any(|cell| of(cell) && whole(cell)) {
            return Vec::new();
        }
        let kinds: Vec<Option<SecretHead>> = heads.iter().map(|at| names::head(word(at))).collect();
        // Noted even without a secret: the other names of this head must not read the table again.
        self.read = line.end;
        let mut out = Vec::new();
        let mut at = line.end + 1;
        while at < text.len() {
            let end = at + memchr::memchr(b'\n', &text.as_bytes()[at..]).unwrap_or(text.len() - at);
            let row = at..end;
            at = end + 1;
            if is_rule(&text[row.clone()]) {
                continue;
            }
            if heads.len() == 1 && !mark.is_row(&text[row.clone()]) {
                break;
            }
            let cells = mark.cells(text, row);
            // The first row of another width is no longer of this table.
            if cells.len() != heads.len() {
                break;
            }
            self.read = end;
            let of = kinds.iter().zip(cells).filter_map(|(kind, cell)| Some((cell, (*kind)?)));
            out.extend(of.filter(|(cell, _)| !cell.is_empty()));
        }
        out
    }

    /// The cells with secrets in `INSERT INTO t (name, password) VALUES (…), (…)`.
    fn inserted(&mut self, text: &str, name: &Range<usize>) -> Option<Vec<SecretCell>> {
        let limit = text.floor_char_boundary(name.end + LINE);
        let close = name.end + text[name.end..limit].find([')', '\n', ';', '='])?;
        let behind = text[close..].strip_prefix(')')?.trim_start();
        let values = behind.get(..6).filter(|word| word.eq_ignore_ascii_case("values"))?;
        let from = text.ceil_char_boundary(name.start.saturating_sub(LINE));
        let open = from + text[from..name.start].rfind('(')? + 1;
        let heads: Vec<Option<SecretHead>> = text[open..close]
            .split(',')
            .map(|head| names::head(head.trim().trim_matches(['"', '`', '\''])))
            .collect();
        let mut at = text.len() - behind.len() + values.len();
        let mut out = Vec::new();
        loop {
            at += text[at..].len()
                - text[at..].trim_start_matches([' ', '\n', '\r', '\t', ',']).len();
            let Some(cells) = tuple(text, at) else { break };
            at = cells.last().map_or(at + 1, |cell| cell.end) + 1;
            self.read = at;
            let of = heads.iter().zip(cells).filter_map(|(kind, cell)| Some((cell, (*kind)?)));
            out.extend(of);
        }
        self.read = self.read.max(close);
        Some(out.into_iter().map(|(cell, kind)| (unquoted(text, cell), kind)).collect())
    }
}

/// The parts of a tuple in parentheses at `at`. The last part ends where the tuple does. `None` where no tuple is
/// there.
fn tuple(text: &str, at: usize) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'(') {
        return None;
    }
    let (mut cells, mut from, mut depth, mut quote) = (Vec::new(), at + 1, 0_u32, None);
    for (at, byte) in bytes.iter().enumerate().skip(at + 1).take(2 * LINE) {
        match (byte, quote) {
            (_, Some(open)) if *byte == open => quote = None,
            (_, Some(_)) => {}
            (b'\'' | b'"', None) => quote = Some(*byte),
            // A call in a value, such as `crypt('x', 'y')`, has commas of its own.
            (b'(', None) => depth += 1,
            (b')', None) if depth > 0 => depth -= 1,
            (b',' | b')', None) if depth == 0 => {
                cells.push(from..at);
                from = at + 1;
                if *byte == b')' {
                    return Some(cells);
                }
            }
            _ => {}
        }
        if cells.len() > COLUMNS {
            return None;
        }
    }
    None
}

/// The line that a name is in; `None` where it is longer than the head of a table may be.
fn line_around(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = name.start.saturating_sub(LINE);
    let start = match memchr::memrchr(b'\n', &bytes[from..name.start]) {
        Some(at) => from + at + 1,
        None if from == 0 => 0,
        None => return None,
    };
    let to = bytes.len().min(name.end + LINE);
    let end = match memchr::memchr(b'\n', &bytes[name.end..to]) {
        Some(at) => name.end + at,
        None if to == bytes.len() => to,
        None => return None,
    };
    Some(start..end)
}

/// Whether a line only draws a rule: `|---|:--:|`, `+----+`, `├──┼──┤`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty()
        && line.chars().all(|c| "|-+=: ".contains(c) || ('\u{2500}'..='\u{257F}').contains(&c))
}

/// The mark that separates the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellMark {
    /// One character, such as `,` or `|`.
    Char(char),
    /// Two or more blanks.
    Blanks,
    /// None: a row is one cell.
    Line,
}

impl CellMark {
    /// The mark next to a name; `None` where there is none.
    fn beside(text: &str, name: &Range<usize>) -> Option<Self> {
        let quote = |c: char| "\"'*".contains(c);
        let after = text[name.end..].trim_start_matches(quote);
        let before = text[..name.start].trim_end_matches(quote);
        let marks = |c: &char| matches!(c, ',' | ';' | '\t' | '|' | '│');
        let near = |c: Option<char>| c.filter(marks).map(Self::Char);
        near(after.chars().next())
            .or_else(|| near(after.trim_start_matches(' ').chars().next()))
            .or_else(|| near(before.chars().next_back()))
            .or_else(|| near(before.trim_end_matches(' ').chars().next_back()))
            .or_else(|| (after.starts_with("  ") || before.ends_with("  ")).then_some(Self::Blanks))
    }

    /// The cells of a row, without blanks and quotes around them. Bars at both ends of the row separate nothing.
    fn cells(self, text: &str, row: Range<usize>) -> Vec<Range<usize>> {
        let line = &text[row.clone()];
        let lead = line.len()
            - line.trim_start_matches(|c| c == ' ' && self != Self::Blanks || self.ends(c)).len();
        let line = &line[lead..];
        let line = line.trim_end_matches(['\r', ' ']).trim_end_matches(|c| self.ends(c));
        let from = row.start + lead;
        let mut cells = Vec::new();
        let (mut start, mut quote, mut blanks) = (0, false, 0);
        for (at, c) in line.char_indices() {
            blanks = if c == ' ' { blanks + 1 } else { 0 };
            // Only CSV quotes its cells. In other tables a quotation mark is text.
            quote ^= c == '"' && matches!(self, Self::Char(',' | ';' | '\t'));
            let parts = match self {
                Self::Char(mark) => c == mark,
                // Further blanks belong to the same gap.
                Self::Blanks => blanks == 2,
                Self::Line => false,
            };
            if parts && !quote {
                if self != Self::Blanks || !line[start..at].trim().is_empty() {
                    cells.push(from + start..from + at);
                }
                start = at + c.len_utf8();
            }
            if cells.len() > COLUMNS {
                return cells;
            }
        }
        cells.push(from + start..from + line.len());
        cells.into_iter().map(|cell| unquoted(text, cell)).collect()
    }

    /// Whether a line is a row of a table with one column. A table with bars has them in each row, and a count of rows
    /// in parentheses is behind the last one.
    fn is_row(self, line: &str) -> bool {
        let line = line.trim();
        match self {
            Self::Char(bar @ ('|' | '│')) => line.starts_with(bar),
            _ => !line.is_empty() && !line.starts_with('('),
        }
    }

    /// Whether a character is a bar at the end of a row.
    fn ends(self, c: char) -> bool {
        matches!(self, Self::Char('|' | '│')) && self == Self::Char(c)
    }
}

/// A cell without the blanks and quotes around it.
fn unquoted(text: &str, cell: Range<usize>) -> Range<usize> {
    let value = &text[cell.clone()];
    let around = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let lead = value.len() - value.trim_start_matches(around).len();
    let value = value.trim_matches(around);
    cell.start + lead..cell.start + lead + value.len()
}
