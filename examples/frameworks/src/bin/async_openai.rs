//! An agent with `async-openai`: `cargo run --bin async_openai -- http://127.0.0.1:8080 MODEL 32000 TASK`.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use midfold::Context;
use midfold::core::Usage;
use midfold_frameworks::{Agent, Failed, REPLY, arguments, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// A request whose messages are written as they are.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    max_tokens: u32,
    messages: Box<RawValue>,
    tools: [Value; 1],
}

/// What is read of an answer. The message stays the bytes that it was.
#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Box<RawValue>,
}

async fn send(
    client: &Client<OpenAIConfig>,
    model: &str,
    context: &Context,
) -> Result<Answer, OpenAIError> {
    let messages = String::from_utf8_lossy(&context.bytes()).into_owned();
    let invalid = |error: serde_json::Error| OpenAIError::InvalidArgument(error.to_string());
    let messages = RawValue::from_string(messages).map_err(invalid)?;
    let request = Request { model, max_tokens: REPLY, messages, tools: [tool()] };
    client.chat().create_byot(to_raw_value(&request).map_err(invalid)?).await
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let (url, model, window, task) = arguments()?;
    let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key("key");
    let client = Client::with_config(config);
    let mut agent = Agent::new(&model, window, &task)?;
    loop {
        let mut context = agent.context()?;
        let answer = loop {
            match send(&client, &model, &context).await {
                Ok(answer) => break answer,
                Err(OpenAIError::ApiError(refused)) => {
                    let body = serde_json::json!({ "error": refused.api_error }).to_string();
                    context = agent.recover(refused.status_code.as_u16(), &body)?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let count = |usage: &Value, field: &str| usage[field].as_u64().unwrap_or(0);
        if let Some(usage) = &answer.usage {
            agent.observe(Usage {
                prompt: count(usage, "prompt_tokens"),
                output: count(usage, "completion_tokens"),
                cache_read: count(&usage["prompt_tokens_details"], "cached_tokens"),
                ..Usage::default()
            });
        }
        let message = answer.choices.into_iter().next().ok_or("no choice in the answer")?.message;
        agent.append(message.get().to_owned());
        let said: Value = serde_json::from_str(message.get())?;
        let calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() {
            println!("{}", said["content"].as_str().unwrap_or_default());
            println!("({} folds)", agent.session.folds().len());
            return Ok(());
        }
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let arguments: Value = serde_json::from_str(arguments)?;
            let id = call["id"].as_str().unwrap_or_default();
            agent.run(id, arguments["command"].as_str().unwrap_or_default())?;
        }
    }
}
