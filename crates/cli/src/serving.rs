//! What `midfold serve` is told: by flags, by variables, by files.

use midfold::{Serving, ServingUpstreams};
use midfold_args::{Narration, ProxyArgs, Serve as Args};

use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::summariser::Model;

/// All that is said of a server, the nearest first: flags, variables, the project's file, the user's.
pub fn settings(args: &Args) -> Result<Serving, CommandError> {
    let said = Serving {
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
pub fn below() -> Result<Serving, CommandError> {
    let named = env::serving()?.into_iter().map(|(_, said)| said);
    let variables = named.fold(Serving::default(), Serving::over);
    Ok(variables.over(config::serving()?))
}

/// What the flags of a proxy say, whoever starts it.
pub fn flags(args: &ProxyArgs) -> Serving {
    Serving {
        strict: args.strict.then_some(true),
        recall: args.recall.then_some(true),
        cache_lifetime: args.cache_lifetime,
        ca: args.ca.clone(),
        upstream: ServingUpstreams::said(args.upstream.iter().map(String::as_str)),
        ..Serving::default()
    }
}

/// Who narrates while a server runs, if anybody.
pub fn narration(args: &Narration) -> Result<Option<midfold_serve::Narration>, CommandError> {
    let Some(url) = &args.url else { return Ok(None) };
    let model = Model {
        url,
        name: &args.model,
        key_env: args.key_env.as_deref(),
        key_file: args.key_file.as_deref(),
        window: None,
        option: "--narrator",
    };
    Ok(Some(midfold_serve::Narration {
        client: model.client()?,
        calls_an_hour: args.calls,
        tokens_an_hour: args.tokens,
    }))
}
