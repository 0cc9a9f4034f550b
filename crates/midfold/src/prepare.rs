//! Prepares a conversation for planning: chooses dialect, profile, counter and window, and makes a log of it. Only this
//! step needs both wire formats and tokenizers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use midfold_core::budget::Budget;
use midfold_core::fold::{Fold, FoldJoin};
use midfold_core::log::EventLog;
use midfold_core::meter::Meter;
use midfold_core::plan::PlanRequest;
use midfold_core::policy::Policy;
use midfold_core::{Counter, ProviderProfile, RawEvent};
use midfold_formats::convert::{convert_conversation, put_system_first};
use midfold_formats::media::unsized_images;
use midfold_formats::read::Conversation;
use midfold_formats::transcript::is_lines;
use midfold_formats::{DialectKind, ReadProblem, profile};
use midfold_tokens::{self as tokens, EstimateCounter, MemoCounter, ProviderFamily};

use crate::model_windows::ModelWindows;

/// The window in tokens if neither the caller nor the model's name gives one.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// The settings that a caller gives for conversations. Each has a default from the conversation itself: the profile
/// follows from its dialect, the counter and the window from its model.
///
/// ```
/// use midfold::formats::read;
/// use midfold::{Policy, Session, Setup};
///
/// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
/// let conversation = read::read(&input, None)?.conversations.remove(0);
/// let prepared = Setup::new().window(32_000).prepare(conversation)?;
/// assert_eq!((prepared.kind.name(), prepared.log.profile().name), ("openai-chat", "openai"));
/// let policy = Policy::preset("default")?;
/// let session = Session::over("my-session", prepared.log, policy, prepared.meter);
/// # assert!(session.view().tokens() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Setup {
    to: Option<DialectKind>,
    profile: Option<ProviderProfile>,
    window: Option<u64>,
    windows: ModelWindows,
    counter: Option<Arc<dyn Counter>>,
    model: Option<String>,
    default_model: Option<String>,
    /// Counters by name, so that conversations of one model share the texts that are counted already.
    counters: BTreeMap<&'static str, Arc<dyn Counter>>,
}

/// A conversation, ready to be planned.
pub struct PreparedConversation {
    /// The dialect of the messages.
    pub kind: DialectKind,
    /// The conversation without its events, which are in the log.
    pub source: Conversation,
    /// The model that contexts are sent to: that of [`Setup::model`], else that of the conversation, else the default
    /// one.
    pub model: Option<String>,
    /// For each event of the log, its byte ranges in the input; empty for an event that midfold built.
    pub places: Vec<Vec<Range<usize>>>,
    /// The events, counted.
    pub log: EventLog,
    /// The correction of the counter, learned from the usage that the conversation recorded.
    pub meter: Meter,
    /// The window, in tokens.
    pub window: u64,
    /// Where the window comes from.
    pub window_from: WindowSource,
    /// The messages were converted from another dialect.
    pub converted: bool,
    /// The input was bare messages, one on each line.
    pub is_lines: bool,
    /// The counter follows from the model; the caller chose none.
    pub auto_counter: bool,
    /// What could not be converted or counted.
    pub problems: Vec<ReadProblem>,
}

/// Where the window comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// The caller gave it.
    Given,
    /// The request says how many tokens its model should hold.
    Request,
    /// The server that the request goes to reported it.
    Server,
    /// It was learned from the requests that a provider refused or took.
    Learned,
    /// It is known for the model of this name.
    Model(String),
    /// The default, because nothing is known about the model of this name.
    UnknownModel(String),
    /// The default, because no model was named.
    NoModel,
}

impl WindowSource {
    /// Its name, in headers and answers.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Given => "setting",
            Self::Request => "request",
            Self::Server => "server",
            Self::Learned => "learned",
            Self::Model(_) => "table",
            Self::UnknownModel(_) | Self::NoModel => "default",
        }
    }

    /// Whether somebody set the window: the caller, or the client in its request.
    #[must_use]
    pub fn is_set(&self) -> bool {
        matches!(self, Self::Given | Self::Request)
    }

    /// Whether the window is only assumed, not said by the caller, the request or the server. A window that is learned
    /// from a provider replaces it then.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        matches!(self, Self::Model(_) | Self::UnknownModel(_) | Self::NoModel)
    }
}

/// Why a conversation cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The profile holds the rules of another dialect.
    #[error("the profile `{profile}` is for {dialect} messages, and these are {kind}")]
    Profile {
        /// The profile that was asked for.
        profile: &'static str,
        /// The dialect that it is for.
        dialect: &'static str,
        /// The dialect of the messages.
        kind: DialectKind,
    },
}

impl Setup {
    /// No settings: everything follows from the conversation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Converts the messages to this dialect.
    #[must_use]
    pub fn to(mut self, kind: DialectKind) -> Self {
        self.to = Some(kind);
        self
    }

    /// The rules that contexts have to keep.
    #[must_use]
    pub fn profile(mut self, profile: ProviderProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// The window in tokens.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// The windows of models in tokens, by patterns of their names. A pattern that matches wins over [`Setup::window`].
    #[must_use]
    pub fn windows(mut self, windows: ModelWindows) -> Self {
        self.windows = windows;
        self
    }

    /// The counter. It is trusted as exact, so usage that the conversation recorded is not used to correct it.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// The model. It replaces the one that the conversation names.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// The model of conversations that name none.
    #[must_use]
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Prepares a conversation.
    ///
    /// # Errors
    ///
    /// [`SetupError::Profile`] if the profile belongs to another dialect.
    pub fn prepare(
        &mut self,
        mut source: Conversation,
    ) -> Result<PreparedConversation, SetupError> {
        let named = self.model.as_ref().or(source.envelope.model.as_ref());
        let model = named.or(self.default_model.as_ref()).cloned();
        let from = source.format.dialect();
        let kind = self.to.unwrap_or(from);
        let profile = self.profile_for(kind, model.as_deref())?;
        let counter = self.counter_for(model.as_deref().or(usual_model(kind)));
        let converted = kind != from;
        let auto_counter = self.counter.is_none();
        let is_lines = is_lines(&source);
        let mut meter = Meter::first(counter.name());
        // Converted messages carry no usage, so the meter learns from the messages before the conversion.
        if auto_counter && converted && source.events.iter().any(|event| event.usage.is_some()) {
            meter.learn(&counted(from, profile, counter.clone(), &source, source.events.clone()));
        }
        let mut problems = convert_conversation(&mut source, kind);
        put_system_first(&mut source, kind);
        let events = std::mem::take(&mut source.events);
        let places = events.iter().map(|event| event.source.clone()).collect();
        let log = counted(kind, profile, counter, &source, events);
        for (at, event) in log.events().iter().enumerate() {
            problems.extend(unsized_images(&event.view).map(|problem| problem.at(at)));
        }
        if auto_counter && !converted {
            meter.learn(&log);
        }
        let (window, window_from) = self.window_for(model.clone());
        Ok(PreparedConversation {
            kind,
            source,
            model,
            places,
            log,
            meter,
            window,
            window_from,
            converted,
            is_lines,
            auto_counter,
            problems,
        })
    }

    /// The profile for messages of a dialect that go to this model.
    ///
    /// # Errors
    ///
    /// [`SetupError::Profile`] if the given profile belongs to another dialect.
    pub fn profile_for(
        &self,
        kind: DialectKind,
        model: Option<&str>,
    ) -> Result<ProviderProfile, SetupError> {
        let chosen = match self.profile {
            Some(ProviderProfile { name: profile, dialect, .. }) if dialect != kind.name() => {
                return Err(SetupError::Profile { profile, dialect, kind });
            }
            Some(profile) => profile,
            None => return Ok(profile::of_model(kind, model.unwrap_or_default())),
        };
        Ok(model.map_or(chosen, |model| profile::for_model(chosen, model)))
    }

    /// The counter for this model: the given one, or the model's vocabulary if this build has it, or an estimate. Exact
    /// counters remember the texts that they have counted.
    pub fn counter_for(&mut self, model: Option<&str>) -> Arc<dyn Counter> {
        if let Some(given) = &self.counter {
            return given.clone();
        }
        let name = tokens::for_model(model.unwrap_or_default());
        let fresh = || {
            let counter = tokens::by_name(name);
            MemoCounter::around(
                counter.unwrap_or_else(|_| Arc::new(EstimateCounter::new(ProviderFamily::OpenAi))),
            )
        };
        self.counters.entry(name).or_insert_with(fresh).clone()
    }

    /// The windows in tokens that the caller gave, by patterns of models' names; `*` is every model.
    #[must_use]
    pub fn said_windows(&self) -> Vec<(String, u64)> {
        let by_pattern = self.windows.iter().map(|(pattern, window)| (pattern.to_owned(), window));
        by_pattern.chain(self.window.map(|window| ("*".to_owned(), window))).collect()
    }

    /// Returns the window for this model in tokens, and its source.
    #[must_use]
    pub fn window_for(&self, model: Option<String>) -> (u64, WindowSource) {
        let by_pattern = model.as_ref().and_then(|model| self.windows.of(model));
        match (by_pattern.or(self.window), model) {
            (Some(window), _) => (window, WindowSource::Given),
            (None, Some(model)) => match tokens::window_of(&model) {
                Some(window) => (window, WindowSource::Model(model)),
                None => (DEFAULT_WINDOW, WindowSource::UnknownModel(model)),
            },
            (None, None) => (DEFAULT_WINDOW, WindowSource::NoModel),
        }
    }
}

impl PreparedConversation {
    /// Returns a request for a plan of the whole conversation. The fold will record the conversation's id and its
    /// newest turn and step.
    ///
    /// ```
    /// use midfold::core::plan::plan;
    /// use midfold::formats::read;
    /// use midfold::{Budget, PlanOutcome, Policy, Setup};
    ///
    /// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
    /// let conversation = read::read(&input, None)?.conversations.remove(0);
    /// let prepared = Setup::new().prepare(conversation)?;
    /// let (policy, budget) = (Policy::preset("default")?, Budget::new(8_000));
    /// let PlanOutcome::Folded(fold) = plan(&prepared.plan(&policy, &budget))? else { panic!() };
    /// assert!(fold.tokens_after < fold.tokens_before);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn plan<'a>(&'a self, policy: &'a Policy, budget: &'a Budget) -> PlanRequest<'a> {
        let last = self.log.events().last();
        PlanRequest {
            joining: FoldJoin {
                session: self.source.id.clone().unwrap_or_default(),
                turn: last.map_or(0, |last| last.turn),
                request: last.map_or(0, |last| last.step),
            },
            ..PlanRequest::new(&self.log, policy, budget, self.meter)
        }
    }

    /// The most tokens that a compacted form of the conversation may count, in units of the log's counter. The limit is
    /// the given window, else the budget of the fold, else the model's window; `None` if none is known.
    #[must_use]
    pub fn limit(&self, fold: Option<&Fold>) -> Option<u64> {
        // The fold was limited with the meter of its time, which may have learned since.
        let meter = fold.map_or(self.meter, |fold| fold.meter);
        let recorded = fold.map(|fold| fold.budget.tokens());
        let tokens = match &self.window_from {
            WindowSource::Given => Some(self.window),
            WindowSource::Request
            | WindowSource::Server
            | WindowSource::Learned
            | WindowSource::Model(_) => recorded.or(Some(self.window)),
            WindowSource::UnknownModel(_) | WindowSource::NoModel => recorded,
        };
        Some(meter.most(tokens?))
    }
}

/// Makes a log of these events, with the system prompt and tools counted beside them.
fn counted(
    kind: DialectKind,
    profile: ProviderProfile,
    counter: Arc<dyn Counter>,
    source: &Conversation,
    events: Vec<RawEvent>,
) -> EventLog {
    let mut log = EventLog::of(kind.shared(), profile, counter, events);
    let beside = [&source.envelope.system, &source.envelope.tools];
    log.set_envelope(beside.into_iter().flatten().map(|part| &part[..]));
    log
}

/// The model whose tokens are counted where a conversation names none. Gemini has its model in the address, so that the
/// body of a request never names one; a second of sound and a page are other counts there than elsewhere.
fn usual_model(kind: DialectKind) -> Option<&'static str> {
    (kind == DialectKind::Gemini).then_some("gemini")
}
