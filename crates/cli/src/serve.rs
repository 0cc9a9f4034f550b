//! `midfold serve`: a proxy between an agent and its provider.

use std::net::SocketAddr;
use std::sync::Arc;

use midfold::Settings;
use midfold::proxy::{Prefer, Rules};
use midfold_serve::{Config, Running, Upstreams};

use crate::args::{CompactedBy, Serve as Args};
use crate::config;
use crate::error::CommandError;
use crate::host::{self, Host, Make, block_on};
use crate::input::HOST;
use crate::output::Output;
use crate::seal;
use crate::signals;

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    if !args.listen.ip().is_loopback() && !args.open {
        let text = format!(
            "{} can be reached from other machines, and no keys are asked for",
            args.listen
        );
        return Err(CommandError::usage(text)
            .hint("listen on 127.0.0.1, or say --open where the network is yours alone"));
    }
    let (mut config, policy) = configured(args)?;
    let upstreams = config.upstreams.to_string();
    block_on(async {
        let host = Host::open(&args.at, Make::Yes).await?;
        let place = host.store.place();
        config.seal =
            seal::keys(args.seal_keys.as_deref(), host.is_memory, &config.random, output)?;
        // A store that forgets would hold everything twice.
        config.store = (!host.is_memory).then_some(host.store);
        if config.store.is_some() {
            can_be_stored(args)?;
        }
        let running = midfold_serve::start(config).await.map_err(|error| {
            CommandError::failed(error.to_string())
                .hint("choose another address with --listen; port 0 takes a free one")
        })?;
        said(running.address(), &upstreams, &policy, &place, json, output)?;
        signals::told_to_end().await;
        Running::stop(running).await;
        Ok(())
    })
}

/// Other nodes do not have a file that this one counts with.
fn can_be_stored(args: &Args) -> Result<(), CommandError> {
    let Some(name) = &args.measure.tokenizer else { return Ok(()) };
    if midfold::tokens::by_name(name).is_ok() {
        return Ok(());
    }
    let text = format!("stored conversations cannot be counted with the file {name}");
    Err(CommandError::usage(text)
        .hint(format!("use one of {}", midfold::tokens::names().join(", ")))
        .hint("or keep conversations in memory: --store memory"))
}

fn configured(args: &Args) -> Result<(Config, String), CommandError> {
    let said = Settings {
        window: args.measure.window,
        tokenizer: args.measure.tokenizer.clone(),
        profile: args.measure.profile.clone(),
        preset: args.folding.preset.clone(),
        policy: args.folding.policy.clone().map(midfold::PolicyFrom::File),
        ..Settings::default()
    };
    let policy = config::policy(said.clone())?;
    let name = policy.name.clone();
    let setup = said.over(config::settings()?).setup(&HOST)?;
    let rules = Rules::new(policy).setup(setup);
    let mut upstreams = Upstreams::default();
    for upstream in &args.upstream {
        upstreams.set(upstream).map_err(|error| {
            CommandError::usage(error.to_string())
                .hint("--upstream openai=http://127.0.0.1:8080/v1")
        })?;
    }
    let mut config = Config::new(rules, Arc::new(host::now));
    config.listen = args.listen;
    config.upstreams = upstreams;
    config.is_strict = args.strict;
    config.prefer = match args.compaction {
        CompactedBy::Midfold => Prefer::Midfold,
        CompactedBy::Upstream => Prefer::Upstream,
    };
    Ok((config, name))
}

/// The one line that says where, what and by which policy.
fn said(
    address: SocketAddr,
    upstreams: &str,
    policy: &str,
    store: &str,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if json {
        let line = serde_json::json!({
            "listen": format!("http://{address}"), "upstreams": upstreams, "policy": policy,
            "store": store,
        });
        return output.stdout(format!("{line}\n"));
    }
    output.stderr(&format!(
        "midfold listens on http://{address}, folds by `{policy}`, sends to {upstreams}, keeps \
         conversations in {store}\n"
    ));
    Ok(())
}
