//! `midfold session observe`: records the usage that a provider reported for a call.

use midfold::core::Usage;
use midfold::formats::usage::reported;
use midfold_args::ObserveArgs;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::error::CommandError;
use crate::host::OpenStore;
use crate::input::InputFile;
use crate::output::Output;
use crate::runtime;
use crate::words::number;

/// The usage that the provider reported, from the flags or from its JSON.
fn usage(args: &ObserveArgs) -> Result<Usage, CommandError> {
    let usage = match &args.file {
        Some(path) => {
            let input = InputFile::load(path)?;
            serde_json::from_slice::<IgnoredAny>(&input.bytes).map_err(|error| {
                CommandError::failed(format!("{}: not JSON: {error}", input.name))
                    .hint("give the `usage` object of a response, or --prompt N")
            })?;
            reported(&input.bytes).ok_or_else(|| {
                CommandError::failed(format!("{}: no usage in it", input.name)).hint(
                    "looked for prompt_tokens (OpenAI), input_tokens (Anthropic, Responses), \
                     promptTokenCount (Gemini) and inputTokens (Bedrock), also under `usage` and \
                     `usageMetadata`",
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

pub async fn run(
    args: &ObserveArgs,
    host: &OpenStore,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let usage = usage(args)?;
    let mut stored = host.session(&args.id).await?;
    let calls = stored.calls().await?;
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
    stored.observe(usage, call, runtime::now()).await?;
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
