//! Judging a reply: what of it may stand in a recap. Every reply gets a verdict, and only one that
//! passes all checks is used.
//!
//! The checks are made of rules, not of understanding. They see form, size, secrets, forged
//! structure, known phrases of command, names that no event holds and claims about the user. They
//! do not see a false statement made of true names, an open item that is a bad idea, or an order
//! in words that no table holds: the recap's header, which says that all of it is reference and no
//! instruction, is what stands against those.

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use crate::counter::{Content, Counter};
use crate::ids::identifiers;
use crate::log::Log;
use crate::narrate::{Finish, Narrated, SummaryReply, SummaryRequest, Verdict};
use crate::recap::attribution::{UserWords, unbacked};
use crate::recap::guard;
use crate::recap::redact::Redactor;
use crate::recap::reply::{self, Malformed};
use crate::view::{BlockKind, TextRef};

/// Invented identifiers that are let pass: this many, or [`ALLOWED_SHARE`] of all.
const ALLOWED_INVENTED: usize = 1;
/// In parts per hundred.
const ALLOWED_SHARE: usize = 2;
/// The cap is counted by our counter and kept by another one: one part in this many is let pass.
const CAP_TOLERANCE: u64 = 8;

/// Judges a reply against the log. The text of an accepted one comes out harmless: no line of a
/// section is a header, a marker or the end of a recap.
///
/// # Errors
/// The verdict and, for people, what was wrong: counts and kinds, never words of the log or of the
/// reply.
pub fn judge(
    log: &Log,
    request: &SummaryRequest,
    reply: &SummaryReply,
    counter: &dyn Counter,
) -> Result<Narrated, (Verdict, String)> {
    let text = guard::visible(reply::unwrap(&reply.text));
    check_end(&text, reply.finish)?;
    let body = reply::body(request, &text).map_err(malformed)?;
    let sections = reply::sections(request, body).map_err(malformed)?;
    check_size(&text, request, counter)?;
    let prose = prose(&sections);
    check_harm(body, &sections, &prose, request)?;
    let end = (request.span.end as usize).min(log.len());
    check_identifiers(log, end, request, body)?;
    check_claims(log, end, &prose)?;
    let bounded = |(name, lines): (String, Vec<String>)| {
        let lines: Vec<String> = lines.iter().map(|line| guard::harmless(line)).collect();
        (name, lines.join("\n"))
    };
    Ok(Narrated {
        request: request.id,
        span: request.span.clone(),
        sections: sections.into_iter().map(bounded).collect(),
        model: reply.model.clone(),
    })
}

fn refused<T>(verdict: Verdict, detail: impl Into<String>) -> Result<T, (Verdict, String)> {
    Err((verdict, detail.into()))
}

fn check_end(text: &str, finish: Finish) -> Result<(), (Verdict, String)> {
    if text.trim().is_empty() {
        return refused(Verdict::Empty, "the reply holds no text");
    }
    match finish {
        Finish::Stop => Ok(()),
        Finish::Length => refused(Verdict::Truncated, "the reply ran into its token cap"),
        Finish::Other => refused(Verdict::Truncated, "the reply ended without saying that it did"),
    }
}

fn malformed(what: Malformed) -> (Verdict, String) {
    match what {
        Malformed::NoHeader => {
            (Verdict::NoHeader, "the reply does not start as its schema does".to_owned())
        }
        Malformed::Missing(count) => {
            (Verdict::MissingSections, format!("{count} of the sections are missing"))
        }
        Malformed::Stray => {
            (Verdict::MissingSections, "text stands before the first section".to_owned())
        }
        Malformed::Hollow => (Verdict::MissingSections, "every section is empty".to_owned()),
    }
}

fn check_size(
    text: &str,
    request: &SummaryRequest,
    counter: &dyn Counter,
) -> Result<(), (Verdict, String)> {
    let tokens = u64::from(counter.count(text, Content::Prose));
    let cap = u64::from(request.max_tokens);
    if tokens > cap + cap / CAP_TOLERANCE {
        return refused(Verdict::OverCap, format!("{tokens} tokens, the cap is {cap}"));
    }
    if tokens >= request.replaces {
        let replaces = request.replaces;
        return refused(Verdict::NotSmaller, format!("{tokens} tokens in the place of {replaces}"));
    }
    Ok(())
}

/// The sections as they are read: a sentence that was broken over lines is one line again. List
/// items stay apart, unless a colon announces them.
fn prose(sections: &[(String, Vec<String>)]) -> String {
    let mut out = String::new();
    for (_, lines) in sections {
        let mut announced = true;
        for line in lines {
            let text = line.trim();
            let item = text.starts_with(['-', '*', '•', '+'])
                || text.starts_with(|c: char| c.is_ascii_digit());
            out.push_str(if item && !announced { "\n" } else { " " });
            out.push_str(if announced {
                text.trim_start_matches(['-', '*', '•', '+'])
            } else {
                text
            });
            announced = text.ends_with(':');
        }
        out.push('\n');
    }
    out
}

fn check_harm(
    body: &str,
    sections: &[(String, Vec<String>)],
    prose: &str,
    request: &SummaryRequest,
) -> Result<(), (Verdict, String)> {
    let secrets = Redactor::shared().find(body).len();
    if secrets > 0 {
        return refused(Verdict::Secret, format!("{secrets} secrets"));
    }
    // What stands behind a section's name is the start of a line to some readers.
    let mut lines = sections.iter().flat_map(|(_, lines)| lines);
    let forged = guard::forgery(body, &request.header)
        .or_else(|| lines.find_map(|line| guard::forgery(line, &request.header)));
    if let Some(what) = forged {
        return refused(Verdict::Injected, what);
    }
    if guard::orders(prose) {
        return refused(Verdict::Injected, "an order to the next model");
    }
    Ok(())
}

fn check_claims(log: &Log, end: usize, prose: &str) -> Result<(), (Verdict, String)> {
    match unbacked(prose, &UserWords::of(log, end)) {
        0 => Ok(()),
        n => refused(
            Verdict::FalseQuote,
            format!("{n} statements about the user that the user's words do not back"),
        ),
    }
}

/// The previous narration was grounded in the span as well, so all events up to the span's end
/// count, and what that narration names.
fn check_identifiers(
    log: &Log,
    end: usize,
    request: &SummaryRequest,
    body: &str,
) -> Result<(), (Verdict, String)> {
    let mut wanted: Vec<&str> = identifiers(body).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let all = wanted.len();
    let invented = missing(log, end, request, wanted);
    if invented > ALLOWED_INVENTED.max(all * ALLOWED_SHARE / 100) {
        return refused(
            Verdict::Ungrounded,
            format!("{invented} of {all} identifiers stand in no event"),
        );
    }
    Ok(())
}

/// How many of these identifiers stand nowhere as whole names.
fn missing(log: &Log, end: usize, request: &SummaryRequest, wanted: Vec<&str>) -> usize {
    let mut search = Search::new(wanted);
    for known in [&request.previous, &request.focus, &request.today].into_iter().flatten() {
        search.look_in(known);
    }
    let mut scratch = String::new();
    for event in log.events().iter().take(end) {
        if search.is_done() {
            return 0;
        }
        for block in &event.view.blocks {
            search.look_in(block.plain_with(&event.bytes, &mut scratch));
            if let BlockKind::Call { name: Some(name), .. }
            | BlockKind::Result { name: Some(name), .. } = &block.kind
            {
                search.look_in(&name.decode(&event.bytes));
            }
        }
    }
    // What no block holds may stand in the message itself: call ids, file names of media.
    for event in log.events().iter().take(end) {
        if search.is_done() {
            return 0;
        }
        search.look_in(&raw(&event.bytes));
    }
    search.wanted.iter().filter(|id| !search.has(id)).count()
}

fn raw(bytes: &[u8]) -> Cow<'_, str> {
    let all = crate::view::ByteRange::new(0, bytes.len());
    TextRef::raw(all).decode(bytes)
}

/// Looks for all identifiers of a reply at once.
struct Search<'a> {
    wanted: Vec<&'a str>,
    /// What is looked for: the identifiers, and the words of those that are two words with a slash.
    parts: Vec<&'a str>,
    found: FxHashSet<&'a str>,
    automaton: Option<AhoCorasick>,
}

impl<'a> Search<'a> {
    fn new(wanted: Vec<&'a str>) -> Self {
        let mut parts = wanted.clone();
        parts.extend(wanted.iter().filter_map(|id| alternatives(id)).flatten());
        parts.sort_unstable();
        parts.dedup();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&parts)
            .ok();
        Self { wanted, parts, found: FxHashSet::default(), automaton }
    }

    fn look_in(&mut self, text: &str) {
        let Some(automaton) = &self.automaton else { return };
        if self.found.len() == self.parts.len() {
            return;
        }
        for hit in automaton.find_overlapping_iter(text) {
            let id = self.parts[hit.pattern().as_usize()];
            if !self.found.contains(id)
                && stands_alone(text, hit.start(), hit.end())
                && (is_word(id) || &text[hit.start()..hit.end()] == id)
            {
                self.found.insert(id);
            }
        }
    }

    fn has(&self, id: &str) -> bool {
        let both = |[a, b]: [&str; 2]| self.found.contains(a) && self.found.contains(b);
        self.found.contains(id) || alternatives(id).is_some_and(both)
    }

    fn is_done(&self) -> bool {
        self.wanted.iter().all(|id| self.has(id))
    }
}

/// `read/write` is no path: two words that are each said elsewhere.
fn alternatives(id: &str) -> Option<[&str; 2]> {
    let (a, b) = id.split_once('/')?;
    let is_plain = |part: &str| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_alphabetic());
    (is_plain(a) && is_plain(b)).then_some([a, b])
}

/// Names without digits and marks may differ in case: `JavaScript` is `javascript`.
fn is_word(id: &str) -> bool {
    id.bytes().all(|b| b.is_ascii_alphabetic())
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let inside = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let before = start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(inside);
    // In raw JSON an escaped line break may stand before the name.
    let escaped = start >= 2 && bytes[start - 2] == b'\\';
    (!before || escaped) && !bytes.get(end).is_some_and(inside)
}
