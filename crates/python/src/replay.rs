//! `midfold.replay`.

use midfold::Policy;
use midfold::core::replay::{
    Measures, NameClass, Prices, Recording, Settings, Share, Strategy, percentile, replay as run,
};
use midfold::formats::profile;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Value, json};

use crate::clock;
use crate::errors::{Failure, Kind};
use crate::given::{self, Given};
use crate::prepare::Measure;
use crate::python::objects;

/// Which engine is replayed, and in which form.
enum Asked {
    Raw,
    Stateless(Box<Policy>),
    Session(Box<Policy>),
}

/// Replays a recorded conversation, request by request, against what the agent really did next:
/// one dict of measures for each strategy in each window. A strategy is a preset or `raw`.
///
/// `progress(done, total)` is called after each. Ctrl-C ends it between two of them.
///
/// >>> import midfold
/// >>> messages = [{"role": "user", "content": "Fix it."}]
/// >>> for n in range(60):
/// ...     messages.append({"role": "assistant", "content": f"Step {n}. " * 50})
/// ...     messages.append({"role": "user", "content": "Go on."})
/// >>> [row] = midfold.replay(messages, strategies=["default"], windows=[4_000])
/// >>> row["over"], row["peak"] <= 4_000
/// (0, True)
#[pyfunction]
#[pyo3(name = "replay", signature = (
    messages, *, strategies=vec!["default".to_owned()], windows=vec![32_000], form="stateless",
    tokenizer=None, dialect=None, profile=None, model=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn replay<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    strategies: Vec<String>,
    windows: Vec<u64>,
    form: &str,
    tokenizer: Option<String>,
    dialect: Option<&str>,
    profile: Option<String>,
    model: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let format = given::format(dialect)?;
    let asked = strategies.iter().map(|name| asked(name, form)).collect::<Result<Vec<_>, _>>()?;
    let measure = Measure { tokenizer, profile, model, window: None };
    let bytes = Given::new(messages)?.bytes();
    let recording = py.detach(|| {
        let found = given::conversation(&bytes, format)?;
        let prepared = measure.prepare(found.conversation)?;
        Ok::<_, Failure>(Recording::new(prepared.log))
    })?;
    let rows = PyList::empty(py);
    let total = windows.len() * asked.len();
    for window in windows {
        for (name, asked) in strategies.iter().zip(&asked) {
            py.check_signals()?;
            let found = py.detach(|| measured(&recording, asked, window))?;
            let row = objects(py, &found)?;
            row.set_item("strategy", name)?;
            row.set_item("window", window)?;
            rows.append(row)?;
            if let Some(progress) = &progress {
                progress.call1((rows.len(), total))?;
            }
        }
    }
    Ok(rows)
}

fn asked(name: &str, form: &str) -> Result<Asked, Failure> {
    if name == "raw" {
        return Ok(Asked::Raw);
    }
    let policy = Policy::preset(name).map_err(|_| {
        let presets = Policy::preset_names().into_iter().chain(Policy::baseline_names());
        let known: Vec<&str> = std::iter::once("raw").chain(presets).collect();
        Failure::unknown(Kind::Policy, "strategy", name, &known)
    })?;
    match form {
        "stateless" => Ok(Asked::Stateless(Box::new(policy))),
        "session" => Ok(Asked::Session(Box::new(policy))),
        _ => Err(Failure::unknown(Kind::Input, "form", form, &["stateless", "session"])),
    }
}

fn measured(recording: &Recording, asked: &Asked, window: u64) -> Result<Value, Failure> {
    let strategy = match asked {
        Asked::Raw => Strategy::Raw,
        Asked::Stateless(policy) => Strategy::Stateless(policy),
        Asked::Session(policy) => Strategy::Session(policy),
    };
    let prices = Prices::reference();
    let clock = clock::nanos();
    let rules = profile::rules(recording.log().profile());
    let settings =
        Settings { window, rules: &rules, search: true, prices: &prices, clock: Some(&clock) };
    let found = run(recording, strategy, &settings)
        .map_err(|error| Failure::new(Kind::Budget, error.to_string()))?;
    Ok(row(&found.measures))
}

/// The measures by the names of docs/MEASURES.md, as the command line's JSON has them.
fn row(sum: &Measures) -> Value {
    let classes = NameClass::ALL.iter().zip(sum.classes);
    let classes: serde_json::Map<_, _> = classes
        .map(|(class, share)| (class.name().to_owned(), json!([share.need, share.have])))
        .collect();
    let tokens_by: serde_json::Map<_, _> =
        sum.tokens_by.named().into_iter().map(|(name, n)| (name.to_owned(), json!(n))).collect();
    let share = |share: Share| four(share.ratio());
    json!({
        "requests": sum.requests, "counted": sum.counted, "folds": sum.folds,
        "breaks": sum.breaks, "over": sum.over, "invalid": sum.invalid,
        "recall": share(sum.recall), "recall_need": sum.recall.need,
        "at_risk": share(sum.at_risk), "at_risk_need": sum.at_risk.need,
        "reachable": share(sum.reachable), "reachable_need": sum.reachable.need,
        "within_reach": four(sum.within_reach()),
        "rare": share(sum.rare), "rare_need": sum.rare.need,
        "rules": share(sum.rules), "rules_need": sum.rules.need,
        "modified": share(sum.modified), "modified_need": sum.modified.need,
        "read": share(sum.read), "read_need": sum.read.need,
        "classes": classes, "tokens_by": tokens_by, "rereads": sum.rereads,
        "mean": four(sum.mean_context()), "peak": sum.peak,
        "cost": four(sum.cost_ratio()), "hit_share": four(sum.hit_share()),
        "context_us": times(&sum.context_time), "fold_us": times(&sum.fold_time),
    })
}

/// Median and 99th percentile, in microseconds.
fn times(nanos: &[u64]) -> Value {
    let at = |share| percentile(nanos, share).map(|nanos| four(nanos as f64 / 1e3));
    json!([at(0.5), at(0.99)])
}

fn four(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
