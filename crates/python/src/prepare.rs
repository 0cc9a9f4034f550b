//! Turns a caller's arguments about counting and folding into settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use midfold::core::budget::{Ratio, TierName};
use midfold::{AfterFold, Door, DoorHost, FailureArea, Policy, PolicyFrom, Settings};
use pyo3::prelude::*;
use pyo3::types::PyString;

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

/// A number of tokens from Python, where an integer may be negative.
pub fn tokens(name: &str, given: Option<i64>) -> Result<Option<u64>, Failure> {
    let positive = |given: i64| {
        u64::try_from(given).map_err(|_| {
            Failure::input(format!("{name} is {given}, and no number of tokens"))
                .hint(format!("give {name} the number of tokens that fit, such as 128_000"))
        })
    };
    given.map(positive).transpose()
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
