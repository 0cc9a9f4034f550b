//! A client: an agent that keeps its whole history, and what it does to that.

use bytes::Bytes;
use midfold::DialectKind;
use midfold_proxy::RequestSender;
use midfold_testkit::Rng;
use midfold_testkit::upstream::agent::{AgentSession, ClientAgent, Habits};
use midfold_testkit::upstream::{WireDialect, task};
use serde_json::Value;

/// Messages after which a client begins something else.
const LONG: usize = 160;

/// A client.
#[derive(Clone)]
pub struct Client {
    pub name: u64,
    pub kind: DialectKind,
    pub who: RequestSender,
    pub session: AgentSession,
    /// It asks for thinking, which is bound to what the provider saw.
    pub thinks: bool,
    /// Everybody knows that its model binds thinking.
    pub is_known_to_bind: bool,
    /// How long its history was at each request.
    stops: Vec<usize>,
    /// The request that it waits for.
    pub waits: Option<u64>,
    /// How often in a row it was refused.
    pub refused: u32,
    /// What was sent of its history last, and the fold that it was read through.
    pub sent: Option<(Option<midfold::core::Hash>, Vec<Bytes>)>,
}

impl Client {
    pub fn new(name: u64, takes_turns: bool, rng: &mut Rng) -> Self {
        let dialect = *rng.pick(&WireDialect::ALL);
        let thinks = dialect == WireDialect::Messages && rng.chance(60);
        let scope = ["ann", "bob"][rng.below(2)].to_owned();
        // Some share a beginning with others of the same key.
        let number = if rng.chance(30) { 0 } else { name };
        let model = match (thinks, rng.below(3)) {
            (true, 0) => "claude-opus-5-5",
            (true, 1) => "claude-sonnet-5-5",
            // Nobody knows that it binds.
            (true, _) => "house-model",
            (false, _) => "scripted",
        };
        let habits = Habits {
            // What is said behind the history once would be before the thinking, and gone the next time.
            ephemeral: !takes_turns && !thinks && rng.chance(10),
            bare_items: rng.chance(30),
            part_lists: rng.chance(30),
            unmarked: rng.chance(50),
            ..Habits::default()
        };
        let agent = ClientAgent {
            task: format!("[of {scope}] [task {number}] {}", task(400)),
            model: model.to_owned(),
            thinking: thinks,
            habits,
            ..ClientAgent::new(dialect, "")
        };
        let who = RequestSender {
            scope,
            hint: rng.chance(30).then(|| format!("session {name}")),
            client: Some("agent".to_owned()),
            model: Some(model.to_owned()),
            ..RequestSender::default()
        };
        let kind = match dialect {
            WireDialect::Chat => DialectKind::OpenAiChat,
            WireDialect::Responses => DialectKind::OpenAiResponses,
            WireDialect::Messages => DialectKind::Anthropic,
            WireDialect::Gemini => DialectKind::Gemini,
        };
        Self {
            name,
            kind,
            who,
            session: agent.start(),
            thinks,
            is_known_to_bind: thinks && model != "house-model",
            stops: Vec::new(),
            waits: None,
            refused: 0,
            sent: None,
        }
    }

    /// The next request is of the history as it is.
    pub fn asks(&mut self) {
        let length = self.session.history.len();
        if self.stops.last() != Some(&length) {
            self.stops.push(length);
        }
    }

    pub fn is_done(&self) -> bool {
        self.session.history.len() > LONG
    }

    /// Takes the last steps back, to where it asked something.
    pub fn rewind(&mut self, rng: &mut Rng, number: u64) {
        let Some(steps) = self.stops.len().checked_sub(1).filter(|steps| *steps > 0) else {
            return;
        };
        let back = 1 + rng.below(steps.min(6));
        self.stops.truncate(steps + 1 - back);
        self.session.history.truncate(self.stops.last().copied().unwrap_or(1));
        self.moved();
        // Nobody goes back to have the same again; and two that say the same are one to a proxy.
        if let Some(text) = self.session.history.last_mut().and_then(longest) {
            text.push_str(&format!(" (once more: {number})"));
        }
    }

    /// Says something more.
    pub fn say(&mut self, number: u64) {
        self.session.say(&format!("One thing more, {number}: keep the order."));
    }

    /// Changes an earlier message of its own. Signed thinking after it would be void: such clients do not.
    pub fn edit(&mut self, rng: &mut Rng, number: u64) {
        if self.thinks {
            return;
        }
        let length = self.session.history.len();
        let place = rng.below(length);
        let message = &mut self.session.history[place];
        let is_own = message["role"] == "user" || message["role"] == "tool";
        if is_own && let Some(text) = longest(message) {
            text.push_str(&format!(" (changed: {number})"));
            self.moved();
        }
    }

    /// Its history is not what was sent.
    fn moved(&mut self) {
        self.sent = None;
        self.waits = None;
    }
}

/// The longest string of a message.
fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(list) => list.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(map) => map.values_mut().filter_map(longest).max_by_key(|text| text.len()),
        _ => None,
    }
}
