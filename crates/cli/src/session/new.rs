//! `midfold session new`, and what `import` makes of a conversation.

use std::path::Path;

use bytes::Bytes;
use midfold::core::engine::State;
use midfold::core::jsonstr;
use midfold::formats::DialectKind;
use midfold::formats::read::{Conversation, Envelope};
use midfold::store::{Meta, NewSession, Stored, StoredError};
use midfold::{Budget, Prepared, tokens};
use serde_json::{Value, json};

use super::appended;
use crate::args::{New, Start};
use crate::error::{CommandError, unknown};
use crate::host::{self, Host};
use crate::input::Input;
use crate::output::{Color, Output};
use crate::prepare;

/// What a session is made of, checked before a store is opened.
pub fn prepare(args: &New) -> Result<Prepared, CommandError> {
    let known = DialectKind::ALL.map(DialectKind::name);
    let kind = DialectKind::from_name(&args.dialect)
        .ok_or_else(|| unknown("dialect", &args.dialect, &known))?;
    let system = args.system.as_deref().map(system).transpose()?;
    let tools = args.tools.as_deref().map(tools).transpose()?;
    let envelope = Envelope { system, tools, model: args.model.clone(), wrapper: None };
    let empty =
        Conversation { id: None, format: kind.into(), events: Vec::new(), envelope, line: 1 };
    Ok(prepare::setup(&args.start.measure, None)?.prepare(empty)?)
}

/// A system prompt: a JSON string or list of blocks as it is, anything else as text.
fn system(path: &Path) -> Result<Bytes, CommandError> {
    let text = Input::text(path)?;
    match serde_json::from_str(&text) {
        Ok(Value::String(_) | Value::Array(_)) => Ok(text.trim().to_owned().into()),
        _ => Ok(jsonstr::encode(text.trim_end()).into_bytes().into()),
    }
}

fn tools(path: &Path) -> Result<Bytes, CommandError> {
    let text = Input::text(path)?;
    let place = path.display();
    match serde_json::from_str(&text) {
        Ok(Value::Array(_)) => Ok(text.trim().to_owned().into()),
        Ok(_) => Err(CommandError::failed(format!("{place}: not a JSON list of tools"))
            .hint("write the value of `tools` as the request has it: [{…}, …]")),
        Err(error) => Err(CommandError::failed(format!("{place}: not JSON: {error}"))),
    }
}

pub async fn run(
    args: &New,
    prepared: Prepared,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let now = host::now();
    let fresh = || host::new_id(now, [host::random(), host::random()]);
    let id = args.id.clone().unwrap_or_else(fresh);
    let mut stored = create(host, &id, &args.start, &prepared, None).await?;
    if !prepared.log.is_empty() {
        // A system prompt stands among the messages here.
        appended(host, &mut stored, super::each(&prepared.log), None, None).await?;
    }
    if host.is_memory {
        let style = output.stderr_style();
        let text = "note: a store in memory ends with this command: nothing is kept\n";
        output.stderr(&style.paint(Color::Yellow, text));
    }
    match json {
        true => output.stdout(format!("{}\n", json!({ "id": id }))),
        false => output.stdout(format!("{id}\n")),
    }
}

/// Makes a session for a prepared conversation, without its messages.
pub async fn create(
    host: &Host,
    id: &str,
    start: &Start,
    prepared: &Prepared,
    source: Option<String>,
) -> Result<Stored, CommandError> {
    let mut policy = prepare::policy(start.preset.as_deref(), start.policy.as_deref())?;
    policy.narration.on |= start.narrate;
    let counter = prepared.log.counter().name().to_owned();
    if tokens::by_name(&counter).is_err() {
        return Err(CommandError::usage(format!(
            "a stored session cannot count with the file {counter}: other nodes do not have it"
        ))
        .hint(format!("use one of {}", tokens::names().join(", "))));
    }
    let budget = Budget {
        output_reserve: start.output_reserve.unwrap_or(0),
        injection_reserve: policy.trigger.injection_reserve,
        ..Budget::new(prepared.window)
    };
    budget.check().map_err(|error| {
        CommandError::usage(error.to_string()).hint("raise --window or lower --output-reserve")
    })?;
    let Envelope { system, tools, model, .. } = &prepared.source.envelope;
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let envelope = [system, tools].into_iter().flatten().map(text).collect();
    let new = NewSession {
        id: id.to_owned(),
        dialect: prepared.kind.name().to_owned(),
        profile: prepared.log.profile().name.to_owned(),
        counter,
        policy: policy.to_toml(),
        meta: encoded(&Meta { budget, envelope, parent: None, source })?,
        created: host::now(),
    };
    let made = Stored::create(host.store.clone(), new).await;
    let made = host_result(host, made).await?;
    let state = State {
        model: model.clone().unwrap_or_default(),
        meter: (prepared.meter.samples > 0).then_some(prepared.meter),
        ..State::default()
    };
    if state == State::default() {
        return Ok(made);
    }
    let saved = host.store.save_state(id, 0, &encoded(&state)?).await;
    host_result(host, saved.map_err(StoredError::from)).await?;
    host.session(id).await
}

async fn host_result<T>(host: &Host, result: Result<T, StoredError>) -> Result<T, CommandError> {
    match result {
        Ok(value) => Ok(value),
        Err(error) => Err(host.failed(error).await),
    }
}

fn encoded(value: &impl serde::Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value).map_err(|error| CommandError::failed(error.to_string()))
}
