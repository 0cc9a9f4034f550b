//! Reads the options of a call, which are JSON.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use midfold::blocking::{NamedSettings, Start};
use midfold::core::budget::{Ratio, TierName};
use midfold::{
    AfterFold, CompactionRequest, Door, DoorHost, FailureArea, Policy, PolicyFrom, Settings,
};
use napi_derive::napi;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::clock::now;
use crate::errors::{Failure, NodeResult};

/// How options are spelled here, and how files are read.
pub const HOST: DoorHost = DoorHost { door: Door::Node, read };

fn read(path: &Path) -> Result<Vec<u8>, midfold::Failure> {
    std::fs::read(path).map_err(|error| {
        midfold::Failure::new(FailureArea::Input, format!("{}: {error}", path.display()))
    })
}

/// A policy: TOML, or an object of what differs from a preset.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum WrittenPolicy {
    Toml(String),
    Object(Value),
}

/// The options that say how it folds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FoldingOptions {
    preset: Option<String>,
    policy: Option<WrittenPolicy>,
    tiers: BTreeMap<TierName, Ratio>,
    narrate: bool,
}

impl FoldingOptions {
    /// Whether a policy is named, and not only what is added to the usual one.
    fn is_named(&self) -> bool {
        self.preset.is_some() || self.policy.is_some()
    }

    fn policy(self) -> NodeResult<Policy> {
        let policy = match self.policy {
            Some(WrittenPolicy::Toml(text)) => Some(PolicyFrom::Toml(text)),
            Some(WrittenPolicy::Object(value)) => Some(PolicyFrom::json(&value)?),
            None => None,
        };
        let settings = Settings {
            preset: self.preset,
            policy,
            tiers: self.tiers,
            narrate: self.narrate,
            ..Settings::default()
        };
        Ok(settings.policy(&HOST)?)
    }
}

/// The options that say how tokens are counted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CountingOptions {
    window: Option<u64>,
    tokenizer: Option<String>,
    profile: Option<String>,
    model: Option<String>,
}

impl CountingOptions {
    fn settings(self, store: Option<String>) -> Settings {
        let Self { window, tokenizer, profile, model } = self;
        Settings { window, tokenizer, profile, model, store, ..Settings::default() }
    }
}

/// The options of `Session` and `Sessions`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SessionOptions {
    #[serde(flatten)]
    counting: CountingOptions,
    #[serde(flatten)]
    folding: FoldingOptions,
    dialect: Option<String>,
    after_fold: AfterFold,
    system: Option<Value>,
    tools: Option<Value>,
    output_reserve: u64,
    cache_lifetime: Option<f64>,
    store: Option<String>,
    /// The session's name.
    pub id: Option<String>,
    /// How many conversations are held.
    pub limit: Option<usize>,
}

impl SessionOptions {
    /// What they ask for.
    pub fn start(self) -> NodeResult<Start> {
        let kind = midfold::dialect(self.dialect.as_deref().unwrap_or("openai-chat"))?;
        let lifetime = self.cache_lifetime.map(midfold::cache_lifetime).transpose()?;
        let json = |value: Option<Value>| value.map(|value| value.to_string().into_bytes());
        Ok(Start {
            is_policy_named: self.folding.is_named(),
            kind,
            settings: Settings {
                after_fold: self.after_fold,
                ..self.counting.settings(self.store)
            },
            system: json(self.system).map(Bytes::from),
            tools: json(self.tools).map(midfold::given_tools).transpose()?,
            output_reserve: self.output_reserve,
            cache_lifetime: lifetime.flatten(),
            ..Start::new(self.folding.policy()?, HOST, now)
        })
    }
}

/// The options of `Session.open`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OpenOptions {
    window: Option<u64>,
    model: Option<String>,
    #[serde(flatten)]
    folding: FoldingOptions,
    /// Texts and files that are put back with each fold.
    pub after_fold: AfterFold,
}

impl OpenOptions {
    /// What they change of a session.
    pub fn named(&self) -> NodeResult<NamedSettings> {
        let folding = Some(self.folding.clone()).filter(FoldingOptions::is_named);
        Ok(NamedSettings {
            window: self.window,
            model: self.model.clone(),
            policy: folding.map(FoldingOptions::policy).transpose()?,
        })
    }
}

impl NamedOptions for OpenOptions {
    const NAMES: &'static [&'static str] = &["window", "preset", "policy", "model", "afterFold"];
}

/// The options of `setPolicy`.
pub fn policy(json: &str) -> NodeResult<Policy> {
    let folding: FoldingOptions = read_options(json)?;
    if !folding.is_named() {
        return Err(Failure::input("neither a policy nor a preset was given")
            .hint("say which holds from now on: setPolicy({ preset: \"default\" })"));
    }
    folding.policy()
}

/// The options of `compact`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CompactOptions {
    #[serde(flatten)]
    counting: CountingOptions,
    #[serde(flatten)]
    folding: FoldingOptions,
    /// How messages are read.
    pub dialect: Option<String>,
    focus: Option<String>,
    target: Option<u64>,
    keep_last: Option<usize>,
    if_needed: bool,
    /// Messages that stay as they are.
    pub pin: Vec<u32>,
}

impl CompactOptions {
    /// How to count, and what to fold.
    pub fn into_parts(self) -> NodeResult<(Settings, CompactionRequest, Vec<u32>)> {
        let compaction = CompactionRequest {
            policy: self.folding.policy()?,
            focus: self.focus,
            target: self.target,
            keep_last: self.keep_last,
            if_needed: self.if_needed,
        };
        Ok((self.counting.settings(None), compaction, self.pin))
    }
}

/// Options whose names are known: what is misspelt would be left out in silence.
pub trait NamedOptions: DeserializeOwned {
    /// Their names.
    const NAMES: &'static [&'static str];
}

impl NamedOptions for SessionOptions {
    const NAMES: &'static [&'static str] = &[
        "window",
        "preset",
        "policy",
        "tiers",
        "narrate",
        "dialect",
        "profile",
        "tokenizer",
        "model",
        "system",
        "tools",
        "outputReserve",
        "afterFold",
        "cacheLifetime",
        "store",
        "id",
        "limit",
    ];
}

impl NamedOptions for CompactOptions {
    const NAMES: &'static [&'static str] = &[
        "window",
        "preset",
        "policy",
        "tiers",
        "tokenizer",
        "profile",
        "model",
        "dialect",
        "focus",
        "target",
        "keepLast",
        "ifNeeded",
        "pin",
    ];
}

impl NamedOptions for FoldingOptions {
    const NAMES: &'static [&'static str] = &["preset", "policy", "tiers", "narrate"];
}

/// Reads options by their names, and says what is wrong with them.
pub fn read_options<T: NamedOptions>(json: &str) -> NodeResult<T> {
    let given: serde_json::Map<String, Value> = read_json(json)?;
    // serde cannot refuse unknown names where structs are flattened, so the names are read on their own first.
    if let Some(name) = given.keys().find(|name| !T::NAMES.contains(&name.as_str())) {
        return Err(unknown(name, T::NAMES));
    }
    read_json(json)
}

fn unknown(name: &str, known: &[&str]) -> Failure {
    midfold::Failure::unknown(FailureArea::Input, "option", name, known).into()
}

/// The error for an option of a method, which has `known` ones.
#[napi]
pub fn unknown_option(name: String, known: Vec<String>) -> napi::Result<()> {
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    Err(unknown(&name, &known).into())
}

/// Reads a value that the package wrote.
pub fn read_json<T: DeserializeOwned>(json: &str) -> NodeResult<T> {
    serde_json::from_str(json).map_err(|error| Failure::input(format!("options: {error}")))
}
