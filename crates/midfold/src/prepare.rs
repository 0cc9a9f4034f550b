//! From a conversation that was read to a log that can be planned: dialect, profile, counter,
//! window. The one step that needs wire formats and tokens at once.

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
use midfold_formats::convert::{convert_conversation, system_message};
use midfold_formats::media::unsized_images;
use midfold_formats::read::Conversation;
use midfold_formats::transcript::is_lines;
use midfold_formats::{DialectKind, ReadProblem, profile};
use midfold_tokens::{self as tokens, EstimateCounter, MemoCounter, ProviderFamily};

use crate::model_windows::ModelWindows;

/// The window where nothing tells a better one, in tokens.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// What a caller says about conversations. What is left out follows from each of them: the
/// profile from its dialect, the counter and the window from the model that it names.
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
    /// By name, so that conversations of one model share what was counted.
    counters: BTreeMap<&'static str, Arc<dyn Counter>>,
}

/// A conversation, ready to be planned.
pub struct PreparedConversation {
    /// The dialect of the messages.
    pub kind: DialectKind,
    /// The conversation without its events, which are in the log.
    pub source: Conversation,
    /// The model that contexts go to: the one that was said, else that of the conversation, else the
    /// default one.
    pub model: Option<String>,
    /// Where each event of the log stood in the input; nothing for one that was built.
    pub places: Vec<Vec<Range<usize>>>,
    /// The events, counted.
    pub log: EventLog,
    /// What the usage that the conversation recorded says about the counter.
    pub meter: Meter,
    /// In tokens.
    pub window: u64,
    /// Where the window comes from.
    pub window_from: WindowSource,
    /// The messages were converted from another dialect.
    pub converted: bool,
    /// The input was bare messages, one on each line.
    pub is_lines: bool,
    /// The counter was chosen for the model, not by the caller.
    pub auto_counter: bool,
    /// What could not be converted.
    pub problems: Vec<ReadProblem>,
}

/// Where the window comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// The caller.
    Given,
    /// The request, which says how much its model is to hold.
    Request,
    /// The server that the request goes to.
    Server,
    /// What a provider refused or took.
    Learned,
    /// The model that was named.
    Model(String),
    /// A model was named that nothing is known about.
    UnknownModel(String),
    /// No model was named.
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

    /// Whether nobody said it who has to know: what is learned from a provider holds then.
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
    /// Nothing said: everything follows from the conversation.
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

    /// The windows of models in tokens, by patterns of their names. They win over the window of all.
    #[must_use]
    pub fn windows(mut self, windows: ModelWindows) -> Self {
        self.windows = windows;
        self
    }

    /// What counts. It is taken at its word: usage that the conversation recorded is not looked
    /// at then, and the meter is exact.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// The model, also where the conversation names another.
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

    /// Makes a conversation ready.
    ///
    /// # Errors
    ///
    /// [`SetupError::Profile`] where the profile is that of another dialect.
    pub fn prepare(
        &mut self,
        mut source: Conversation,
    ) -> Result<PreparedConversation, SetupError> {
        let said = self.model.as_ref().or(source.envelope.model.as_ref());
        let model = said.or(self.default_model.as_ref()).cloned();
        let from = source.format.dialect();
        let kind = self.to.unwrap_or(from);
        let profile = self.profile_for(kind, model.as_deref())?;
        let counter = self.counter_for(model.as_deref());
        let converted = kind != from;
        let auto_counter = self.counter.is_none();
        let is_lines = is_lines(&source);
        let mut meter = Meter::exact();
        // Converted messages carry no usage: the meter learns from the recorded ones.
        if auto_counter && converted && source.events.iter().any(|event| event.usage.is_some()) {
            meter.learn(&counted(from, profile, counter.clone(), &source, source.events.clone()));
        }
        let mut problems = convert_conversation(&mut source, kind);
        let envelope = &mut source.envelope;
        if matches!(kind, DialectKind::OpenAiChat | DialectKind::Ollama)
            && envelope.wrapper.is_none()
            && let Some(text) = envelope.system.take()
        {
            // A session file keeps it beside the messages; a request has it among them.
            source.events.insert(0, RawEvent::new(system_message(&text)));
        }
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
    /// [`SetupError::Profile`] where the one that was given is that of another dialect.
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
            None => profile::for_dialect(kind).first().copied().unwrap_or(profile::OPENAI),
        };
        Ok(model.map_or(chosen, |model| profile::for_model(chosen, model)))
    }

    /// The counter for this model: the one that was given, the model's own vocabulary where this
    /// build has it, or an estimate. Exact ones remember.
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

    /// The windows that were said, in tokens, by patterns of models' names; `*` is every model.
    #[must_use]
    pub fn said_windows(&self) -> Vec<(String, u64)> {
        let by_pattern = self.windows.iter().map(|(pattern, window)| (pattern.to_owned(), window));
        by_pattern.chain(self.window.map(|window| ("*".to_owned(), window))).collect()
    }

    /// The window for this model, and where it comes from.
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
    /// A plan for the whole conversation. It joins the fold to the conversation's own id and to
    /// its newest turn.
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

    /// The most that a compacted form of it may count, by the counter of the log: of the window
    /// that was given, else of the fold's budget, else of the model's window. Nothing where none
    /// of them is known.
    #[must_use]
    pub fn limit(&self, fold: Option<&Fold>) -> Option<u64> {
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

/// A log of these events, and what travels beside them.
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
