//! Finds the value of a name, by a grammar of the text between the two.
//!
//! The grammar has several forms: an assignment, an argument of a call, a clause of SQL, a flag, an element or
//! attribute, a member named `value`, the next line, and a sentence. Each form says how certain the value is.

use std::ops::Range;

pub(super) use super::cursor::TextCursor;
use super::names::{SecretName, SecretNameKind};
use super::value::{self, ValueRuns};

/// How certain a form makes it that a value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormCertainty {
    /// Only a secret may be here, and no ordinary word: the value of an environment variable.
    Given,
    /// Only a secret may be here: the value of a flag, or a clause of SQL.
    Told,
    /// An assignment: the value is a secret, or an expression that gives one.
    Assigned,
    /// The next item of a list, which may be a list of names.
    Listed,
    /// Ordinary words may be here as well.
    Loose,
    /// The value is among the next words, and not right behind the name.
    Far,
}

/// A value that was found behind a name.
#[derive(Clone, Debug)]
pub(super) struct FormValue {
    /// Byte range of the value.
    pub at: Range<usize>,
    pub quoted: bool,
    /// How certain it is that the value is a secret.
    pub sure: FormCertainty,
}

/// Longest distance from a name to its value on the same line, in bytes.
const LINE_BYTES: usize = 80;
/// Longest attributes of an element, in bytes.
const ATTRIBUTES_BYTES: usize = 240;
/// At most this many openers are skipped between a separator and a value, as in `: Some(String::from("`.
const OPENERS: usize = 6;

/// Finds the value of a name; `None` where it has none.
pub(super) fn value(text: &str, name: &SecretName, runs: &mut ValueRuns) -> Option<FormValue> {
    // `PWD` and `OLDPWD` are also the variables with a shell's folder. `MYSQL_PWD` is not.
    let bare_name = &text[name.at.clone()];
    let is_pwd = ["pwd", "oldpwd"].iter().any(|pwd| bare_name.eq_ignore_ascii_case(pwd));
    let is_folder = |value: &FormValue| is_pwd && is_folder(&text[value.at.clone()]);
    value_of(text, name, runs).filter(|value| !is_folder(value))
}

/// Whether a value is a folder as a shell writes it: `/`, `/srv`, `/srv/app`, `~/app`, `$HOME/app`, `$(pwd)`.
fn is_folder(value: &str) -> bool {
    let variable = value.strip_prefix('$').map(|rest| rest.split('/').next().unwrap_or_default());
    let is_variable = |name: &str| {
        name.starts_with(['{', '('])
            || !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    value == "~"
        || value.starts_with("~/")
        || value
            .strip_prefix('/')
            .is_some_and(|path| path.contains('/') || path.bytes().all(|b| b.is_ascii_lowercase()))
        || variable.is_some_and(is_variable)
}

/// The value of a name, in whichever form it is.
fn value_of(text: &str, name: &SecretName, runs: &mut ValueRuns) -> Option<FormValue> {
    let mut at = TextCursor { text, at: name.at.end };
    let quoted = at.closing_quote();
    if name.element {
        return at.element(runs);
    }
    let form_value = behind(at, name, quoted, runs);
    if form_value.is_some() {
        return form_value;
    }
    if quoted && let Some(value) = at.member_before(name.at.start, runs) {
        return Some(value);
    }
    at.typed_in(runs)
}

/// The value behind a name and its closing quote.
fn behind(
    mut at: TextCursor<'_>,
    name: &SecretName,
    quoted: bool,
    runs: &mut ValueRuns,
) -> Option<FormValue> {
    // Marks that close between a name and its separator: `**password**:`, `config["password"] =`.
    while at.eat("*") || at.eat("]") || at.eat(")") && quoted {}
    if name.flag
        && let Some(value) = at.flag(quoted, runs)
    {
        return Some(value);
    }
    let spaced = at.blank();
    at.skip_number();
    if at.skip_separator(name.kind != SecretNameKind::Vague) {
        return at.after_separator(name, spaced, quoted, runs);
    }
    if quoted && !spaced && at.eat(">") {
        return at.element_text(runs);
    }
    if quoted && at.eat(",") {
        at.space();
        return at.listed(name.constant, runs);
    }
    // A setter, such as `.password("…")`.
    if !spaced && at.eat("(") {
        at.blank();
        at.prefix();
        return at.quoted(FormCertainty::Assigned, runs);
    }
    if quoted && at.byte() == Some(b'{') {
        return at.member(runs);
    }
    if !quoted && let Some(value) = at.typed(true, runs) {
        return Some(value);
    }
    // Matches `{name: DB_PASSWORD, value: …}` and `{password, "…"}`.
    let mut ahead = at;
    if !quoted && ahead.eat(",") {
        ahead.blank();
        let atom = at.text[..name.at.start].ends_with(['{', ':']);
        return if ahead.opens_value() {
            ahead.member(runs)
        } else if atom {
            ahead.quoted(FormCertainty::Listed, runs)
        } else {
            None
        };
    }
    if at.text[name.at.clone()].eq_ignore_ascii_case("pwd") {
        // Without a separator behind it, `pwd` is the command that prints the working directory.
        None
    } else if spaced && !matches!(at.byte(), Some(b'\n' | b'\r')) {
        at.worded(name, quoted, runs)
    } else if name.alone {
        None
    } else {
        at.next_line(quoted, runs)
    }
}

impl TextCursor<'_> {
    /// Skips the number in a numbered name, such as `Key 1:`.
    fn skip_number(&mut self) {
        let mut ahead = *self;
        if ahead.skip(2, |b| b.is_ascii_digit()) && ahead.byte() == Some(b':') {
            *self = ahead;
        }
    }

    /// Skips the separator between a name and its value. `bar` says whether `|` counts as one, as in a table of two
    /// columns. Returns whether there was one.
    fn skip_separator(&mut self, bar: bool) -> bool {
        let marks = [
            "=>", ":=", "::=", "?=", "||=", "===", "==", "=", "->", "→", "：", "＝", "是", "为",
            "為", "は ", "는 ", "은 ",
        ];
        if self.eat_one(marks) {
            self.eat("=");
            return true;
        }
        if self.rest().starts_with(':') && !self.rest().starts_with("://") {
            self.at += 1;
            // `::new` and `:?}` are code, so their colon is no separator.
            return !self.rest().starts_with([':', '?']) || self.eat(":=");
        }
        let dash =
            [" - ", "- "].iter().any(|dash| self.text[..self.at].ends_with(' ') && self.eat(dash));
        dash || bar && self.eat_one(["|", "│"])
    }

    /// The value behind the separator of a name, with its certainty.
    fn after_separator(
        mut self,
        name: &SecretName,
        spaced: bool,
        quoted: bool,
        runs: &mut ValueRuns,
    ) -> Option<FormValue> {
        self.eat("**");
        let is_environment_line =
            !spaced && name.constant && !quoted && self.text[..self.at].ends_with('=');
        let before = self.text[..name.at.start].bytes().next_back();
        let begins_word = before.is_none_or(|b| b.is_ascii_whitespace() || b"$:-".contains(&b));
        let Some(value) = self.assigned(runs, begins_word && !quoted, name.constant) else {
            self.blank();
            let words = name.kind == SecretNameKind::Chosen;
            return if words { self.worded(name, false, runs) } else { None };
        };
        let run = self.text[..value.at.start].ends_with('`');
        // `NAME=value` without blanks is how environments are written. Any value counts there.
        let given = is_environment_line
            && !run
            && value.sure == FormCertainty::Assigned
            && value.at.len() >= 5;
        Some(FormValue { sure: if given { FormCertainty::Given } else { value.sure }, ..value })
    }

    /// The value behind a separator, on the same line or the next one.
    fn assigned(
        mut self,
        runs: &mut ValueRuns,
        begins_word: bool,
        constant: bool,
    ) -> Option<FormValue> {
        let mut lines = 0;
        for _ in 0..OPENERS {
            self.blank();
            let start = self.at;
            if self.byte() == Some(b'\n') || self.rest().starts_with("\r\n") {
                lines += 1;
                self.space();
            } else if self.byte() == Some(b'{') {
                return self.member(runs);
            } else {
                self.skip_opener();
            }
            if self.at == start || lines > 1 {
                break;
            }
        }
        let sure = if lines > 0 { FormCertainty::Loose } else { FormCertainty::Assigned };
        if lines > 0 && self.rest().starts_with("```") {
            return self.line_of_its_own(runs);
        }
        let quote = self.quoted(if lines > 0 { FormCertainty::Assigned } else { sure }, runs);
        // The inside of a quotation that is no value must not be read as a bare value.
        if quote.is_some() || matches!(self.byte(), Some(b'"' | b'\'' | b'`')) {
            return quote;
        }
        if let Some(value) = self.typed(false, runs) {
            return Some(value);
        }
        if lines > 0 {
            return self.line_of_its_own(runs);
        }
        self.bare(sure, begins_word && (constant || self.ends_line()), runs)
    }

    /// Skips one opener of a value: a bracket, a tag, a mark, or a call whose only argument is the value.
    fn skip_opener(&mut self) {
        let mut ahead = *self;
        let marks = ["[[", "[", "!!str ", "<![CDATA[", "**"];
        if ahead.eat_one(marks) || ahead.heredoc() {
            *self = ahead;
        } else if ahead.eat_one(["|", ">"]) {
            ahead.skip(1, |b| b"-+".contains(&b));
            ahead.blank();
            if matches!(ahead.byte(), Some(b'\n' | b'\r')) {
                *self = ahead;
            }
        } else if ahead.eat("&") && ahead.skip(16, |b| b.is_ascii_alphanumeric()) && ahead.blank() {
            *self = ahead;
        } else {
            self.call();
            self.prefix();
        }
    }

    /// Skips `<<EOT`; the value is on the next line then.
    fn heredoc(&mut self) -> bool {
        self.eat("<<") && {
            self.eat("-");
            self.skip(24, |b| b.is_ascii_alphanumeric())
        }
    }

    /// Skips a call such as `Some(` before a quote. The argument of a function that reads or asks for something is a
    /// name, so such a call is not skipped.
    fn call(&mut self) {
        let mut ahead = *self;
        let name = |b: u8| b.is_ascii_alphanumeric() || b"_:.".contains(&b);
        let named = ahead.skip(40, name);
        if !ahead.eat("(") {
            return;
        }
        // Skips a type with its length, such as `string(12) ` or `(string) (len=12) `.
        let mut length = ahead;
        if length.skip(16, |b| b.is_ascii_alphanumeric() || b == b'=')
            && length.eat(")")
            && length.blank()
        {
            *self = length;
            return;
        }
        if !named {
            return;
        }
        let opened = ahead;
        let asks = [
            "get", "env", "read", "load", "input", "fetch", "prompt", "ask", "find", "lookup",
            "t(", "decrypt",
        ];
        ahead.prefix();
        if !matches!(ahead.byte(), Some(b'"' | b'\'')) {
            return;
        }
        let callee = self.text[self.at..opened.at].to_ascii_lowercase();
        if !asks.iter().any(|ask| callee.contains(ask)) {
            *self = ahead;
        }
    }

    /// Skips a letter or mark before a quote: `b"`, `N'`, `&"`, `@"`.
    pub(super) fn prefix(&mut self) {
        let mut ahead = *self;
        if ahead.skip(2, |b| b.is_ascii_alphabetic() || b"&@$".contains(&b))
            && matches!(ahead.byte(), Some(b'"' | b'\''))
        {
            *self = ahead;
        }
    }

    /// A quoted value.
    pub(super) fn quoted(self, sure: FormCertainty, runs: &mut ValueRuns) -> Option<FormValue> {
        let at = value::quoted(self.text, self.at, runs)?;
        Some(FormValue { at, quoted: true, sure })
    }

    /// A value without quotes. A `wide` value ends only at white space and quotes.
    pub(super) fn bare(
        self,
        sure: FormCertainty,
        wide: bool,
        runs: &mut ValueRuns,
    ) -> Option<FormValue> {
        let at = value::bare(self.text, self.at, wide, runs)?;
        Some(FormValue { at, quoted: false, sure })
    }

    /// Whether exactly one word is left on the line.
    pub(super) fn ends_line(&self) -> bool {
        let line = &self.text.as_bytes()[self.at..];
        let word = line.iter().take(256).take_while(|b| !b.is_ascii_whitespace()).count();
        let behind = &line[word..];
        let blank = behind.iter().take(8).take_while(|b| b" \t\r".contains(b)).count();
        let ends = matches!(behind.get(blank), None | Some(b'\n' | b'#'));
        ends && !line[..word].iter().any(|b| b"\"'`(){}[]\\&".contains(b))
            && !line[..word].ends_with(b",")
            && !line[..word].ends_with(b";")
    }

    /// A value behind a type or a default: `: &str = "…"`, `string = "…"`, `… || "…"`.
    fn typed(mut self, spaced: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        let line = &self.text[self.at..self.text.floor_char_boundary(self.at + LINE_BYTES)];
        // Most lines have no quotation mark, so this saves the tests below.
        memchr::memchr2(b'"', b'\'', line.as_bytes())?;
        let is_type_char = |c: char| c.is_ascii_alphanumeric() || "_<>|&'[] .?:{};=@%".contains(c);
        let line = &line[..line.find(|c: char| !is_type_char(c) && c != '"').unwrap_or(line.len())];
        let end = line.char_indices().find_map(|(at, _)| {
            // A `name="…"` behind no blank is the next attribute, not a default.
            let set = if spaced { " =" } else { "=" };
            let before = &line[..at];
            let sets = before.ends_with(set) && !before.ends_with("==");
            let or = ["||", "??", " or"].iter().any(|or| before.ends_with(or));
            let behind = line[at..].trim_start();
            ((sets || or) && behind.starts_with(['"', '\''])).then_some(line.len() - behind.len())
        })?;
        self.at += end;
        self.quoted(FormCertainty::Assigned, runs)
    }

    /// The next item of a list or, where that item is a name itself, the member with a value.
    fn listed(self, constant: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        let next = self
            .quoted(if constant { FormCertainty::Assigned } else { FormCertainty::Listed }, runs);
        let named = next.as_ref().is_some_and(|next| {
            let mut ahead = TextCursor { text: self.text, at: next.at.end };
            ahead.closing_quote()
                && {
                    ahead.blank();
                    true
                }
                && ahead.skip_separator(false)
        });
        if named || next.is_none() { self.member(runs) } else { next }
    }

    /// The value of a flag: behind a blank or `=`, or in the next quotes of a list.
    fn flag(mut self, quoted: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        let mut sure = FormCertainty::Told;
        if quoted {
            self.blank();
            if !self.eat(",") {
                return None;
            }
            self.space();
        } else if self.eat("=") {
            sure = FormCertainty::Given;
        } else if !self.blank() {
            return None;
        }
        match self.quoted(sure, runs) {
            None if !matches!(self.byte(), Some(b'"' | b'\'' | b'-')) => {
                self.bare(sure, true, runs)
            }
            value => value,
        }
    }

    /// The text of an element whose name ends at the cursor.
    fn element(mut self, runs: &mut ValueRuns) -> Option<FormValue> {
        self.skip(ATTRIBUTES_BYTES, |b| b != b'>' && b != b'<' && b != b'\n');
        if self.text[..self.at].ends_with('/') || !self.eat(">") {
            return None;
        }
        self.element_text(runs)
    }

    /// The text that is typed into a field with this name: `…"password"]', '…')`, `…"password").type("…")`.
    fn typed_in(mut self, runs: &mut ValueRuns) -> Option<FormValue> {
        self.skip(6, |b| b"\"'`])\\".contains(&b));
        if self.eat(".") {
            let called = self.skip(24, |b| b.is_ascii_alphabetic() || b == b'_') && self.eat("(");
            return if called { self.quoted(FormCertainty::Far, runs) } else { None };
        }
        if !self.eat(",") {
            return None;
        }
        self.blank();
        self.skip(12, |b| b.is_ascii_lowercase() || b": ".contains(&b));
        self.quoted(FormCertainty::Far, runs)
    }

    /// The text behind a tag. If another element begins there, it is that element's text.
    pub(super) fn element_text(mut self, runs: &mut ValueRuns) -> Option<FormValue> {
        self.space();
        // Skips an inner element, as in `<Password><FormValue>…`.
        let mut inner = self;
        if inner.eat("<") && inner.skip(24, |b| b.is_ascii_alphanumeric()) && inner.eat(">") {
            self = inner;
        }
        self.eat("<![CDATA[");
        let at = runs.until(self.text, self.at, b'<')?;
        let mut behind = TextCursor { text: self.text, at: at.end };
        behind.space();
        if !behind.eat("</") {
            return None;
        }
        let value = self.text[at.clone()].trim_end();
        let value = value.strip_suffix("]]>").unwrap_or(value);
        let at = at.start..at.start + value.len();
        (!at.is_empty()).then_some(FormValue { at, quoted: false, sure: FormCertainty::Told })
    }
}
