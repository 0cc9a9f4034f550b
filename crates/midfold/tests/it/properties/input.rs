//! Sessions as they should be and as they should never be, and how each is opened.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::BlockKind;
use midfold::formats::{convert, profile, read};
use midfold::{
    Budget, Counter, DialectKind, EventLog, Meter, Policy, ProviderProfile, RawEvent, Session,
};
use midfold_testkit::{Rng, emit};
use proptest::prelude::*;

/// A dialect and one of the profiles that fit it.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub kind: DialectKind,
    pub profile: ProviderProfile,
}

pub fn wires() -> Vec<Wire> {
    let profiles =
        |kind| profile::for_dialect(kind).iter().map(move |p| Wire { kind, profile: *p });
    DialectKind::ALL.into_iter().flat_map(profiles).collect()
}

pub fn counter() -> Arc<dyn Counter> {
    midfold::tokens::by_name("chars:3.2").unwrap()
}

pub fn log(wire: Wire, messages: &[Bytes]) -> EventLog {
    let events = messages.iter().map(|bytes| RawEvent::new(bytes.clone()));
    EventLog::of(wire.kind.shared(), wire.profile, counter(), events)
}

/// A session of a few turns, in a dialect.
pub fn session(kind: DialectKind, seed: u64, turns: usize) -> Vec<Bytes> {
    let messages = midfold_testkit::session(seed, turns);
    let lines = match kind {
        DialectKind::OpenAiChat => emit::openai_chat(&messages),
        DialectKind::Anthropic => emit::anthropic(&messages).1,
        DialectKind::OpenAiResponses => emit::responses(&messages),
        DialectKind::Gemini => emit::gemini(&messages).1,
        DialectKind::Bedrock => emit::bedrock(&messages).1,
        DialectKind::Ollama => emit::ollama(&messages),
        DialectKind::ShareGpt => {
            let row = Bytes::from(emit::sharegpt("row", &messages));
            let found = read::read(&row, None).unwrap();
            return found.conversations[0].events.iter().map(|event| event.bytes.clone()).collect();
        }
    };
    lines.into_iter().map(Bytes::from).collect()
}

/// Broken messages of every kind, written for one dialect and handed to each.
pub fn hostile(kind: DialectKind, seed: u64, largest: usize) -> Vec<Bytes> {
    let chat: Vec<Bytes> =
        midfold_testkit::hostile(seed, largest).into_iter().map(Bytes::from).collect();
    if seed.is_multiple_of(3) || kind == DialectKind::OpenAiChat {
        // To the other dialects these are foreign through and through.
        return chat;
    }
    let from = DialectKind::OpenAiChat;
    let views: Vec<_> = chat.iter().map(|bytes| from.dialect().view(bytes)).collect();
    let events: Vec<_> = chat.iter().map(|bytes| &bytes[..]).zip(&views).collect();
    let messages = convert::convert_all(&events, from, kind).messages;
    if messages.is_empty() { mangled(kind, seed, 1) } else { messages }
}

/// A session whose messages were dropped, doubled, moved and given one id.
fn mangled(kind: DialectKind, seed: u64, turns: usize) -> Vec<Bytes> {
    let rng = &mut Rng::new(seed);
    let mut messages = session(kind, seed, turns);
    for _ in 0..rng.between(2, 12) {
        let at = rng.below(messages.len());
        match rng.below(7) {
            0 => drop(messages.remove(at)),
            1 => messages.insert(at, messages[at].clone()),
            2 => {
                let other = rng.below(messages.len());
                messages.swap(at, other);
            }
            3 => messages[at] = one_id(&messages[at]),
            4 => messages.insert(at, Bytes::from_static(br#"{"role":"critic","content":"no"}"#)),
            5 => messages.insert(at, Bytes::from_static(br#"{"from":"gpt","value":""}"#)),
            _ => messages[at] = Bytes::from_static(b"{}"),
        }
        if messages.is_empty() {
            break;
        }
    }
    messages
}

/// Every call id becomes `call_0`.
fn one_id(message: &Bytes) -> Bytes {
    let text = String::from_utf8(message.to_vec()).unwrap();
    let mut parts = text.split(":\"call_");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(":\"call_0");
        out.push_str(part.split_once('"').map_or("\"", |(id, _)| &part[id.len()..]));
    }
    Bytes::from(out)
}

/// What to compact.
#[derive(Clone)]
pub struct Input {
    pub wire: Wire,
    pub messages: Vec<Bytes>,
    /// A preset.
    pub preset: &'static str,
    /// Window, in parts per 100 of the conversation.
    pub window: u64,
    pub pins: Vec<usize>,
}

impl Input {
    pub fn policy(&self) -> Policy {
        Policy::preset(self.preset).unwrap()
    }
}

/// One line a message: whole transcripts would hide what matters.
impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { wire, messages, preset, window, pins } = self;
        writeln!(f, "{preset} {} window {window} % pins {pins:?}", wire.profile.name)?;
        messages.iter().try_for_each(|message| {
            let text: String = String::from_utf8_lossy(message).chars().take(120).collect();
            writeln!(f, "  {text}")
        })
    }
}

pub fn input() -> impl Strategy<Value = Input> {
    let all = wires();
    let presets = Policy::preset_names();
    (0..all.len(), 0..presets.len(), any::<u64>(), 0..4usize, 15..110u64, 0..3usize).prop_map(
        move |(wire, preset, seed, kind, window, pins)| {
            let wire = all[wire];
            let messages = match kind {
                0 => hostile(wire.kind, seed, 2_000),
                1 => session(wire.kind, seed, 1 + (seed % 2) as usize),
                _ => mangled(wire.kind, seed, 1 + (seed % 2) as usize),
            };
            // A log that ends in mid-response, on reasoning, is refused by its provider until the
            // next item comes; nothing may be appended that this item would have to follow.
            let mut messages = messages;
            while wire.profile.has_items && messages.last().is_some_and(|m| is_thought(wire, m)) {
                messages.pop();
            }
            let rng = &mut Rng::new(seed);
            let pins = (0..pins).map(|_| rng.below(messages.len() + 1)).collect();
            Input { wire, messages, preset: presets[preset], window, pins }
        },
    )
}

fn is_thought(wire: Wire, message: &Bytes) -> bool {
    let view = wire.kind.dialect().view(message);
    view.blocks.iter().any(|block| matches!(block.kind, BlockKind::Reasoning { .. }))
}

pub fn budget(log: &EventLog, window: u64, policy: &Policy) -> Budget {
    let window = (log.tokens() * window / 100).max(200);
    Budget::new(window + policy.trigger.injection_reserve)
}

pub fn open(input: &Input) -> (Session, Budget) {
    let log = log(input.wire, &input.messages);
    let policy = input.policy();
    let budget = budget(&log, input.window, &policy);
    let mut session = Session::over("s", log, policy, Meter::exact());
    input.pins.iter().for_each(|pin| session.pin(*pin as u32));
    (session, budget)
}
