//! Why a call failed, as a value that can leave a thread without Python, and as the exception of
//! `midfold` that it becomes.

use midfold::core::engine::{CompleteError, RecoverError, UndoError};
use midfold::core::plan::FloorError;
use midfold::core::policy::PolicyError as BadPolicy;
use midfold::formats::profile;
use midfold::formats::read::ReadError;
use midfold::store::recall::RecallError;
use midfold::store::{StoreError as StoreFailed, StoredError};
use midfold::tokens;
use midfold::{PlanError, SetupError};
use pyo3::prelude::*;

// Written in Python: the stable interface cannot extend an exception with data before 3.12.
pyo3::import_exception!(midfold._errors, BudgetError);
pyo3::import_exception!(midfold._errors, InputError);
pyo3::import_exception!(midfold._errors, PolicyError);
pyo3::import_exception!(midfold._errors, StoreError);
pyo3::import_exception!(midfold._errors, TokenizerError);

/// Which exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Input,
    Policy,
    Budget,
    Store,
    Tokenizer,
}

/// Why a call failed, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    /// `name` is not among `known`.
    pub fn unknown(kind: Kind, what: &str, name: &str, known: &[&str]) -> Self {
        Self::new(kind, format!("there is no {what} `{name}`"))
            .hint(format!("there are: {}", known.join(", ")))
    }

    /// Adds a hint, after those that are there.
    pub fn hint(mut self, hint: impl AsRef<str>) -> Self {
        let hint = hint.as_ref();
        self.hint = Some(match self.hint {
            Some(before) => format!("{before}; {hint}"),
            None => hint.to_owned(),
        });
        self
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let args = (failure.message, failure.hint);
        match failure.kind {
            Kind::Input => InputError::new_err(args),
            Kind::Policy => PolicyError::new_err(args),
            Kind::Budget => BudgetError::new_err(args),
            Kind::Store => StoreError::new_err(args),
            Kind::Tokenizer => TokenizerError::new_err(args),
        }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let text = error.to_string();
        match error {
            ReadError::Unrecognised { .. } => Self::input(text.replace("`--from`", "`dialect=`"))
                .hint("a message looks like {\"role\": \"user\", \"content\": \"…\"}"),
            _ => Self::input(text),
        }
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let text = error.to_string();
        let SetupError::Profile { kind, .. } = error else { return Self::input(text) };
        let fitting: Vec<_> = profile::for_dialect(kind).iter().map(|p| p.name).collect();
        Self::input(text).hint(format!("profiles for {kind}: {}", fitting.join(", ")))
    }
}

impl From<BadPolicy> for Failure {
    fn from(error: BadPolicy) -> Self {
        match &error {
            BadPolicy::Unknown { .. } => Self::new(Kind::Policy, error.to_string()),
            BadPolicy::Invalid(_) => Self::new(Kind::Policy, error.to_string().trim_end()).hint(
                "a policy that starts from a preset says only what differs: base = \"default\"",
            ),
        }
    }
}

impl From<tokens::Error> for Failure {
    fn from(error: tokens::Error) -> Self {
        match &error {
            tokens::Error::Unknown { name, .. } => {
                let mut known = tokens::names();
                known.push("the path of a tokenizer.json");
                Self::unknown(Kind::Tokenizer, "tokenizer", name, &known)
            }
            _ => Self::new(Kind::Tokenizer, error.to_string()),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let text = error.to_string();
        match error {
            PlanError::Floor(floor) => Self::new(
                Kind::Budget,
                format!(
                    "what may not be folded needs {} tokens, more than the {} that are allowed",
                    floor.needed, floor.limit
                ),
            )
            .hint(parts(&floor))
            .hint("raise window, pin less, or choose another preset"),
            PlanError::Budget(_) => {
                Self::new(Kind::Budget, text).hint("raise window or lower output_reserve")
            }
            PlanError::Off { .. } => Self::new(Kind::Budget, text),
        }
    }
}

/// The parts of a floor that are there, largest first.
fn parts(floor: &FloorError) -> String {
    let part = |(what, tokens): (&str, u64)| format!("{what} {tokens}");
    let texts: Vec<_> = floor.parts().into_iter().map(part).collect();
    format!("that is {}", texts.join(", "))
}

impl From<UndoError> for Failure {
    fn from(error: UndoError) -> Self {
        Self::input(error.to_string()).hint("`folds()` lists what was folded, with ids")
    }
}

impl From<RecoverError> for Failure {
    fn from(error: RecoverError) -> Self {
        match error {
            RecoverError::Plan(error) => error.into(),
            error => Self::new(Kind::Budget, error.to_string())
                .hint("show the provider's error: there is nothing else to send"),
        }
    }
}

impl From<CompleteError> for Failure {
    fn from(error: CompleteError) -> Self {
        Self::input(error.to_string()).hint("answer a request on the session that made it")
    }
}

impl From<StoreFailed> for Failure {
    fn from(error: StoreFailed) -> Self {
        let text = error.to_string();
        match error {
            StoreFailed::Exists(_) => {
                Self::new(Kind::Store, text).hint("Session.open(store, id) goes on with it")
            }
            StoreFailed::NoSession(_) => {
                Self::new(Kind::Store, text).hint("Session(store=…, id=…) makes one")
            }
            StoreFailed::Conflict { .. } => {
                Self::new(Kind::Store, text).hint("the session was read again: append once more")
            }
            StoreFailed::Query(_) => {
                Self::input(text).hint("for exactly this text: mode=\"literal\"")
            }
            _ => Self::new(Kind::Store, text),
        }
    }
}

impl From<StoredError> for Failure {
    fn from(error: StoredError) -> Self {
        match error {
            StoredError::Store(error) => error.into(),
            StoredError::Plan(error) => error.into(),
            StoredError::Recover(error) => error.into(),
            StoredError::Undo(error) => error.into(),
            error @ StoredError::NoEvent { .. } => Self::input(error.to_string()),
            error => Self::new(Kind::Store, error.to_string()),
        }
    }
}

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Self {
        let text = error.to_string();
        match error {
            RecallError::Store(error) => error.into(),
            RecallError::What(_) => Self::input(text).hint("recall_grep finds events"),
            RecallError::NoFold(_) | RecallError::Ambiguous(_) => {
                Self::input(text).hint("`folds()` lists what was folded, with ids")
            }
            RecallError::Cursor(_) => {
                Self::input(text).hint("leave it out to start at the beginning")
            }
            RecallError::Unfolded | RecallError::NoEvent(..) | RecallError::Empty => {
                Self::input(text)
            }
        }
    }
}

/// A record that cannot be written as JSON; there is none.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::input(error.to_string())
    }
}
