//! From a conversation to a log that can be planned: dialect, profile, counter, window. The same
//! choices as the command line's.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use midfold::formats::read::Conversation;
use midfold::formats::{DialectKind, profile};
use midfold::tokens::{self, Memo};
use midfold::{Counter, Log, Meter, Policy, Profile};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{Failure, Kind};
use crate::json;

/// The window where nothing tells a better one (the command line's).
pub const DEFAULT_WINDOW: u64 = 128_000;
/// Counts that are remembered around an exact counter (the command line's).
const MEMO: usize = 1 << 15;

/// What a caller says about counting.
#[derive(Clone, Default)]
pub struct Measure {
    pub window: Option<u64>,
    pub tokenizer: Option<String>,
    pub profile: Option<String>,
    pub model: Option<String>,
}

/// A conversation, ready to be planned.
pub struct Prepared {
    pub kind: DialectKind,
    pub log: Log,
    /// Where each event of the log stood in the input.
    pub sources: Vec<Vec<Range<usize>>>,
    pub meter: Meter,
    pub window: u64,
    /// The window was given, or is that of a known model.
    pub window_known: bool,
    /// The conversation, without its events.
    pub source: Conversation,
}

impl Measure {
    /// Makes a conversation ready.
    pub fn prepare(&self, mut source: Conversation) -> Result<Prepared, Failure> {
        let model = self.model.clone().or_else(|| source.envelope.model.clone());
        let kind = source.format.dialect();
        let profile = self.profile_for(kind, model.as_deref())?;
        let counter = self.counter_for(model.as_deref())?;
        let envelope = &mut source.envelope;
        if kind == DialectKind::OpenAiChat
            && envelope.wrapper.is_none()
            && let Some(text) = envelope.system.take()
        {
            // A session file keeps it beside the messages; a request has it among them.
            let message = [br#"{"role":"system","content":"#, &text[..], b"}"].concat();
            source.events.insert(0, midfold::RawEvent::new(message.into()));
        }
        let events = std::mem::take(&mut source.events);
        let sources = events.iter().map(|event| event.source.clone()).collect();
        let mut log = Log::of(kind.shared(), profile, counter, events);
        let beside = [&source.envelope.system, &source.envelope.tools];
        log.set_envelope(beside.into_iter().flatten().map(|part| &part[..]));
        let mut meter = Meter::exact();
        if self.tokenizer.is_none() {
            meter.learn(&log);
        }
        let known = self.window.or_else(|| tokens::window_of(model.as_deref()?));
        let window = known.unwrap_or(DEFAULT_WINDOW);
        Ok(Prepared { kind, log, sources, meter, window, window_known: known.is_some(), source })
    }

    pub fn profile_for(&self, kind: DialectKind, model: Option<&str>) -> Result<Profile, Failure> {
        let fitting = profile::for_dialect(kind);
        let names: Vec<_> = fitting.iter().map(|profile| profile.name).collect();
        let chosen = match &self.profile {
            None => fitting.first().copied().unwrap_or(profile::OPENAI),
            Some(name) => match fitting.iter().find(|profile| profile.name == name) {
                Some(profile) => *profile,
                None => {
                    let what = format!("profile for {kind} messages named");
                    return Err(Failure::unknown(Kind::Input, &what, name, &names));
                }
            },
        };
        Ok(model.map_or(chosen, |model| profile::for_model(chosen, model)))
    }

    pub fn counter_for(&self, model: Option<&str>) -> Result<Arc<dyn Counter>, Failure> {
        match &self.tokenizer {
            Some(name) => tokenizer(name),
            None => {
                let name = tokens::for_model(model.unwrap_or_default());
                Ok(remembering(tokens::by_name(name)?))
            }
        }
    }
}

/// `tokenizer=`: a name, or the path of a tokenizer.json.
pub fn tokenizer(name: &str) -> Result<Arc<dyn Counter>, Failure> {
    if name.ends_with(".json") || Path::new(name).is_file() {
        return Ok(remembering(tokenizer_file(name)?));
    }
    Ok(remembering(tokens::by_name(name)?))
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

/// An exact count is ten times dearer than remembering it; an estimate is cheaper.
fn remembering(counter: Arc<dyn Counter>) -> Arc<dyn Counter> {
    if counter.is_exact() { Arc::new(Memo::new(counter, MEMO)) } else { counter }
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
