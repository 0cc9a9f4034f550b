//! `Session`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use midfold::blocking::{ForcedFold, Session as Engine, StorePlace};
use midfold::core::Hash;
use midfold::core::event::Usage;
use midfold::{Door, RefusedRequest};
use napi_derive::napi;
use serde::Deserialize;

use crate::clock::now;
use crate::compact::folding;
use crate::context::{Handed, events, list, number, whole};
use crate::errors::{Failure, NodeResult, json};
use crate::options::{OpenOptions, SessionOptions, policy, read_json, read_options};
use crate::summary::{Answer, SummaryRequest};

/// One conversation: its log, its folds, its meter; in memory, or in a store.
#[napi]
pub struct Session {
    pub(crate) engine: Arc<Mutex<Engine>>,
}

/// What hooks add behind the history, and what room they keep.
#[derive(Default, Deserialize)]
#[serde(default)]
struct HookTexts {
    inject: Vec<(String, String)>,
    reserve: Vec<(String, u64)>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CountedTokens {
    prompt: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    call: Option<u64>,
}

impl From<Engine> for Session {
    fn from(engine: Engine) -> Self {
        Self { engine: Arc::new(Mutex::new(engine)) }
    }
}

impl Session {
    /// A panic leaves no session half changed: planning is pure.
    fn lock(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run<T>(&self, work: impl FnOnce(&mut Engine) -> NodeResult<T>) -> napi::Result<T> {
        Ok(work(&mut self.lock())?)
    }
}

#[napi]
impl Session {
    /// Makes a session. `id` names it where the options do not.
    #[napi(constructor)]
    pub fn new(options: String, id: String) -> napi::Result<Self> {
        let make = || {
            let options: SessionOptions = read_options(&options)?;
            let id = options.id.clone().unwrap_or(id);
            Ok::<_, Failure>(options.start()?.open(id)?)
        };
        Ok(make()?.into())
    }

    /// Goes on with a session of a store. The options are JSON.
    #[napi(factory)]
    pub fn open(store: String, id: String, options: String) -> napi::Result<Self> {
        let load = || {
            let options: OpenOptions = read_options(&options)?;
            let named = options.named()?;
            let loaded = Engine::load(StorePlace::existing(&store, Door::Node)?, &id, now)?;
            Ok::<_, Failure>(loaded.with_named(&named)?.with_after_fold(options.after_fold))
        };
        Ok(load()?.into())
    }

    /// Its id.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.lock().id().to_owned()
    }

    /// Where it is stored.
    #[napi(getter)]
    pub fn store(&self) -> Option<String> {
        self.lock().place()
    }

    /// Number of messages.
    #[napi(getter)]
    pub fn length(&self) -> i64 {
        number(self.lock().len() as u64)
    }

    /// Appends messages, as JSON. The place of the first one, and how many there were.
    #[napi]
    pub fn append(
        &self,
        messages: String,
        key: Option<String>,
        expect: Option<i64>,
    ) -> napi::Result<Vec<i64>> {
        self.run(|engine| {
            let events = events(&messages, engine.dialect(), engine.id())?;
            let count = events.len() as u64;
            let expect =
                expect.map(|expect| number_of("expect", expect, "messages")).transpose()?;
            let first = engine.append(events, key, expect)?;
            Ok((first..first + count).map(number).collect())
        })
    }

    /// The context to send. `hooks` is JSON: `inject` and `reserve`, as lists of pairs.
    #[napi]
    pub fn context(&self, hooks: String) -> napi::Result<Handed> {
        let handed = self.run(|engine| {
            let hooks: HookTexts = read_json(&hooks)?;
            let texts = hooks.inject.iter();
            let texts: Vec<_> = texts.map(|(name, text)| (&**name, &**text)).collect();
            let reserves = hooks.reserve.iter().map(|(name, tokens)| (name.as_str(), *tokens));
            let hooks = midfold::injections(reserves, texts.iter().map(|(name, _)| *name))?;
            Ok(engine.context(hooks, &texts)?)
        })?;
        Ok(handed.into())
    }

    /// What to send for a host's whole list, of this many messages.
    #[napi]
    pub fn project(
        &self,
        messages: String,
        count: u32,
        focus: Option<String>,
        force: bool,
    ) -> napi::Result<Handed> {
        let handed = self.run(|engine| {
            let kind = engine.dialect();
            let list = whole(list(&messages, kind, engine.id())?, count, kind)?;
            let force =
                (force || focus.is_some()).then_some(ForcedFold { focus: focus.as_deref() });
            Ok(engine.project(&list, force)?)
        })?;
        Ok(handed.into())
    }

    /// What to send after the provider refused a request with this error.
    #[napi]
    pub fn recover(
        &self,
        error: String,
        status: Option<i64>,
        reply: i64,
    ) -> napi::Result<Option<Handed>> {
        let handed = self.run(|engine| {
            let status = status.map(status_of).transpose()?;
            let reply = number_of("reply", reply, "tokens")?;
            let refused = RefusedRequest { status, body: error.as_bytes(), reply };
            Ok(engine.recover(&refused)?)
        })?;
        Ok(handed.map(Handed::from))
    }

    /// Tells what the provider counted, as JSON.
    #[napi]
    pub fn observe(&self, counted: String) -> napi::Result<()> {
        self.run(|engine| {
            let counted: CountedTokens = read_json(&counted)?;
            let CountedTokens { prompt, output, cache_read, cache_write, call } = counted;
            let usage = Usage { prompt, output, cache_read, cache_write };
            Ok(engine.observe(usage, call)?)
        })
    }

    /// Folds now, or says what that would do.
    #[napi]
    pub fn compact(&self, focus: Option<String>, preview: bool) -> napi::Result<String> {
        let outcome = self.run(|engine| Ok(engine.compact(focus.as_deref(), preview)?))?;
        folding(&outcome.0, &outcome.1)
    }

    /// Takes back a fold and those after it; without an id the active one.
    #[napi]
    pub fn undo(&self, fold: Option<String>) -> napi::Result<()> {
        self.run(|engine| {
            let fold = fold.as_deref().map(hash).transpose()?;
            Ok(engine.undo(fold)?)
        })
    }

    /// Keeps a message out of every later fold, or lets it go.
    #[napi]
    pub fn pin(&self, seq: u32, pinned: bool) -> napi::Result<()> {
        self.run(|engine| Ok(engine.pin(seq.into(), pinned)?))
    }

    /// Says that the contexts go to another model from now on.
    #[napi]
    pub fn update_model(&self, model: String, window: Option<i64>) -> napi::Result<()> {
        self.run(|engine| {
            let window = window.map(|window| number_of("window", window, "tokens")).transpose()?;
            Ok(engine.update_model(&model, window)?)
        })
    }

    /// Changes the policy, from the next fold on.
    #[napi]
    pub fn set_policy(&self, options: String) -> napi::Result<()> {
        self.run(|engine| Ok(engine.set_policy(policy(&options)?)?))
    }

    /// What the model sees of a text, or of a message (`@12`).
    #[napi]
    pub fn explain(&self, text: String, call: Option<i64>) -> napi::Result<String> {
        let explanation = self.run(|engine| {
            let call = call.map(|call| number_of("call", call, "a call")).transpose()?;
            Ok(engine.explain(&text, call)?)
        })?;
        json(&explanation)
    }

    /// What the model sees of the message with this number.
    #[napi]
    pub fn explain_event(&self, seq: i64, call: Option<i64>) -> napi::Result<String> {
        let explanation = self.run(|engine| {
            let seq = number_of("textOrEvent", seq, "a message")?;
            let call = call.map(|call| number_of("call", call, "a call")).transpose()?;
            Ok(engine.explain_event(seq, call)?)
        })?;
        json(&explanation)
    }

    /// The calls with placeholders of messages that are not appended yet, as JSON.
    #[napi]
    pub fn placeholders(&self, messages: String) -> napi::Result<String> {
        let copies = self.run(|engine| {
            let events = events(&messages, engine.dialect(), engine.id())?;
            Ok(engine.placeholders(&events)?)
        })?;
        json(&copies)
    }

    /// Every record held against the log, as JSON.
    #[napi]
    pub fn audit(&self) -> napi::Result<String> {
        let report = self.run(|engine| Ok(engine.audit()?))?;
        let mut value = serde_json::to_value(&report).map_err(Failure::from)?;
        // `is_clean` is a method of the audit, and JSON carries fields alone.
        value["ok"] = report.is_clean().into();
        json(&value)
    }

    /// What it is at, as JSON.
    #[napi]
    pub fn status(&self) -> napi::Result<String> {
        let status = self.run(|engine| Ok(engine.status()?))?;
        json(&status)
    }

    /// All folds that were made, as JSON.
    #[napi]
    pub fn folds(&self) -> napi::Result<String> {
        let folds = self.run(|engine| Ok(engine.folds()?))?;
        json(&folds)
    }

    /// What a model should be asked now, if anything.
    #[napi]
    pub fn wants(&self) -> napi::Result<Option<SummaryRequest>> {
        let request = self.run(|engine| Ok(engine.wants()?))?;
        Ok(request.map(|request| SummaryRequest { request }))
    }

    /// Takes the model's answer, as JSON. Returns the verdict.
    #[napi]
    pub fn complete(&self, request: &SummaryRequest, answer: String) -> napi::Result<String> {
        self.run(|engine| {
            let answer: Answer = read_json(&answer)?;
            let verdict = engine.complete(&request.request, answer.reply()?)?;
            Ok(verdict.code.to_string())
        })
    }

    /// Answers a call of one of the recall tools: plain text, always.
    #[napi]
    pub fn recall(&self, name: String, arguments: String) -> napi::Result<String> {
        self.run(|engine| Ok(engine.recall(&name, &arguments)?))
    }

    /// A session of its own over the first `at` messages, all without.
    #[napi]
    pub fn fork(&self, id: String, at: Option<i64>) -> napi::Result<Self> {
        let fork = self.run(|engine| {
            let at = at.map(|at| number_of("at", at, "messages")).transpose()?;
            Ok(engine.fork(&id, at)?)
        })?;
        Ok(fork.into())
    }
}

/// A number among the arguments: a number of messages or tokens, or of a call.
fn number_of(name: &str, value: i64, unit: &str) -> NodeResult<u64> {
    u64::try_from(value).map_err(|_| {
        Failure::input(format!("`{name}` is {value}"))
            .hint(format!("give a number of {unit}, from 0 on"))
    })
}

fn status_of(status: i64) -> NodeResult<u16> {
    u16::try_from(status).map_err(|_| {
        Failure::input(format!("`status` is {status}"))
            .hint("give the status of the answer, such as 400")
    })
}

fn hash(hex: &str) -> NodeResult<Hash> {
    serde_json::from_value(hex.into()).map_err(|_| {
        Failure::input(format!("`{hex}` is no id of a fold"))
            .hint("`folds()` lists what was folded, with ids")
    })
}
