//! Finds and replaces secrets, so that none enters a recap.
//!
//! One pass over the text searches for a few hundred keywords. A keyword may be one of three things.
//!
//! It may start a key of a known format (`rules.rs`): a regex is tried there, and its match is judged. It may be a
//! word in the name of a secret (`names.rs`): then `forms.rs` finds the value, and `tables.rs` the column. Or it may
//! be a program that takes a secret (`commands.rs`).
//!
//! A text without keywords costs one scan, and no text costs more than a fixed multiple of its length.

mod base64;
mod block;
mod clean;
mod commands;
mod cursor;
mod forms;
mod judge;
mod member;
mod names;
mod rules;
mod sentences;
mod tables;
mod url;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use block::KeyBlocks;
pub use clean::KnownSecrets;
use commands::{CommandLine, USAGES};
use judge::MatchJudge;
use names::WORDS;
use rules::{KeywordLead, RULES};
use tables::SecretTables;
pub use url::mask;
use value::{SecretPlace, ValueRuns};

use crate::text_finder::{FoundText, LetterCase, TextFinder};

/// The text in the place of a secret.
pub const REPLACEMENT: &str = "[REDACTED]";

/// Passes are repeated until nothing more is found, at most this many times. One pass is enough for real text;
/// text made of secrets glued together may need one for each.
const PASSES: usize = 64;

/// How far a secret reaches on either side of a keyword in its middle, in bytes.
const LONGEST_AROUND: usize = 64;

/// A value of at least this many bytes is judged once, however many keywords it holds.
const LONG: usize = 128;

/// A format's regex sees at most this many bytes.
const SEEN: usize = 8 * 1024;

static SHARED: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// Finds and replaces secrets: keys of known formats, private keys, credentials in headers and
/// URLs, and values assigned to names such as `api_key` or `password`.
///
/// ```
/// use midfold_core::redact::Redactor;
/// let (text, count) = Redactor::shared().redact("db is postgres://app:s3cr3t@db/orders");
/// assert_eq!((&*text, count), ("db is postgres://app:[REDACTED]@db/orders", 1));
/// ```
#[derive(Debug)]
pub struct Redactor {
    keywords: TextFinder,
    /// The meaning of each keyword.
    sources: Vec<KeywordSource>,
    rules: Vec<CompiledRules>,
}

/// The meaning of a keyword, with its index in the table.
#[derive(Clone, Copy, Debug)]
enum KeywordSource {
    /// The start of a key of a known format.
    Rule(usize),
    /// A word in the name of a secret.
    Name(usize),
    /// A program that takes a secret.
    Command(usize),
}

/// A format of secrets whose regex is compiled at its first use.
#[derive(Debug)]
struct CompiledRules {
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
    place: SecretPlace,
    lead: KeywordLead,
    judge: MatchJudge,
}

impl CompiledRules {
    /// The rule's regex, compiled when its keyword first occurs, because most rules are never needed. The table is
    /// constant, and a test compiles all of it.
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(self.pattern).ok()).as_ref()
    }
}

impl Redactor {
    /// The shared instance, compiled at its first use.
    #[must_use]
    pub fn shared() -> &'static Self {
        &SHARED
    }

    /// Builds the search for the keywords.
    fn new() -> Self {
        let of = |keywords: &'static [&'static str], source| {
            keywords.iter().map(move |keyword| (*keyword, source))
        };
        let rules =
            RULES.iter().enumerate().map(|(at, rule)| of(rule.keywords, KeywordSource::Rule(at)));
        let usages = USAGES.iter().enumerate();
        let usages = usages.map(|(at, usage)| of(usage.commands, KeywordSource::Command(at)));
        let names = WORDS.iter().enumerate();
        let names = names.map(|(at, word)| (word.text, KeywordSource::Name(at)));
        let in_capitals: Vec<(String, KeywordSource)> = WORDS
            .iter()
            .enumerate()
            .filter_map(|(at, word)| Some((word.in_capitals()?, KeywordSource::Name(at))))
            .collect();
        let capitals = in_capitals.iter().map(|(text, source)| (&**text, *source));
        let all = rules.flatten().chain(usages.flatten()).chain(names).chain(capitals);
        let (keywords, sources): (Vec<&str>, Vec<KeywordSource>) = all.unzip();
        let rules = RULES.iter().map(|rule| CompiledRules {
            pattern: rule.pattern,
            regex: OnceLock::new(),
            place: rule.place,
            lead: rule.lead,
            judge: rule.judge,
        });
        let rules = rules.collect();
        let keywords = TextFinder::new(LetterCase::Any, keywords);
        Self { keywords, sources, rules }
    }

    /// The byte ranges of the secrets in a text, in order and without overlaps.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut pass = RedactionPass::new(self, text);
        // A pass assumes hits in the order in which they end: a longer keyword may hold a shorter one.
        let mut hits: Vec<FoundText> = self.keywords.find(text).collect();
        hits.sort_unstable_by_key(|hit| (hit.at.end, hit.at.start, hit.text));
        for FoundText { at, text } in hits {
            match self.sources.get(text) {
                Some(KeywordSource::Rule(rule)) => pass.rule(*rule, at),
                Some(KeywordSource::Name(word)) => pass.name(&WORDS[*word], at),
                Some(KeywordSource::Command(usage)) => pass.command(*usage, &at),
                None => {}
            }
        }
        pass.secrets.sort_unstable_by_key(|secret| secret.start);
        merge(pass.secrets)
    }

    /// The text with every secret replaced by `[REDACTED]`, and the number of secrets. Borrows where there are none.
    /// Redacting the result again changes nothing.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, u32) {
        let (mut out, mut count) = (Cow::Borrowed(text), 0_u32);
        for _ in 0..PASSES {
            let secrets = self.find(&out);
            if secrets.is_empty() {
                break;
            }
            count = count.saturating_add(u32::try_from(secrets.len()).unwrap_or(u32::MAX));
            out = Cow::Owned(replace(&out, &secrets));
        }
        (out, count)
    }
}

/// One pass over a text. It remembers how far it has read, so that no part is read again for each keyword.
struct RedactionPass<'a> {
    rules: &'a [CompiledRules],
    text: &'a str,
    /// The byte ranges of the secrets found so far.
    secrets: Vec<Range<usize>>,
    /// Base64 before this position was decoded already.
    decoded: usize,
    /// For each rule, the position up to which it has judged a long value.
    judged: Vec<usize>,
    /// The position up to which a long value of a name was judged.
    named: usize,
    blocks: KeyBlocks,
    runs: ValueRuns,
    tables: SecretTables,
    line: CommandLine,
}

impl<'a> RedactionPass<'a> {
    fn new(redactor: &'a Redactor, text: &'a str) -> Self {
        Self {
            rules: &redactor.rules,
            text,
            secrets: Vec::new(),
            decoded: 0,
            judged: Vec::new(),
            named: 0,
            blocks: KeyBlocks::default(),
            runs: ValueRuns::default(),
            tables: SecretTables::default(),
            line: CommandLine::default(),
        }
    }

    /// Adds the secret at a keyword of a rule, if there is one.
    fn rule(&mut self, rule: usize, hit: Range<usize>) {
        if self.judged.get(rule).is_some_and(|judged| hit.start < *judged) {
            return;
        }
        let compiled = &self.rules[rule];
        let Some(at) = self.place(compiled, hit) else { return };
        let text = self.text;
        let value = &text[at.clone()];
        if at.len() >= LONG && compiled.place != SecretPlace::Block {
            self.judged.resize(self.rules.len(), 0);
            self.judged[rule] = at.end;
        }
        let quoted = text[..at.start].ends_with(['"', '\'', '`']);
        // A value that was replaced is no secret, else redacting a text again would change it.
        let may_be_secret = compiled.place == SecretPlace::Block || !value.contains(REPLACEMENT);
        if may_be_secret && compiled.judge.is_secret(value, quoted, holds_secret) {
            self.secrets.push(at);
        }
    }

    /// The byte range of the text that a rule captures; `None` where the format does not match.
    fn place(&mut self, rule: &CompiledRules, hit: Range<usize>) -> Option<Range<usize>> {
        let text = self.text;
        match rule.place {
            // A base64 text is decoded once, however many keywords it holds.
            SecretPlace::Base64 if hit.start < self.decoded => return None,
            SecretPlace::Base64 => {
                let run = value::base64(text, hit);
                self.decoded = run.end;
                return Some(run);
            }
            SecretPlace::Around => {
                let around = value::around(text, hit, LONGEST_AROUND, |b| b"_~.-".contains(&b));
                return rule.regex()?.is_match(&text[around.clone()]).then_some(around);
            }
            _ => {}
        }
        let start = rule.lead.start(text, hit.start)?;
        let seen = &text[start..text.floor_char_boundary(start + SEEN)];
        let captures = rule.regex()?.captures(seen)?;
        let whole = captures.get(0)?;
        let rest = start + whole.end();
        let behind = |range: Range<usize>| rest + range.start..rest + range.end;
        match rule.place {
            SecretPlace::UrlPassword => value::url_password(&text[rest..]).map(behind),
            SecretPlace::Argument(before) => {
                let limit = text.floor_char_boundary(rest + SEEN);
                value::argument(&text[rest..limit], before, &mut ValueRuns::default()).map(behind)
            }
            SecretPlace::Block => Some(start..self.blocks.end(text, rest)),
            _ => {
                let secret = captures.iter().skip(1).flatten().next().unwrap_or(whole);
                Some(start + secret.start()..start + secret.end())
            }
        }
    }

    /// Adds the value of a name and the cells of its column, as far as they are secrets.
    fn name(&mut self, word: &names::SecretWord, hit: Range<usize>) {
        if hit.start < self.named {
            return;
        }
        let text = self.text;
        let Some(name) = names::around(text, hit, word) else { return };
        for (cell, (kind, alone)) in self.tables.below(text, &name.at) {
            let value = &text[cell.clone()];
            if judge::of_name(kind, value, true, forms::FormCertainty::Assigned, alone) {
                self.secrets.push(cell);
            }
        }
        let Some(value) = forms::value(text, &name, &mut self.runs) else { return };
        let secret = &text[value.at.clone()];
        if value.at.len() >= LONG {
            self.named = value.at.end;
        }
        let call = !value.quoted && judge::is_call(secret, &text[value.at.end..]);
        if !call
            && !secret.contains(REPLACEMENT)
            && judge::of_name(name.kind, secret, value.quoted, value.sure, name.alone)
        {
            self.secrets.push(value.at);
        }
    }

    /// Adds the secrets in a program's command.
    fn command(&mut self, usage: usize, hit: &Range<usize>) {
        let text = self.text;
        for (at, quoted) in commands::secrets(text, hit, usage, &mut self.line) {
            let value = &text[at.clone()];
            if !value.contains(REPLACEMENT)
                && MatchJudge::Given.is_secret(value, quoted, holds_secret)
            {
                self.secrets.push(at);
            }
        }
    }
}

/// Whether a decoded text holds a secret.
fn holds_secret(text: &str) -> bool {
    !Redactor::shared().find(text).is_empty()
}

/// Joins ranges that overlap.
fn merge(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for next in sorted {
        match out.last_mut() {
            // Ranges that only touch are two secrets.
            Some(last) if next.start < last.end => last.end = last.end.max(next.end),
            _ => out.push(next),
        }
    }
    out
}

/// The text with a [`REPLACEMENT`] in the place of each range.
fn replace(text: &str, secrets: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        out.push_str(&text[from..secret.start]);
        out.push_str(REPLACEMENT);
        from = secret.end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests;
