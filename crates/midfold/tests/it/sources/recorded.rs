//! Recorded conversations as Chat Completions messages: the public transcripts where they are, and
//! generated sessions in any case.

use midfold::formats::convert::convert_all;
use midfold::formats::profile;
use midfold::{DialectKind, EventLog, RawEvent};
use serde_json::Value;

use crate::common::{conversations, corpus};

/// Windows that everything is tried at.
pub const WINDOWS: [u64; 6] = [8_000, 16_000, 32_000, 64_000, 100_000, 200_000];

/// One conversation.
pub struct Recorded {
    pub name: String,
    pub messages: Vec<Value>,
    pub log: EventLog,
}

impl Recorded {
    fn new(name: String, messages: &[bytes::Bytes]) -> Self {
        let counter = midfold::tokens::by_name("chars:3.2").unwrap();
        let events = messages.iter().map(|bytes| RawEvent::new(bytes.clone()));
        let log = EventLog::of(DialectKind::OpenAiChat.shared(), profile::OPENAI, counter, events);
        let messages = messages.iter().map(|b| serde_json::from_slice(b).unwrap()).collect();
        Self { name, messages, log }
    }

    /// Tokens of each message.
    pub fn tokens(&self) -> Vec<u64> {
        self.log.events().iter().map(|event| u64::from(event.tokens.total)).collect()
    }
}

/// All of them.
pub fn recorded() -> Vec<Recorded> {
    let generated = (1..=4).map(|seed| {
        let session = midfold_testkit::coding_session(seed, 6 * seed as usize);
        let messages: Vec<_> = session.into_iter().map(Into::into).collect();
        Recorded::new(format!("generated {seed}"), &messages)
    });
    let mut all: Vec<Recorded> = generated.collect();
    for (name, conversation) in corpus().iter().flat_map(|root| conversations(root)) {
        let kind = conversation.format.dialect();
        let views: Vec<_> = conversation
            .events
            .iter()
            .map(|event| (event.bytes.clone(), kind.dialect().view(&event.bytes)))
            .collect();
        let pairs: Vec<_> = views.iter().map(|(bytes, view)| (&bytes[..], view)).collect();
        let messages = convert_all(&pairs, kind, DialectKind::OpenAiChat).messages;
        if messages.len() > 8 {
            all.push(Recorded::new(name, &messages));
        }
    }
    all
}
