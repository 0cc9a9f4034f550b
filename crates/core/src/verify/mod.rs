//! Verify: a compaction proved from the outside.
//!
//! What went in, what came out and, where there is one, the record of the fold. It shares the
//! dialects' reading, the splices of an edit and the fixed texts of repairs with the engine, but
//! neither layout, units, reducers, projection nor the composing of recaps: a mistake there must
//! not prove itself right. Foreign records are judged too, so nothing here trusts a number.

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

/// Names of the rules, each with the invariant of the design that it shows.
pub mod rule {
    /// 2: a message of the context is the same bytes as one of the log.
    pub const IDENTITY: &str = "byte-identity";
    /// 2: messages are in the order of the log.
    pub const ORDER: &str = "order";
    /// 2, 3: system prompt, first task, and all before the span are verbatim.
    pub const HEAD: &str = "head-verbatim";
    /// 2, 3: the newest unit, and all after the span are verbatim.
    pub const TAIL: &str = "tail-verbatim";
    /// 3: only listed repairs change a message outside the span.
    pub const REPAIRS: &str = "repairs";
    /// 4: the profile's validator has nothing to say.
    pub const VALID: &str = "valid";
    /// 4: every call has its result, every result its call.
    pub const PAIRS: &str = "pairs";
    /// 5: the context fits.
    pub const BUDGET: &str = "budget";
    /// 8: what is missing is covered by a recap or a marker.
    pub const LOSS: &str = "silent-loss";
    /// 8: the accounts add up, and to what is there.
    pub const ACCOUNTS: &str = "accounts";
    /// 8: token counts are what the counter counts.
    pub const TOKENS: &str = "tokens";
    /// 8: the entries are the pieces of the context.
    pub const ENTRIES: &str = "entries";
    /// 8: each edited event has its edits on record, and is what they make of it.
    pub const EDITS: &str = "edits";
    /// 6: the span's hashes are those of the log.
    pub const CHAIN: &str = "chain";
    /// 6: the fold's id is the hash of what it says.
    pub const FOLD_ID: &str = "fold-id";
    /// The regions of the layout are those of the span.
    pub const LAYOUT: &str = "layout";
    /// 8: the recap on record is the recap that is sent.
    pub const RECAP: &str = "recap";
    /// 9: every identifier of a computed recap is in the log.
    pub const GROUNDED: &str = "grounded";
    /// 8: identifiers that were kept are in the context.
    pub const KEPT_IDS: &str = "kept-ids";
    /// 11: pinned events are verbatim, behind the recap.
    pub const PINS: &str = "pins";
    /// 12: no secret is in what was made.
    pub const SECRET: &str = "secret";
    /// 12: nothing from the log gained authority.
    pub const AUTHORITY: &str = "authority";
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyFinding {
    /// The rule that is broken: one of [`rule`].
    pub rule: &'static str,
    /// Position of the message: in the context, or, where the detail says so, in the log.
    pub at: Option<usize>,
    /// What is wrong.
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

/// What is to be proved.
#[derive(Clone, Copy)]
pub struct ProofCase<'a> {
    /// The messages of the conversation, as a reader gives them.
    pub before: &'a [Bytes],
    /// The messages of the context that came out.
    pub after: &'a [Bytes],
    /// What travels beside the messages: system prompt, tools.
    pub envelope: &'a [&'a [u8]],
    /// How messages are read.
    pub dialect: &'a dyn Dialect,
    /// How tokens are counted.
    pub counter: &'a dyn Counter,
    /// The validator of a profile.
    pub validate: &'a dyn Fn(&[Bytes]) -> Vec<Violation>,
    /// The most that the context may count, in the counter's tokens.
    pub budget: Option<u64>,
    /// The record of the fold.
    pub fold: Option<&'a Fold>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofReport {
    /// What does not hold; empty when all does. At most [`ProofReport::MOST`] of each rule.
    pub findings: Vec<VerifyFinding>,
    /// How many things each rule was held against.
    pub checked: Vec<(&'static str, u64)>,
}

impl ProofReport {
    /// Findings that are listed per rule; one broken record makes thousands.
    pub const MOST: usize = 20;

    /// Whether everything holds.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks a compaction. Pure, and total: whatever the record says, there is an answer.
#[must_use]
pub fn verify(case: &ProofCase<'_>) -> ProofReport {
    let mut checker = ProofChecker::new(case);
    match case.fold {
        Some(fold) => checker.with_record(fold),
        None => checker.without_record(),
    }
    checker.emptied();
    checker.validity();
    checker.pairs();
    checker.budget();
    checker.report()
}

/// A message and its reading, line breaks outside of strings as spaces.
struct ReadMessage<'a> {
    /// As it came: what is counted.
    raw: &'a [u8],
    bytes: Cow<'a, [u8]>,
    view: EventView,
}

impl<'a> ReadMessage<'a> {
    fn new(dialect: &dyn Dialect, raw: &'a [u8]) -> Self {
        // One byte for one byte: the ranges of the view hold in both.
        let bytes = one_line(raw);
        Self { raw, view: dialect.view(&bytes), bytes }
    }

    fn text(&self) -> Cow<'_, str> {
        self.view.text_of(&self.bytes, |_| true)
    }
}

/// Whether it is text, and none.
fn is_blank(block: &BlockView, message: &ReadMessage<'_>) -> bool {
    block.kind == BlockKind::Text && block.text(&message.bytes).trim().is_empty()
}

struct ProofChecker<'a> {
    case: &'a ProofCase<'a>,
    before: Vec<ReadMessage<'a>>,
    after: Vec<ReadMessage<'a>>,
    findings: Vec<VerifyFinding>,
    found: BTreeMap<&'static str, usize>,
    checked: BTreeMap<&'static str, u64>,
    /// The secrets of the conversation: what no recap and no record may hold, and no finding says.
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
            found: BTreeMap::new(),
            checked: BTreeMap::new(),
        }
    }

    fn report(mut self) -> ProofReport {
        self.findings.sort_by_key(|finding| finding.at);
        ProofReport { findings: self.findings, checked: self.checked.into_iter().collect() }
    }

    /// Counts one check.
    fn check(&mut self, rule: &'static str) {
        *self.checked.entry(rule).or_default() += 1;
    }

    /// Counts one check, and notes it when it failed.
    fn expect(&mut self, rule: &'static str, holds: bool, detail: impl FnOnce() -> String) {
        self.expect_at(rule, holds, None, detail);
    }

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

    fn fail(&mut self, rule: &'static str, at: Option<usize>, detail: String) {
        let found = self.found.entry(rule).or_default();
        *found += 1;
        if *found <= ProofReport::MOST {
            let detail = self.secrets.without(&detail).into_owned();
            self.findings.push(VerifyFinding { rule, at, detail });
        }
    }

    /// A message that is called empty was empty: there are no more of them than messages that say nothing.
    fn emptied(&mut self) {
        let label = |text: &str| text.strip_prefix(OF_OTHER).unwrap_or(text) == EMPTY;
        let is_empty = |message: &&ReadMessage<'_>| {
            message.view.blocks.iter().all(|block| is_blank(block, message))
                || label(&message.text())
        };
        let empty = self.before.iter().filter(is_empty).count();
        let called: Vec<usize> =
            (0..self.after.len()).filter(|at| label(&self.after[*at].text())).collect();
        for at in called.into_iter().skip(empty) {
            self.fail(rule::LOSS, Some(at), format!("{EMPTY} for a message that says something"));
        }
        self.check(rule::LOSS);
    }

    fn validity(&mut self) {
        self.check(rule::VALID);
        for violation in (self.case.validate)(self.case.after) {
            let at = Some(violation.index);
            self.fail(rule::VALID, at, format!("{}: {}", violation.rule, violation.detail));
        }
    }

    fn budget(&mut self) {
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

/// Line breaks outside of strings as spaces: how a message is written on one line.
fn one_line(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\n', b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = bytes.to_vec();
    let (mut in_string, mut escaped) = (false, false);
    for byte in &mut out {
        match *byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'\n' | b'\r' if !in_string => *byte = b' ',
            _ => {}
        }
    }
    Cow::Owned(out)
}
