//! `midfold session observe`.

use midfold::core::Usage;
use serde_json::{Value, json};

use crate::args::Observe;
use crate::error::CommandError;
use crate::host::{self, Host};
use crate::input::Input;
use crate::output::Output;
use crate::words::number;

/// What the provider reported: from the flags, or from its JSON.
pub fn usage(args: &Observe) -> Result<Usage, CommandError> {
    let usage = match &args.file {
        Some(path) => {
            let input = Input::load(path)?;
            let value: Value = serde_json::from_slice(&input.bytes).map_err(|error| {
                CommandError::failed(format!("{}: not JSON: {error}", input.name))
                    .hint("give the `usage` object of a response, or --prompt N")
            })?;
            read(&value).ok_or_else(|| {
                CommandError::failed(format!("{}: no usage in it", input.name)).hint(
                    "looked for prompt_tokens (OpenAI) and input_tokens (Anthropic, Responses), \
                     also under `usage`",
                )
            })?
        }
        None => Usage {
            prompt: args.prompt.unwrap_or(0),
            output: args.completion.unwrap_or(0),
            cache_read: args.cache_read.unwrap_or(0),
            cache_write: args.cache_write.unwrap_or(0),
        },
    };
    if usage.cache_read.saturating_add(usage.cache_write) > usage.prompt {
        return Err(CommandError::usage(format!(
            "{} tokens from and to the cache are more than the prompt's {}",
            number(usage.cache_read.saturating_add(usage.cache_write)),
            number(usage.prompt)
        ))
        .hint("--prompt is the whole prompt, cached tokens included"));
    }
    Ok(usage)
}

/// Usage as providers write it.
fn read(value: &Value) -> Option<Usage> {
    let usage = match &value["response"]["usage"] {
        Value::Null => value.get("usage").unwrap_or(value),
        found => found,
    };
    let at = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    if let Some(prompt) = at("/prompt_tokens") {
        let cached = at("/prompt_tokens_details/cached_tokens");
        return Some(Usage {
            prompt,
            output: at("/completion_tokens").unwrap_or(0),
            cache_read: cached.or(at("/prompt_cache_hit_tokens")).unwrap_or(0),
            cache_write: at("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        });
    }
    let (input, output) = (at("/input_tokens")?, at("/output_tokens").unwrap_or(0));
    // Anthropic's input leaves out what the cache read or wrote; that of Responses has it.
    let (read, write) = (at("/cache_read_input_tokens"), at("/cache_creation_input_tokens"));
    let cache_write = write.unwrap_or(0);
    Some(match (read, write) {
        (None, None) => {
            let cached = at("/input_tokens_details/cached_tokens").unwrap_or(0);
            Usage { prompt: input, output, cache_read: cached, cache_write }
        }
        (read, _) => {
            let cache_read = read.unwrap_or(0);
            let prompt = input.saturating_add(cache_read).saturating_add(cache_write);
            Usage { prompt, output, cache_read, cache_write }
        }
    })
}

pub async fn run(
    args: &Observe,
    usage: Usage,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let mut stored = host.session(&args.id).await?;
    let calls = match stored.calls().await {
        Ok(calls) => calls,
        Err(error) => return Err(host.failed(error).await),
    };
    let newest = calls.last().filter(|(_, settled)| settled.is_none());
    let call = args.call.or(newest.map(|(record, _)| record.number));
    if let Some(missing) = args.call.filter(|call| *call == 0 || *call > calls.len() as u64) {
        let have = match calls.len() as u64 {
            0 => "none was recorded yet".to_owned(),
            many => format!("there are {}", number(many)),
        };
        return Err(CommandError::failed(format!(
            "session `{}` has no call {missing}: {have}",
            args.id
        ))
        .hint("`midfold session context` records one, and says its number"));
    }
    if let Err(error) = stored.observe(usage, call, host::now()).await {
        return Err(host.failed(error).await);
    }
    if json {
        return output.stdout(format!("{}\n", json!({ "call": call, "usage": usage })));
    }
    let expected = call
        .and_then(|call| calls.iter().find(|(record, _)| record.number == call))
        .map(|(record, _)| format!(", {} were expected", number(record.tokens_estimated)))
        .unwrap_or_default();
    let cached = match usage.cache_read {
        0 => String::new(),
        read => format!("; {} of them from the cache", number(read)),
    };
    let which = call.map_or("noted".to_owned(), |call| format!("call {}", number(call)));
    output.stdout(format!("{which}: {} tokens{expected}{cached}\n", number(usage.prompt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_as_providers_write_it() {
        let cases = [
            (
                json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}),
                (10, 2, 4, 0),
            ),
            (
                json!({"usage": {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}}),
                (10, 2, 4, 0),
            ),
            (
                json!({"usage": {"input_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 1}}),
                (10, 1, 5, 2),
            ),
        ];
        for (value, (prompt, output, cache_read, cache_write)) in cases {
            assert_eq!(
                read(&value),
                Some(Usage { prompt, output, cache_read, cache_write }),
                "{value}"
            );
        }
        assert_eq!(read(&json!({"id": 1})), None);
    }
}
