//! The strategies that are compared.

use std::path::Path;
use std::sync::Arc;

use midfold::Policy;
use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold::core::replay::{
    Narrator, Recording, ReplayError, Replayed, Settings, Strategy, replay,
};
use midfold::model::Client;

use crate::args::{Form, Replay};
use crate::error::{CommandError, unknown};
use crate::prepare;
use crate::replay::engine::{Asking, Engine};
use crate::summariser;

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
    /// The same, with a model that narrates.
    Narrated(Box<Policy>, Arc<Model>),
    /// An engine outside.
    Engine(Engine),
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
            Kind::Narrated(policy, model) => {
                replay(recording, Strategy::Narrated(policy, &**model), settings)
            }
            Kind::Engine(engine) => {
                let mut asking = Asking::new(engine, dialect);
                replay(recording, Strategy::Outside(&mut asking), settings)
            }
        }
    }
}

/// A model behind a URL, asked from any thread.
pub struct Model {
    client: Client,
    runtime: tokio::runtime::Runtime,
}

impl Model {
    fn new(args: &Replay, url: &str) -> Result<Self, CommandError> {
        let client = summariser::Model {
            url,
            name: &args.model_name,
            key_env: args.key_env.as_deref(),
            key_file: None,
            window: None,
            option: "--model",
        }
        .client()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| CommandError::failed(format!("no thread can be started: {error}")))?;
        Ok(Self { client, runtime })
    }
}

impl Narrator for Model {
    fn narrate(&self, request: &SummaryRequest) -> Result<SummaryReply, SummaryFailure> {
        self.runtime.block_on(self.client.summarise(request))
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
    let model = args.model.as_deref().map(|url| Model::new(args, url)).transpose()?.map(Arc::new);
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
        if let Some(model) = &model {
            runs.extend(named.iter().filter_map(|(name, policy)| {
                let mut policy = policy.clone()?;
                policy.narration.on = true;
                let kind = Kind::Narrated(Box::new(policy), Arc::clone(model));
                let name = format!("{name} + model");
                Some(Run { name, window: *window, form: "session", kind })
            }));
        }
        for command in &args.engine {
            let engine = Engine::start(command, args.engine_timeout)?;
            let (name, form) = (engine.name().to_owned(), "stateless");
            runs.push(Run { name, window: *window, form, kind: Kind::Engine(engine) });
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
