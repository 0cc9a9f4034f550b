//! A whole agent: one tool, streamed replies, and a context that always fits.
//!
//! `cargo run -p midfold --example agent -- http://127.0.0.1:8080 MODEL 32000 "Why does make fail?"`
//!
//! It talks to any server of Chat Completions on plain HTTP; the HTTP client is none of midfold's. What
//! is midfold's are the six calls of `session`, and `AnswerTee`, which joins a stream to the message that goes
//! back into the history.

use std::error::Error;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use midfold::formats::answer::{AnswerFacts, AnswerFraming, AnswerTee};
use midfold::{
    Budget, DialectKind, Policy, RawEvent, RefusedRequest, Session, Setup, without_messages,
};
use serde_json::{Value, json};

const SYSTEM: &str = "You are an agent with a shell. Work step by step.";
/// Tokens that are left free for a reply.
const REPLY: u64 = 1_024;

/// Where the model is, and what it takes.
pub struct Model<'a> {
    /// Everything before `/v1`.
    pub url: &'a str,
    /// What it is called there.
    pub name: &'a str,
    /// In tokens: what is believed. The server may know better.
    pub window: u64,
}

/// How it ended.
pub struct Done {
    /// What the model said last.
    pub answer: String,
    /// How often the context was folded.
    pub folds: usize,
}

/// Works on a task until the model calls no tool any more.
pub async fn run(model: &Model<'_>, task: &str) -> Result<Done, Box<dyn Error>> {
    let tools = json!([{ "type": "function", "function": {
        "name": "bash", "description": "Runs a command and returns what it prints.",
        "parameters": { "type": "object", "properties": { "command": { "type": "string" } } } } }]);
    let tools = tools.to_string();
    // What every request has beside its messages is counted once.
    let beside = without_messages(
        DialectKind::OpenAiChat,
        Some(SYSTEM),
        Some(tools.clone().into()),
        Some(model.name.to_owned()),
    );
    let prepared = Setup::new().window(model.window).prepare(beside)?;
    let policy = Policy::preset("default")?;
    let mut session = Session::over("agent", prepared.log, policy, prepared.meter);
    let budget = Budget { output_reserve: REPLY, ..Budget::new(model.window) };
    session.append(message(&json!({ "role": "user", "content": task })));

    loop {
        let mut context = session.context(&budget, now())?; // folds first where that is due
        let seen = loop {
            match send(model, &context.bytes(), &tools).await? {
                Ok(seen) => break seen,
                Err((status, body)) => {
                    let refused =
                        RefusedRequest { status: Some(status), body: &body, reply: REPLY };
                    let judged = refused.judge(&session.status(&budget, now()), REPLY);
                    let Some(overflow) = judged.overflow else {
                        return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
                    };
                    // Too long: folded at once, by the numbers in the error. The second time in a row
                    // this is an error.
                    context = session.recover(&budget, overflow, now())?;
                }
            }
        };
        if let Some(usage) = seen.usage {
            session.observe(usage, now()); // what the provider counted sets the meter right
        }
        let reply = seen.output.into_iter().next().ok_or("the reply was cut off")?;
        session.append(RawEvent::new(reply.clone())); // the bytes as they came
        let said: Value = serde_json::from_slice(&reply)?;
        let calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() {
            let answer = said["content"].as_str().unwrap_or_default().to_owned();
            return Ok(Done { answer, folds: session.folds().len() });
        }
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let arguments: Value = serde_json::from_str(arguments)?;
            let output = shell(arguments["command"].as_str().unwrap_or_default())?;
            let id = &call["id"];
            session
                .append(message(&json!({ "role": "tool", "tool_call_id": id, "content": output })));
        }
    }
}

/// Sends a request and reads the stream. A refusal is its status and its body.
async fn send(
    model: &Model<'_>,
    messages: &[u8],
    tools: &str,
) -> Result<Result<AnswerFacts, (u16, Vec<u8>)>, Box<dyn Error>> {
    // The messages are put in as they are: no JSON library writes them anew.
    let head = format!(r#"{{"model":{},"max_tokens":{REPLY},"messages":"#, json!(model.name));
    let rest =
        format!(r#","tools":{tools},"stream":true,"stream_options":{{"include_usage":true}}}}"#);
    let body = Full::new(Bytes::from([head.as_bytes(), messages, rest.as_bytes()].concat()));
    let request = hyper::Request::post(format!("{}/v1/chat/completions", model.url))
        .header("content-type", "application/json")
        .body(body)?;
    let client: Client<HttpConnector, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).build_http();
    let mut response = client.request(request).await?;
    let mut tee = AnswerTee::new(DialectKind::OpenAiChat, AnswerFraming::Sse);
    let mut body = Vec::new();
    while let Some(frame) = response.frame().await {
        let Ok(chunk) = frame?.into_data() else { continue };
        match response.status().is_success() {
            true => tee.push(&chunk), // and here is where words are shown as they come
            false => body.extend_from_slice(&chunk),
        }
    }
    match response.status().is_success() {
        true => Ok(Ok(tee.finish())),
        false => Ok(Err((response.status().as_u16(), body))),
    }
}

fn message(value: &Value) -> RawEvent {
    RawEvent::new(value.to_string().into())
}

fn shell(command: &str) -> std::io::Result<String> {
    let output = Command::new("sh").args(["-c", command]).output()?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Milliseconds since 1970: the engine has no clock of its own.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "a program for the terminal")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, window, task] = &args[..] else {
        return Err("usage: agent URL MODEL WINDOW TASK".into());
    };
    let done = run(&Model { url, name, window: window.parse()? }, task).await?;
    println!("{}\n({} folds)", done.answer, done.folds);
    Ok(())
}
