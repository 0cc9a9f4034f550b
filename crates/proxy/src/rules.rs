//! The rules by which requests are read and folded.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use midfold_core::hooks::FoldHooks;
use midfold_core::log::measure;
use midfold_core::policy::Policy;
use midfold_core::profile::ReasoningBinding;
use midfold_core::{Counter, ProviderProfile, Role, TextKind};
use midfold_formats::recall_tool::ToolOffer;
use midfold_formats::request::Request;
use midfold_formats::{DialectKind, profile};
use midfold_store::Millis;

use super::learned_windows::{WindowOwner, WindowReport};
use super::prefer::CompactionPreference;
use super::seal::Seal;
use super::sender::RequestSender;
use midfold::RequestFault;
use midfold::{Setup, WindowSource};

/// The bytes of messages that are held in memory unless a caller sets another limit.
const MEMORY: usize = 256 << 20;

/// A client may reserve the window, less the fixed tokens, divided by this for its answer. Many clients ask for more
/// than the window has (measured: Hermes 65,536, Claude Code and Qwen 32,000 at any window). They only mean that the
/// answer should not be cut, and the room that the trigger leaves free is enough for most answers.
const MOST_RESERVED: u64 = 16;

/// If a provider counts the requested answer against the window, at least the window divided by this stays for the
/// prompt.
const MOST_FOR_PROMPT: u64 = 4;

/// The least room for an answer, in tokens, if the request reserves less. A shorter answer is of no use.
pub(super) const LEAST_REPLY: u64 = 1_024;

/// Seconds for which a provider keeps a prompt in its cache after its last use: five minutes for Anthropic, at least
/// five (up to ten) for OpenAI.
const CACHE_SECONDS: u64 = 300;

/// The window that Anthropic's header `context-1m` asks for, in tokens.
const MILLION: u64 = 1_000_000;

/// The least room, in tokens, for the policy of requests whose model has the recall tool. `lean` leaves 0.18 of the room
/// between two folds, and three steps of an agent should fit there: a step has 2,000 tokens, seldom more.
const LEAST_ROOM_WITH_RECALL: u64 = 32_000;

/// The rules by which requests are read and folded.
pub struct ProxyRules {
    setup: Setup,
    policy: Arc<Policy>,
    /// The policy of requests whose model gets the recall tool; `None` if it is the same.
    policy_with_recall: Option<Arc<Policy>>,
    /// Presets that requests have asked for, by name.
    presets: HashMap<String, Arc<Policy>>,
    pub(super) memory: usize,
    pub(super) is_stored: bool,
    pub(super) keeps_steps: bool,
    is_narrated: bool,
    pub(super) seal: Option<Seal>,
    pub(super) prefer: CompactionPreference,
    pub(super) offer: ToolOffer,
    cache_seconds: u64,
    hooks: Option<Arc<dyn FoldHooks>>,
}

/// Lowers the number of newest messages that a policy keeps by one, because the newest message of a request is behind
/// the history and always stays.
fn with_newest_behind(mut policy: Policy) -> Arc<Policy> {
    policy.tail.min_messages = policy.tail.min_messages.saturating_sub(1).max(1);
    Arc::new(policy)
}

/// The settings that one request is read with.
#[derive(Clone)]
pub(super) struct RequestReading {
    pub kind: DialectKind,
    pub profile: ProviderProfile,
    pub counter: Arc<dyn Counter>,
    pub window: u64,
    /// The source of the window.
    pub window_from: WindowSource,
    policy: Arc<Policy>,
    /// The policy in a large window; `None` if it is the same.
    policy_in_large: Option<Arc<Policy>>,
    /// Whether the newest results are shown cut where nothing smaller fits the window.
    pub cuts_results: bool,
    /// The request has a compaction block of midfold's, so recaps in it are recognised as midfold's own.
    pub is_replay: bool,
    /// What the client wants the recap to keep; it says so in each request.
    pub keep: Option<String>,
    /// The tools of midfold that the request may carry.
    pub offer: ToolOffer,
    /// The host's hooks, which are called at each fold.
    pub hooks: Option<Arc<dyn FoldHooks>>,
    /// How long the provider keeps the prompt in its cache, in milliseconds; `None` if a pause is no reason for a fold.
    pub cache_lifetime: Option<Millis>,
}

impl RequestReading {
    /// The policy for a window of which `room` tokens can be folded.
    pub fn policy_in(&self, room: u64) -> &Policy {
        let large = self.policy_in_large.as_ref().filter(|_| room >= LEAST_ROOM_WITH_RECALL);
        large.unwrap_or(&self.policy)
    }

    /// The policy for a conversation of which `fixed` tokens cannot be folded. Its threshold is that of
    /// [`RequestReading::line`].
    pub fn policy_for(&self, request: &Request, report: WindowReport, fixed: u64) -> Policy {
        let mut policy = self.policy_in(report.window.saturating_sub(fixed)).clone();
        if self.cuts_results {
            policy.tail.cut_results = Some(true);
        }
        if let Some(line) = self.line(request, report, fixed) {
            policy.trigger.floor_tokens = line;
        }
        policy
    }

    /// The threshold of a conversation, in tokens of the provider, if `fixed` of them cannot be folded. `None` if the
    /// policy sets it in tokens itself. A client's system prompt, tools and opening come with every request and are
    /// never folded (13,000 tokens with Codex). The policy's share is therefore taken of the rest; otherwise a small
    /// window would be folded at every step.
    pub fn line(&self, request: &Request, report: WindowReport, fixed: u64) -> Option<u64> {
        let trigger = &self.policy_in(report.window.saturating_sub(fixed)).trigger;
        // If the provider does not count the requested answer, the room that the share leaves free is enough for the
        // answer.
        let reply = if report.counts_reply { reserved(request, report, fixed) } else { 0 };
        let room = report.window.saturating_sub(reply).saturating_sub(fixed);
        (trigger.floor_tokens == 0).then(|| fixed + trigger.threshold.of(room))
    }

    /// The window that the user, the request or the server states; `None` if it is only assumed.
    pub fn stated_window(&self) -> Option<u64> {
        (!self.window_from.is_guess()).then_some(self.window)
    }

    /// Whose window a refusal of this request tells of.
    pub fn window_owner(&self, who: &RequestSender, kind: DialectKind, model: &str) -> WindowOwner {
        WindowOwner::new((&who.scope, &who.upstream), kind, model, self.stated_window())
    }

    /// The source of the window that a request has to fit.
    pub fn window_source(&self, report: WindowReport) -> WindowSource {
        match report.window < self.window {
            true => WindowSource::Learned,
            false => self.window_from.clone(),
        }
    }

    /// Tokens of the request that no fold can remove: its system prompt, its tools, and the messages before the model's
    /// first one.
    pub fn fixed(&self, request: &Request) -> u64 {
        self.beside(request) + self.leading(request)
    }

    /// Tokens of the request's system prompt and tools.
    pub fn beside(&self, request: &Request) -> u64 {
        let json = |part: &Bytes| {
            let text = String::from_utf8_lossy(part);
            u64::from(self.counter.count(&text, TextKind::Json))
        };
        [&request.system, &request.tools].into_iter().flatten().map(json).sum()
    }

    /// The provider's rules for this request. Only if the model is asked for reasoning does each of its steps have to
    /// begin with reasoning.
    pub fn profile_for(&self, request: &Request) -> ProviderProfile {
        let mut profile = self.profile;
        if !request.asks_reasoning {
            profile.reasoning = profile.reasoning.min(ReasoningBinding::Prefix);
        }
        profile
    }

    /// Tokens of the messages before the model's first one.
    fn leading(&self, request: &Request) -> u64 {
        let dialect = self.kind.dialect();
        let mut tokens = 0;
        for message in request.messages() {
            let view = dialect.view(&message);
            if view.role == Role::Assistant {
                break;
            }
            tokens += u64::from(measure(&*self.counter, &message, &view).total);
        }
        tokens
    }
}

/// Tokens of the window that a request reserves for its answer, if `fixed` tokens cannot be folded.
pub(super) fn reserved(request: &Request, report: WindowReport, fixed: u64) -> u64 {
    let max_output = request.max_output;
    if report.counts_reply {
        // The provider counts prompt and answer together, so all of the requested tokens have to be free.
        return max_output.unwrap_or(0).min(report.window - report.window / MOST_FOR_PROMPT);
    }
    max_output.unwrap_or(0).min(report.window.saturating_sub(fixed) / MOST_RESERVED)
}

impl ProxyRules {
    /// Rules with this policy; everything else follows from the requests.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let policy = with_newest_behind(policy);
        Self {
            setup: Setup::new(),
            policy,
            policy_with_recall: None,
            presets: HashMap::new(),
            memory: MEMORY,
            is_stored: false,
            keeps_steps: false,
            is_narrated: false,
            seal: None,
            prefer: CompactionPreference::default(),
            offer: ToolOffer::default(),
            cache_seconds: CACHE_SECONDS,
            hooks: None,
        }
    }

    /// Sets the rules that have names: window, counter, profile, model.
    #[must_use]
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = setup;
        self
    }

    /// Sets the window of every model, in tokens.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.setup = self.setup.window(tokens);
        self
    }

    /// Sets the bytes of messages that are held in memory. Above that, the conversation that was idle for longest is
    /// dropped.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Says that conversations are written to a store ([`Proxy::save`](super::Proxy::save)). They wait in memory for
    /// that, even when they are dropped.
    #[must_use]
    pub fn stored(mut self) -> Self {
        self.is_stored = true;
        self
    }

    /// Says that the clients end before the proxy does, as with `midfold run`. What they sent last and its answer are kept
    /// then, and [`Proxy::append_last_steps`](super::Proxy::append_last_steps) stores them.
    #[must_use]
    pub fn with_last_steps(mut self) -> Self {
        self.keeps_steps = true;
        self
    }

    /// Says that a model narrates in the background ([`NarrationTarget`](super::NarrationTarget)), which turns
    /// narration on in each policy.
    #[must_use]
    pub fn narrated(mut self) -> Self {
        self.is_narrated = true;
        for policy in [&mut self.policy].into_iter().chain(&mut self.policy_with_recall) {
            Arc::make_mut(policy).narration.on = true;
        }
        self
    }

    /// Sets the seal for compactions that clients carry with them. Without it, requests for a vendor's compaction pass
    /// unchanged.
    #[must_use]
    pub fn sealed(mut self, seal: Seal) -> Self {
        self.seal = Some(seal);
        self
    }

    /// Sets who carries out compactions that clients ask their vendors for.
    #[must_use]
    pub fn prefer(mut self, prefer: CompactionPreference) -> Self {
        self.prefer = prefer;
        self
    }

    /// Gives the model a tool that returns folded messages. The proxy answers its calls without the client
    /// ([`Proxy::recalling`](super::Proxy::recalling)).
    #[must_use]
    pub fn recall(mut self, recalls: bool) -> Self {
        self.offer.recall = recalls;
        self
    }

    /// Sets another policy for requests that ask for no preset and whose model gets the recall tool: what an agent can
    /// look up need not be in front of it. In windows with little room the first policy holds all the same.
    #[must_use]
    pub fn policy_with_recall(mut self, policy: Policy) -> Self {
        let mut policy = with_newest_behind(policy);
        Arc::make_mut(&mut policy).narration.on |= self.is_narrated;
        self.policy_with_recall = Some(policy);
        self
    }

    /// Gives an agent's model tools for its own conversation: fold it now, pin a message, keep a note. The proxy
    /// answers their calls without the client, too.
    #[must_use]
    pub fn agent_tools(mut self, offers: bool) -> Self {
        self.offer.agent = offers;
        self
    }

    /// Sets the hooks of a host, which see each fold and may put texts back behind it.
    #[must_use]
    pub fn hooked(mut self, hooks: Option<Arc<dyn FoldHooks>>) -> Self {
        self.hooks = hooks;
        self
    }

    /// The hooks of the host; `None` if there are none.
    #[must_use]
    pub fn hooks(&self) -> Option<Arc<dyn FoldHooks>> {
        self.hooks.clone()
    }

    /// Sets how long providers keep a prompt in their cache, in seconds (300 by default); a request may ask for longer.
    /// After a longer pause, a context above the buffer line is folded before it is sent, because no cached prompt is
    /// lost by that. With 0, no pause is a reason for a fold.
    #[must_use]
    pub fn cache_lifetime(mut self, seconds: u64) -> Self {
        self.cache_seconds = seconds;
        self
    }

    /// The cache lifetime for one request, in milliseconds; `None` if it is 0.
    fn lifetime_for(&self, request: &Request) -> Option<Millis> {
        let own = Some(self.cache_seconds).filter(|own| *own > 0)?;
        Some(own.max(request.cache_lifetime().unwrap_or(0)).saturating_mul(1_000))
    }

    /// The policy of requests that ask for no preset and have the tools that requests usually have.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.policy_with_recall.as_ref().filter(|_| self.offer.recall).unwrap_or(&self.policy)
    }

    /// The policy of such requests where fewer than 32,000 tokens can be folded.
    #[must_use]
    pub fn policy_in_little_room(&self) -> &Policy {
        &self.policy
    }

    /// Gives a request the policy of those whose model has the recall tool, unless it asks for a preset.
    pub(super) fn let_look_up(&self, reading: &mut RequestReading, who: &RequestSender) {
        if let Some(policy) = self.policy_with_recall.as_ref().filter(|_| who.preset.is_none()) {
            reading.policy_in_large = Some(policy.clone());
        }
    }

    /// The windows in tokens that were set, by patterns of models' names; `*` is every model.
    #[must_use]
    pub fn said_windows(&self) -> Vec<(String, u64)> {
        self.setup.said_windows()
    }

    /// The window of a model in tokens, and its source. The window that the request asks for (`requested`) is first,
    /// unless a smaller one is set here. Next are the one that is set here, the one that the server reports, and the one
    /// that is known for the model's name.
    #[must_use]
    pub fn window_for(
        &self,
        model: &str,
        requested: Option<u64>,
        who: &RequestSender,
    ) -> (u64, WindowSource) {
        let stated = self.setup.window_for((!model.is_empty()).then(|| model.to_owned()));
        let is_less = |requested: &u64| stated.1 != WindowSource::Given || *requested < stated.0;
        if let Some(requested) = requested.filter(is_less) {
            return (requested, WindowSource::Request);
        }
        match (stated, who.window) {
            ((window, WindowSource::Given), _) => (window, WindowSource::Given),
            (_, Some(window)) => (window, WindowSource::Server),
            ((window, from), None) if who.asks_for_million => (window.max(MILLION), from),
            (stated, None) => stated,
        }
    }

    /// The settings for a request. The error names a preset that does not exist.
    pub(super) fn reading(
        &mut self,
        request: &Request,
        model: &str,
        who: &RequestSender,
    ) -> Result<RequestReading, RequestFault> {
        let kind = request.kind();
        let named = (!model.is_empty()).then_some(model);
        // The configured profile belongs to one wire format. A request in another format uses that format's own
        // profile.
        let own = || profile::of_model(kind, model);
        let profile = self.setup.profile_for(kind, named).unwrap_or_else(|_| own());
        let counter = self.setup.counter_for(named);
        let (window, window_from) = self.window_for(model, request.window, who);
        let policy = self.policy_for(who.preset.as_deref())?;
        Ok(RequestReading {
            kind,
            profile,
            counter,
            window,
            window_from,
            // Windows of local models are small, and a session that no longer fits one would be stuck for ever.
            cuts_results: policy.tail.cut_results.unwrap_or(who.is_local),
            policy,
            policy_in_large: None,
            is_replay: false,
            keep: None,
            offer: ToolOffer::default(),
            hooks: self.hooks.clone(),
            cache_lifetime: self.lifetime_for(request),
        })
    }

    /// The policy with this preset's name, or the configured one.
    fn policy_for(&mut self, preset: Option<&str>) -> Result<Arc<Policy>, RequestFault> {
        let Some(name) = preset else { return Ok(self.policy.clone()) };
        if let Some(known) = self.presets.get(name) {
            return Ok(known.clone());
        }
        let mut policy =
            with_newest_behind(Policy::preset(name).map_err(|_| RequestFault::Preset)?);
        Arc::make_mut(&mut policy).narration.on |= self.is_narrated;
        self.presets.insert(name.to_owned(), policy.clone());
        Ok(policy)
    }
}
