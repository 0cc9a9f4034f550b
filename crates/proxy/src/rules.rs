//! By which rules requests are read and folded.

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

use super::learned_windows::WindowReport;
use super::prefer::CompactionPreference;
use super::seal::Seal;
use super::sender::RequestSender;
use midfold::RequestFault;
use midfold::{Setup, WindowSource};

/// Bytes of messages that are held in memory, where nothing else is said.
const MEMORY: usize = 256 << 20;

/// Share of what is not fixed of the window that a client may reserve for its reply. Many ask for more than
/// the window has (measured: Hermes 65,536, Claude Code and Qwen 32,000 at any window). They only mean that the
/// reply should not be cut, and the room that the trigger leaves free is enough for most replies.
const MOST_RESERVED: u64 = 16;

/// Where a provider counts what a request allows for its reply, prompts keep one part in so many of the
/// window, whatever that is.
const MOST_FOR_PROMPT: u64 = 4;

/// Room for a reply, where the request reserves less: less than this is no answer.
pub(super) const LEAST_REPLY: u64 = 1_024;

/// Seconds for which a provider keeps a prompt in its cache after it was used: Anthropic's five minutes, and the least
/// that OpenAI says (five to ten).
const CACHE_SECONDS: u64 = 300;

/// The window that Anthropic's header `context-1m` asks for, in tokens.
const MILLION: u64 = 1_000_000;

/// By which rules requests are read and folded.
pub struct ProxyRules {
    setup: Setup,
    policy: Arc<Policy>,
    /// Presets that requests asked for.
    presets: HashMap<String, Arc<Policy>>,
    pub(super) memory: usize,
    pub(super) is_stored: bool,
    is_narrated: bool,
    pub(super) seal: Option<Seal>,
    pub(super) prefer: CompactionPreference,
    pub(super) offer: ToolOffer,
    cache_seconds: u64,
    hooks: Option<Arc<dyn FoldHooks>>,
}

/// The newest message of a request is behind the history, and is one of those that a policy keeps.
fn with_newest_behind(mut policy: Policy) -> Arc<Policy> {
    policy.tail.min_messages = policy.tail.min_messages.saturating_sub(1).max(1);
    Arc::new(policy)
}

/// How one request is read.
#[derive(Clone)]
pub(super) struct RequestReading {
    pub kind: DialectKind,
    pub profile: ProviderProfile,
    pub counter: Arc<dyn Counter>,
    pub window: u64,
    /// Where that is from.
    pub window_from: WindowSource,
    pub policy: Arc<Policy>,
    /// The request is what a compaction of ours left: recaps of ours are read back as that.
    pub is_replay: bool,
    /// What the client wants kept of what is folded, as it says with each request.
    pub keep: Option<String>,
    /// The tools of ours that the request may be given.
    pub offer: ToolOffer,
    /// What the host has to say of folds.
    pub hooks: Option<Arc<dyn FoldHooks>>,
    /// How long the provider keeps the prompt in its cache; none where no pause means anything.
    pub cache_lifetime: Option<Millis>,
}

impl RequestReading {
    /// The policy for the conversation of a request, which begins with this: folding starts at the line of
    /// [`RequestReading::line`].
    pub fn policy_for(&self, request: &Request, told: WindowReport) -> Policy {
        let mut policy = Policy::clone(&self.policy);
        let fixed = self.beside(request) + self.leading(request);
        if let Some(line) = self.line(request, told, fixed) {
            policy.trigger.floor_tokens = line;
        }
        policy
    }

    /// Where folding starts, of a conversation of which so many of the provider's tokens are fixed; none where
    /// the policy says it itself. A client's own prompt (system, tools, what comes first) travels with every
    /// request and is never folded: with Codex it is 13,000 tokens. The share at which folding starts is
    /// meant of the rest, or a small window would be folded at every step.
    pub fn line(&self, request: &Request, told: WindowReport, fixed: u64) -> Option<u64> {
        let trigger = &self.policy.trigger;
        // What the share leaves free is room for a reply, too, where the provider does not count all of that.
        let reply = if told.counts_reply { reserved(request, told, fixed) } else { 0 };
        let room = told.window.saturating_sub(reply).saturating_sub(fixed);
        (trigger.floor_tokens == 0).then(|| fixed + trigger.threshold.of(room))
    }

    /// Where the window is from that a request has to fit.
    pub fn window_source(&self, told: WindowReport) -> WindowSource {
        match told.window < self.window {
            true => WindowSource::Learned,
            false => self.window_from.clone(),
        }
    }

    /// Tokens of the parts of a request beside its messages.
    pub fn beside(&self, request: &Request) -> u64 {
        let json = |part: &Bytes| {
            let text = String::from_utf8_lossy(part);
            u64::from(self.counter.count(&text, TextKind::Json))
        };
        [&request.system, &request.tools].into_iter().flatten().map(json).sum()
    }

    /// What the provider accepts of this request: only where the model is asked for reasoning does each of its
    /// rounds have to start with some.
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

/// Tokens of the window that a request reserves for its reply, where so many are fixed.
pub(super) fn reserved(request: &Request, told: WindowReport, fixed: u64) -> u64 {
    let asked = request.max_output;
    if told.counts_reply {
        // The provider takes prompt and reply together, and nothing less will do.
        return asked.unwrap_or(0).min(told.window - told.window / MOST_FOR_PROMPT);
    }
    asked.unwrap_or(0).min(told.window.saturating_sub(fixed) / MOST_RESERVED)
}

impl ProxyRules {
    /// Folds by this policy, and lets everything else follow from the requests.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let policy = with_newest_behind(policy);
        Self {
            setup: Setup::new(),
            policy,
            presets: HashMap::new(),
            memory: MEMORY,
            is_stored: false,
            is_narrated: false,
            seal: None,
            prefer: CompactionPreference::default(),
            offer: ToolOffer::default(),
            cache_seconds: CACHE_SECONDS,
            hooks: None,
        }
    }

    /// Sets the rules that are set by name: window, counter, profile, model.
    #[must_use]
    pub fn setup(mut self, setup: Setup) -> Self {
        self.setup = setup;
        self
    }

    /// The window of every model, in tokens.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.setup = self.setup.window(tokens);
        self
    }

    /// Bytes of messages that are held in memory before the conversation that was idle longest is let
    /// go.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// Conversations are written to a store ([`Proxy::save`](super::Proxy::save)): they wait for that,
    /// also those that are let go.
    #[must_use]
    pub fn stored(mut self) -> Self {
        self.is_stored = true;
        self
    }

    /// A model narrates in the background ([`NarrationTarget`](super::NarrationTarget)): each policy asks for it.
    #[must_use]
    pub fn narrated(mut self) -> Self {
        self.is_narrated = true;
        Arc::make_mut(&mut self.policy).narration.on = true;
        self
    }

    /// Seals what clients carry of compactions that they ask vendors for. Without it, such requests pass.
    #[must_use]
    pub fn sealed(mut self, seal: Seal) -> Self {
        self.seal = Some(seal);
        self
    }

    /// Who does the compaction that clients ask vendors for.
    #[must_use]
    pub fn prefer(mut self, prefer: CompactionPreference) -> Self {
        self.prefer = prefer;
        self
    }

    /// Gives the model a tool that brings back what was folded, and answers its calls unseen
    /// ([`Proxy::recalling`](super::Proxy::recalling)).
    #[must_use]
    pub fn recall(mut self, recalls: bool) -> Self {
        self.offer.recall = recalls;
        self
    }

    /// Gives the model of an agent tools by which it says what should become of its conversation: fold it now, keep a
    /// message whole, keep a line of its own. Their calls are answered unseen, too.
    #[must_use]
    pub fn agent_tools(mut self, offers: bool) -> Self {
        self.offer.agent = offers;
        self
    }

    /// Lets a host look at each fold, and put texts back with it.
    #[must_use]
    pub fn hooked(mut self, hooks: Option<Arc<dyn FoldHooks>>) -> Self {
        self.hooks = hooks;
        self
    }

    /// What the host has to say of folds.
    #[must_use]
    pub fn hooks(&self) -> Option<Arc<dyn FoldHooks>> {
        self.hooks.clone()
    }

    /// How long providers keep a prompt in their cache, in seconds (300 at the start); where a request asks for more,
    /// that counts. After a longer pause a context above the buffer line is folded before it is sent, because no cache
    /// is spoilt by that. 0: no pause means anything.
    #[must_use]
    pub fn cache_lifetime(mut self, seconds: u64) -> Self {
        self.cache_seconds = seconds;
        self
    }

    /// The same for one request.
    fn lifetime_for(&self, request: &Request) -> Option<Millis> {
        let own = Some(self.cache_seconds).filter(|own| *own > 0)?;
        Some(own.max(request.cache_lifetime().unwrap_or(0)).saturating_mul(1_000))
    }

    /// The policy where no request asks for a preset.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The windows that were said, in tokens, by patterns of models' names; `*` is every model.
    #[must_use]
    pub fn said_windows(&self) -> Vec<(String, u64)> {
        self.setup.said_windows()
    }

    /// The window of a model, and where it is from. The window that the request asks for (`asked`) comes first,
    /// unless a smaller one is set here. Then: the one that is set here, the one that the server says, and the one
    /// that is known of models of this name.
    #[must_use]
    pub fn window_for(
        &self,
        model: &str,
        asked: Option<u64>,
        who: &RequestSender,
    ) -> (u64, WindowSource) {
        let said = self.setup.window_for((!model.is_empty()).then(|| model.to_owned()));
        let is_less = |asked: &u64| said.1 != WindowSource::Given || *asked < said.0;
        if let Some(asked) = asked.filter(is_less) {
            return (asked, WindowSource::Request);
        }
        match (said, who.window) {
            ((window, WindowSource::Given), _) => (window, WindowSource::Given),
            (_, Some(window)) => (window, WindowSource::Server),
            ((window, from), None) if who.asks_for_million => (window.max(MILLION), from),
            (said, None) => said,
        }
    }

    pub(super) fn reading(
        &mut self,
        request: &Request,
        model: &str,
        who: &RequestSender,
    ) -> Result<RequestReading, RequestFault> {
        let kind = request.kind();
        let named = (!model.is_empty()).then_some(model);
        // A profile is of one wire format; requests in another one are read by that one's own.
        let own = || profile::for_dialect(kind).first().copied().unwrap_or(profile::OPENAI);
        let own = || named.map_or_else(own, |model| profile::for_model(own(), model));
        let profile = self.setup.profile_for(kind, named).unwrap_or_else(|_| own());
        let counter = self.setup.counter_for(named);
        let (window, window_from) = self.window_for(model, request.window, who);
        Ok(RequestReading {
            kind,
            profile,
            counter,
            window,
            window_from,
            policy: self.policy_for(who.preset.as_deref())?,
            is_replay: false,
            keep: None,
            offer: ToolOffer::default(),
            hooks: self.hooks.clone(),
            cache_lifetime: self.lifetime_for(request),
        })
    }

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
