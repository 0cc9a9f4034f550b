//! From a conversation in a file to a log that can be planned: dialect, profile, counter, window.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use midfold::formats::read::{Conversation, Format};
use midfold::formats::{DialectKind, Problem, profile};
use midfold::tokens::{self, Memo};
use midfold::{Counter, Log, Meter, Policy, Profile, RawEvent};

use crate::args::Measure;
use crate::convert::{self, Converted};
use crate::error::{CommandError, nearest, unknown};
use crate::input::Input;

/// The window where nothing tells a better one.
const DEFAULT_WINDOW: u64 = 128_000;
/// Counts that are remembered around an exact counter.
const MEMO: usize = 1 << 15;

/// What the command line says about all conversations of a file.
pub struct Setup {
    to: Option<DialectKind>,
    profile: Option<&'static Profile>,
    window: Option<u64>,
    tokenizer: Option<Arc<dyn Counter>>,
    counters: BTreeMap<&'static str, Arc<dyn Counter>>,
}

/// Where the window comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowSource {
    /// The command line.
    Flag,
    /// The model that the file names.
    Model(String),
    /// The file names a model that nothing is known about.
    UnknownModel(String),
    /// The file names no model.
    NoModel,
}

/// A conversation, ready to be planned.
pub struct Prepared {
    /// The dialect of the messages.
    pub kind: DialectKind,
    /// The conversation, without its events.
    pub source: Conversation,
    pub log: Log,
    pub meter: Meter,
    pub window: u64,
    pub window_from: WindowSource,
    /// The messages were converted from another dialect.
    pub converted: bool,
    /// The counter was chosen for the model, not by hand.
    pub auto_counter: bool,
    /// Bare messages, one on each line: what was read so is written so.
    pub is_lines: bool,
    /// What could not be converted.
    pub problems: Vec<Problem>,
}

impl Setup {
    pub fn new(measure: &Measure, to: Option<&str>) -> Result<Self, CommandError> {
        Ok(Self {
            to: to.map(target).transpose()?,
            profile: measure.profile.as_deref().map(profile_of).transpose()?,
            window: measure.window,
            tokenizer: measure.tokenizer.as_deref().map(tokenizer).transpose()?,
            counters: BTreeMap::new(),
        })
    }

    /// Makes a conversation ready.
    pub fn prepare(&mut self, mut source: Conversation) -> Result<Prepared, CommandError> {
        let model = source.envelope.model.clone();
        let from = source.format.dialect();
        let kind = self.to.unwrap_or(from);
        let profile = self.profile_for(kind, model.as_deref())?;
        let counter = self.counter_for(model.as_deref())?;
        let auto_counter = self.tokenizer.is_none();
        let converted = kind != from;
        let is_lines = is_lines(&source);
        let mut meter = Meter::exact();
        // Converted messages carry no usage: the meter learns from the recorded ones.
        if auto_counter && converted && source.events.iter().any(|event| event.usage.is_some()) {
            meter.learn(&Self::log(from, profile, &counter, &source));
        }
        let mut problems = Vec::new();
        if converted {
            let Converted { events, envelope, problems: lost } = convert::convert(&source, kind);
            (source.events, source.envelope, problems) = (events, envelope, lost);
        }
        let envelope = &mut source.envelope;
        if kind == DialectKind::OpenAiChat
            && envelope.wrapper.is_none()
            && let Some(text) = envelope.system.take()
        {
            // A session file keeps it beside the messages; a request has it among them.
            source.events.insert(0, RawEvent::new(convert::system_message(&text)));
        }
        let log = Self::log(kind, profile, &counter, &source);
        source.events = Vec::new();
        if auto_counter && !converted {
            meter.learn(&log);
        }
        let (window, window_from) = self.window_for(model);
        Ok(Prepared {
            kind,
            source,
            log,
            meter,
            window,
            window_from,
            converted,
            auto_counter,
            is_lines,
            problems,
        })
    }

    fn log(
        kind: DialectKind,
        profile: Profile,
        counter: &Arc<dyn Counter>,
        source: &Conversation,
    ) -> Log {
        let events = source.events.iter().cloned();
        let mut log = Log::of(kind.shared(), profile, counter.clone(), events);
        let envelope = &source.envelope;
        let parts: Vec<&Bytes> =
            [&envelope.system, &envelope.tools].into_iter().flatten().collect();
        log.set_envelope(parts.iter().map(|part| &part[..]));
        log
    }

    fn profile_for(&self, kind: DialectKind, model: Option<&str>) -> Result<Profile, CommandError> {
        let fitting = profile::for_dialect(kind);
        let chosen = match self.profile {
            Some(profile) if profile.dialect == kind.name() => *profile,
            Some(profile) => {
                let names: Vec<_> = fitting.iter().map(|profile| profile.name).collect();
                let error = CommandError::usage(format!(
                    "the profile `{}` is for {} messages, and these are {kind}",
                    profile.name, profile.dialect
                ));
                return Err(error
                    .hint(format!("profiles for {kind}: {}", names.join(", ")))
                    .maybe_hint(convertible(profile.dialect)));
            }
            None => fitting.first().copied().unwrap_or(profile::OPENAI),
        };
        Ok(model.map_or(chosen, |model| profile::for_model(chosen, model)))
    }

    fn counter_for(&mut self, model: Option<&str>) -> Result<Arc<dyn Counter>, CommandError> {
        if let Some(given) = &self.tokenizer {
            return Ok(given.clone());
        }
        let name = tokens::for_model(model.unwrap_or_default());
        if let Some(known) = self.counters.get(name) {
            return Ok(known.clone());
        }
        let counter = tokens::by_name(name).or_else(|_| tokens::by_name("estimate:openai"));
        let counter =
            remembering(counter.map_err(|error| CommandError::failed(error.to_string()))?);
        self.counters.insert(name, counter.clone());
        Ok(counter)
    }

    fn window_for(&self, model: Option<String>) -> (u64, WindowSource) {
        match (self.window, model) {
            (Some(window), _) => (window, WindowSource::Flag),
            (None, Some(model)) => match tokens::window_of(&model) {
                Some(window) => (window, WindowSource::Model(model)),
                None => (DEFAULT_WINDOW, WindowSource::UnknownModel(model)),
            },
            (None, None) => (DEFAULT_WINDOW, WindowSource::NoModel),
        }
    }
}

fn is_lines(source: &Conversation) -> bool {
    let bare = matches!(
        source.format,
        Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Anthropic
            | Format::ShareGpt
            | Format::FineTuning
    );
    bare && source.envelope.wrapper.is_none()
}

/// `--from`.
pub fn format(name: &str) -> Result<Format, CommandError> {
    let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    Format::from_name(name).ok_or_else(|| unknown("format", name, &known))
}

/// The dialects that anything can be converted to.
const TARGETS: [DialectKind; 2] = [DialectKind::OpenAiChat, DialectKind::Anthropic];

fn target(name: &str) -> Result<DialectKind, CommandError> {
    let known: Vec<_> = TARGETS.iter().map(|kind| kind.name()).collect();
    let found = TARGETS.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| match DialectKind::from_name(name) {
        Some(kind) => CommandError::usage(format!("nothing can be converted to `{kind}` yet"))
            .hint(format!("conversions: {}", known.join(", "))),
        None => unknown("dialect to convert to named", name, &known),
    })
}

fn convertible(dialect: &str) -> Option<String> {
    let target = TARGETS.iter().find(|kind| kind.name() == dialect)?;
    Some(format!("or convert the messages: `midfold compact … --to {target}`"))
}

fn profile_of(name: &str) -> Result<&'static Profile, CommandError> {
    let known: Vec<_> = profile::ALL.iter().map(|profile| profile.name).collect();
    profile::by_name(name).ok_or_else(|| unknown("profile", name, &known))
}

/// `--tokenizer`.
pub fn tokenizer(name: &str) -> Result<Arc<dyn Counter>, CommandError> {
    if name.ends_with(".json") || Path::new(name).is_file() {
        return Ok(remembering(tokenizer_file(name)?));
    }
    let error = match tokens::by_name(name) {
        Ok(counter) => return Ok(remembering(counter)),
        Err(error) => error,
    };
    let tokens::Error::Unknown { .. } = error else {
        return Err(CommandError::usage(error.to_string()));
    };
    let known = tokens::names();
    Err(CommandError::usage(format!("there is no tokenizer `{name}`"))
        .maybe_hint(
            nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?")),
        )
        .hint(format!("there are: {}, or the path of a tokenizer.json", known.join(", "))))
}

#[cfg(feature = "hf")]
fn tokenizer_file(name: &str) -> Result<Arc<dyn Counter>, CommandError> {
    let json = Input::load(Path::new(name))?;
    tokens::hf_from_bytes(name, &json.bytes)
        .map_err(|error| CommandError::failed(error.to_string()))
}

#[cfg(not(feature = "hf"))]
fn tokenizer_file(name: &str) -> Result<Arc<dyn Counter>, CommandError> {
    Input::load(Path::new(name))?;
    Err(CommandError::failed(format!(
        "{name}: this build of midfold cannot count with tokenizer files"
    ))
    .hint("build it with them: cargo install midfold-cli --features hf")
    .hint(format!("or use one of {}", tokens::names().join(", "))))
}

/// An exact count is ten times dearer than remembering it; an estimate is cheaper.
fn remembering(counter: Arc<dyn Counter>) -> Arc<dyn Counter> {
    if counter.is_exact() { Arc::new(Memo::new(counter, MEMO)) } else { counter }
}

/// `--preset` or `--policy`.
pub fn policy(preset: Option<&str>, file: Option<&Path>) -> Result<Policy, CommandError> {
    let Some(path) = file else {
        let name = preset.unwrap_or("default");
        return Policy::preset(name).map_err(|_| no_preset(name));
    };
    let text = Input::text(path)?;
    Policy::from_toml(&text).map_err(|error| {
        let text = error.to_string();
        let words: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let error = CommandError::usage(format!("{}: {}", path.display(), text.trim_end()));
        let near = match (words.split_first(), text.contains("unknown ")) {
            (Some((wrong, known)), true) => nearest(wrong, known.iter().copied()),
            (Some((wrong, _)), false) if text.contains("no preset") => {
                nearest(wrong, Policy::preset_names())
            }
            _ => None,
        };
        error.maybe_hint(near.map(|near| format!("did you mean `{near}`?"))).hint(
            "`midfold presets default` prints a whole policy to start from, \
                   `midfold schema policy` all keys",
        )
    })
}

/// A preset that is not there.
pub fn no_preset(name: &str) -> CommandError {
    unknown("preset", name, &Policy::preset_names())
        .maybe_hint(Path::new(name).is_file().then(|| format!("for a file: --policy {name}")))
}
