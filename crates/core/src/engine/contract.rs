//! The contract of a context engine, after that of Hermes Agent: what a host may ask of any engine. The policy names
//! the engine; `midfold` and `passthrough` are built in.

use std::collections::BTreeMap;

use super::{Session, SessionStatus, UndoError};
use crate::budget::Budget;
use crate::event::{Hash, RawEvent, Usage};
use crate::jsonstr;
use crate::plan::{NoOp, PlanError, PlanOutcome};
use crate::project::{Context, project};
use crate::trigger::{FoldDue, HoldReason, Millis};

/// A context engine. A host appends messages, asks for the context to send, and reports the provider's token count.
///
/// The methods correspond to those of Hermes Agent's contract:
///
/// - `update_from_response` is [`observe`](Engine::observe),
/// - `should_compress` is [`should_compact`](Engine::should_compact),
/// - `compress` is [`compact`](Engine::compact),
/// - `has_content_to_compress` is [`has_content`](Engine::has_content),
/// - `get_tool_schemas` is [`tools`](Engine::tools),
/// - `handle_tool_call` is [`call_tool`](Engine::call_tool),
/// - `get_status` is [`status`](Engine::status), with all attributes that hosts read by name.
pub trait Engine: Send {
    /// A short name, by which a policy chooses the engine.
    fn name(&self) -> &'static str;

    /// Takes in one message and returns its number in the log.
    fn append(&mut self, event: RawEvent) -> u32;

    /// The context to send.
    ///
    /// # Errors
    /// When no context that fits can be made.
    fn context(&mut self, now: Millis) -> Result<Context, PlanError>;

    /// Takes the provider's token count for the last context.
    fn observe(&mut self, usage: Usage, now: Millis);

    /// Whether a fold is due. `prompt_tokens` is the host's own count; `None` lets the engine estimate.
    fn should_compact(&self, prompt_tokens: Option<u64>, now: Millis) -> FoldDue;

    /// Whether a fold is due before a call, when the host has no count of its own (`should_compress_preflight` in
    /// Hermes Agent).
    fn should_compact_preflight(&self, now: Millis) -> bool {
        self.should_compact(None, now).fires()
    }

    /// Folds now, because a person asked. `focus` is what that person wants kept.
    ///
    /// # Errors
    /// As [`Engine::context`].
    fn compact(&mut self, focus: Option<&str>) -> Result<PlanOutcome, PlanError>;

    /// Whether a compaction would fold anything; nothing is changed.
    fn has_content(&self) -> bool;

    /// Takes note that the model or its window (in tokens) changed.
    fn update_model(&mut self, model: &str, window: u64);

    /// The figures that a host shows.
    fn status(&self, now: Millis) -> SessionStatus;

    /// The tools that the engine gives the agent, as a JSON array. Empty by default and for both built-in engines: with
    /// those, folded events are recalled from a store.
    fn tools(&self) -> String {
        "[]".to_owned()
    }

    /// Answers a call of one of [`tools`](Engine::tools) with a JSON text.
    fn call_tool(&mut self, name: &str, _arguments: &str) -> String {
        format!("{{\"error\":{}}}", jsonstr::encode(&format!("this engine has no tool `{name}`")))
    }

    /// Takes note that a conversation begins, or goes on after a restart.
    fn start(&mut self, _session: &str) {}

    /// Takes note that a conversation ends for good. It is not called at the end of a turn.
    fn end(&mut self) {}

    /// Forgets what was learned: a new conversation begins in the same place.
    fn reset(&mut self);
}

/// The built-in engine: a session and the budget of its model.
#[derive(Clone)]
pub struct BuiltInEngine {
    /// The session.
    pub session: Session,
    /// The budget of the model in use.
    pub budget: Budget,
}

impl BuiltInEngine {
    /// Takes back a fold.
    ///
    /// # Errors
    /// As [`Session::undo`].
    pub fn undo(&mut self, fold: Option<Hash>) -> Result<(), UndoError> {
        self.session.undo(fold)
    }
}

impl Engine for BuiltInEngine {
    fn name(&self) -> &'static str {
        "midfold"
    }

    fn append(&mut self, event: RawEvent) -> u32 {
        self.session.append(event)
    }

    fn context(&mut self, now: Millis) -> Result<Context, PlanError> {
        self.session.context(&self.budget, now)
    }

    fn observe(&mut self, usage: Usage, now: Millis) {
        self.session.observe(usage, now);
    }

    fn should_compact(&self, prompt_tokens: Option<u64>, now: Millis) -> FoldDue {
        let gate = self.session.gate();
        let budget = gate.budget(&self.budget, self.session.policy());
        let mut load = self.session.load_in(&budget);
        // The host's own count replaces the estimate even where it is lower.
        if let Some(tokens) = prompt_tokens {
            (load.estimate, load.upper) = (tokens, tokens);
        }
        gate.due(&self.session.policy().trigger, &budget, load, now)
    }

    fn compact(&mut self, focus: Option<&str>) -> Result<PlanOutcome, PlanError> {
        self.session.compact(&self.budget, focus)
    }

    fn has_content(&self) -> bool {
        matches!(self.session.preview(&self.budget, None), Ok(PlanOutcome::Folded(_)))
    }

    fn update_model(&mut self, model: &str, window: u64) {
        self.session.update_model(model);
        self.budget.window = window;
    }

    fn status(&self, now: Millis) -> SessionStatus {
        self.session.status(&self.budget, now)
    }

    fn reset(&mut self) {
        self.session.reset();
    }
}

/// The engine that sends the whole log every time. It shows what a conversation costs without compaction, and switches
/// midfold off in hosts that can only name an engine.
#[derive(Clone)]
pub struct Passthrough(BuiltInEngine);

impl Engine for Passthrough {
    fn name(&self) -> &'static str {
        "passthrough"
    }

    fn append(&mut self, event: RawEvent) -> u32 {
        self.0.append(event)
    }

    fn context(&mut self, _now: Millis) -> Result<Context, PlanError> {
        // A fold from before is not read through either.
        Ok(project(self.0.session.log(), None))
    }

    fn observe(&mut self, usage: Usage, now: Millis) {
        self.0.observe(usage, now);
    }

    fn should_compact(&self, _prompt_tokens: Option<u64>, _now: Millis) -> FoldDue {
        FoldDue::Held(HoldReason::Off)
    }

    fn compact(&mut self, _focus: Option<&str>) -> Result<PlanOutcome, PlanError> {
        Ok(PlanOutcome::Nothing(NoOp::Passthrough))
    }

    fn has_content(&self) -> bool {
        false
    }

    fn update_model(&mut self, model: &str, window: u64) {
        self.0.update_model(model, window);
    }

    fn status(&self, now: Millis) -> SessionStatus {
        let due = self.should_compact(None, now);
        SessionStatus { engine: self.name(), due, ..self.0.status(now) }
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// The engine that the session's policy names, of the two built-in ones.
///
/// # Errors
/// When the policy names any other engine, which needs an [`EngineRegistry`].
pub fn engine(session: Session, budget: Budget) -> Result<Box<dyn Engine>, UnknownEngine> {
    EngineRegistry::builtin().make(session, budget)
}

/// A function that makes an engine over a session.
type EngineFactory = Box<dyn Fn(Session, Budget) -> Box<dyn Engine> + Send + Sync>;

/// The engines by name, of which a policy chooses one.
///
/// ```
/// use midfold_core::engine::{EngineRegistry, BuiltInEngine};
/// let mut engines = EngineRegistry::builtin();
/// engines.register("mine", |session, budget| Box::new(BuiltInEngine { session, budget }));
/// assert_eq!(engines.names().collect::<Vec<_>>(), ["midfold", "mine", "passthrough"]);
/// ```
pub struct EngineRegistry(BTreeMap<String, EngineFactory>);

/// The policy names an engine that nobody registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine `{name}`; there are {known}")]
pub struct UnknownEngine {
    /// The unknown name.
    pub name: String,
    /// The registered names, separated by commas.
    pub known: String,
}

impl EngineRegistry {
    /// A registry with `midfold` and `passthrough`.
    #[must_use]
    pub fn builtin() -> Self {
        let mut engines = Self(BTreeMap::new());
        engines.register("midfold", |session, budget| Box::new(BuiltInEngine { session, budget }));
        engines.register("passthrough", |session, budget| {
            Box::new(Passthrough(BuiltInEngine { session, budget }))
        });
        engines
    }

    /// Adds an engine, or replaces the one of this name.
    pub fn register<F>(&mut self, name: &str, make: F)
    where
        F: Fn(Session, Budget) -> Box<dyn Engine> + Send + Sync + 'static,
    {
        self.0.insert(name.to_owned(), Box::new(make));
    }

    /// The registered names in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Makes the engine that the session's policy names.
    ///
    /// # Errors
    /// When no engine has this name.
    pub fn make(&self, session: Session, budget: Budget) -> Result<Box<dyn Engine>, UnknownEngine> {
        let name = session.policy().engine.to_string();
        match self.0.get(&name) {
            Some(make) => Ok(make(session, budget)),
            None => Err(UnknownEngine { name, known: self.names().collect::<Vec<_>>().join(", ") }),
        }
    }
}
