//! What a caller says about counting, in the words of the engine: dialect, profile, counter,
//! window, policy. The same choices as the command line's.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use midfold::formats::profile;
use midfold::formats::read::Conversation;
use midfold::tokens::{self, Memo};
use midfold::{Counter, Policy, Prepared, Profile, Setup};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{Failure, Kind};
use crate::json;

/// What a caller says about counting.
#[derive(Clone, Default)]
pub struct Measure {
    pub window: Option<u64>,
    pub tokenizer: Option<String>,
    pub profile: Option<String>,
    pub model: Option<String>,
}

impl Measure {
    /// Makes a conversation ready.
    pub fn prepare(&self, source: Conversation) -> Result<Prepared, Failure> {
        Ok(self.setup()?.prepare(source)?)
    }

    /// The same as a setup.
    pub fn setup(&self) -> Result<Setup, Failure> {
        let mut setup = Setup::new();
        if let Some(name) = &self.profile {
            setup = setup.profile(*profile_of(name)?);
        }
        if let Some(tokens) = self.window {
            setup = setup.window(tokens);
        }
        if let Some(name) = &self.tokenizer {
            setup = setup.counter(tokenizer(name)?);
        }
        if let Some(name) = &self.model {
            setup = setup.model(name);
        }
        Ok(setup)
    }
}

fn profile_of(name: &str) -> Result<&'static Profile, Failure> {
    let known: Vec<_> = profile::ALL.iter().map(|profile| profile.name).collect();
    profile::by_name(name).ok_or_else(|| Failure::unknown(Kind::Input, "profile", name, &known))
}

/// `tokenizer=`: a name, or the path of a tokenizer.json.
pub fn tokenizer(name: &str) -> Result<Arc<dyn Counter>, Failure> {
    if name.ends_with(".json") || Path::new(name).is_file() {
        return Ok(Memo::around(tokenizer_file(name)?));
    }
    Ok(Memo::around(tokens::by_name(name)?))
}

#[cfg(feature = "hf")]
fn tokenizer_file(name: &str) -> Result<Arc<dyn Counter>, Failure> {
    let json = std::fs::read(name)
        .map_err(|error| Failure::new(Kind::Tokenizer, format!("{name}: {error}")))?;
    Ok(tokens::hf_from_bytes(name, &json)?)
}

#[cfg(not(feature = "hf"))]
fn tokenizer_file(name: &str) -> Result<Arc<dyn Counter>, Failure> {
    Err(Failure::new(Kind::Tokenizer, format!("{name}: this build has no tokenizer files"))
        .hint("build the wheel with the feature `hf`"))
}

/// `preset=` or `policy=`: TOML as text, a file's path, or a dict of what differs.
pub fn policy(preset: Option<&str>, policy: Option<&Bound<'_, PyAny>>) -> PyResult<Policy> {
    let Some(given) = policy else {
        let name = preset.unwrap_or("default");
        let unknown = |_| Failure::unknown(Kind::Policy, "preset", name, &Policy::preset_names());
        return Ok(Policy::preset(name).map_err(unknown)?);
    };
    if preset.is_some() {
        return Err(Failure::new(Kind::Policy, "both a preset and a policy were given")
            .hint("a policy names the preset that it starts from: base = \"default\"")
            .into());
    }
    let text = if let Ok(text) = given.cast::<PyString>() {
        text.to_cow()?.into_owned()
    } else if given.hasattr("__fspath__")? {
        let path: std::path::PathBuf = given.extract()?;
        read_policy(path.as_os_str())?
    } else {
        let written = json::bytes(given, "policy")?;
        toml_of(&written)?
    };
    Ok(Policy::from_toml(&text).map_err(Failure::from)?)
}

fn read_policy(path: &OsStr) -> Result<String, Failure> {
    let shown = Path::new(path).display();
    std::fs::read_to_string(path)
        .map_err(|error| Failure::new(Kind::Policy, format!("{shown}: {error}")))
}

/// A dict as TOML. Where it names no preset to start from, that is the default one.
fn toml_of(written: &[u8]) -> Result<String, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::new(Kind::Policy, error.to_string());
    let mut table: toml::Table = serde_json::from_slice(written).map_err(|error| {
        bad(&error).hint("a policy is a dict: {\"trigger\": {\"threshold\": 0.7}}")
    })?;
    table.entry("base").or_insert_with(|| "default".into());
    toml::to_string(&table).map_err(|error| bad(&error))
}
