//! The ledger: which contexts were sent, in which order, and through which folds.
//!
//! Each record's hash covers the record before, so that a lost or changed record shows (`midfold check session`). A record
//! holds hashes and figures, and no content.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::event::{Hash, Usage};
use crate::exchanges::{ClientChain, ExchangePlace, ExchangeWalk};
use crate::fold::{Fold, FoldJoin};
use crate::inject::{InjectedContext, Injection};
use crate::meter::Meter;
use crate::profile::VoidReasoning;
use crate::project::Context;

/// Version of the record's shape.
pub const VERSION: u32 = 1;

/// The longest prefix that a context shares with the one before. A provider's cache can serve it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedPrefix {
    /// The number of messages.
    pub messages: u32,
    /// The bytes of these messages.
    pub bytes: u64,
    /// The counted tokens of these messages, without system prompt and tools.
    pub tokens: u64,
}

/// What the client of a proxy had of a history when it sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientHistory {
    /// The chain before the client's first message.
    pub begins: Hash,
    /// The chain behind its messages, of those that the call's events have.
    pub hash: Hash,
    /// The number of hidden exchanges among the events.
    pub exchanges: u32,
    /// The hash over their places, as each of them was kept when it took place.
    pub places: Hash,
}

impl ClientHistory {
    /// The record of what a client sent. `places` are those of the exchanges that the client does not know.
    #[must_use]
    pub fn new(begins: ClientChain, end: ClientChain, places: &[ExchangePlace]) -> Self {
        Self {
            begins: begins.hash(),
            hash: end.hash(),
            exchanges: count(places.len()),
            places: ExchangePlace::all(places.iter().copied()),
        }
    }

    /// What a log says that the client sent: `walk` has read it.
    #[must_use]
    pub fn of(walk: &ExchangeWalk) -> Self {
        let places: Vec<_> = walk.exchanges().iter().map(|exchange| exchange.place).collect();
        Self::new(walk.begins(), walk.chain(), &places)
    }
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
    /// The turn and step of the call, by which it is joined to folds.
    pub joining: FoldJoin,
    /// The number of events that the context was made from.
    pub events: u32,
    /// Chain hash of these events.
    pub head_hash: Hash,
    /// The fold that they were read through; `None` where nothing was folded.
    pub fold: Option<Hash>,
    /// Reasoning that was void beyond what the fold says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidReasoning>,
    /// The number of the fold's edits, so of blocks that were sent in another form.
    pub edits: u32,
    /// Events that were pinned.
    pub pins: Vec<u32>,
    /// The texts that hooks added, by hash.
    pub injections: Vec<Injection>,
    /// Messages sent.
    pub messages: u32,
    /// Bytes of the JSON array of messages.
    pub bytes: u64,
    /// Tokens as our counter counts them, the envelope included.
    pub tokens_counted: u64,
    /// Tokens that the provider is expected to count, by the meter.
    pub tokens_estimated: u64,
    /// The beginning that it shares with the call before.
    pub prefix: SharedPrefix,
    /// Hash over the context's messages, without those that hooks added (each of these has its own hash). So projecting
    /// the context again proves it.
    pub context_hash: Hash,
    /// What the client sent, where a proxy keeps exchanges from it. `None` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientHistory>,
    /// The counted tokens that a proxy cut the newest messages to, because whole they did not fit. `None` where they were
    /// sent whole. The cut is computed again from them and this number, so the record needs no content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_room: Option<u64>,
}

/// The provider's report of a call's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedCost {
    /// Tokens of prompt and reply, and how many of them the cache served.
    pub usage: Usage,
}

impl ReportedCost {
    /// Tokens of the prompt that were not read from the cache; those that were written to it are among them.
    #[must_use]
    pub fn uncached(&self) -> u64 {
        self.usage.prompt.saturating_sub(self.usage.cache_read)
    }
}

/// The inputs of a record beside the context.
#[derive(Clone, Copy, Debug)]
pub struct CallInput<'a> {
    /// The turn and step of the call.
    pub joining: &'a FoldJoin,
    /// The number of events that the context was made from.
    pub events: u32,
    /// Chain hash of these events.
    pub head_hash: Hash,
    /// The active fold; `None` where nothing is folded.
    pub fold: Option<&'a Fold>,
    /// Reasoning that is void beyond what that fold says.
    pub void: Option<VoidReasoning>,
    /// Pinned events.
    pub pins: &'a [u32],
    /// Turns counted tokens into provider tokens.
    pub meter: &'a Meter,
    /// What the client sent, where a proxy keeps exchanges from it.
    pub client: Option<ClientHistory>,
    /// The counted tokens that a proxy cut the newest messages to; `None` where they are whole.
    pub newest_room: Option<u64>,
}

/// The end of a session's ledger: the next record continues its chain, and is compared with its last messages.
///
/// ```
/// let ledger = midfold_core::ledger::Ledger::default();
/// assert_eq!(ledger.number(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    number: u64,
    hash: Hash,
    /// The messages of the call before; empty where they are not known.
    sent: Vec<LedgerMessage>,
}

/// One message of the call before. It holds the buffer itself, because messages are compared by address: a freed
/// address could be used again for another message.
#[derive(Clone, Debug)]
struct LedgerMessage {
    bytes: Bytes,
    hash: Hash,
    tokens: u32,
}

impl Ledger {
    /// A ledger that continues after this record. The messages of that call are unknown, so the next record's shared
    /// prefix is empty unless [`Ledger::resume`] is called.
    #[must_use]
    pub fn after(last: &CallRecord) -> Self {
        Self { number: last.number, hash: last.hash, sent: Vec::new() }
    }

    /// Takes the messages of the last call, projected again, to compare the next record with them.
    pub fn resume(&mut self, context: &Context) {
        self.sent = self.read(pieces(context));
    }

    /// The number of records so far.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Hash of the last record; [`Hash::ROOT`] where there is none.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Makes the record of a context that is sent without injections.
    pub fn record(&mut self, context: &Context, call: &CallInput<'_>) -> CallRecord {
        let record = self.write(pieces(context), context.tokens(), &[], call);
        self.seal(record)
    }

    /// Makes the record of a context that is sent with injections. Injected messages are replaced in the next call, so
    /// that call's shared prefix ends before them.
    pub fn record_sent(&mut self, sent: &InjectedContext, call: &CallInput<'_>) -> CallRecord {
        let mut record = self.write(sent.messages(), sent.tokens(), sent.injections(), call);
        // The hash leaves injected messages out: an audit projects the context again, and they are in no log.
        record.context_hash = hash_of(&self.sent[..self.sent.len() - sent.added().len()]);
        self.seal(record)
    }

    /// Makes a record without its hash, and keeps the messages for the next one.
    fn write<'p>(
        &mut self,
        sent: impl Iterator<Item = (&'p Bytes, u32)>,
        tokens: u64,
        injections: &[Injection],
        call: &CallInput<'_>,
    ) -> CallRecord {
        let messages = self.read(sent);
        // The JSON array adds two brackets, and a comma between two messages.
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
            client: call.client,
            newest_room: call.newest_room,
        };
        self.sent = messages;
        record
    }

    /// Sets the hash of a record, and makes it the end of the ledger.
    fn seal(&mut self, mut record: CallRecord) -> CallRecord {
        record.hash = record.compute_hash();
        self.number = record.number;
        self.hash = record.hash;
        record
    }

    /// Reads messages with their hashes. A message that is the same buffer as the one at its place in the call before
    /// is not hashed again.
    fn read<'p>(&self, sent: impl Iterator<Item = (&'p Bytes, u32)>) -> Vec<LedgerMessage> {
        let read = |(at, (bytes, tokens)): (usize, (&Bytes, u32))| {
            // Contexts share the bytes of the log, so most hashes are known without reading a message again.
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

/// The hash of a context, from the hashes of its messages.
fn hash_of(messages: &[LedgerMessage]) -> Hash {
    messages.iter().fold(Hash::ROOT, |hash, message| hash.chain(&message.hash.0))
}

/// The messages that both calls begin with.
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

/// The hash of a context in records: over the hashes of its messages in order.
#[must_use]
pub fn context_hash(context: &Context) -> Hash {
    context.pieces().fold(Hash::ROOT, |hash, piece| hash.chain(&Hash::ROOT.chain(&piece.bytes).0))
}

impl CallRecord {
    /// Computes the hash that [`CallRecord::hash`] has to be.
    #[must_use]
    pub fn compute_hash(&self) -> Hash {
        // All fields are named, so that a new field that is left out of the hash does not compile.
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
            client,
            newest_room,
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
        // Only where it is set: older records have no such field and keep their hash.
        if let Some(void) = void {
            hash = hash.chain(format!("void {void:?}").as_bytes());
        }
        if let Some(ClientHistory { begins, hash: end, exchanges, places }) = client {
            hash = hash.chain(format!("client {exchanges}").as_bytes());
            hash = hash.chain(&begins.0).chain(&end.0).chain(&places.0);
        }
        if let Some(tokens) = newest_room {
            hash = hash.chain(format!("newest {tokens}").as_bytes());
        }
        for Injection { hook, tokens, hash: text } in injections {
            hash = hash.chain(hook.as_bytes()).chain(&tokens.to_le_bytes()).chain(&text.0);
        }
        hash
    }
}
