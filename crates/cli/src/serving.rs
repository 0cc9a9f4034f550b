//! What `midfold serve` is told: by flags, by variables, by files.

use midfold::Serving;
use midfold_serve::config::Provider;

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
fn for_all(url: &str) -> impl Iterator<Item = (String, String)> {
    Provider::ALL.into_iter().map(move |provider| (provider.name().to_owned(), url.to_owned()))
}
