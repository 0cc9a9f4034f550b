//! Verify: proves a compaction from outside.
//!
//! It compares the messages before and after a compaction and, where there is one, the record of the fold. With the
//! engine it shares the dialects, the splices of an edit and the fixed texts of repairs. It does not share layout,
//! units, reducers, projection and the composing of recaps, because a mistake there must not prove itself right.
//! Records of other programs are judged, too, so no number is trusted.

mod context_walk;
mod forms;
mod ground;
mod plain;
mod record;
mod stand_in;
mod walk;

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;

use crate::counter::{Counter, TextKind};
use crate::dialect::Dialect;
use crate::fold::Fold;
use crate::log::measure;
use crate::profile::Violation;
use crate::redact::KnownSecrets;
use crate::repair::{EMPTY, OF_OTHER};
use crate::view::{BlockKind, BlockView, EventView};

/// Names of the rules. The comment at each says what has to hold.
pub mod rule {
    /// A message of the context has the same bytes as one of the log.
    pub const IDENTITY: &str = "byte-identity";
    /// Messages are in the order of the log.
    pub const ORDER: &str = "order";
    /// System prompt, first task, and all events before the span are verbatim.
    pub const HEAD: &str = "head-verbatim";
    /// The newest unit, and all events after the span are verbatim.
    pub const TAIL: &str = "tail-verbatim";
    /// Outside the span, only recorded repairs change a message.
    pub const REPAIRS: &str = "repairs";
    /// The profile's validator finds no fault.
    pub const VALID: &str = "valid";
    /// Every call has its result, and every result its call.
    pub const PAIRS: &str = "pairs";
    /// The context is within the budget.
    pub const BUDGET: &str = "budget";
    /// Every missing message is covered by a recap or a marker.
    pub const LOSS: &str = "silent-loss";
    /// The accounts add up, and agree with the context.
    pub const ACCOUNTS: &str = "accounts";
    /// Token counts are those of the counter.
    pub const TOKENS: &str = "tokens";
    /// The entries are the pieces of the context.
    pub const ENTRIES: &str = "entries";
    /// Each edited event has its edits on record, and is the result of them.
    pub const EDITS: &str = "edits";
    /// The span's hashes are those of the log.
    pub const CHAIN: &str = "chain";
    /// The fold's id is the hash of its contents.
    pub const FOLD_ID: &str = "fold-id";
    /// The regions of the layout agree with the span.
    pub const LAYOUT: &str = "layout";
    /// The recap on record is the recap that is sent.
    pub const RECAP: &str = "recap";
    /// Every identifier of a computed recap is in the log.
    pub const GROUNDED: &str = "grounded";
    /// Identifiers on record as kept are in the context.
    pub const KEPT_IDS: &str = "kept-ids";
    /// Pinned events are verbatim, and come after the recap.
    pub const PINS: &str = "pins";
    /// No made message and no record holds a secret.
    pub const SECRET: &str = "secret";
    /// No text of the log gains authority.
    pub const AUTHORITY: &str = "authority";
}

/// A rule that does not hold, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyFinding {
    /// The rule that is broken: one of [`rule`].
    pub rule: &'static str,
    /// Index of the message: in the context or, where the detail says so, in the log. `None` for the compaction as a
    /// whole.
    pub at: Option<usize>,
    /// The fault in words, without secrets.
    pub detail: String,
}

impl std::fmt::Display for VerifyFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} (message {at}): {}", self.rule, self.detail),
            None => write!(f, "{}: {}", self.rule, self.detail),
        }
    }
}

/// The inputs of a proof.
#[derive(Clone, Copy)]
pub struct ProofCase<'a> {
    /// The messages of the conversation, as a reader returns them.
    pub before: &'a [Bytes],
    /// The messages of the context that the compaction made.
    pub after: &'a [Bytes],
    /// The envelope: system prompt, tools.
    pub envelope: &'a [&'a [u8]],
    /// Reads messages.
    pub dialect: &'a dyn Dialect,
    /// Counts tokens.
    pub counter: &'a dyn Counter,
    /// Checks messages by the rules of a profile.
    pub validate: &'a dyn Fn(&[Bytes]) -> Vec<Violation>,
    /// The most tokens of the context by that counter; `None` checks no budget.
    pub budget: Option<u64>,
    /// The record of the fold; `None` for a compaction without one.
    pub fold: Option<&'a Fold>,
}

/// The result of a proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofReport {
    /// The rules that do not hold; empty where all do. At most [`ProofReport::MOST`] for each rule.
    pub findings: Vec<VerifyFinding>,
    /// How many checks were made for each rule.
    pub checked: Vec<(&'static str, u64)>,
}

impl ProofReport {
    /// The most findings that are listed for one rule, since one bad record can cause thousands.
    pub const MOST: usize = 20;

    /// Whether all rules hold.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks a compaction. Pure and total: any record gets a report.
#[must_use]
pub fn verify(case: &ProofCase<'_>) -> ProofReport {
    let mut checker = ProofChecker::new(case);
    match case.fold {
        Some(fold) => checker.with_record(fold),
        None => checker.check_without_record(),
    }
    checker.check_emptied();
    checker.check_validity();
    checker.check_pairs();
    checker.check_budget();
    checker.report()
}

/// A message with its reading. Line breaks outside of strings are read as spaces.
struct ReadMessage<'a> {
    /// The bytes as they came, of which tokens are counted.
    raw: &'a [u8],
    bytes: Cow<'a, [u8]>,
    view: EventView,
}

impl<'a> ReadMessage<'a> {
    fn new(dialect: &dyn Dialect, raw: &'a [u8]) -> Self {
        // `one_line` replaces byte by byte, so the view's ranges are valid in both.
        let bytes = one_line(raw);
        Self { raw, view: dialect.view(&bytes), bytes }
    }

    fn text(&self) -> Cow<'_, str> {
        self.view.text_of(&self.bytes, |_| true)
    }
}

/// Whether the block is text that is empty or white space.
fn is_blank(block: &BlockView, message: &ReadMessage<'_>) -> bool {
    block.kind == BlockKind::Text && block.text(&message.bytes).trim().is_empty()
}

struct ProofChecker<'a> {
    case: &'a ProofCase<'a>,
    before: Vec<ReadMessage<'a>>,
    after: Vec<ReadMessage<'a>>,
    findings: Vec<VerifyFinding>,
    counts: BTreeMap<&'static str, usize>,
    checked: BTreeMap<&'static str, u64>,
    /// The secrets of the conversation. No recap and no record may hold them, and findings show them replaced.
    secrets: KnownSecrets,
}

impl<'a> ProofChecker<'a> {
    fn new(case: &'a ProofCase<'a>) -> Self {
        let read = |messages: &'a [Bytes]| {
            messages.iter().map(|bytes| ReadMessage::new(case.dialect, bytes)).collect()
        };
        let (before, after): (Vec<ReadMessage<'a>>, _) = (read(case.before), read(case.after));
        let mut secrets = KnownSecrets::default();
        before.iter().for_each(|message| secrets.learn(&message.view, &message.bytes));
        Self {
            case,
            before,
            after,
            secrets,
            findings: Vec::new(),
            counts: BTreeMap::new(),
            checked: BTreeMap::new(),
        }
    }

    fn report(mut self) -> ProofReport {
        self.findings.sort_by_key(|finding| finding.at);
        ProofReport { findings: self.findings, checked: self.checked.into_iter().collect() }
    }

    /// Counts one check of a rule.
    fn check(&mut self, rule: &'static str) {
        *self.checked.entry(rule).or_default() += 1;
    }

    /// Counts one check of a rule, and adds a finding if it failed.
    fn expect(&mut self, rule: &'static str, holds: bool, detail: impl FnOnce() -> String) {
        self.expect_at(rule, holds, None, detail);
    }

    /// As [`ProofChecker::expect`], with the position of the message.
    fn expect_at(
        &mut self,
        rule: &'static str,
        holds: bool,
        at: Option<usize>,
        detail: impl FnOnce() -> String,
    ) {
        self.check(rule);
        if !holds {
            self.fail(rule, at, detail());
        }
    }

    /// Adds a finding with secrets replaced, unless the rule has [`ProofReport::MOST`] of them.
    fn fail(&mut self, rule: &'static str, at: Option<usize>, detail: String) {
        let count = self.counts.entry(rule).or_default();
        *count += 1;
        if *count <= ProofReport::MOST {
            let detail = self.secrets.without(&detail).into_owned();
            self.findings.push(VerifyFinding { rule, at, detail });
        }
    }

    /// Checks that no more messages have the text for empty messages than there were empty ones: a message with content
    /// must not be replaced by it.
    fn check_emptied(&mut self) {
        let label = |text: &str| text.strip_prefix(OF_OTHER).unwrap_or(text) == EMPTY;
        let is_empty = |message: &&ReadMessage<'_>| {
            message.view.blocks.iter().all(|block| is_blank(block, message))
                || label(&message.text())
                || self.case.dialect.filled_result(&message.bytes, &message.view, EMPTY).is_some()
        };
        let empty = self.before.iter().filter(is_empty).count();
        let called: Vec<usize> =
            (0..self.after.len()).filter(|at| label(&self.after[*at].text())).collect();
        for at in called.into_iter().skip(empty) {
            self.fail(rule::LOSS, Some(at), format!("{EMPTY} for a message that says something"));
        }
        self.check(rule::LOSS);
    }

    /// Checks the context with the profile's validator.
    fn check_validity(&mut self) {
        self.check(rule::VALID);
        for violation in (self.case.validate)(self.case.after) {
            let at = Some(violation.index);
            self.fail(rule::VALID, at, format!("{}: {}", violation.rule, violation.detail));
        }
    }

    /// Checks that the context is within the budget, if there is one.
    fn check_budget(&mut self) {
        let Some(budget) = self.case.budget else { return };
        let tokens = self.tokens_of(&self.after) + self.envelope_tokens();
        self.expect(rule::BUDGET, tokens <= budget, || {
            format!("{tokens} tokens, the budget is {budget}")
        });
    }

    fn tokens_of(&self, messages: &[ReadMessage<'_>]) -> u64 {
        messages.iter().map(|message| self.tokens(message)).sum()
    }

    fn tokens(&self, message: &ReadMessage<'_>) -> u64 {
        u64::from(measure(self.case.counter, message.raw, &message.view).total)
    }

    fn envelope_tokens(&self) -> u64 {
        let count =
            |part: &&[u8]| self.case.counter.count(&String::from_utf8_lossy(part), TextKind::Json);
        self.case.envelope.iter().map(|part| u64::from(count(part))).sum()
    }
}

/// The message on one line: line breaks outside of strings become spaces.
fn one_line(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\n', b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = bytes.to_vec();
    let (mut in_string, mut escaped) = (false, false);
    for byte in &mut out {
        match *byte {
            _ if escaped => escaped = false,
            // Outside of a string a backslash escapes nothing, so a quote behind it still begins one.
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'\n' | b'\r' if !in_string => *byte = b' ',
            _ => {}
        }
    }
    Cow::Owned(out)
}
