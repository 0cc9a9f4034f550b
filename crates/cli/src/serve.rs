//! `midfold serve`: a proxy between an agent and its provider.

use std::net::SocketAddr;
use std::sync::Arc;

use midfold::Settings;
use midfold::proxy::Rules;
use midfold_serve::{Config, Narration, Running, Upstreams};

use crate::args::{self, ProxyArgs, Serve as Args};
use crate::config;
use crate::error::CommandError;
use crate::host::{self, Host, Make, block_on};
use crate::input::HOST;
use crate::output::Output;
use crate::signals;
use crate::summariser::Model;

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    if !args.listen.ip().is_loopback() && !args.open {
        let text = format!(
            "{} can be reached from other machines, and no keys are asked for",
            args.listen
        );
        return Err(CommandError::usage(text)
            .hint("listen on 127.0.0.1, or say --open where the network is yours alone"));
    }
    let (mut config, policy) =
        configured(&args.proxy, upstreams(&args.proxy.upstream, Upstreams::default())?)?;
    config.listen = args.listen;
    let upstreams = config.upstreams.to_string();
    block_on(async {
        let place = keep(&mut config, &args.proxy).await?;
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

/// Opens the store that conversations are kept in, and says where that is.
pub async fn keep(config: &mut Config, args: &ProxyArgs) -> Result<String, CommandError> {
    let host = Host::open(&args.at, Make::Yes).await?;
    let place = host.store.place();
    // A store that forgets would hold everything twice.
    config.store = (!host.is_memory).then_some(host.store);
    if config.store.is_some() {
        can_be_stored(args)?;
    }
    Ok(place)
}

/// Other nodes do not have a file that this one counts with.
fn can_be_stored(args: &ProxyArgs) -> Result<(), CommandError> {
    let Some(name) = &args.measure.tokenizer else { return Ok(()) };
    if midfold::tokens::by_name(name).is_ok() {
        return Ok(());
    }
    let text = format!("stored conversations cannot be counted with the file {name}");
    Err(CommandError::usage(text)
        .hint(format!("use one of {}", midfold::tokens::names().join(", ")))
        .hint("or keep conversations in memory: --store memory"))
}

/// Where requests go: what the options say, else `below`.
pub fn upstreams(said: &[String], mut below: Upstreams) -> Result<Upstreams, CommandError> {
    for upstream in said {
        below.set(upstream).map_err(|error| {
            CommandError::usage(error.to_string())
                .hint("--upstream openai=http://127.0.0.1:8080/v1")
        })?;
    }
    Ok(below)
}

/// What is served, and the name of the policy.
pub fn configured(
    args: &ProxyArgs,
    upstreams: Upstreams,
) -> Result<(Config, String), CommandError> {
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
    let mut config = Config::new(rules, Arc::new(host::now));
    config.upstreams = upstreams;
    config.is_strict = args.strict;
    config.narration = narration(&args.narration)?;
    Ok((config, name))
}

fn narration(args: &args::Narration) -> Result<Option<Narration>, CommandError> {
    let Some(url) = &args.url else { return Ok(None) };
    let model = Model {
        url,
        name: &args.model,
        key_env: args.key_env.as_deref(),
        key_file: args.key_file.as_deref(),
        window: None,
        option: "--narrator",
    };
    Ok(Some(Narration {
        client: model.client()?,
        calls_an_hour: args.calls,
        tokens_an_hour: args.tokens,
    }))
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
