//! The strategies that a replay compares.

use std::path::Path;
use std::sync::Arc;

use midfold::Policy;
use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold::core::policy::EngineName;
use midfold::model::ModelClient;
use midfold_args::{EngineForm, ReplayArgs};
use midfold_eval::exam::engine::{EngineProcess, ExamEngine};
use midfold_eval::replay::{Recording, ReplayError, ReplayNarrator, ReplayResult, ReplayStrategy};
use midfold_eval::{ReplayContender, ReplayOptions, strategy_names};

use crate::error::CommandError;
use crate::prepare;
use crate::replay::engine;
use crate::summariser;

/// One strategy in one window and form.
pub struct StrategyRun {
    /// The strategy's name in tables.
    pub name: String,
    pub window: u64,
    pub kind: StrategyKind,
}

/// The kind of a strategy.
pub enum StrategyKind {
    /// A policy, or the raw history.
    Ours(ReplayContender),
    /// A policy in a session, with a model that narrates.
    Narrated(Box<Policy>, Arc<UrlModel>),
    /// An external engine.
    Engine(Arc<ExamEngine>),
}

impl StrategyRun {
    /// Whether it is an external engine.
    pub fn is_engine(&self) -> bool {
        matches!(self.kind, StrategyKind::Engine(_))
    }

    /// Whether it is the raw history, which nothing folds.
    pub fn is_raw(&self) -> bool {
        matches!(self.kind, StrategyKind::Ours(ReplayContender::Raw))
    }

    /// The name of its form: `session` or `stateless`.
    pub fn form(&self) -> &'static str {
        match &self.kind {
            StrategyKind::Ours(contender) => contender.form(),
            StrategyKind::Narrated(..) => "session",
            StrategyKind::Engine(_) => "stateless",
        }
    }

    pub fn replay(
        &self,
        recording: &Recording,
        replaying: &ReplayOptions<'_>,
        dialect: midfold::DialectKind,
    ) -> Result<ReplayResult, ReplayError> {
        match &self.kind {
            StrategyKind::Ours(contender) => replaying.run(recording, contender.strategy()),
            StrategyKind::Narrated(policy, model) => {
                replaying.run(recording, ReplayStrategy::Narrated(policy, &**model))
            }
            StrategyKind::Engine(engine) => {
                let mut asking = EngineProcess::new(Arc::clone(engine), dialect);
                replaying.run(recording, ReplayStrategy::Outside(&mut asking))
            }
        }
    }
}

/// A model behind a URL that any thread can ask.
pub struct UrlModel {
    client: ModelClient,
    runtime: tokio::runtime::Runtime,
}

impl UrlModel {
    fn new(args: &ReplayArgs, url: &str) -> Result<Self, CommandError> {
        let client = summariser::SummariserModel {
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

impl ReplayNarrator for UrlModel {
    fn narrate(&self, request: &SummaryRequest) -> Result<SummaryReply, SummaryFailure> {
        self.runtime.block_on(self.client.summarise(request))
    }
}

/// All strategies that the command line asks for, window by window.
pub fn runs(args: &ReplayArgs, windows: &[u64]) -> Result<Vec<StrategyRun>, CommandError> {
    let mut named: Vec<(String, Option<Policy>)> = Vec::new();
    let names: Vec<&str> =
        match (args.preset.is_empty(), args.policy.is_empty() && args.engine.is_empty()) {
            (true, true) => strategy_names(),
            _ => args.preset.iter().map(String::as_str).collect(),
        };
    for name in names {
        named.push((name.to_owned(), midfold_eval::strategy(name)?));
    }
    for path in &args.policy {
        named.push((file_name(path), Some(prepare::policy_file(path)?)));
    }
    let model =
        args.model.as_deref().map(|url| UrlModel::new(args, url)).transpose()?.map(Arc::new);
    let mut runs = Vec::new();
    for window in windows {
        for (name, policy) in &named {
            if let Some(EngineName::Command { command }) = policy.as_ref().map(|p| &p.engine) {
                let engine = engine::of(command.clone(), args.engine_timeout)?;
                let name = name.clone();
                runs.push(StrategyRun {
                    name,
                    window: *window,
                    kind: StrategyKind::Engine(engine),
                });
                continue;
            }
            let contenders = ReplayContender::forms(policy.as_ref(), form(args.form)).into_iter();
            runs.extend(contenders.map(|contender| StrategyRun {
                name: name.clone(),
                window: *window,
                kind: StrategyKind::Ours(contender),
            }));
        }
        if let Some(model) = &model {
            runs.extend(named.iter().filter_map(|(name, policy)| {
                let mut policy = policy.clone()?;
                policy.narration.on = true;
                let kind = StrategyKind::Narrated(Box::new(policy), Arc::clone(model));
                let name = format!("{name} + model");
                Some(StrategyRun { name, window: *window, kind })
            }));
        }
        for command in &args.engine {
            let engine = engine::start(command, args.engine_timeout)?;
            let name = engine.name().to_owned();
            runs.push(StrategyRun { name, window: *window, kind: StrategyKind::Engine(engine) });
        }
    }
    Ok(runs)
}

fn form(named: EngineForm) -> midfold_eval::ReplayForm {
    match named {
        EngineForm::Stateless => midfold_eval::ReplayForm::Stateless,
        EngineForm::Session => midfold_eval::ReplayForm::Session,
        EngineForm::Both => midfold_eval::ReplayForm::Both,
    }
}

fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
