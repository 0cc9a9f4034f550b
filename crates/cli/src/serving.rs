//! What `midfold serve` is told: by flags, by variables, by files.

use midfold::Serving;
use midfold_serve::config::Provider;
use serde_json::{Value, json};

use crate::args::Serve as Args;
use crate::config;
use crate::env;
use crate::error::CommandError;

/// All that is said, the nearest first: flags, variables, the project's file, the user's.
pub fn settings(args: &Args) -> Result<Serving, CommandError> {
    let named = env::serving()?.into_iter().map(|(_, said)| said);
    let variables = named.fold(Serving::default(), Serving::over);
    Ok(flags(args)?.over(variables).over(config::serving()?))
}

fn flags(args: &Args) -> Result<Serving, CommandError> {
    let mut said = Serving {
        listen: args.listen,
        open: args.open.then_some(true),
        strict: args.strict.then_some(true),
        keys: args.keys.clone(),
        tls_cert: args.tls_cert.clone(),
        tls_key: args.tls_key.clone(),
        ..Serving::default()
    };
    for upstream in &args.upstream {
        let named = upstream.split_once('=').filter(|(name, _)| !name.contains(['/', ':']));
        match named {
            Some((name, url)) => said.upstream.extend([(name.to_owned(), url.to_owned())]),
            None => said.upstream.extend(for_all(upstream)),
        }
    }
    said.upstream_key.extend(args.upstream_key.iter().cloned());
    Ok(said)
}

/// One address for all providers.
pub fn for_all(url: &str) -> impl Iterator<Item = (String, String)> {
    Provider::ALL.into_iter().map(move |provider| (provider.name().to_owned(), url.to_owned()))
}

/// What is said, key by key, as `midfold config` shows it.
pub fn said(serving: &Serving) -> Vec<(String, Value)> {
    let Serving { listen, open, strict, keys, tls_cert, tls_key, upstream, upstream_key } = serving;
    let single = [
        ("listen", json!(listen)),
        ("open", json!(open)),
        ("strict", json!(strict)),
        ("keys", json!(keys)),
        ("tls_cert", json!(tls_cert)),
        ("tls_key", json!(tls_key)),
    ];
    let single = single.into_iter().map(|(key, value)| (key.to_owned(), value));
    let masked = |(name, url): (&String, &String)| {
        (format!("upstream.{name}"), json!(midfold::store::mask(url)))
    };
    let variable = |(name, variable)| (format!("upstream_key.{name}"), json!(variable));
    let all = single.chain(upstream.iter().map(masked)).chain(upstream_key.iter().map(variable));
    all.filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (format!("serve.{key}"), value))
        .collect()
}
