//! What a sentence says of a name, what the next line holds, and what the next member does.

use super::forms::{FormCertainty, FormValue, TextCursor};
use super::judge;
use super::names::{SecretName, SecretNameKind};
use super::value::{self, ValueRuns};

/// So many words behind a name are looked at.
const WORDS: usize = 10;
/// How far they reach, in bytes.
const SENTENCE: usize = 400;

/// Words behind which a value stands.
const SAYING: &[&str] = &["is", "was", "to", "as", "be", "now", "are", "es", "est", "ist", "="];

impl TextCursor<'_> {
    /// What a sentence says, or a line of a configuration: `is …`, `for the db is …`, ` …`. The
    /// first word that passes for a secret is it; the farther it is, the more it has to.
    pub(super) fn worded(
        self,
        name: &SecretName,
        quoted: bool,
        runs: &mut ValueRuns,
    ) -> Option<FormValue> {
        if let Some(value) = self.attribute(quoted, runs) {
            return Some(value);
        }
        let text = &self.text[..self.text.floor_char_boundary(self.at + SENTENCE)];
        let mut on = TextCursor { text, at: self.at };
        let mut sure = if name.alone { FormCertainty::Far } else { FormCertainty::Loose };
        let most = if name.kind == SecretNameKind::Chosen { WORDS } else { WORDS / 2 };
        for words in 0..most {
            if words > 0 && on.whose() {
                on.blank();
                sure = FormCertainty::Loose;
            }
            let start = on.at;
            let mut end = on;
            end.skip(64, |b| !b.is_ascii_whitespace());
            let word = &text.as_bytes()[start..end.at];
            // Words have no digits; a password in quotes may have none, and blanks.
            let tells = words == 0 || word.iter().any(u8::is_ascii_digit);
            let first = if words == 0 && !name.alone { FormCertainty::Told } else { sure };
            let value =
                tells.then(|| on.quoted(first, runs).or_else(|| on.bare(sure, false, runs)));
            let value = value.flatten();
            let secret = value.filter(|value| {
                let text = &text[value.at.clone()];
                judge::of_name(name.kind, text, value.quoted, value.sure, name.alone)
            });
            if secret.is_some() {
                return secret;
            }
            let word = &text[start..text.floor_char_boundary(end.at)];
            if word.is_empty() {
                break;
            }
            on.at = start + word.len();
            let opens = word.ends_with([':', '=']);
            let says = SAYING.iter().any(|saying| word.eq_ignore_ascii_case(saying));
            sure = if (opens || says) && !name.alone {
                FormCertainty::Loose
            } else {
                FormCertainty::Far
            };
            if !on.blank() {
                let ends = matches!(on.byte(), Some(b'\n' | b'\r')) && opens;
                on.space();
                return if ends {
                    TextCursor { text: self.text, at: on.at }.line_of_its_own(runs)
                } else {
                    None
                };
            }
        }
        None
    }

    /// Skips `'app'@'%' =` and `'https://…':`, which say whose it is.
    fn whose(&mut self) -> bool {
        let mut on = *self;
        for _ in 0..2 {
            let Some(whose) = value::quoted(self.text, on.at, &mut ValueRuns::default()) else {
                // `'%'`
                if !(on.eat("'%'") && on.at > self.at) {
                    return false;
                }
                break;
            };
            on.at = whose.end;
            on.closing_quote();
            if !on.eat("@") {
                break;
            }
        }
        on.blank();
        let sets = on.eat_one([":", "="]);
        if sets {
            *self = on;
        }
        sets
    }

    /// `name="password" value="…"`, `name: "password"\n value: …`
    fn attribute(mut self, quoted: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        if !quoted {
            return None;
        }
        self.space();
        if self.opens_value() { self.member(runs) } else { None }
    }

    /// Whether a member that is a value is next: `value: …`, `"FormValue": …`, `ParameterValue=…`.
    pub(super) fn opens_value(mut self) -> bool {
        self.skip(4, |b| b"\"'\\".contains(&b));
        let start = self.at;
        self.skip(24, |b| b.is_ascii_alphanumeric());
        self.text[start..self.at].to_ascii_lowercase().ends_with("value")
    }

    /// The line behind a name that ends its own.
    pub(super) fn next_line(mut self, quoted: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        if self.eat("</") {
            // `<key>password</key>\n<string>…`
            self.skip(24, |b| b.is_ascii_alphanumeric() || b == b'.');
            self.eat(">");
            self.space();
            let opens =
                self.eat("<") && self.skip(24, |b| b.is_ascii_alphanumeric()) && self.eat(">");
            return if opens { self.element_text(runs) } else { None };
        }
        if !matches!(self.byte(), Some(b'\n' | b'\r')) {
            return None;
        }
        self.space();
        if self.opens_value() {
            return self.member(runs);
        }
        if quoted {
            return None;
        }
        self.line_of_its_own(runs)
    }

    /// One word that is a whole line; a fence or a rule may be before it.
    pub(super) fn line_of_its_own(mut self, runs: &mut ValueRuns) -> Option<FormValue> {
        let mut on = self;
        let mark = on.eat("```") && {
            on.skip(12, |b| b.is_ascii_alphanumeric());
            true
        };
        if (mark || on.skip(128, |b| b"-+|=".contains(&b))) && on.space() {
            self = on;
        }
        self.eat("- ");
        let quote = self.quoted(FormCertainty::Loose, runs);
        if quote.is_some() {
            return quote;
        }
        if !self.ends_line() {
            return None;
        }
        self.bare(FormCertainty::Loose, true, runs)
    }
}
