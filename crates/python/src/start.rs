//! Turns the keyword arguments of a new session into its settings.

use midfold::Settings;
use midfold::blocking::Start;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::clock::now;
use crate::errors::Failure;
use crate::json;
use crate::prepare::{self, HOST};

/// The keyword arguments of `Session` and `Sessions`.
pub struct SessionOptions<'a, 'py> {
    pub window: Option<&'a Bound<'py, PyAny>>,
    pub preset: Option<&'a str>,
    pub policy: Option<&'a Bound<'py, PyAny>>,
    pub dialect: &'a str,
    pub profile: Option<String>,
    pub tokenizer: Option<String>,
    pub model: Option<String>,
    pub system: Option<&'a Bound<'py, PyAny>>,
    pub tools: Option<&'a Bound<'py, PyAny>>,
    pub output_reserve: u64,
    pub cache_lifetime: Option<f64>,
    pub narrate: bool,
    pub tiers: Option<&'a Bound<'py, PyAny>>,
    pub after_fold: Option<&'a Bound<'py, PyAny>>,
    pub store: Option<String>,
    /// Arguments that there are not.
    pub others: Option<&'a Bound<'py, PyDict>>,
}

impl SessionOptions<'_, '_> {
    /// Their names.
    const NAMES: [&'static str; 15] = [
        "window",
        "preset",
        "policy",
        "dialect",
        "profile",
        "tokenizer",
        "model",
        "system",
        "tools",
        "output_reserve",
        "narrate",
        "tiers",
        "after_fold",
        "cache_lifetime",
        "store",
    ];

    /// The settings that they ask for. The `class` takes one more argument.
    pub fn start(self, class: &str, more: &str) -> PyResult<Start> {
        prepare::no_others(class, self.others, &[&Self::NAMES[..], &[more]].concat())?;
        let kind = midfold::dialect(self.dialect).map_err(Failure::from)?;
        let policy = prepare::policy(self.preset, self.policy, self.tiers, self.narrate)?;
        let settings = Settings {
            window: prepare::tokens("window", self.window)?,
            tokenizer: self.tokenizer,
            profile: self.profile,
            model: self.model,
            store: self.store,
            after_fold: prepare::after_fold(self.after_fold)?,
            ..Settings::default()
        };
        let lifetime = self.cache_lifetime.map(midfold::cache_lifetime).transpose();
        let json = |value: Option<&Bound<'_, PyAny>>, name| {
            value.map(|value| json::bytes(value, name)).transpose()
        };
        let tools = json(self.tools, "tools")?.map(midfold::given_tools);
        Ok(Start {
            kind,
            settings,
            system: json(self.system, "system")?.map(Into::into),
            tools: tools.transpose().map_err(Failure::from)?,
            is_policy_named: self.preset.is_some() || self.policy.is_some(),
            output_reserve: self.output_reserve,
            cache_lifetime: lifetime.map_err(Failure::from)?.flatten(),
            ..Start::new(policy, HOST, now)
        })
    }
}
