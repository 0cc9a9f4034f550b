//! `midfold.compact`.

use bytes::Bytes;
use midfold::core::plan::{Cause, Plan, PlanError, plan};
use midfold::core::project::project;
use midfold::formats::read::Format;
use midfold::{Budget, Context, Outcome, Policy, Prepared};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::Failure;
use crate::given::{self, Given};
use crate::prepare::{self, Measure};
use crate::python::make;

/// A conversation, compacted or left as it was.
struct Done {
    prepared: Prepared,
    outcome: Outcome,
    context: Context,
    before: Context,
    problems: Vec<String>,
}

/// What is to be done.
struct Wish<'a> {
    format: Option<Format>,
    measure: Measure,
    policy: Policy,
    focus: Option<&'a str>,
    pin: &'a [u32],
    cause: Cause,
}

impl Wish<'_> {
    fn run(&self, bytes: &Bytes) -> Result<Done, Failure> {
        let found = given::conversation(bytes, self.format)?;
        let prepared = self.measure.prepare(found.conversation)?;
        if let Some(pin) = self.pin.iter().find(|pin| **pin as usize >= prepared.log.len()) {
            let events = prepared.log.len();
            return Err(Failure::input(format!("pin: there is no message {pin}"))
                .hint(format!("there are {events}, counted from 0")));
        }
        let outcome = self.fold(&prepared, prepared.window);
        let outcome = outcome.map_err(|error| self.explain(&prepared, error))?;
        let fold = match &outcome {
            Outcome::Folded(fold) => Some(&**fold),
            Outcome::Nothing(_) => None,
        };
        let before = project(&prepared.log, None);
        let context = project(&prepared.log, fold);
        let problems = found.problems.iter().map(ToString::to_string).collect();
        Ok(Done { prepared, outcome, context, before, problems })
    }

    fn fold(&self, prepared: &Prepared, window: u64) -> Result<Outcome, PlanError> {
        plan(&Plan {
            pins: self.pin,
            focus: self.focus,
            cause: self.cause,
            ..prepared.plan(&self.policy, &Budget::new(window))
        })
    }

    fn explain(&self, prepared: &Prepared, error: PlanError) -> Failure {
        let PlanError::Floor(floor) = &error else { return error.into() };
        let fold = |window| self.fold(prepared, window);
        let enough = floor.enough(&self.policy, prepared.meter, prepared.window, fold);
        let failure = Failure::from(error);
        match enough {
            Some(window) => failure.hint(format!("window={window} is enough")),
            None => failure,
        }
    }
}

/// Makes a conversation fit a model's window: head and tail stay, the middle is folded.
///
/// What is kept is the same Python object as before. Folds also where there is room left, because
/// it was asked for; with `if_needed` only where the policy's trigger fires.
///
/// >>> import midfold
/// >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
/// >>> result = midfold.compact(messages, window=4_000)
/// >>> result.messages[-1] is messages[-1], result.fold["policy"]
/// (True, 'default')
#[pyfunction]
#[pyo3(signature = (
    messages, *, window=None, preset=None, policy=None, focus=None, tokenizer=None, dialect=None,
    profile=None, model=None, pin=Vec::new(), if_needed=false
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn compact<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    window: Option<u64>,
    preset: Option<&str>,
    policy: Option<&Bound<'py, PyAny>>,
    focus: Option<&str>,
    tokenizer: Option<String>,
    dialect: Option<&str>,
    profile: Option<String>,
    model: Option<String>,
    pin: Vec<u32>,
    if_needed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let wish = Wish {
        format: given::format(dialect)?,
        measure: Measure { window, tokenizer, profile, model },
        policy: prepare::policy(preset, policy)?,
        focus,
        pin: &pin,
        cause: if if_needed { Cause::Check } else { Cause::Manual },
    };
    let given = Given::new(messages)?;
    let bytes = given.bytes();
    let done = py.detach(|| wish.run(&bytes))?;
    py.check_signals()?;
    result(py, &given, &done)
}

fn result<'py>(py: Python<'py>, given: &Given<'py>, done: &Done) -> PyResult<Bound<'py, PyAny>> {
    let Prepared { log, source, kind, window, .. } = &done.prepared;
    let sources = done.prepared.places.iter().map(|source| &source[..]);
    let objects = given.objects(sources, source.envelope.wrapper.as_ref());
    let messages = given.give_back(py, &done.context, source, &objects)?;
    let fields = PyDict::new(py);
    fields.set_item("messages", messages)?;
    let (record, noop) = match &done.outcome {
        Outcome::Folded(fold) => {
            let json = py.detach(|| serde_json::to_vec(fold)).map_err(Failure::from)?;
            (Some(PyBytes::new(py, &json)), None)
        }
        Outcome::Nothing(reason) => (None, Some(reason.to_string())),
    };
    fields.set_item("record", record)?;
    let report = PyDict::new(py);
    report.set_item("noop", noop)?;
    report.set_item("tokens_before", done.before.tokens())?;
    report.set_item("tokens_after", done.context.tokens())?;
    report.set_item("messages_before", log.len())?;
    report.set_item("messages_after", done.context.len())?;
    report.set_item("window", *window)?;
    report.set_item("dialect", kind.name())?;
    report.set_item("profile", log.profile().name)?;
    report.set_item("tokenizer", log.counter().name())?;
    report.set_item("problems", &done.problems)?;
    fields.set_item("report", make(py, "Report", &report)?)?;
    make(py, "Result", &fields)
}
