//! `midfold.compact`.

use bytes::Bytes;
use midfold::formats::read::TranscriptFormat;
use midfold::view::{CarriedProblem, CompactionReport};
use midfold::{
    CompactionOutcome, CompactionRequest, Door, ModelNarration, PlanOutcome, PreparedConversation,
    Settings,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::errors::Failure;
use crate::json;
use crate::messages::{self, GivenMessages};
use crate::prepare::{self, HOST};
use crate::python::{self, make};

/// A conversation, compacted or left as it was.
struct CompactedMessages {
    prepared: PreparedConversation,
    outcome: CompactionOutcome,
    problems: Vec<CarriedProblem>,
}

/// The keyword arguments of `compact`.
const NAMES: [&str; 13] = [
    "window",
    "preset",
    "policy",
    "focus",
    "tokenizer",
    "dialect",
    "profile",
    "model",
    "pin",
    "if_needed",
    "target",
    "keep_last",
    "compress_middle",
];

/// The checked arguments of `compact`.
struct CompactOptions {
    format: Option<TranscriptFormat>,
    settings: Settings,
    compaction: CompactionRequest,
    pins: Vec<u32>,
}

impl CompactOptions {
    fn run(&self, bytes: &Bytes) -> Result<CompactedMessages, Failure> {
        let input = messages::conversation(bytes, self.format)?;
        let prepared = self.settings.setup(&HOST)?.prepare(input.conversation)?;
        let outcome = self.outcome(&prepared, &ModelNarration::default())?;
        let problems = input.problems.into_iter().map(CarriedProblem::of_reader).collect();
        Ok(CompactedMessages { prepared, outcome, problems })
    }

    fn outcome(
        &self,
        prepared: &PreparedConversation,
        narration: &ModelNarration,
    ) -> Result<CompactionOutcome, Failure> {
        Ok(self.compaction.run(prepared, &self.pins, narration, Door::Python)?)
    }
}

/// What the caller's own function writes in the place of the messages that leave: a text, or `None`
/// for what the policy would put there. Its exceptions are the caller's.
fn own_recap<'py>(
    py: Python<'py>,
    write: &Bound<'py, PyAny>,
    given: &GivenMessages<'py>,
    compacted: &CompactedMessages,
) -> PyResult<Option<String>> {
    let Some(fold) = compacted.outcome.fold() else { return Ok(None) };
    let covered = fold.covered();
    if covered.is_empty() {
        return Ok(None);
    }
    let PreparedConversation { log, source, places, .. } = &compacted.prepared;
    let sources = places.iter().map(|place| &place[..]);
    let objects = given.objects(sources, source.envelope.wrapper.as_ref());
    let middle = PyList::empty(py);
    for seq in covered {
        let at = seq as usize;
        match objects.get(at).and_then(Option::as_ref) {
            Some(message) => middle.append(message)?,
            None => middle.append(python::loads(py, &log.events()[at].bytes)?)?,
        }
    }
    let text = write.call1((middle,))?;
    if text.is_none() {
        return Ok(None);
    }
    let Ok(text) = text.cast::<PyString>() else {
        let kind = text.get_type().name()?;
        return Err(Failure::input(format!("compress_middle returned `{kind}`, not a str"))
            .hint("return the text that stands for the messages, or None for that of the policy")
            .into());
    };
    Ok(Some(json::text(text, "the text of compress_middle")?.into_owned()))
}

/// Makes a conversation fit a model's window: head and tail stay, the middle is folded.
///
/// A kept message is the same Python object as before. It folds even if there is room left,
/// because you ask.
///
/// - `messages`: a list, a request's body, or JSON; the result has the same shape.
/// - `window`: the model's window, in tokens; else that of the body's model, else 128,000.
/// - `preset`, `policy`: how to fold: a name of `presets()`, or your own policy.
/// - `focus`: what the recap should keep, in words.
/// - `target`: the most tokens that should be left; `Result.missed` says where more are.
/// - `keep_last`: how many messages stay at the end at least.
/// - `pin`: the places of messages that stay; the first message has place 0.
/// - `if_needed`: fold only if the policy's trigger fires.
/// - `tokenizer`, `dialect`, `profile`, `model`: as in `Session`, where the messages do not say.
/// - `compress_middle`: a function. It gets the messages that leave, and returns the text that
///   replaces them. Secrets are removed from the text, and it is cut at the policy's limit. If the
///   function returns `None`, the policy's own text is used.
///
/// Raises `InputError` if the messages are no conversation, `PolicyError` and `TokenizerError` if
/// these cannot be used, and `BudgetError` if the messages cannot be made to fit. What
/// `compress_middle` raises is raised again.
///
/// >>> import midfold
/// >>> messages = [{"role": "user", "content": f"Question {n}. " * 50} for n in range(60)]
/// >>> result = midfold.compact(messages, window=4_000)
/// >>> result.messages[-1] is messages[-1], result.fold["policy"]
/// (True, 'default')
/// >>> result.recap.splitlines()[0]  # what the model reads where messages were folded
/// '## Conversation Summary'
/// >>> def count(middle):
/// ...     return f"[{len(middle)} messages]"
/// >>> midfold.compact(messages, window=4_000, preset="head-tail", compress_middle=count).recap
/// '[54 messages]'
#[pyfunction]
#[pyo3(signature = (
    messages, *, window=None, preset=None, policy=None, focus=None, tokenizer=None, dialect=None,
    profile=None, model=None, pin=Vec::new(), if_needed=false, target=None, keep_last=None,
    compress_middle=None, **others
), text_signature = "(messages, *, window=None, preset=None, policy=None, focus=None, \
    tokenizer=None, dialect=None, profile=None, model=None, pin=..., if_needed=False, target=None, \
    keep_last=None, compress_middle=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn compact<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    window: Option<&Bound<'py, PyAny>>,
    preset: Option<&str>,
    policy: Option<&Bound<'py, PyAny>>,
    focus: Option<String>,
    tokenizer: Option<String>,
    dialect: Option<&str>,
    profile: Option<String>,
    model: Option<String>,
    pin: Vec<u32>,
    if_needed: bool,
    target: Option<&Bound<'py, PyAny>>,
    keep_last: Option<usize>,
    compress_middle: Option<&Bound<'py, PyAny>>,
    others: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    prepare::no_others("compact", others, &NAMES)?;
    let window = prepare::tokens("window", window)?;
    let options = CompactOptions {
        format: messages::format(dialect)?,
        settings: Settings { window, tokenizer, profile, model, ..Settings::default() },
        compaction: CompactionRequest {
            policy: prepare::policy(preset, policy, None, false)?,
            focus,
            target: prepare::tokens("target", target)?,
            keep_last,
            if_needed,
        },
        pins: pin,
    };
    let given = GivenMessages::new(messages)?;
    let bytes = given.bytes();
    let mut compacted = py.detach(|| options.run(&bytes))?;
    py.check_signals()?;
    // The first run says which messages leave. The second one puts the caller's text in their place.
    if let Some(write) = compress_middle
        && let Some(recap) = own_recap(py, write, &given, &compacted)?
    {
        let narration = ModelNarration { recap: Some(recap), ..ModelNarration::default() };
        compacted.outcome = py.detach(|| options.outcome(&compacted.prepared, &narration))?;
    }
    result(py, &given, &compacted)
}

fn result<'py>(
    py: Python<'py>,
    given: &GivenMessages<'py>,
    compacted: &CompactedMessages,
) -> PyResult<Bound<'py, PyAny>> {
    let source = &compacted.prepared.source;
    let sources = compacted.prepared.places.iter().map(|source| &source[..]);
    let objects = given.objects(sources, source.envelope.wrapper.as_ref());
    let messages = given.give_back(py, &compacted.outcome.context, source, &objects)?;
    let report =
        CompactionReport::of(&compacted.prepared, &compacted.outcome, compacted.problems.clone());
    let fields = summary(py, &report, &compacted.outcome.outcome)?;
    fields.set_item("messages", messages)?;
    make(py, "Result", &fields)
}

/// The members of a summary or a report as keyword arguments of its class, with the record of the fold.
pub fn summary<'py>(
    py: Python<'py>,
    report: &impl serde::Serialize,
    outcome: &PlanOutcome,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = python::objects(py, report)?.cast_into::<PyDict>()?;
    for side in ["before", "after"] {
        if let Some(size) = fields.get_item(side)? {
            fields.set_item(side, make(py, "ContextSize", size.cast::<PyDict>()?)?)?;
        }
    }
    if let Some(problems) = fields.get_item("problems")? {
        let problems = problems.cast::<PyList>()?.iter();
        let instances = problems.map(|problem| make(py, "Problem", problem.cast::<PyDict>()?));
        fields.set_item("problems", instances.collect::<PyResult<Vec<_>>>()?)?;
    }
    let record = py.detach(|| outcome.fold().map(serde_json::to_vec).transpose());
    let record = record.map_err(Failure::from)?;
    fields.set_item("record", record.map(|record| PyBytes::new(py, &record)))?;
    Ok(fields)
}
