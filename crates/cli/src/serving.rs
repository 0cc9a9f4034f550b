//! What `midfold serve` is told: by flags, by variables, by files.

use midfold::{ServerSettings, ServingUpstreams};
use midfold_args::{NarrationArgs, ProxyArgs, ServeArgs as Args};

use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::summariser::SummariserModel;

/// All that is said of a server, the nearest first: flags, variables, the project's file, the user's.
pub fn settings(args: &Args) -> Result<ServerSettings, CommandError> {
    let said = ServerSettings {
        listen: args.listen,
        open: args.open.then_some(true),
        allow_origin: args.allow_origin.clone(),
        keys: args.keys.clone(),
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
        upstream_key: args.upstream_key.iter().cloned().collect(),
        ..flags(&args.proxy)
    };
    Ok(said.over(below()?))
}

/// What variables and files say.
pub fn below() -> Result<ServerSettings, CommandError> {
    let named = env::serving()?.into_iter().map(|(_, said)| said);
    let variables = named.fold(ServerSettings::default(), ServerSettings::over);
    Ok(variables.over(config::serving()?))
}

/// What the flags of a proxy say, whoever starts it.
pub fn flags(args: &ProxyArgs) -> ServerSettings {
    ServerSettings {
        strict: args.strict.then_some(true),
        recall: args.recall.then_some(true),
        agent_tools: args.agent_tools.then_some(true),
        cache_lifetime: args.cache_lifetime,
        ca: args.ca.clone(),
        upstream: ServingUpstreams::said(args.upstream.iter().map(String::as_str)),
        ..ServerSettings::default()
    }
}

/// Who narrates while a server runs, if anybody.
pub fn narration(
    args: &NarrationArgs,
) -> Result<Option<midfold_serve::ServeNarration>, CommandError> {
    let Some(url) = &args.url else { return Ok(None) };
    let model = SummariserModel {
        url,
        name: &args.model,
        key_env: args.key_env.as_deref(),
        key_file: args.key_file.as_deref(),
        window: None,
        option: "--narrator",
    };
    Ok(Some(midfold_serve::ServeNarration {
        client: model.client()?,
        calls_an_hour: args.calls,
        tokens_an_hour: args.tokens,
    }))
}
