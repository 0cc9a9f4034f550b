//! One conversation of a client: its session, and the chain by which its requests are found.

use bytes::Bytes;
use midfold::RequestFault;
use midfold_core::budget::Budget;
use midfold_core::engine::{Session, SessionState};
use midfold_core::log::{Event, EventLog};
use midfold_core::meter::Meter;
use midfold_core::profile::ReasoningBinding;
use midfold_core::project::Context;
use midfold_core::{Hash, RawEvent, Role};
use midfold_formats::DialectKind;
use midfold_formats::recall_tool::{ToolOffer, tools};
use midfold_formats::request::{Request, without_marks};
use midfold_formats::vendor::is_compaction;
use midfold_store::{Millis, SessionMeta, StoreError};

use super::calls::CallLedger;
use super::fold_marks::FoldMarks;
use super::last_step::LastStep;
use super::learned_windows::{WindowOwner, WindowReport};
use super::newest::DenseMessage;
use super::opened::OpenedConversation;
use super::recalled::RecalledCalls;
use super::rules::RequestReading;
use super::sender::RequestSender;
use super::shown_rules::ShownRules;
use super::stored_parts::StoredParts;
use super::truncation::CountTrail;

/// How far a conversation has come. A store keeps a conversation or not because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It has begun with one request.
    New,
    /// It began as a branch of another one, or its sender's conversation before it was never continued. Clients that
    /// change an early message with each request leave such a conversation behind each time, so as a rule it is not
    /// stored.
    Lone,
    /// A later request added messages to it.
    GoesOn,
}

/// One conversation.
pub(super) struct ProxyConversation {
    pub session: Session,
    /// The links of its chain: each names all messages up to one.
    chain: Vec<Hash>,
    /// The client's name for the session, if it sends one.
    hint: Option<String>,
    /// Whether the conversation went on under that name. Some clients and gateways send another name with each request,
    /// and that names no session.
    is_named: bool,
    /// The program that began it.
    pub client: Option<String>,
    /// The model that its first request asked for; empty if it named none.
    pub model: String,
    /// The calls that were sent, with their cost.
    pub calls: CallLedger,
    /// Whose conversation it is; `None` if the server asks for no keys.
    owner: Option<String>,
    /// The system prompt and the tools, and their hash. They are counted again only when the hash changes, because that
    /// costs as much as counting a message.
    envelope: Vec<Bytes>,
    beside: Hash,
    /// The budget that its last request had to fit.
    pub budget: Budget,
    /// The provider's counts of its prompts, and whose window they tell of.
    pub counts: Option<(WindowOwner, CountTrail)>,
    /// The window that its policy was made for.
    window: u64,
    /// The window that was stated for its last request: by the user, the request or the server.
    pub stated_window: Option<u64>,
    /// Its requests have tools of the client's own.
    has_tools: bool,
    /// The tools of midfold that its requests may carry. They are counted from the start, before they are added, so
    /// that the first fold leaves room for them.
    offer: ToolOffer,
    brought: RecalledCalls,
    /// The last step, while it is not in the log.
    pub last_step: Option<LastStep>,
    /// A message that has far more tokens than midfold counts, by a refusal.
    pub dense: Option<DenseMessage>,
    /// What the fold in use printed.
    pub marks: FoldMarks,
    /// The rules that the model's refusals have shown.
    pub shown: ShownRules,
    /// A provider has accepted a request of it.
    pub is_accepted: bool,
    pub course: Course,
    /// How many folds it has from the conversation that it is a branch of.
    inherited: usize,
    /// The conversation that it is a fork of, and the number of messages that both share.
    pub parent: Option<(String, u64)>,
    /// The parts of it that the store already has.
    pub saved: StoredParts,
    /// About how many bytes of memory its messages take.
    bytes: usize,
    /// The tokens of its largest request, as the client was shown them.
    pub tokens_before: u64,
}

/// Bytes of memory for a conversation without messages: a session with its policy, and tables.
const CONVERSATION: usize = 16 << 10;
/// Bytes of memory for a message beside its text: its view, hashes and keys, what a recap may say of it, and its share of
/// folds and contexts. The test `held` compares it with the memory of the process.
const HELD_MESSAGE: usize = 6 << 10;
/// Bytes of memory for each block of a message beyond the eighth. The first eight are included in the cost of a
/// message.
const BLOCK: usize = 256;
/// If system prompt, tools and opening take more of the window than this share, a fold would be due at every step.
const FIXED_PERCENT: u64 = 90;
/// The threshold moves only when the provider's counts move it by more than one part in this many of the tokens that a
/// fold can change.
const LINE_MOVES: u64 = 16;

/// About how many bytes of memory a message takes: its text, and the tables about it.
fn weight(event: &Event) -> usize {
    event.bytes.len() + HELD_MESSAGE + BLOCK * event.view.blocks.len().saturating_sub(8)
}

impl ProxyConversation {
    /// Makes the conversation that a request begins.
    pub fn new(
        request: &Request,
        id: String,
        reading: &RequestReading,
        who: &RequestSender,
    ) -> Self {
        let report = WindowReport { window: reading.window, counts_reply: false };
        let RequestReading { kind, profile, counter, .. } = reading;
        let log = EventLog::new(kind.shared(), *profile, counter.clone());
        let log = if reading.is_replay { log } else { log.append_only() };
        let meter = Meter::first(counter.name());
        let policy = reading.policy_for(request, report, reading.fixed(request));
        let session =
            Session::over(&id, log, policy, meter).with_answers_behind().with_turns_kept();
        let hint = who.hint.clone();
        Self {
            session,
            chain: Vec::new(),
            hint,
            is_named: false,
            client: who.client.clone(),
            model: request.model.clone().unwrap_or_default(),
            calls: CallLedger::default(),
            owner: Some(who.scope.clone()).filter(|scope| !scope.is_empty()),
            envelope: Vec::new(),
            beside: Hash::ROOT,
            budget: Budget::new(reading.window),
            counts: None,
            window: reading.window,
            stated_window: reading.stated_window(),
            has_tools: false,
            offer: ToolOffer::default(),
            brought: RecalledCalls::default(),
            last_step: None,
            dense: None,
            marks: FoldMarks::default(),
            shown: ShownRules::default(),
            is_accepted: false,
            course: Course::New,
            inherited: 0,
            parent: None,
            saved: StoredParts::default(),
            bytes: CONVERSATION,
            tokens_before: 0,
        }
    }

    /// Makes a conversation from a session that was read from a store.
    pub fn from_store(
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
            is_named: false,
            client: meta.client.clone(),
            model: meta.model.clone().unwrap_or_default(),
            calls,
            owner: meta.owner.clone(),
            envelope: Vec::new(),
            // Not known yet: the next request brings these parts, and they are counted then.
            beside: Hash::ROOT,
            budget: meta.budget.clone(),
            counts: None,
            window: meta.budget.window,
            stated_window: Some(meta.budget.window),
            // The next request brings these two as well.
            has_tools: false,
            offer: ToolOffer::default(),
            brought: RecalledCalls::of(&session),
            last_step: None,
            dense: None,
            marks: FoldMarks::default(),
            shown: ShownRules::default(),
            is_accepted: true,
            course: Course::GoesOn,
            inherited: 0,
            parent: meta.parent.clone(),
            saved,
            session,
            tokens_before: 0,
        }
    }

    /// Whether a request with `length` messages that shares the first `at` of them simply continues this conversation.
    /// It does if it has all of its messages, and if the client does not say that it is another session. A name that
    /// came once says that only if the request adds no message, as the other one of two equal sessions does.
    pub fn goes_on_at(&self, at: usize, length: usize, who: &RequestSender) -> bool {
        let is_other = self.hint.is_some() && who.hint.is_some() && self.hint != who.hint;
        at == self.chain.len() && !(is_other && (self.is_named || at == length))
    }

    /// Takes over the pins and the agent's wishes from a newer state in the store.
    pub fn take_wishes(&mut self, state: String, version: u64) -> Result<(), StoreError> {
        if state == self.saved.parts.state || state.is_empty() {
            return Ok(());
        }
        let known: SessionState = match self.saved.parts.state.as_str() {
            "" => SessionState::default(),
            known => serde_json::from_str(known)?,
        };
        let own = self.session.state();
        // Compared with the state that this process last read or wrote: only wishes that no store has yet may outlive
        // the newer state.
        let has_unkept = (&own.pins, &own.agent) != (&known.pins, &known.agent);
        let SessionState { pins, agent, .. } = serde_json::from_str(&state)?;
        self.session.take_wishes(pins, agent, has_unkept);
        self.brought = RecalledCalls::of(&self.session);
        (self.saved.parts.state, self.saved.parts.version) = (state, version);
        Ok(())
    }

    /// The id for a fork that shares the first `at` messages. `end` is the last link of the history that the fork has.
    pub fn id_of_fork(&self, at: usize, end: Hash, who: &RequestSender, now: Millis) -> String {
        let parent = self.session.id().as_bytes();
        id(&[parent, &at.to_be_bytes(), &now.to_be_bytes(), &end.0], who)
    }

    /// Makes a fork with the first `at` messages, and the folds over them.
    pub fn fork(&self, at: usize, id: String, who: &RequestSender) -> Self {
        let session = self.session.fork(&id, at);
        let (inherited, brought) = (session.folds().len(), RecalledCalls::of(&session));
        let bytes = CONVERSATION + session.log().events().iter().map(weight).sum::<usize>();
        let hint = who.hint.clone().or_else(|| self.hint.clone());
        Self {
            session,
            chain: self.chain[..at].to_vec(),
            is_named: self.is_named && hint == self.hint,
            hint,
            client: who.client.clone(),
            model: self.model.clone(),
            calls: CallLedger::default(),
            owner: self.owner.clone(),
            envelope: self.envelope.clone(),
            beside: self.beside,
            budget: self.budget.clone(),
            counts: self.counts.clone(),
            window: self.window,
            stated_window: self.stated_window,
            has_tools: self.has_tools,
            offer: self.offer,
            brought,
            last_step: None,
            dense: self.dense,
            marks: FoldMarks::default(),
            shown: ShownRules::default(),
            is_accepted: false,
            course: if at > 0 { Course::Lone } else { Course::New },
            inherited,
            parent: (at > 0).then(|| (self.session.id().to_owned(), at as u64)),
            saved: StoredParts::default(),
            bytes,
            tokens_before: 0,
        }
    }

    /// Takes over the client's name for the session from a request that goes on with it. `adds` says that the request
    /// has a new message.
    pub fn take_hint(&mut self, who: &RequestSender, adds: bool) {
        if who.hint.is_some() && who.hint != self.hint {
            self.hint.clone_from(&who.hint);
        } else {
            self.is_named |= adds && who.hint.is_some();
        }
    }

    /// Takes over what its opening cost, that it came under the same name, and with the id that was promised for it then.
    pub fn take_promise(&mut self, opened: &OpenedConversation) {
        self.session.take_spent(opened.spent);
        self.tokens_before = opened.before;
        self.is_named = self.hint.is_some();
        self.course = Course::New;
    }

    /// Appends the messages of a request that are not in the conversation yet.
    pub fn extend(&mut self, request: &Request, links: &[Hash]) {
        let from = self.chain.len();
        for (at, link) in (from..).zip(links) {
            self.push(request.kind(), &request.message(at), *link);
        }
        self.session.drop_foreign_notes();
    }

    /// Appends a message whose link in the chain is this one.
    pub fn push(&mut self, kind: DialectKind, message: &Bytes, link: Hash) {
        // Copied, because a slice would keep the whole request body in memory.
        let bytes = Bytes::copy_from_slice(&without_marks(message));
        // Only the vendor can read what its own compaction holds, so no recap could take its place.
        let is_pinned = is_compaction(kind, &bytes);
        let seq = self.session.append(RawEvent::new(bytes));
        self.bytes += self.session.log().events().last().map_or(0, weight);
        if is_pinned {
            self.session.pin(seq);
        }
        self.brought.follow(&mut self.session, seq, self.window);
        self.chain.push(link);
        self.last_step = None;
    }

    /// Counts the system prompt and the tools of a request, if they changed.
    pub fn count_envelope(&mut self, request: &Request, offer: ToolOffer) {
        self.offer.recall |= offer.recall;
        self.offer.agent |= offer.agent;
        let offered_tools = tools(request.kind(), self.offer);
        let parts = [&request.system, &request.tools];
        let parts = || {
            let own = parts.into_iter().flatten().map(|part| &part[..]);
            own.chain(offered_tools.iter().map(|tool| &tool[..]))
        };
        let hash = parts().fold(Hash::ROOT, Hash::chain);
        if hash != self.beside {
            self.beside = hash;
            self.has_tools = request.has_tools();
            self.envelope = parts().map(Bytes::copy_from_slice).collect();
            self.session.set_envelope(parts());
        }
    }

    /// Sets the rules that refusals have shown, from this request on.
    pub fn keep_to_shown(&mut self) {
        self.session.set_profile(self.shown.over(*self.session.log().profile()));
    }

    /// Sets the policy for this window and the model's rules, from this request on.
    pub fn follow(
        &mut self,
        reading: &RequestReading,
        request: &Request,
        report: WindowReport,
        budget: &Budget,
    ) {
        self.session.set_profile(self.shown.over(reading.profile_for(request)));
        self.session.set_cache_lifetime(reading.cache_lifetime);
        if let Some(hooks) = &reading.hooks {
            self.session.set_hooks(hooks.clone());
        }
        let fixed = self.fixed_tokens();
        let room = report.window.saturating_sub(fixed);
        let (own, wanted) = (self.session.policy(), reading.policy_in(room));
        let is_other = own.name != wanted.name || own.tail.cuts_results() != reading.cuts_results;
        let (own, wanted) = (&own.trigger, &wanted.trigger);
        // A policy that an earlier version stored has other trigger settings under the same name: it is replaced, too.
        let is_earlier = wanted.floor_tokens == 0 && own.floored_share != wanted.floored_share;
        if is_other || is_earlier || self.window != report.window {
            self.window = report.window;
            // A reserve that leaves nothing of the budget is reported when the context is requested.
            let _ = self.session.set_policy(reading.policy_for(request, report, fixed), budget);
        }
        if let Some(line) = reading.line(request, report, fixed) {
            let before = self.session.policy().trigger.floor_tokens;
            // A narration that is prepared for the next fold is valid for one threshold, so small changes are ignored.
            if line.abs_diff(before) > room / LINE_MOVES {
                self.session.set_floor(line);
            }
        }
    }

    /// Forgets what counts taught the meter: some of them were counts of a cut prompt.
    pub fn forget_counts(&mut self) {
        let meter = Meter::first(self.session.log().counter().name());
        self.session.forget_counts(meter);
    }

    /// The tokens that no fold can remove, in the provider's count: system prompt, tools, and the messages before the
    /// model's first one.
    pub fn fixed_tokens(&self) -> u64 {
        let log = self.session.log();
        let is_model = |event: &Event| event.view.role == Role::Assistant;
        let leading = log.events().iter().position(is_model).unwrap_or(log.len());
        // Without the unseen tokens of the last count: a fold may remove the dense text that they are of.
        self.session.meter().ratio.of(log.envelope_tokens() + log.tokens_in(0..leading))
    }

    /// The context to send, and why a fold that is due cannot be made. `None` if the history is sent as it is.
    pub fn context(
        &mut self,
        budget: &Budget,
        report: WindowReport,
        is_aside: bool,
        now: Millis,
    ) -> (Option<Context>, Option<RequestFault>) {
        let is_fixed = self.is_nearly_fixed(report.window);
        let session = &mut self.session;
        let fits = session.meter().upper(session.log().tokens()) <= budget.tokens();
        // If nearly all of the window is fixed, a fold would be due at every step. An active fold is kept in use all
        // the same: without it the request would grow again.
        if is_fixed && session.active().is_none() {
            return (None, (!fits).then_some(RequestFault::Fixed));
        }
        // The client replaces its history itself, or asks about it: a fold would disturb that.
        if is_aside && fits {
            return (None, None);
        }
        match session.context(budget, now) {
            Ok(context) => (Some(context), None),
            // No smaller valid context exists. The request is sent all the same, and the provider decides.
            Err(_) => (Some(session.view()), Some(RequestFault::Floor)),
        }
    }

    /// Whether the tokens that no fold can remove take nearly all of a window.
    pub fn is_nearly_fixed(&self, window: u64) -> bool {
        self.fixed_tokens().saturating_mul(100) >= window.saturating_mul(FIXED_PERCENT)
    }

    /// Whether the conversation is worth storing.
    pub fn is_kept(&self) -> bool {
        self.is_accepted && self.is_announced()
    }

    /// Whether the client hears of the session and the fold: only if they are stored once a provider accepts the
    /// request.
    pub fn is_announced(&self) -> bool {
        self.course != Course::Lone || self.is_bound_to_a_fold()
    }

    /// Whether the conversation has a fold of its own that the model's reasoning may depend on. No other process could
    /// make that fold again.
    fn is_bound_to_a_fold(&self) -> bool {
        let session = &self.session;
        let is_free = session.log().profile().reasoning == ReasoningBinding::Free;
        session.folds().len() > self.inherited && !(is_free && session.void().is_none())
    }

    /// Whether a request with messages of this conversation asks a question about it, and is not its next turn. Such a
    /// request has no tools of its own, and asks for a fixed format or another model.
    pub fn is_asked_about_by(&self, request: &Request) -> bool {
        let is_another = || !request.has_tools() && request.model.as_ref() != Some(&self.model);
        let is_named = !self.model.is_empty() && request.model.is_some();
        self.has_tools && (request.asks_for_a_value() || (is_named && is_another()))
    }

    /// The client's name for the session, and whether the conversation went on under it.
    pub fn hint(&self) -> Option<(&str, bool)> {
        Some((self.hint.as_deref()?, self.is_named))
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

/// The id for a new conversation. `end` is the last link of its history.
pub(super) fn id_of_new(end: Hash, who: &RequestSender, now: Millis) -> String {
    id(&[who.scope.as_bytes(), &now.to_be_bytes(), &end.0], who)
}

/// A unique id: a hash of these parts and of the client's name for the session.
fn id(parts: &[&[u8]], who: &RequestSender) -> String {
    let hint = who.hint.as_deref().unwrap_or_default();
    let hash = parts.iter().fold(Hash::ROOT.chain(hint.as_bytes()), |hash, part| hash.chain(part));
    format!("proxy-{}", &hash.to_hex()[..16])
}
