//! Turns a caller's arguments about counting and folding into settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use midfold::blocking::NamedSettings;
use midfold::core::budget::{Ratio, TierName};
use midfold::core::event::Usage;
use midfold::{AfterFold, Door, DoorHost, FailureArea, Policy, PolicyFrom, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::errors::Failure;
use crate::json;

/// How options are spelled here, and how files are read.
pub const HOST: DoorHost = DoorHost {
    door: Door::Python,
    read: |path| {
        std::fs::read(path).map_err(|error| {
            midfold::Failure::new(FailureArea::Input, format!("{}: {error}", path.display()))
        })
    },
};

/// A window or another size from Python: a number of tokens.
pub fn tokens(name: &str, given: Option<&Bound<'_, PyAny>>) -> Result<Option<u64>, Failure> {
    given.map(|given| whole(name, given, "128_000")).transpose()
}

/// A whole number among the arguments, from 0 on. `example` is a right one. Python's own errors name no argument where
/// a number is negative, and take `True` for 1.
pub fn whole(name: &str, given: &Bound<'_, PyAny>, example: &str) -> Result<u64, Failure> {
    let number = (!given.is_instance_of::<PyBool>()).then(|| given.extract::<u64>().ok());
    number.flatten().ok_or_else(|| {
        let shown = given.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        Failure::input(format!("{name} is {shown}, not a whole number from 0 on"))
            .hint(format!("give a number, such as {example}"))
    })
}

/// The tokens that the provider counted of a prompt and of the reply.
pub fn usage(
    prompt: &Bound<'_, PyAny>,
    output: Option<&Bound<'_, PyAny>>,
) -> Result<Usage, Failure> {
    let prompt = whole("prompt", prompt, "1_200, as the provider counted")?;
    let output = output.map_or(Ok(0), |output| whole("output", output, "80"))?;
    Ok(Usage { prompt, output, ..Usage::default() })
}

/// The settings that a caller names of a session that is in a store.
pub fn named(
    window: Option<&Bound<'_, PyAny>>,
    preset: Option<&str>,
    given: Option<&Bound<'_, PyAny>>,
    model: Option<String>,
) -> PyResult<NamedSettings> {
    let is_named = preset.is_some() || given.is_some();
    let policy = is_named.then(|| policy(preset, given, None, false)).transpose()?;
    Ok(NamedSettings { window: tokens("window", window)?, model, policy })
}

/// Refuses arguments that there are not, and names the one that was perhaps meant.
pub fn no_others(
    function: &str,
    others: Option<&Bound<'_, PyDict>>,
    known: &[&str],
) -> PyResult<()> {
    let Some(name) = others.and_then(|others| others.keys().iter().next()) else { return Ok(()) };
    let name: String = name.extract()?;
    let near = midfold::nearest(&name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!(". Did you mean '{near}'?"));
    let text = format!("{function}() got an unexpected keyword argument '{name}'{near}");
    Err(PyTypeError::new_err(text))
}

/// `preset=` or `policy=`: TOML as text, a file's path, or a dict of what differs; and `tiers=`.
pub fn policy(
    preset: Option<&str>,
    policy: Option<&Bound<'_, PyAny>>,
    tiers: Option<&Bound<'_, PyAny>>,
    narrate: bool,
) -> PyResult<Policy> {
    let settings = Settings {
        preset: preset.map(str::to_owned),
        policy: policy.map(from).transpose()?,
        tiers: tiers.map(caps).transpose()?.unwrap_or_default(),
        narrate,
        ..Settings::default()
    };
    Ok(settings.policy(&HOST).map_err(Failure::from)?)
}

fn from(given: &Bound<'_, PyAny>) -> PyResult<PolicyFrom> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(PolicyFrom::Toml(text.to_cow()?.into_owned()));
    }
    if given.hasattr("__fspath__")? {
        return Ok(PolicyFrom::File(given.extract::<PathBuf>()?));
    }
    let written = json::bytes(given, "policy")?;
    let value = serde_json::from_slice(&written).map_err(Failure::from)?;
    Ok(PolicyFrom::json(&value).map_err(Failure::from)?)
}

/// `after_fold=`: what is put back with each fold.
pub fn after_fold(given: Option<&Bound<'_, PyAny>>) -> PyResult<AfterFold> {
    let Some(given) = given else { return Ok(AfterFold::default()) };
    Ok(AfterFold::json(&json::bytes(given, "after_fold")?).map_err(Failure::from)?)
}

/// `tiers=`: caps of classes of content.
fn caps(given: &Bound<'_, PyAny>) -> PyResult<BTreeMap<TierName, Ratio>> {
    let written = json::bytes(given, "tiers")?;
    Ok(serde_json::from_slice(&written).map_err(|error| {
        Failure::new(FailureArea::Policy, format!("tiers: {error}"))
            .hint("name shares of the budget for results, arguments, dialogue: {\"results\": 0.3}")
    })?)
}
