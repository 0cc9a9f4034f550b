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
const LINE: usize = 80;
/// Longest distance from the start of an object to its member `value`, in bytes.
const OBJECT: usize = 240;
/// At most this many openers are skipped between a separator and a value, as in `: Some(String::from("`.
const OPENERS: usize = 6;

/// Finds the value of a name; `None` where it has none.
pub(super) fn value(text: &str, name: &SecretName, runs: &mut ValueRuns) -> Option<FormValue> {
    let is_pwd = text[name.at.clone()].to_ascii_lowercase().ends_with("pwd");
    // `PWD` and `OLDPWD` are also the variables with a shell's folder.
    let is_place =
        |value: &FormValue| is_pwd && text[value.at.clone()].starts_with(['/', '~', '$']);
    value_of(text, name, runs).filter(|value| !is_place(value))
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
    at.number();
    if at.separator(name.kind != SecretNameKind::Vague) {
        return at.set(name, spaced, quoted, runs);
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
    let mut on = at;
    if !quoted && on.eat(",") {
        on.blank();
        let atom = at.text[..name.at.start].ends_with(['{', ':']);
        return if on.opens_value() {
            on.member(runs)
        } else if atom {
            on.quoted(FormCertainty::Listed, runs)
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
    fn number(&mut self) {
        let mut on = *self;
        if on.skip(2, |b| b.is_ascii_digit()) && on.byte() == Some(b':') {
            *self = on;
        }
    }

    /// Skips the separator between a name and its value. `bar` says whether `|` counts as one, as in a table of two
    /// columns. Returns whether there was one.
    fn separator(&mut self, bar: bool) -> bool {
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
    fn set(
        mut self,
        name: &SecretName,
        spaced: bool,
        quoted: bool,
        runs: &mut ValueRuns,
    ) -> Option<FormValue> {
        self.eat("**");
        let tight = !spaced && name.constant && !quoted && self.text[..self.at].ends_with('=');
        let before = self.text[..name.at.start].bytes().next_back();
        let fresh = before.is_none_or(|b| b.is_ascii_whitespace() || b"$:-".contains(&b));
        let Some(value) = self.assigned(runs, fresh && !quoted, name.constant) else {
            self.blank();
            let words = name.kind == SecretNameKind::Chosen;
            return if words { self.worded(name, false, runs) } else { None };
        };
        let run = self.text[..value.at.start].ends_with('`');
        // `NAME=value` without blanks is how environments are written. Any value counts there.
        let given = tight && !run && value.sure == FormCertainty::Assigned && value.at.len() >= 5;
        Some(FormValue { sure: if given { FormCertainty::Given } else { value.sure }, ..value })
    }

    /// The value behind a separator, on the same line or the next one.
    fn assigned(mut self, runs: &mut ValueRuns, fresh: bool, constant: bool) -> Option<FormValue> {
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
                self.opener();
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
        self.bare(sure, fresh && (constant || self.ends_line()), runs)
    }

    /// Skips one opener of a value: a bracket, a tag, a mark, or a call whose only argument is the value.
    fn opener(&mut self) {
        let mut on = *self;
        let marks = ["[[", "[", "!!str ", "<![CDATA[", "**"];
        if on.eat_one(marks) || on.heredoc() {
            *self = on;
        } else if on.eat_one(["|", ">"]) {
            on.skip(1, |b| b"-+".contains(&b));
            on.blank();
            if matches!(on.byte(), Some(b'\n' | b'\r')) {
                *self = on;
            }
        } else if on.eat("&") && on.skip(16, |b| b.is_ascii_alphanumeric()) && on.blank() {
            *self = on;
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
        let mut on = *self;
        let name = |b: u8| b.is_ascii_alphanumeric() || b"_:.".contains(&b);
        let named = on.skip(40, name);
        if !on.eat("(") {
            return;
        }
        // Skips a type with its length, such as `string(12) ` or `(string) (len=12) `.
        let mut length = on;
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
        let opened = on;
        let asks = [
            "get", "env", "read", "load", "input", "fetch", "prompt", "ask", "find", "lookup",
            "t(", "decrypt",
        ];
        on.prefix();
        if !matches!(on.byte(), Some(b'"' | b'\'')) {
            return;
        }
        let callee = self.text[self.at..opened.at].to_ascii_lowercase();
        if !asks.iter().any(|ask| callee.contains(ask)) {
            *self = on;
        }
    }

    /// Skips a letter or mark before a quote: `b"`, `N'`, `&"`, `@"`.
    fn prefix(&mut self) {
        let mut on = *self;
        if on.skip(2, |b| b.is_ascii_alphabetic() || b"&@$".contains(&b))
            && matches!(on.byte(), Some(b'"' | b'\''))
        {
            *self = on;
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
        let line = &self.text[self.at..self.text.floor_char_boundary(self.at + LINE)];
        // Most lines have no quotation mark, so this saves the tests below.
        memchr::memchr2(b'"', b'\'', line.as_bytes())?;
        let of = |c: char| c.is_ascii_alphanumeric() || "_<>|&'[] .?:{};=@%".contains(c);
        let line = &line[..line.find(|c: char| !of(c) && c != '"').unwrap_or(line.len())];
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
            let mut on = TextCursor { text: self.text, at: next.at.end };
            on.closing_quote()
                && {
                    on.blank();
                    true
                }
                && on.separator(false)
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
        self.skip(OBJECT, |b| b != b'>' && b != b'<' && b != b'\n');
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

    /// The member of an object that holds the value: `"value": "…"`, `default = "…"`.
    pub(super) fn member(self, runs: &mut ValueRuns) -> Option<FormValue> {
        const NAMES: [&str; 12] = [
            "value",
            "Value",
            "VALUE",
            "default",
            "S",
            "plaintext",
            "content",
            "text",
            "string",
            "_",
            "$t",
            "#text",
        ];
        let limit = self.text.floor_char_boundary(self.at + OBJECT);
        let object = &self.text[self.at..limit];
        let inside = object.strip_prefix('{').map_or(0, |_| 1);
        let end = object[inside..].find('}').map_or(object.len(), |end| end + inside);
        let object = &object[..end];
        let mut places = NAMES.iter().filter_map(|name| {
            object.match_indices(name).find_map(|(at, _)| {
                let starts = at == 0
                    || object[..at]
                        .ends_with(|c: char| c.is_whitespace() || "\"'{,;`-".contains(c))
                    // Matches `ParameterValue`, too.
                    || *name == "Value" && object[..at].ends_with(|c: char| c.is_ascii_lowercase());
                let mut on = TextCursor { text: self.text, at: self.at + at + name.len() };
                let quote = on.closing_quote();
                on.blank();
                (starts && (quote || name.len() > 2) && on.eat_one([":", "=>", "="])).then_some(on)
            })
        });
        let mut at = places.next()?;
        at.blank();
        at.prefix();
        match at.quoted(FormCertainty::Assigned, runs) {
            None if !matches!(at.byte(), Some(b'"' | b'\'' | b'{')) => {
                at.bare(FormCertainty::Assigned, at.ends_line(), runs)
            }
            value => value,
        }
    }

    /// The value of an object that has its value before its name: `{"value": "…", "name": "password"}`.
    fn member_before(mut self, name: usize, runs: &mut ValueRuns) -> Option<FormValue> {
        self.blank();
        let front = self.text[..name].trim_end_matches(['"', '\'', '\\', ' ']);
        let from = self.text.ceil_char_boundary(name.saturating_sub(OBJECT));
        if !front.ends_with([':', '=']) || !matches!(self.byte(), Some(b'}' | b',' | b'\n')) {
            return None;
        }
        let open = from + self.text[from..name].rfind('{')?;
        let value = TextCursor { text: self.text, at: open }.member(runs)?;
        (value.at.end < name).then_some(value)
    }
}
