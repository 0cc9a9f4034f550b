//! What a session is made of, and making it.

use midfold::core::policy::Policy;
use midfold::formats::DialectKind;
use midfold::formats::convert::system_message;
use midfold::store::NewSession;
use midfold::{Budget, Log, Meter, PlanError, RawEvent, Session, tokens};

use crate::clock::now;
use crate::engine::{Engine, Memory, Place, meta};
use crate::errors::{Failure, Kind};
use crate::prepare::Measure;

/// What a session is made of.
pub struct Start {
    pub id: String,
    pub kind: DialectKind,
    pub policy: Policy,
    pub measure: Measure,
    /// JSON of the system prompt and of the tools.
    pub system: Option<Vec<u8>>,
    pub tools: Option<Vec<u8>>,
    pub output_reserve: u64,
    pub store: Option<String>,
}

impl Start {
    /// Makes the session: in memory, or in its store.
    pub fn open(self) -> Result<Engine, Failure> {
        let model = self.measure.model.clone().unwrap_or_default();
        let mut setup = self.measure.setup()?;
        let counter = setup.counter_for(Some(&model));
        let profile = setup.profile_for(self.kind, Some(&model))?;
        let (window, _) = setup.window_for(Some(model.clone()));
        let budget = Budget {
            output_reserve: self.output_reserve,
            injection_reserve: self.policy.trigger.injection_reserve,
            ..Budget::new(window)
        };
        budget.check().map_err(PlanError::from)?;
        // Chat Completions has its system prompt among the messages.
        let (first, beside) = match self.kind {
            DialectKind::OpenAiChat => (self.system, None),
            _ => (None, self.system),
        };
        let parts: Vec<Vec<u8>> = [beside, self.tools].into_iter().flatten().collect();
        let envelope = parts.iter().map(|part| String::from_utf8_lossy(part).into_owned());
        let new = NewSession {
            id: self.id,
            dialect: self.kind.name().to_owned(),
            profile: profile.name.to_owned(),
            counter: counter.name().to_owned(),
            policy: self.policy.to_toml(),
            meta: meta(budget.clone(), envelope.collect())?,
            created: now(),
        };
        let mut engine = match self.store {
            Some(url) => {
                if tokens::by_name(&new.counter).is_err() {
                    let error =
                        "a stored session cannot count with a file: other nodes do not have it";
                    return Err(Failure::new(Kind::Tokenizer, error)
                        .hint(format!("use one of {}", tokens::names().join(", "))));
                }
                Place::open(&url)?.create(new, &model)?
            }
            None => {
                let mut log = Log::new(self.kind.shared(), profile, counter);
                log.set_envelope(parts.iter().map(|part| &part[..]));
                let mut session = Session::over(&new.id, log, self.policy, Meter::exact());
                if !model.is_empty() {
                    session.update_model(&model);
                }
                Engine::Memory(Memory { session, budget, new })
            }
        };
        if let Some(text) = first {
            engine.append(vec![RawEvent::new(system_message(&text))], None)?;
        }
        Ok(engine)
    }
}
