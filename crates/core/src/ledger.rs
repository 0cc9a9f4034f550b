//! The ledger: what was sent, when, and through which fold.
//!
//! Each record is chained over the one before, so that a ledger cannot lose a call or change one
//! without showing it (`midfold audit`). A record holds no content: hashes and figures only.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::event::{Hash, Usage};
use crate::fold::{Fold, FoldJoin};
use crate::inject::{InjectedContext, Injection};
use crate::meter::Meter;
use crate::profile::VoidReasoning;
use crate::project::Context;

/// Version of the record's shape.
pub const VERSION: u32 = 1;

/// The longest prefix that a context shares with the one before: what a cache can serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedPrefix {
    /// Messages.
    pub messages: u32,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens, without the envelope's.
    pub tokens: u64,
}

/// The record of a model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Shape of the record.
    pub version: u32,
    /// Its number in the session, from 1.
    pub number: u64,
    /// Hash of the call before; [`Hash::ROOT`] for the first.
    pub prev: Hash,
    /// Hash of this record, chained over `prev` and all fields below.
    pub hash: Hash,
    /// Joins it to a turn and a request, as folds are joined.
    pub joining: FoldJoin,
    /// Events that the context was made from.
    pub events: u32,
    /// Chain hash of these events.
    pub head_hash: Hash,
    /// The fold that they were read through.
    pub fold: Option<Hash>,
    /// Reasoning that was void beside what the fold says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidReasoning>,
    /// Edits of that fold: blocks that were sent otherwise than they are.
    pub edits: u32,
    /// Events that were pinned.
    pub pins: Vec<u32>,
    /// What hooks added.
    pub injections: Vec<Injection>,
    /// Messages sent.
    pub messages: u32,
    /// Bytes sent, as the JSON array of messages.
    pub bytes: u64,
    /// Tokens as the counter counts them, the envelope's included.
    pub tokens_counted: u64,
    /// Tokens as the meter expects the provider to count them.
    pub tokens_estimated: u64,
    /// What it shares with the call before.
    pub prefix: SharedPrefix,
    /// Hash over the context's messages. What hooks added is not in it (each has its own hash), so
    /// that projecting again proves the rest.
    pub context_hash: Hash,
}

/// What the provider reported for a call, once it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedCost {
    /// Tokens of prompt and reply, and what the cache had of them.
    pub usage: Usage,
}

impl ReportedCost {
    /// Tokens of the prompt that were neither read from the cache nor written to it.
    #[must_use]
    pub fn uncached(&self) -> u64 {
        self.usage.prompt.saturating_sub(self.usage.cache_read)
    }
}

/// What a record is made of beside the context.
#[derive(Clone, Copy, Debug)]
pub struct CallInput<'a> {
    /// Joins it to a request.
    pub joining: &'a FoldJoin,
    /// Events that the context was made from.
    pub events: u32,
    /// Chain hash of these events.
    pub head_hash: Hash,
    /// The active fold.
    pub fold: Option<&'a Fold>,
    /// Reasoning that is void beside what that fold says.
    pub void: Option<VoidReasoning>,
    /// Pinned events.
    pub pins: &'a [u32],
    /// What turns counted tokens into expected ones.
    pub meter: &'a Meter,
}

/// The end of a session's ledger: what the next record is chained to and compared with.
///
/// ```
/// let ledger = midfold_core::ledger::Ledger::default();
/// assert_eq!(ledger.number(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    number: u64,
    hash: Hash,
    /// The call before, message for message.
    sent: Vec<LedgerMessage>,
}

/// One message of the call before. It holds the buffer, so that no other message can come to lie
/// in its place.
#[derive(Clone, Debug)]
struct LedgerMessage {
    bytes: Bytes,
    hash: Hash,
    tokens: u32,
}

impl Ledger {
    /// A ledger that goes on after this record. Without the messages of that call, the next
    /// record's prefix is unknown and written down as none.
    #[must_use]
    pub fn after(last: &CallRecord) -> Self {
        Self { number: last.number, hash: last.hash, sent: Vec::new() }
    }

    /// Takes the messages of the call before, projected anew, for the next record's prefix.
    pub fn resume(&mut self, context: &Context) {
        self.sent = self.read(pieces(context));
    }

    /// Records so far.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Hash of the last record.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Records a context that is sent without injections.
    pub fn record(&mut self, context: &Context, call: &CallInput<'_>) -> CallRecord {
        let record = self.write(pieces(context), context.tokens(), &[], call);
        self.seal(record)
    }

    /// Records a context that is sent with what hooks added. The prefix is measured up to the
    /// injections: they are sent once and replaced, so the next call cannot share them.
    pub fn record_sent(&mut self, sent: &InjectedContext, call: &CallInput<'_>) -> CallRecord {
        let mut record = self.write(sent.messages(), sent.tokens(), sent.injections(), call);
        record.context_hash = hash_of(&self.sent[..self.sent.len() - sent.added().len()]);
        self.seal(record)
    }

    fn write<'p>(
        &mut self,
        sent: impl Iterator<Item = (&'p Bytes, u32)>,
        tokens: u64,
        injections: &[Injection],
        call: &CallInput<'_>,
    ) -> CallRecord {
        let messages = self.read(sent);
        let commas = (messages.len() as u64).saturating_sub(1);
        let bytes = 2 + commas + messages.iter().map(|m| m.bytes.len() as u64).sum::<u64>();
        let record = CallRecord {
            version: VERSION,
            number: self.number + 1,
            prev: self.hash,
            hash: Hash::ROOT,
            joining: call.joining.clone(),
            events: call.events,
            head_hash: call.head_hash,
            fold: call.fold.map(|fold| fold.id),
            void: call.void,
            edits: call.fold.map_or(0, |fold| count(fold.edits.len())),
            pins: call.pins.to_vec(),
            injections: injections.to_vec(),
            messages: count(messages.len()),
            bytes,
            tokens_counted: tokens,
            tokens_estimated: call.meter.calibrated(tokens),
            prefix: common(&self.sent, &messages),
            context_hash: hash_of(&messages),
        };
        self.sent = messages;
        record
    }

    fn seal(&mut self, mut record: CallRecord) -> CallRecord {
        record.hash = record.compute_hash();
        self.number = record.number;
        self.hash = record.hash;
        record
    }

    /// Hashes a message only where the call before had another one in its place: what stays, the
    /// same slice of the log, costs nothing.
    fn read<'p>(&self, sent: impl Iterator<Item = (&'p Bytes, u32)>) -> Vec<LedgerMessage> {
        let read = |(at, (bytes, tokens)): (usize, (&Bytes, u32))| {
            let same = |before: &&LedgerMessage| {
                std::ptr::eq(before.bytes.as_ptr(), bytes.as_ptr())
                    && before.bytes.len() == bytes.len()
            };
            let known = self.sent.get(at).filter(same).map(|before| before.hash);
            let hash = known.unwrap_or_else(|| Hash::ROOT.chain(bytes));
            LedgerMessage { bytes: bytes.clone(), hash, tokens }
        };
        sent.enumerate().map(read).collect()
    }
}

fn pieces(context: &Context) -> impl Iterator<Item = (&Bytes, u32)> {
    context.pieces().map(|piece| (&piece.bytes, piece.tokens))
}

fn hash_of(messages: &[LedgerMessage]) -> Hash {
    messages.iter().fold(Hash::ROOT, |hash, message| hash.chain(&message.hash.0))
}

fn common(before: &[LedgerMessage], now: &[LedgerMessage]) -> SharedPrefix {
    let same = before.iter().zip(now).take_while(|(a, b)| a.hash == b.hash);
    same.fold(SharedPrefix::default(), |sum, (_, message)| SharedPrefix {
        messages: sum.messages + 1,
        bytes: sum.bytes + message.bytes.len() as u64,
        tokens: sum.tokens + u64::from(message.tokens),
    })
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The hash of a context as records name it: over the hashes of its messages, in order.
#[must_use]
pub fn context_hash(context: &Context) -> Hash {
    context.pieces().fold(Hash::ROOT, |hash, piece| hash.chain(&Hash::ROOT.chain(&piece.bytes).0))
}

impl CallRecord {
    /// The hash that [`CallRecord::hash`] has to be.
    #[must_use]
    pub fn compute_hash(&self) -> Hash {
        // Named fields, none left out: a new one that is not chained does not compile.
        let Self {
            version,
            number,
            prev,
            hash: _,
            joining,
            events,
            head_hash,
            fold,
            void,
            edits,
            pins,
            injections,
            messages,
            bytes,
            tokens_counted,
            tokens_estimated,
            prefix,
            context_hash,
        } = self;
        let FoldJoin { session, turn, request } = joining;
        let SharedPrefix { messages: prefix_messages, bytes: prefix_bytes, tokens: prefix_tokens } =
            prefix;
        let figures = format!(
            "{version} {number} {turn} {request} {events} {edits} {messages} {bytes} \
             {tokens_counted} {tokens_estimated} {prefix_messages} {prefix_bytes} {prefix_tokens} \
             {pins:?}"
        );
        let mut hash = prev
            .chain(session.as_bytes())
            .chain(figures.as_bytes())
            .chain(&head_hash.0)
            .chain(&fold.unwrap_or(Hash::ROOT).0)
            .chain(&context_hash.0);
        if let Some(void) = void {
            hash = hash.chain(format!("void {void:?}").as_bytes());
        }
        for Injection { hook, tokens, hash: text } in injections {
            hash = hash.chain(hook.as_bytes()).chain(&tokens.to_le_bytes()).chain(&text.0);
        }
        hash
    }
}
