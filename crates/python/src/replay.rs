//! `midfold.replay`.

use midfold::{FailureArea, Settings};
use midfold_eval::replay::{Recording, ReplayError};
use midfold_eval::{ReplayContender, ReplayForm, ReplayOptions, measures, named_prices};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::clock;
use crate::errors::Failure;
use crate::messages::{self, GivenMessages};
use crate::prepare::HOST;
use crate::python::objects;

/// Replays a recorded conversation, request by request, against what the agent really did next:
/// one dict of measures for each strategy in each window and form.
///
/// - `strategies`: presets, or `raw` for the history as it is.
/// - `windows`: in tokens.
/// - `form`: fold anew for each request (`stateless`), let one `session` go along, or `both`.
/// - `prices`: the name of a price table, or the path of a TOML file with one.
/// - `progress`: called with how many are done, and how many there are, after each.
/// - `tokenizer`, `dialect`, `profile`, `model`: as in `compact`.
///
/// Ctrl-C ends it between two of them. Raises `InputError` for what is no conversation,
/// `PolicyError` for an unknown strategy, `TokenizerError`, and `BudgetError` if a strategy
/// cannot be replayed in a window.
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
    tokenizer=None, dialect=None, profile=None, model=None, progress=None, prices=None
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python function")]
pub fn replay<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    strategies: Vec<String>,
    windows: Vec<i64>,
    form: &str,
    tokenizer: Option<String>,
    dialect: Option<&str>,
    profile: Option<String>,
    model: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
    prices: Option<String>,
) -> PyResult<Bound<'py, PyList>> {
    let format = messages::format(dialect)?;
    let form = named(ReplayForm::named(form))?;
    let mut entrants = Vec::new();
    for name in &strategies {
        let policy = named(midfold_eval::strategy(name))?;
        let contenders = ReplayContender::forms(policy.as_ref(), form).into_iter();
        entrants.extend(contenders.map(|contender| (name, contender)));
    }
    let settings = Settings { tokenizer, profile, model, prices, ..Settings::default() };
    let prices = named(named_prices(&settings, &HOST))?;
    let bytes = GivenMessages::new(messages)?.bytes();
    let recording = py.detach(|| {
        let read = messages::conversation(&bytes, format)?;
        let prepared = settings.setup(&HOST)?.prepare(read.conversation)?;
        Ok::<_, Failure>(Recording::new(prepared.log))
    })?;
    let rows = PyList::empty(py);
    let total = windows.len() * entrants.len();
    for window in windows {
        let window = u64::try_from(window).map_err(|_| {
            Failure::input(format!("windows has {window}, which is no number of tokens"))
                .hint("give numbers, such as 32_000")
        })?;
        let clock = clock::nanos();
        let replaying = ReplayOptions { window, prices: &prices, clock: &clock };
        for (name, contender) in &entrants {
            py.check_signals()?;
            let outcome = py.detach(|| replaying.run(&recording, contender.strategy()));
            let failed = |error: ReplayError| Failure::new(FailureArea::Budget, error.to_string());
            let row = objects(py, &measures(&outcome.map_err(failed)?.measures, window))?;
            row.set_item("strategy", name)?;
            row.set_item("form", contender.form())?;
            row.set_item("window", window)?;
            rows.append(row)?;
            if let Some(progress) = &progress {
                progress.call1((rows.len(), total))?;
            }
        }
    }
    Ok(rows)
}

fn named<T>(outcome: Result<T, midfold::Failure>) -> Result<T, Failure> {
    Ok(outcome?)
}
