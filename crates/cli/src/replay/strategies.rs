//! The strategies that are compared.

use std::path::Path;
use std::sync::Mutex;

use midfold::Policy;
use midfold::core::replay::{Recording, ReplayError, Replayed, Settings, Strategy, replay};

use crate::args::{Form, Replay};
use crate::error::{CommandError, unknown};
use crate::prepare;
use crate::replay::engine::{Asking, Process};

/// One strategy in one window and form.
pub struct Run {
    /// Its name in tables.
    pub name: String,
    pub window: u64,
    pub form: &'static str,
    pub kind: Kind,
}

/// What is replayed.
pub enum Kind {
    Raw,
    Stateless(Box<Policy>),
    Session(Box<Policy>),
    /// An engine outside: one process for all conversations.
    Engine(Mutex<Process>),
}

impl Run {
    /// An engine outside.
    pub fn is_engine(&self) -> bool {
        matches!(self.kind, Kind::Engine(_))
    }

    pub fn replay(
        &self,
        recording: &Recording,
        settings: &Settings<'_>,
        dialect: midfold::DialectKind,
    ) -> Result<Replayed, ReplayError> {
        match &self.kind {
            Kind::Raw => replay(recording, Strategy::Raw, settings),
            Kind::Stateless(policy) => replay(recording, Strategy::Stateless(policy), settings),
            Kind::Session(policy) => replay(recording, Strategy::Session(policy), settings),
            Kind::Engine(process) => {
                let mut asking = Asking::new(process, dialect);
                replay(recording, Strategy::Outside(&mut asking), settings)
            }
        }
    }
}

/// Everything that the command line asks for, window by window.
pub fn runs(args: &Replay) -> Result<Vec<Run>, CommandError> {
    let mut named: Vec<(String, Option<Policy>)> = Vec::new();
    let asked: Vec<&str> =
        match (args.preset.is_empty(), args.policy.is_empty() && args.engine.is_empty()) {
            (true, true) => all_names(),
            _ => args.preset.iter().map(String::as_str).collect(),
        };
    for name in asked {
        named.push(by_name(name)?);
    }
    for path in &args.policy {
        named.push((file_name(path), Some(prepare::policy(None, Some(path))?)));
    }
    let mut runs = Vec::new();
    for window in &args.measure.window {
        for (name, policy) in &named {
            runs.extend(forms(args.form, policy.as_ref()).into_iter().map(|(form, kind)| Run {
                name: name.clone(),
                window: *window,
                form,
                kind,
            }));
        }
        for command in &args.engine {
            let process = Process::start(command)?;
            let (name, form) = (process.name().to_owned(), "stateless");
            runs.push(Run { name, window: *window, form, kind: Kind::Engine(Mutex::new(process)) });
        }
    }
    Ok(runs)
}

/// The names that `--preset` knows, in the order in which they are shown.
pub fn all_names() -> Vec<&'static str> {
    let presets = Policy::preset_names().into_iter();
    std::iter::once("raw").chain(Policy::baseline_names()).chain(presets).collect()
}

fn by_name(name: &str) -> Result<(String, Option<Policy>), CommandError> {
    if name == "raw" {
        return Ok((name.to_owned(), None));
    }
    let policy = Policy::preset(name).map_err(|_| unknown("strategy", name, &all_names()))?;
    Ok((name.to_owned(), Some(policy)))
}

fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn forms(form: Form, policy: Option<&Policy>) -> Vec<(&'static str, Kind)> {
    let Some(policy) = policy else { return vec![("stateless", Kind::Raw)] };
    let stateless = || ("stateless", Kind::Stateless(Box::new(policy.clone())));
    let session = || ("session", Kind::Session(Box::new(policy.clone())));
    match form {
        Form::Stateless => vec![stateless()],
        Form::Session => vec![session()],
        Form::Both => vec![stateless(), session()],
    }
}
