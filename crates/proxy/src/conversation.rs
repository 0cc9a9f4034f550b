//! One conversation: its session, and by what its messages are recognised.

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::engine::{Session, SessionState};
use midfold_core::log::{Event, EventLog};
use midfold_core::meter::Meter;
use midfold_core::profile::ReasoningBinding;
use midfold_core::{Hash, RawEvent, Role};
use midfold_formats::recall_tool::{ToolOffer, tools};
use midfold_formats::request::{MESSAGE, Request, without_marks};
use midfold_formats::vendor::is_compaction;
use midfold_store::{IdentifiedSession, Millis, SessionMeta, StoreError};

use super::calls::CallLedger;
use super::learned_windows::WindowReport;
use super::recalled::RecalledCalls;
use super::rules::RequestReading;
use super::sender::RequestSender;
use super::stored_parts::StoredParts;
use super::truncation::CountPair;

/// How far a conversation has come, for whether a store should have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It was begun.
    New,
    /// It was begun as a branch of another one, or after one of the same sender that nobody went on with.
    /// Clients that change an early message each time leave such a conversation behind with each request.
    Lone,
    /// A later request brought more of it.
    GoesOn,
}

/// One conversation.
pub(super) struct ProxyConversation {
    pub session: Session,
    /// The identity of all messages up to each.
    chain: Vec<Hash>,
    hint: Option<String>,
    /// The program that began it, and the model that it asked for then.
    pub client: Option<String>,
    pub model: String,
    /// The calls that were sent, and their cost.
    pub calls: CallLedger,
    /// Whose it is; nobody's where the server asks for no keys.
    owner: Option<String>,
    /// The parts of a request beside the messages, and their hash: counting them again costs as much as a message.
    envelope: Vec<Bytes>,
    beside: Hash,
    /// What it had to fit last.
    pub budget: Budget,
    /// What its provider counted last.
    pub counted: Option<CountPair>,
    /// The window that its policy was made for.
    window: u64,
    /// Its requests offer tools.
    has_tools: bool,
    /// The tools of ours that its requests may be given: they are counted from before the first fold on, whose recap names
    /// that of recall.
    offer: ToolOffer,
    brought: RecalledCalls,
    /// A provider took a request of it.
    pub is_accepted: bool,
    pub course: Course,
    /// Folds that it has from the one that it is a branch of.
    inherited: usize,
    /// The conversation that it is a fork of, and at which message.
    pub parent: Option<(String, u64)>,
    /// What the store has of it.
    pub saved: StoredParts,
    /// Memory that its messages take, about.
    bytes: usize,
}

/// Memory that a conversation takes which has no messages yet: a session with its policy, and tables.
const CONVERSATION: usize = 16 << 10;
/// Memory that a block takes, in a message of many: of few it is in what each message takes.
const BLOCK: usize = 256;
/// Where what is fixed is more of the window than this, a fold would be due at every step.
const FIXED_PERCENT: u64 = 90;
/// The line moves where what is learned of the provider's count moves it by more than one part in so many of
/// what is not fixed.
const LINE_MOVES: u64 = 16;

/// Memory that a message takes: its bytes, and what is known of it.
fn weight(event: &Event) -> usize {
    event.bytes.len() + MESSAGE + BLOCK * event.view.blocks.len().saturating_sub(8)
}

impl ProxyConversation {
    /// A conversation that starts with this request.
    pub fn new(
        request: &Request,
        id: String,
        reading: &RequestReading,
        who: &RequestSender,
    ) -> Self {
        let told = WindowReport { window: reading.window, counts_reply: false };
        let RequestReading { kind, profile, counter, .. } = reading;
        let log = EventLog::new(kind.shared(), *profile, counter.clone());
        let log = if reading.is_replay { log } else { log.kept() };
        let meter =
            if counter.name() == "chars:4" { Meter::chars_over_four() } else { Meter::exact() };
        let policy = reading.policy_for(request, told);
        let session =
            Session::over(&id, log, policy, meter).with_answers_behind().with_turns_kept();
        let hint = who.hint.clone();
        Self {
            session,
            chain: Vec::new(),
            hint,
            client: who.client.clone(),
            model: request.model.clone().unwrap_or_default(),
            calls: CallLedger::default(),
            owner: Some(who.scope.clone()).filter(|scope| !scope.is_empty()),
            envelope: Vec::new(),
            beside: Hash::ROOT,
            budget: Budget::new(reading.window),
            counted: None,
            window: reading.window,
            has_tools: false,
            offer: ToolOffer::default(),
            brought: RecalledCalls::default(),
            is_accepted: false,
            course: Course::New,
            inherited: 0,
            parent: None,
            saved: StoredParts::default(),
            bytes: CONVERSATION,
        }
    }

    /// A conversation that was in a store.
    pub fn stored(
        session: Session,
        saved: StoredParts,
        meta: &SessionMeta,
        chain: Vec<Hash>,
        calls: CallLedger,
    ) -> Self {
        let log = session.log();
        Self {
            chain,
            bytes: CONVERSATION + log.events().iter().map(weight).sum::<usize>(),
            hint: None,
            client: meta.client.clone(),
            model: meta.model.clone().unwrap_or_default(),
            calls,
            owner: meta.owner.clone(),
            envelope: Vec::new(),
            // Counted again with the next request.
            beside: Hash::ROOT,
            budget: meta.budget.clone(),
            counted: None,
            window: meta.budget.window,
            // Known with the next request, too.
            has_tools: false,
            offer: ToolOffer::default(),
            brought: RecalledCalls::of(&session),
            is_accepted: true,
            course: Course::GoesOn,
            inherited: 0,
            parent: meta.parent.clone(),
            saved,
            session,
        }
    }

    /// Whether a request that has the first `at` messages in common simply goes on.
    pub fn goes_on_at(&self, at: usize, who: &RequestSender) -> bool {
        let other = self.hint.is_some() && who.hint.is_some() && self.hint != who.hint;
        at == self.chain.len() && !other
    }

    /// Its id, where a store has it.
    pub fn stored_id(&self) -> Option<&str> {
        self.saved.is_made.then(|| self.session.id())
    }

    /// Whether the store has nothing of a history that is not here. `found` is what the store has, and the first
    /// `at` messages here are those of the history.
    pub fn is_current(&self, at: usize, found: &IdentifiedSession) -> bool {
        if found.id != self.session.id() {
            return at as u64 >= found.events;
        }
        let active = self.session.active().map(|fold| fold.id);
        // The store has the fold that is active here, or the one that was active when this process wrote last.
        !self.saved.is_foreign && (found.active == active || found.active == self.saved.active)
    }

    /// Whether the store has another state of it than the one that was written from here.
    pub fn is_changed_in(&self, found: &IdentifiedSession) -> bool {
        found.id == self.session.id() && found.state_version > self.saved.version
    }

    /// Takes over pins and an agent's wishes of the state that the store has.
    pub fn take_wishes(&mut self, state: String, version: u64) -> Result<(), StoreError> {
        if state == self.saved.state || state.is_empty() {
            return Ok(());
        }
        let known: SessionState = match self.saved.state.as_str() {
            "" => SessionState::default(),
            known => serde_json::from_str(known)?,
        };
        let own = self.session.state();
        let has_unkept = (&own.pins, &own.agent) != (&known.pins, &known.agent);
        let SessionState { pins, agent, .. } = serde_json::from_str(&state)?;
        self.session.take_wishes(pins, agent, has_unkept);
        self.brought = RecalledCalls::of(&self.session);
        (self.saved.state, self.saved.version) = (state, version);
        Ok(())
    }

    /// The session of this id is held by another value from now on.
    pub fn give_way(&mut self, id: &str) {
        self.saved.is_foreign |= self.session.id() == id;
    }

    /// An id for a fork with the same first `at` messages; `end` names the whole history that it goes on to.
    pub fn id_of_fork(&self, at: usize, end: Hash, who: &RequestSender, now: Millis) -> String {
        let parent = self.session.id().as_bytes();
        id(&[parent, &at.to_be_bytes(), &now.to_be_bytes(), &end.0], who)
    }

    /// Another conversation with the same first `at` messages, and the folds of them.
    pub fn fork(&self, at: usize, id: String, who: &RequestSender) -> Self {
        let session = self.session.fork(&id, at);
        let (inherited, brought) = (session.folds().len(), RecalledCalls::of(&session));
        let bytes = CONVERSATION + session.log().events().iter().map(weight).sum::<usize>();
        Self {
            session,
            chain: self.chain[..at].to_vec(),
            hint: who.hint.clone().or_else(|| self.hint.clone()),
            client: who.client.clone(),
            model: self.model.clone(),
            calls: CallLedger::default(),
            owner: self.owner.clone(),
            envelope: self.envelope.clone(),
            beside: self.beside,
            budget: self.budget.clone(),
            counted: None,
            window: self.window,
            has_tools: self.has_tools,
            offer: self.offer,
            brought,
            is_accepted: false,
            course: if at > 0 { Course::Lone } else { Course::New },
            inherited,
            parent: (at > 0).then(|| (self.session.id().to_owned(), at as u64)),
            saved: StoredParts::default(),
            bytes,
        }
    }

    /// The session that the client says this is, where it did not say so before.
    pub fn hinted(&mut self, who: &RequestSender) {
        if self.hint.is_none() {
            self.hint.clone_from(&who.hint);
        }
    }

    /// Appends the messages of a request behind those that are known.
    pub fn extend(&mut self, request: &Request, links: &[Hash]) {
        let from = self.chain.len();
        for (at, link) in (from..).zip(links) {
            // Copied: a slice would keep the whole body in memory.
            let bytes = Bytes::copy_from_slice(&without_marks(&request.message(at)));
            let is_pinned = is_compaction(request.kind(), &bytes);
            let seq = self.session.append(RawEvent::new(bytes));
            self.bytes += self.session.log().events().last().map_or(0, weight);
            if is_pinned {
                self.session.pin(seq);
            }
            self.brought.follow(&mut self.session, seq, self.window);
            self.chain.push(*link);
        }
    }

    /// Counts the parts of a request beside its messages, where they changed.
    pub fn beside(&mut self, request: &Request, offer: ToolOffer) {
        self.offer.recall |= offer.recall;
        self.offer.agent |= offer.agent;
        let ours = tools(request.kind(), self.offer);
        let parts = [&request.system, &request.tools];
        let parts = || {
            let own = parts.into_iter().flatten().map(|part| &part[..]);
            own.chain(ours.iter().map(|tool| &tool[..]))
        };
        let hash = parts().fold(Hash::ROOT, Hash::chain);
        if hash != self.beside {
            self.beside = hash;
            self.has_tools = request.has_tools();
            self.envelope = parts().map(Bytes::copy_from_slice).collect();
            self.session.set_envelope(parts());
        }
    }

    /// Folds by this policy from now on, for this window and by what this model accepts.
    pub fn follow(
        &mut self,
        reading: &RequestReading,
        request: &Request,
        told: WindowReport,
        budget: &Budget,
    ) {
        self.session.set_profile(reading.profile_for(request));
        self.session.set_cache_lifetime(reading.cache_lifetime);
        if let Some(hooks) = &reading.hooks {
            self.session.set_hooks(hooks.clone());
        }
        let (own, asked) = (&self.session.policy().trigger, &reading.policy.trigger);
        // One that an earlier version stored has a share of the window for a line that the window does not reach.
        let is_earlier = asked.floor_tokens == 0 && own.floored_share != asked.floored_share;
        let is_other = self.session.policy().name != reading.policy.name;
        if is_other || is_earlier || self.window != told.window {
            self.window = told.window;
            // A reserve that leaves nothing of the budget is said when a context is asked for.
            let _ = self.session.set_policy(reading.policy_for(request, told), budget);
        }
        if let Some(line) = reading.line(request, told, self.fixed()) {
            let room = told.window.saturating_sub(self.fixed());
            let before = self.session.policy().trigger.floor_tokens;
            // Work that is prepared for a fold is valid for one line, so the line does not move with every answer.
            if line.abs_diff(before) > room / LINE_MOVES {
                self.session.set_floor(line);
            }
        }
    }

    /// Tokens of what no fold can touch, as the provider counts: the parts beside the messages, and the
    /// messages before the model's first one.
    pub fn fixed(&self) -> u64 {
        let log = self.session.log();
        let is_model = |event: &Event| event.view.role == Role::Assistant;
        let leading = log.events().iter().position(is_model).unwrap_or(log.len());
        self.session.meter().calibrated(log.envelope_tokens() + log.tokens_in(0..leading))
    }

    /// Whether what no fold can touch is nearly all of a window.
    pub fn is_nearly_fixed(&self, window: u64) -> bool {
        self.fixed().saturating_mul(100) >= window.saturating_mul(FIXED_PERCENT)
    }

    /// Whether a store should have it.
    pub fn is_kept(&self) -> bool {
        self.is_accepted && (self.course != Course::Lone || self.is_bound_to_a_fold())
    }

    /// Whether reasoning of the model may be bound to a fold of its own: nobody else could make that again.
    fn is_bound_to_a_fold(&self) -> bool {
        let session = &self.session;
        let is_free = session.log().profile().reasoning == ReasoningBinding::Free;
        session.folds().len() > self.inherited && !(is_free && session.void().is_none())
    }

    /// Whether a request that has a part of this conversation asks about it, and is no turn of it. Such a request
    /// offers no tools, and its answer has a form of its own or another model gives it.
    pub fn is_asked_about_by(&self, request: &Request) -> bool {
        let is_another = || !request.has_tools() && request.model.as_ref() != Some(&self.model);
        let is_named = !self.model.is_empty() && request.model.is_some();
        self.has_tools && (request.asks_for_a_value() || (is_named && is_another()))
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    pub fn chain(&self) -> &[Hash] {
        &self.chain
    }

    pub fn envelope(&self) -> &[Bytes] {
        &self.envelope
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An id for a new conversation; `end` names the whole history that it has.
pub(super) fn id_of_new(end: Hash, who: &RequestSender, now: Millis) -> String {
    id(&[who.scope.as_bytes(), &now.to_be_bytes(), &end.0], who)
}

/// An id that nobody else has: of what makes this conversation another one.
fn id(parts: &[&[u8]], who: &RequestSender) -> String {
    let hint = who.hint.as_deref().unwrap_or_default();
    let hash = parts.iter().fold(Hash::ROOT.chain(hint.as_bytes()), |hash, part| hash.chain(part));
    format!("proxy-{}", &hash.to_hex()[..16])
}
