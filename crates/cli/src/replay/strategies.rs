//! The strategies that are compared.

use std::path::Path;
use std::sync::Arc;

use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold::core::policy::EngineName;
use midfold::core::replay::{Narrator, Recording, ReplayError, Replayed, Strategy};
use midfold::model::Client;
use midfold::{Contender, Policy, Replaying, strategy_names};
use midfold_args::{Form, Replay};
use midfold_exam::engine::{Asking, Engine};

use crate::error::CommandError;
use crate::prepare;
use crate::replay::engine;
use crate::summariser;

/// One strategy in one window and form.
pub struct Run {
    /// Its name in tables.
    pub name: String,
    pub window: u64,
    pub kind: Kind,
}

/// What is replayed.
pub enum Kind {
    /// A policy, or none.
    Ours(Contender),
    /// A policy in a session, with a model that narrates.
    Narrated(Box<Policy>, Arc<Model>),
    /// An engine outside.
    Engine(Arc<Engine>),
}

impl Run {
    /// An engine outside.
    pub fn is_engine(&self) -> bool {
        matches!(self.kind, Kind::Engine(_))
    }

    /// The history as it is.
    pub fn is_raw(&self) -> bool {
        matches!(self.kind, Kind::Ours(Contender::Raw))
    }

    /// Its form, by name.
    pub fn form(&self) -> &'static str {
        match &self.kind {
            Kind::Ours(contender) => contender.form(),
            Kind::Narrated(..) => "session",
            Kind::Engine(_) => "stateless",
        }
    }

    pub fn replay(
        &self,
        recording: &Recording,
        replaying: &Replaying<'_>,
        dialect: midfold::DialectKind,
    ) -> Result<Replayed, ReplayError> {
        match &self.kind {
            Kind::Ours(contender) => replaying.run(recording, contender.strategy()),
            Kind::Narrated(policy, model) => {
                replaying.run(recording, Strategy::Narrated(policy, &**model))
            }
            Kind::Engine(engine) => {
                let mut asking = Asking::new(Arc::clone(engine), dialect);
                replaying.run(recording, Strategy::Outside(&mut asking))
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
pub fn runs(args: &Replay, windows: &[u64]) -> Result<Vec<Run>, CommandError> {
    let mut named: Vec<(String, Option<Policy>)> = Vec::new();
    let asked: Vec<&str> =
        match (args.preset.is_empty(), args.policy.is_empty() && args.engine.is_empty()) {
            (true, true) => strategy_names(),
            _ => args.preset.iter().map(String::as_str).collect(),
        };
    for name in asked {
        named.push((name.to_owned(), midfold::strategy(name)?));
    }
    for path in &args.policy {
        named.push((file_name(path), Some(prepare::policy_file(path)?)));
    }
    let model = args.model.as_deref().map(|url| Model::new(args, url)).transpose()?.map(Arc::new);
    let mut runs = Vec::new();
    for window in windows {
        for (name, policy) in &named {
            if let Some(EngineName::Command { command }) = policy.as_ref().map(|p| &p.engine) {
                let engine = engine::of(command.clone(), args.engine_timeout)?;
                let name = name.clone();
                runs.push(Run { name, window: *window, kind: Kind::Engine(engine) });
                continue;
            }
            let contenders = Contender::forms(policy.as_ref(), form(args.form)).into_iter();
            runs.extend(contenders.map(|contender| Run {
                name: name.clone(),
                window: *window,
                kind: Kind::Ours(contender),
            }));
        }
        if let Some(model) = &model {
            runs.extend(named.iter().filter_map(|(name, policy)| {
                let mut policy = policy.clone()?;
                policy.narration.on = true;
                let kind = Kind::Narrated(Box::new(policy), Arc::clone(model));
                let name = format!("{name} + model");
                Some(Run { name, window: *window, kind })
            }));
        }
        for command in &args.engine {
            let engine = engine::start(command, args.engine_timeout)?;
            let name = engine.name().to_owned();
            runs.push(Run { name, window: *window, kind: Kind::Engine(engine) });
        }
    }
    Ok(runs)
}

fn form(named: Form) -> midfold::Form {
    match named {
        Form::Stateless => midfold::Form::Stateless,
        Form::Session => midfold::Form::Session,
        Form::Both => midfold::Form::Both,
    }
}

fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
