//! Finds a secret that follows a name in the same sentence, on the next line, or in the next member of an object.

use super::forms::{FormCertainty, FormValue, TextCursor};
use super::judge;
use super::names::{SecretName, SecretNameKind};
use super::value::{self, ValueRuns};

/// Most words behind a name that are tried.
const WORDS: usize = 10;
/// Most bytes behind a name that are searched.
const SENTENCE: usize = 400;

/// Words that are followed by a value.
const SAYING: &[&str] = &["is", "was", "to", "as", "be", "now", "are", "es", "est", "ist", "="];

impl TextCursor<'_> {
    /// The value that a sentence or a line of a configuration gives to a name: `is …`, `for the db is …`, ` …`. It is
    /// the first word that looks like a secret. The farther a word is from the name, the stricter the test.
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
        let mut ahead = TextCursor { text, at: self.at };
        let mut sure = if name.alone { FormCertainty::Far } else { FormCertainty::Loose };
        let most = if name.kind == SecretNameKind::Chosen { WORDS } else { WORDS / 2 };
        for words in 0..most {
            if words > 0 && ahead.account() {
                ahead.blank();
                sure = FormCertainty::Loose;
            }
            let start = ahead.at;
            let mut end = ahead;
            end.skip(64, |b| !b.is_ascii_whitespace());
            let word = &text.as_bytes()[start..end.at];
            // Ordinary words have no digit, so only words with one are candidates. The first is always one: a password
            // in quotes may have blanks and no digit.
            let tells = words == 0 || word.iter().any(u8::is_ascii_digit);
            let first = if words == 0 && !name.alone { FormCertainty::Told } else { sure };
            let value =
                tells.then(|| ahead.quoted(first, runs).or_else(|| ahead.bare(sure, false, runs)));
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
            ahead.at = start + word.len();
            let opens = word.ends_with([':', '=']);
            let says = SAYING.iter().any(|saying| word.eq_ignore_ascii_case(saying));
            sure = if (opens || says) && !name.alone {
                FormCertainty::Loose
            } else {
                FormCertainty::Far
            };
            if !ahead.blank() {
                let ends = matches!(ahead.byte(), Some(b'\n' | b'\r')) && opens;
                ahead.space();
                return if ends {
                    TextCursor { text: self.text, at: ahead.at }.line_of_its_own(runs)
                } else {
                    None
                };
            }
        }
        None
    }

    /// Skips the account or the address that a secret belongs to: `'app'@'%' =`, `'https://…':`.
    fn account(&mut self) -> bool {
        let mut ahead = *self;
        for _ in 0..2 {
            let Some(account) = value::quoted(self.text, ahead.at, &mut ValueRuns::default())
            else {
                // In MySQL, `'%'` is an account's host and means any host.
                if !(ahead.eat("'%'") && ahead.at > self.at) {
                    return false;
                }
                break;
            };
            ahead.at = account.end;
            ahead.closing_quote();
            if !ahead.eat("@") {
                break;
            }
        }
        ahead.blank();
        let sets = ahead.eat_one([":", "="]);
        if sets {
            *self = ahead;
        }
        sets
    }

    /// Reads the value behind a quoted name: `name="password" value="…"`, `name: "password"\n value: …`.
    fn attribute(mut self, quoted: bool, runs: &mut ValueRuns) -> Option<FormValue> {
        if !quoted {
            return None;
        }
        self.space();
        if self.opens_value() { self.member(runs) } else { None }
    }

    /// Whether a member with a value comes next: `value: …`, `"FormValue": …`, `ParameterValue=…`.
    pub(super) fn opens_value(mut self) -> bool {
        self.skip(4, |b| b"\"'\\".contains(&b));
        let start = self.at;
        self.skip(24, |b| b.is_ascii_alphanumeric());
        self.text[start..self.at].to_ascii_lowercase().ends_with("value")
    }

    /// The value on the next line, where the name is the last word of its line.
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

    /// One word that is a whole line. A code fence or a rule may be before it.
    pub(super) fn line_of_its_own(mut self, runs: &mut ValueRuns) -> Option<FormValue> {
        let mut ahead = self;
        let mark = ahead.eat("```") && {
            ahead.skip(12, |b| b.is_ascii_alphanumeric());
            true
        };
        if (mark || ahead.skip(128, |b| b"-+|=".contains(&b))) && ahead.space() {
            self = ahead;
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
