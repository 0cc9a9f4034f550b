//! The settings that a caller gives by name (flags, keyword arguments, a settings file), and the setup and the policy
//! that follow from them. All names are looked up here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use midfold_core::budget::{Ratio, TierName};
use midfold_core::policy::Policy;
use midfold_core::{Counter, ProviderProfile};
use midfold_formats::convert::TARGETS;
use midfold_formats::read::TranscriptFormat;
use midfold_formats::{DialectKind, profile};
use midfold_tokens::{self as tokens, MemoCounter};
use serde::Deserialize;

use crate::advice::AdvisedError;
use crate::after_fold::AfterFold;
use crate::failure::{Door, Failure, FailureArea};
use crate::model_windows::ModelWindows;
use crate::prepare::Setup;
use crate::serving::{ServerSettings, ServingUpstreams};

/// The abilities of a door that the facade lacks: it reads files, and it decides how options are spelled.
#[derive(Clone, Copy)]
pub struct DoorHost {
    /// The door, which spells the options in messages.
    pub door: Door,
    /// Reads a file that the caller named. The error says why that failed.
    pub read: fn(&Path) -> Result<Vec<u8>, Failure>,
}

impl DoorHost {
    /// Reads a text file.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub fn text(&self, path: &Path) -> Result<String, Failure> {
        String::from_utf8((self.read)(path)?).map_err(|_| {
            Failure::new(FailureArea::Input, format!("{} is not text in UTF-8", path.display()))
        })
    }
}

/// A policy that is not a preset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "PathBuf")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PolicyFrom {
    /// The path of a TOML file.
    File(PathBuf),
    /// The text of a policy in TOML.
    Toml(String),
}

impl PolicyFrom {
    /// Reads the differences to a preset from JSON. Without `base`, they start from the default one.
    ///
    /// ```
    /// use midfold::PolicyFrom;
    /// let from = PolicyFrom::json(&serde_json::json!({"trigger": {"threshold": 0.7}}))?;
    /// assert!(matches!(from, PolicyFrom::Toml(text) if text.contains("base = \"default\"")));
    /// # Ok::<(), midfold::Failure>(())
    /// ```
    ///
    /// # Errors
    /// If the JSON is no object, or has a value that TOML cannot hold.
    pub fn json(given: &serde_json::Value) -> Result<Self, Failure> {
        let bad =
            |error: &dyn std::fmt::Display| Failure::new(FailureArea::Policy, error.to_string());
        let table: Result<toml::Table, _> = Deserialize::deserialize(given);
        let mut table = table.map_err(|error| {
            bad(&error).hint("a policy says what differs: {\"trigger\": {\"threshold\": 0.7}}")
        })?;
        table.entry("base").or_insert_with(|| "default".into());
        Ok(Self::Toml(toml::to_string(&table).map_err(|error| bad(&error))?))
    }
}

impl From<PathBuf> for PolicyFrom {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// The settings of conversations and sessions. A setting that is left out follows from the conversation, or is a
/// default. In a file, `policy` is a path. Nearer settings replace farther ones with [`Settings::over`].
///
/// ```
/// use midfold::{Door, Failure, DoorHost, Settings};
///
/// let host = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };
/// let settings = Settings { window: Some(32_000), preset: Some("lean".into()), ..Settings::default() };
/// assert_eq!(settings.policy(&host)?.name, "lean");
/// let wrong = Settings { preset: Some("laen".into()), ..Settings::default() };
/// let failure: Failure = wrong.policy(&host).unwrap_err();
/// assert_eq!(failure.hints[0], "did you mean `lean`?");
/// # Ok::<(), Failure>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// The model's window in tokens. By default it is that of the model's name, or what the server says. Set it where
    /// `midfold doctor` says that it is a guess: a window too large is refused by the provider, one too small folds
    /// early.
    pub window: Option<u64>,
    /// The windows of models in tokens, by patterns of names. They win over a `window` of the same file.
    pub windows: ModelWindows,
    /// The counter: its name, or the path of a `tokenizer.json`. By default it follows from the model. Another one is
    /// rarely needed, because counts are corrected by those of the provider.
    pub tokenizer: Option<String>,
    /// The provider's rules for contexts: the name of a profile.
    pub profile: Option<String>,
    /// The model that the contexts go to, even if a conversation names another. Files do not have this setting.
    #[serde(skip)]
    pub model: Option<String>,
    /// The model that the contexts go to if a conversation names none.
    #[serde(rename = "model")]
    pub default_model: Option<String>,
    /// The dialect that messages are converted to.
    pub to: Option<String>,
    /// When and how to fold: the name of a preset. By default `lean` where the agent has the recall tool, else `default`.
    pub preset: Option<String>,
    /// A policy of the user's own: the path of a TOML file.
    pub policy: Option<PolicyFrom>,
    /// The caps of classes of content, as shares of the budget. They win over the policy's.
    pub tiers: BTreeMap<TierName, Ratio>,
    /// Whether a model narrates, whatever the policy says. Off by default; it costs a call of the narrator for each fold.
    pub narrate: bool,
    /// Whether the agent gets the recall tool from midfold. It decides which preset holds where none is named
    /// ([`usual_preset`]). Files do not have this setting.
    #[serde(skip)]
    pub looks_up: bool,
    /// The URL of the store: `sqlite:PATH`, `postgres://…` or `memory`.
    pub store: Option<String>,
    /// The prices: the name of a table, or the path of a TOML file. Without them, costs are in tokens.
    pub prices: Option<String>,
    /// The upstreams of a server; they may also be in `serve`.
    pub upstream: ServingUpstreams,
    /// The settings of a server.
    pub serve: ServerSettings,
    /// The texts that go into the recap of each fold.
    #[serde(rename = "after_fold")]
    pub after_fold: AfterFold,
}

impl Settings {
    /// Returns these settings; a setting that they leave out is taken from `below`. A preset and a policy exclude each
    /// other, so either of them here hides both of `below`.
    ///
    /// ```
    /// use midfold::{PolicyFrom, Settings};
    /// let file = Settings { policy: Some(PolicyFrom::Toml(String::new())), ..Settings::default() };
    /// let flags = Settings { preset: Some("lean".into()), ..Settings::default() };
    /// let both = flags.over(file);
    /// assert_eq!((both.preset.as_deref(), both.policy), (Some("lean"), None));
    /// ```
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let hidden = self.preset.is_some() || self.policy.is_some();
        let mut tiers = below.tiers;
        tiers.extend(self.tiers);
        // A window that is given nearer, for example by a flag, holds for all models: it hides the windows by pattern
        // of `below`.
        let below_windows = self.window.is_none().then_some(below.windows);
        Self {
            window: self.window.or(below.window),
            windows: self.windows.over(below_windows.unwrap_or_default()),
            tokenizer: self.tokenizer.or(below.tokenizer),
            profile: self.profile.or(below.profile),
            model: self.model.or(below.model),
            default_model: self.default_model.or(below.default_model),
            to: self.to.or(below.to),
            preset: self.preset.or(below.preset.filter(|_| !hidden)),
            policy: self.policy.or(below.policy.filter(|_| !hidden)),
            tiers,
            narrate: self.narrate || below.narrate,
            looks_up: self.looks_up || below.looks_up,
            store: self.store.or(below.store),
            prices: self.prices.or(below.prices),
            upstream: self.upstream.over(below.upstream),
            serve: self.serve.over(below.serve),
            after_fold: self.after_fold.over(below.after_fold),
        }
    }

    /// The settings of a server. Upstreams may be given in `serve` or beside it; those in `serve` win.
    #[must_use]
    pub fn serving(self) -> ServerSettings {
        let upstream = self.serve.upstream.over(self.upstream);
        ServerSettings { upstream, ..self.serve }
    }

    /// Returns the setup that conversations are prepared with.
    ///
    /// # Errors
    /// If a name is unknown, or if the file of a tokenizer does not load.
    pub fn setup(&self, host: &DoorHost) -> Result<Setup, Failure> {
        let mut setup = Setup::new();
        if let Some(name) = &self.to {
            setup = setup.to(target(name)?);
        }
        if let Some(name) = &self.profile {
            setup = setup.profile(*profile_of(name)?);
        }
        if let Some(tokens) = self.window {
            setup = setup.window(tokens);
        }
        setup = setup.windows(self.windows.clone());
        if let Some(name) = &self.tokenizer {
            setup = setup.counter(tokenizer(name, host)?);
        }
        if let Some(name) = &self.model {
            setup = setup.model(name);
        }
        if let Some(name) = &self.default_model {
            setup = setup.default_model(name);
        }
        Ok(setup)
    }

    /// Returns the policy: the preset, the caller's own, or the [usual one](usual_preset), with the tiers and the
    /// narration of these settings.
    ///
    /// # Errors
    /// If there is no such preset, if the policy cannot be read, or if both are given.
    pub fn policy(&self, host: &DoorHost) -> Result<Policy, Failure> {
        let mut policy = match (&self.preset, &self.policy) {
            (Some(_), Some(_)) => {
                let text = "both a preset and a policy were given";
                return Err(Failure::usage(FailureArea::Policy, text)
                    .hint("a policy names the preset that it starts from: base = \"default\""));
            }
            (Some(preset), None) => by_name(preset, host.door)?,
            (None, None) => by_name(usual_preset(self.looks_up), host.door)?,
            (None, Some(PolicyFrom::Toml(text))) if is_file_name(text) => {
                let problem =
                    format!("policy: `{text}` is the name of a file, not the text of a policy");
                return Err(Failure::usage(FailureArea::Policy, problem).hint(match host.door {
                    Door::Node => format!("give its text: policy: readFileSync('{text}', 'utf8')"),
                    _ => format!("give its path: policy=pathlib.Path(\"{text}\")"),
                }));
            }
            (None, Some(PolicyFrom::Toml(text)))
                if Policy::preset_names().contains(&text.trim()) =>
            {
                let problem = format!("policy: `{text}` is the name of a preset, not a policy");
                return Err(Failure::usage(FailureArea::Policy, problem).hint(match host.door {
                    Door::Node => format!("name it as one: preset: '{text}'"),
                    _ => format!("name it as one: preset=\"{text}\""),
                }));
            }
            (None, Some(PolicyFrom::Toml(text))) => {
                Policy::from_toml(text).map_err(|error| error.advise(host.door))?
            }
            (None, Some(PolicyFrom::File(path))) => {
                let about = |failure| Failure { area: FailureArea::Policy, ..failure };
                Policy::from_toml(&host.text(path).map_err(about)?).map_err(|error| {
                    error.advise(host.door).at(format_args!("{}: ", path.display()))
                })?
            }
        };
        policy.budget.tiers.extend(&self.tiers);
        policy.narration.on |= self.narrate;
        Ok(policy)
    }
}

/// Whether a text is the name of a TOML file. A policy has an `=` or a table.
fn is_file_name(text: &str) -> bool {
    !text.contains(['\n', '=', '[']) && Path::new(text).extension().is_some_and(|end| end == "toml")
}

/// Returns the name of the preset that holds where none is named: `lean` if the agent gets the recall tool from midfold,
/// else `default`. With the tool, readers answered as much from the smaller context (`docs/RESULTS.md`).
///
/// ```
/// assert_eq!((midfold::usual_preset(true), midfold::usual_preset(false)), ("lean", "default"));
/// ```
#[must_use]
pub const fn usual_preset(looks_up: bool) -> &'static str {
    if looks_up { "lean" } else { "default" }
}

/// Returns the preset with this name.
///
/// # Errors
/// If there is no such preset.
pub fn by_name(name: &str, door: Door) -> Result<Policy, Failure> {
    Policy::preset(name).map_err(|_| {
        let file = door == Door::Command && Path::new(name).is_file();
        Failure::unknown(FailureArea::Policy, "preset", name, &Policy::preset_names())
            .maybe_hint(file.then(|| format!("for a file: --policy {name}")))
    })
}

/// Returns the counter with this name, or the one that the named `tokenizer.json` describes.
///
/// # Errors
/// If there is no such counter, or if the file does not load.
pub fn tokenizer(name: &str, host: &DoorHost) -> Result<Arc<dyn Counter>, Failure> {
    match tokens::by_name(name) {
        Ok(counter) => Ok(MemoCounter::around(counter)),
        Err(_) if is_tokenizer_file(name) => Ok(MemoCounter::around(tokenizer_file(name, host)?)),
        Err(error) => Err(error.advise(host.door)),
    }
}

/// Whether a name is that of a file: by its ending, so that a path that does not exist fails as a file, and not as an
/// unknown tokenizer, or because the file is there.
#[must_use]
pub fn is_tokenizer_file(name: &str) -> bool {
    name.ends_with(".json") || Path::new(name).is_file()
}

fn tokenizer_file(name: &str, host: &DoorHost) -> Result<Arc<dyn Counter>, Failure> {
    let about = |failure| Failure { area: FailureArea::Tokenizer, ..failure };
    let json = (host.read)(Path::new(name)).map_err(about)?;
    counter_of(name, &json, host.door)
}

#[cfg(feature = "hf")]
fn counter_of(name: &str, json: &[u8], _: Door) -> Result<Arc<dyn Counter>, Failure> {
    tokens::hf_from_bytes(name, json)
        .map_err(|error| Failure::new(FailureArea::Tokenizer, error.to_string()))
}

#[cfg(not(feature = "hf"))]
fn counter_of(name: &str, _: &[u8], door: Door) -> Result<Arc<dyn Counter>, Failure> {
    let text = format!("{name}: this build of midfold cannot count with tokenizer files");
    Err(Failure::new(FailureArea::Tokenizer, text)
        .hint(door.says(
            "build it with them: cargo install midfold-cli --features hf",
            "build the wheel with the feature `hf`",
        ))
        .hint(format!("or use one of {}", tokens::names().join(", "))))
}

/// Returns the format of transcripts with this name.
///
/// # Errors
/// If there is no such format.
pub fn format(name: &str) -> Result<TranscriptFormat, Failure> {
    let known: Vec<_> = TranscriptFormat::ALL.iter().map(|format| format.name()).collect();
    TranscriptFormat::from_name(name)
        .ok_or_else(|| Failure::unknown(FailureArea::Input, "format", name, &known))
}

/// Returns the dialect with this name.
///
/// # Errors
/// If there is no such dialect.
pub fn dialect(name: &str) -> Result<DialectKind, Failure> {
    let known = DialectKind::ALL.map(DialectKind::name);
    DialectKind::from_name(name)
        .ok_or_else(|| Failure::unknown(FailureArea::Input, "dialect", name, &known))
}

/// The dialect with this name, if messages can be converted to it.
fn target(name: &str) -> Result<DialectKind, Failure> {
    let known: Vec<_> = TARGETS.iter().map(|kind| kind.name()).collect();
    let target_dialect = TARGETS.into_iter().find(|kind| kind.name() == name);
    target_dialect.ok_or_else(|| match DialectKind::from_name(name) {
        Some(kind) => {
            Failure::usage(FailureArea::Input, format!("nothing can be converted to `{kind}` yet"))
                .hint(format!("conversions: {}", known.join(", ")))
        }
        None => Failure::unknown(FailureArea::Input, "dialect to convert to named", name, &known),
    })
}

fn profile_of(name: &str) -> Result<&'static ProviderProfile, Failure> {
    let known: Vec<_> = profile::ALL.iter().map(|profile| profile.name).collect();
    profile::by_name(name)
        .ok_or_else(|| Failure::unknown(FailureArea::Input, "profile", name, &known))
}
