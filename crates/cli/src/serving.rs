//! Collects the settings of `midfold serve` from flags, variables and files.

use midfold::{ServerSettings, ServingUpstreams};
use midfold_args::{NarrationArgs, ProxyArgs, RecallUse, ServeArgs as Args};

use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::summariser::SummariserModel;

/// All settings of a server. Flags override variables, which override the project's file, which overrides the user's.
pub fn settings(args: &Args) -> Result<ServerSettings, CommandError> {
    let given = ServerSettings {
        listen: args.listen,
        open: args.open.then_some(true),
        allow_origin: args.allow_origin.clone(),
        keys: args.keys.clone(),
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
        upstream_key: args.upstream_key.iter().cloned().collect(),
        ..flags(&args.proxy)
    };
    Ok(given.over(below()?))
}

/// The settings of variables and files.
pub fn below() -> Result<ServerSettings, CommandError> {
    let named = env::serving()?.into_iter().map(|(_, layer)| layer);
    let variables = named.fold(ServerSettings::default(), ServerSettings::over);
    Ok(variables.over(config::serving()?))
}

/// The settings of the flags that every command with a proxy has.
pub fn flags(args: &ProxyArgs) -> ServerSettings {
    ServerSettings {
        strict: args.strict.then_some(true),
        recall: args.recall.map(|when| when == RecallUse::Folded),
        agent_tools: args.agent_tools.then_some(true),
        cache_lifetime: args.cache_lifetime,
        ca: args.ca.clone(),
        upstream: ServingUpstreams::from_texts(args.upstream.iter().map(String::as_str)),
        ..ServerSettings::default()
    }
}

/// The model that narrates while a server runs, with its limits. `None` where no model is named.
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
