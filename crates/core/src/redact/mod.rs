//! Secrets do not enter a recap.
//!
//! One pass over the text looks for about 80 keywords; only where one stands is a regex tried,
//! anchored at that place, and what it captures is judged by its entropy and against
//! placeholders. The formats are a table (`rules.rs`), so a text without a keyword costs one scan.

mod base64;
mod clean;
mod judge;
mod rules;
mod url;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

pub use clean::Secrets;
use judge::Judge;
use rules::{Lead, RULES};
pub use url::mask;
use value::Place;

/// What is in the place of a secret.
pub const REPLACEMENT: &str = "[REDACTED]";

/// Passes until nothing more is found. One is enough for real text; text made of secrets glued
/// together may need one for each.
const PASSES: usize = 64;

/// Longest secret that is told by its middle, in bytes on either side of it.
const LONGEST_AROUND: usize = 64;

/// Longest private key block, in bytes. A 16,384-bit RSA key in PEM has 12,600.
const LONGEST_BLOCK: usize = 32 * 1024;

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
    keywords: Option<AhoCorasick>,
    /// Index of the compiled rule of each keyword.
    rule_of: Vec<usize>,
    rules: Vec<Compiled>,
}

#[derive(Debug)]
struct Compiled {
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
    place: Place,
    lead: Lead,
    judge: Judge,
}

impl Compiled {
    /// The rule's regex, compiled when its keyword first is in a text: most never do. The
    /// table is constant, and a test compiles all of it.
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

    /// Compiles the table.
    fn new() -> Self {
        let (mut keywords, mut rule_of, mut rules) = (Vec::new(), Vec::new(), Vec::new());
        for rule in RULES {
            for keyword in rule.keywords {
                keywords.push(*keyword);
                rule_of.push(rules.len());
            }
            rules.push(Compiled {
                pattern: rule.pattern,
                regex: OnceLock::new(),
                place: rule.place,
                lead: rule.lead,
                judge: rule.judge,
            });
        }
        let keywords = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(keywords)
            .ok();
        Self { keywords, rule_of, rules }
    }

    /// Where the secrets of a text stand, in order, without overlaps.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let Some(keywords) = &self.keywords else { return found };
        // Up to here base64 was looked into: once for each text of it, however often it is hit.
        let mut decoded = 0;
        for hit in keywords.find_overlapping_iter(text) {
            let Some(rule) = self.rule_of.get(hit.pattern().as_usize()) else { continue };
            if self.rules[*rule].place == Place::Base64 {
                if hit.start() >= decoded {
                    let run = value::base64(text, hit.start()..hit.end());
                    decoded = run.end;
                    let holds =
                        self.rules[*rule].judge.is_secret(&text[run.clone()], false, holds_secret);
                    found.extend(holds.then_some(run));
                }
            } else if let Some(secret) = self.rules[*rule].at(text, hit.start()..hit.end()) {
                found.push(secret);
            }
        }
        found.sort_unstable_by_key(|secret| secret.start);
        merge(found)
    }

    /// The text with every secret replaced by `[REDACTED]`, and how many there were. Borrows when
    /// there is none. Redacting again changes nothing.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, u32) {
        let (mut out, mut count) = (Cow::Borrowed(text), 0_u32);
        for _ in 0..PASSES {
            let found = self.find(&out);
            if found.is_empty() {
                break;
            }
            count = count.saturating_add(u32::try_from(found.len()).unwrap_or(u32::MAX));
            out = Cow::Owned(replace(&out, &found));
        }
        (out, count)
    }
}

impl Compiled {
    /// The secret at a keyword's place.
    fn at(&self, text: &str, hit: Range<usize>) -> Option<Range<usize>> {
        let start = self.lead.start(text, hit.start)?;
        if self.place == Place::Around {
            let around = value::around(text, hit, LONGEST_AROUND, |b| b"_~.-".contains(&b));
            let secret = &text[around.clone()];
            let fits =
                self.regex()?.is_match(secret) && self.judge.is_secret(secret, false, holds_secret);
            return fits.then_some(around);
        }
        let captures = self.regex()?.captures(&text[start..])?;
        let whole = captures.get(0)?;
        let rest = start + whole.end();
        let (mut from, mut to) = match self.place {
            Place::Matched => {
                let secret = captures.iter().skip(1).flatten().next().unwrap_or(whole);
                (start + secret.start(), start + secret.end())
            }
            Place::Assigned => shifted(value::assigned(&text[rest..])?, rest),
            Place::UrlPassword => shifted(value::url_password(&text[rest..])?, rest),
            Place::Flag(flag) => shifted(value::flag(&text[rest..], flag)?, rest),
            Place::PairFlag => shifted(value::pair_flag(&text[rest..])?, rest),
            Place::Around | Place::Base64 => return None,
        };
        if self.judge == Judge::Block {
            (from, to) = (start, block_end(text, to));
        }
        let quoted = text[..from].ends_with(['"', '\'', '`']);
        if !quoted && self.place == Place::Assigned && judge::is_call(&text[from..to], &text[to..])
        {
            return None;
        }
        let kept = !text[from..to].contains(REPLACEMENT) || self.judge == Judge::Block;
        (kept && self.judge.is_secret(&text[from..to], quoted, holds_secret)).then_some(from..to)
    }
}

/// Whether a text that was wrapped in base64 holds a secret itself.
fn holds_secret(text: &str) -> bool {
    !Redactor::shared().find(text).is_empty()
}

fn shifted(range: Range<usize>, by: usize) -> (usize, usize) {
    (by + range.start, by + range.end)
}

/// The end of a private key whose header ends at `from`: after its last line, or, where the block
/// was cut off, after the last character that a key can hold.
fn block_end(text: &str, from: usize) -> usize {
    let limit = text.floor_char_boundary(from + LONGEST_BLOCK);
    let rest = &text[from..limit];
    let Some(at) = rest.find("-----END") else {
        let body = |c: char| c.is_ascii_alphanumeric() || "+/=\\ \r\n\t:,-\"".contains(c);
        let end = rest.find(|c| !body(c)).unwrap_or(rest.len());
        return from + rest[..end].trim_end().len();
    };
    let tail = at + "-----END".len();
    let close = rest[tail..].find("-----").filter(|&close| close < 48);
    from + close.map_or(tail, |close| tail + close + "-----".len())
}

fn merge(sorted: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::with_capacity(sorted.len());
    for next in sorted {
        match out.last_mut() {
            Some(last) if next.start < last.end => last.end = last.end.max(next.end),
            _ => out.push(next),
        }
    }
    out
}

fn replace(text: &str, found: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for secret in found {
        out.push_str(&text[from..secret.start]);
        out.push_str(REPLACEMENT);
        from = secret.end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests;
