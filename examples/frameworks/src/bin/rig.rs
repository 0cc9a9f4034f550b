//! An agent with `rig-core`: `cargo run --bin rig -- http://127.0.0.1:8080 MODEL 32000 TASK`.
//!
//! Its messages are types of its own: what midfold hands out is turned into them, and its reply back.

use midfold::core::Usage;
use midfold_frameworks::{Agent, Failed, REPLY, arguments, tool};
use rig_core::completion::message::{AssistantContent, CallId, ToolName};
use rig_core::completion::{CompletionRequest, CompletionResponse, Message, ToolDefinition};
use rig_core::providers::openai::OpenAIConfig;
use serde_json::{Value, json};

/// Messages of Chat Completions as rig's.
fn messages(context: &[u8]) -> Result<Vec<Message>, Failed> {
    let all: Vec<Value> = serde_json::from_slice(context)?;
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let one = |message: &Value| -> Result<Message, Failed> {
        Ok(match message["role"].as_str() {
            Some("system") => Message::system(text(message)),
            Some("assistant") => {
                let said = Some(text(message)).filter(|text| !text.is_empty());
                let mut content: Vec<_> = said.map(AssistantContent::text).into_iter().collect();
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let id = call["id"].as_str().unwrap_or_default();
                    let arguments = call["function"]["arguments"].clone();
                    content.push(AssistantContent::tool_call(id, bash()?, arguments));
                }
                Message::from(content)
            }
            Some("tool") => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                Message::tool_result(CallId::from_wire(id), bash()?, text(message))
            }
            _ => Message::user(text(message)),
        })
    };
    all.iter().map(one).collect()
}

/// A reply of rig's as a message of Chat Completions.
fn reply(answer: &CompletionResponse) -> String {
    let calls: Vec<Value> = answer
        .tool_calls()
        .map(|call| {
            let arguments = call.function.arguments_value().to_string();
            json!({ "id": call.id.wire(), "type": "function",
                "function": { "name": call.function.name.as_str(), "arguments": arguments } })
        })
        .collect();
    let mut message = json!({ "role": "assistant", "content": answer.text() });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message.to_string()
}

fn bash() -> Result<ToolName, Failed> {
    Ok(ToolName::new("bash")?)
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let (url, name, window, task) = arguments()?;
    let mut config = OpenAIConfig::new("key");
    config.base_url = format!("{url}/v1");
    let model = config.client().chat(name.as_str());
    let described = &tool()["function"];
    let description = described["description"].as_str().unwrap_or_default();
    let tools = vec![ToolDefinition::new(bash()?, description, described["parameters"].clone())];
    let mut agent = Agent::new(&name, window, &task)?;
    loop {
        let mut context = agent.context()?;
        let answer = loop {
            let mut request = CompletionRequest::new("");
            request.chat_history = messages(&context.bytes())?;
            request.tools = tools.clone();
            request.max_tokens = Some(REPLY.into());
            match model.call(request).await {
                Ok(answer) => break answer,
                Err(error) => {
                    let status = error.provider_response_status();
                    let body = error.provider_response_body().map(str::to_owned);
                    let (Some(status), Some(body)) = (status, body) else {
                        return Err(error.into());
                    };
                    context = agent.recover(status.as_u16(), &body)?;
                }
            }
        };
        agent.observe(Usage {
            prompt: answer.usage.input_tokens.unwrap_or(0),
            output: answer.usage.output_tokens.unwrap_or(0),
            cache_read: answer.usage.cached_input_tokens.unwrap_or(0),
            ..Usage::default()
        });
        agent.append(reply(&answer));
        let calls: Vec<_> = answer.tool_calls().cloned().collect();
        if calls.is_empty() {
            println!("{}\n({} folds)", answer.text(), agent.session.folds().len());
            return Ok(());
        }
        for call in calls {
            let command = call.function.arguments_value();
            agent.run(&call.id.wire(), command["command"].as_str().unwrap_or_default())?;
        }
    }
}
