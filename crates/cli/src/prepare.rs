//! What the command line says about conversations, in the words of the engine: dialect, profile,
//! counter, policy.

use std::path::Path;
use std::sync::Arc;

use midfold::formats::read::Format;
use midfold::formats::{DialectKind, profile};
use midfold::tokens::{self, Memo};
use midfold::{Counter, Policy, Profile, Setup, SetupError};

use crate::args::Measure;
use crate::error::{CommandError, nearest, unknown};
use crate::input::Input;

/// The flags as a setup.
pub fn setup(measure: &Measure, to: Option<&str>) -> Result<Setup, CommandError> {
    let mut setup = Setup::new();
    if let Some(name) = to {
        setup = setup.to(target(name)?);
    }
    if let Some(name) = &measure.profile {
        setup = setup.profile(*profile_of(name)?);
    }
    if let Some(tokens) = measure.window {
        setup = setup.window(tokens);
    }
    if let Some(name) = &measure.tokenizer {
        setup = setup.counter(tokenizer(name)?);
    }
    Ok(setup)
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        let text = error.to_string();
        let SetupError::Profile { dialect, kind, .. } = error else { return Self::usage(text) };
        let fitting: Vec<_> = profile::for_dialect(kind).iter().map(|p| p.name).collect();
        Self::usage(text)
            .hint(format!("profiles for {kind}: {}", fitting.join(", ")))
            .maybe_hint(convertible(dialect))
    }
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
        return Ok(Memo::around(tokenizer_file(name)?));
    }
    let error = match tokens::by_name(name) {
        Ok(counter) => return Ok(Memo::around(counter)),
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
