//! `midfold serve`: a proxy between an agent and its provider.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use midfold::{PROVIDERS, ServerSettings, Settings};
use midfold_args::{CompactedBy, ProxyArgs, ServeArgs as Args};
use midfold_proxy::{CompactionPreference, ProxyRules};
use midfold_serve::{ProviderKeys, RunningServer, ServeConfig, UpstreamTable};

use crate::after_fold;
use crate::banner::CommandBanner;
use crate::clients::ProxyFront;
use crate::config;
use crate::env;
use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::input::HOST;
use crate::key;
use crate::output::Output;
use crate::runtime::{self, block_on};
use crate::saving::{self, ServedPolicy};
use crate::seal;
use crate::serving;
use crate::signals::{self, ReloadSignal};
use crate::tls;

/// The address to listen on where nothing sets one.
pub const LISTEN: SocketAddr =
    SocketAddr::V4(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 7878));

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    let settings = serving::settings(args)?;
    let (mut config, policy) =
        configured(&args.proxy, &settings, upstreams(&settings, UpstreamTable::default())?)?;
    config.listen = listen(&settings)?;
    config.keys = settings.keys.as_deref().map(key::read).transpose()?;
    config.provider_keys = provider_keys(&settings, &config.upstreams)?;
    config.tls = tls::of(&settings)?;
    let upstreams = config.upstreams.clone();
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    block_on(async {
        let place = keep(&mut config, &args.proxy, output).await?;
        let running = midfold_serve::start(config).await.map_err(|error| {
            CommandError::failed(error.to_string())
                .hint("choose another address with --listen; port 0 takes a free one")
        })?;
        let url = format!("{scheme}://{}", running.address());
        let front = ProxyFront { origin: url, upstreams };
        let recalls = recalls(&settings);
        CommandBanner::new(front, policy, &args.proxy, place, recalls)?.say(json, output)?;
        until_the_end(&running, &settings, output).await;
        let totals = RunningServer::stop(running).await;
        match json {
            true => saving::say_json(&totals, None, output),
            false => saving::say(&totals, output),
        }
        Ok(())
    })
}

/// Whether models get the recall tool: they do unless a setting forbids it.
pub fn recalls(serving: &ServerSettings) -> bool {
    serving.recall != Some(false)
}

/// Opens the store that conversations are kept in, and returns its place as text.
pub async fn keep(
    config: &mut ServeConfig,
    args: &ProxyArgs,
    output: &Output,
) -> Result<String, CommandError> {
    let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
    let place = host.store.place();
    config.seal = seal::keys(args.seal_keys.as_deref(), host.is_memory, &config.random, output)?;
    // The server keeps conversations in memory itself. A store in memory would only hold them twice.
    config.store = (!host.is_memory).then_some(host.store);
    if config.store.is_some() {
        can_be_stored(args)?;
    }
    Ok(place)
}

/// Waits for the signal to end. At each signal to reload, it reads the keys again.
async fn until_the_end(running: &RunningServer, settings: &ServerSettings, output: &Output) {
    let mut again = ReloadSignal::new();
    let mut end = pin!(signals::told_to_end());
    loop {
        tokio::select! {
            () = &mut end => return,
            () = again.wait() => {}
        }
        match settings.keys.as_deref().map(key::read) {
            None => {}
            Some(Ok(keys)) => {
                output.stderr(&format!("midfold read its keys again: {}\n", keys.len()));
                tracing::info!(keys = keys.len(), "the keys were read again");
                running.set_keys(keys);
            }
            // The server goes on with the keys that it had.
            Some(Err(error)) => {
                tracing::error!(
                    error = error.message,
                    "the keys could not be read again; those before hold"
                );
                output.error(&error);
            }
        }
    }
}

/// Refuses a tokenizer from a file: other nodes that use the same store may not have that file.
fn can_be_stored(args: &ProxyArgs) -> Result<(), CommandError> {
    let flags = Settings { tokenizer: args.measure.tokenizer.clone(), ..Settings::default() };
    let Some(name) = flags.over(config::settings()?).tokenizer else { return Ok(()) };
    if midfold::tokens::by_name(&name).is_ok() {
        return Ok(());
    }
    let text = format!("stored conversations cannot be counted with the file {name}");
    Err(CommandError::usage(text)
        .hint(format!("use one of {}", midfold::tokens::names().join(", ")))
        .hint("or keep conversations in memory: --store memory"))
}

/// The configuration of the server without its store, and the name of the policy.
pub fn configured(
    args: &ProxyArgs,
    serving: &ServerSettings,
    upstreams: UpstreamTable,
) -> Result<(ServeConfig, ServedPolicy), CommandError> {
    let settings = Settings {
        window: args.measure.window,
        tokenizer: args.measure.tokenizer.clone(),
        profile: args.measure.profile.clone(),
        preset: args.folding.preset.clone(),
        policy: args.folding.policy.clone().map(midfold::PolicyFrom::File),
        ..Settings::default()
    };
    // A key may have no recall although the server has it, so both policies are needed.
    let policy = config::policy(settings.clone())?;
    let with_recall = config::policy(Settings { looks_up: true, ..settings.clone() })?;
    midfold::can_run(&policy, midfold::Door::Command)?;
    let setup = settings.over(config::settings()?).setup(&HOST)?;
    let rules = ProxyRules::new(policy).policy_with_recall(with_recall);
    let rules = rules.setup(setup).recall(recalls(serving));
    let name = ServedPolicy {
        name: rules.policy().name.clone(),
        in_little_room: rules.policy_in_little_room().name.clone(),
    };
    let rules = rules.agent_tools(serving.agent_tools == Some(true)).hooked(after_fold::hooks()?);
    let rules = match serving.cache_lifetime {
        Some(seconds) => rules.cache_lifetime(seconds),
        None => rules,
    };
    let mut config = ServeConfig::new(rules, Arc::new(runtime::now));
    config.upstreams = upstreams;
    config.outgoing = tls::outgoing(serving)?;
    #[cfg(feature = "otel")]
    {
        config.collector =
            env::collects_traces().then(midfold_serve::TraceCollector::of_environment);
    }
    config.is_strict = serving.strict == Some(true);
    for origin in &serving.allow_origin {
        config.origins.allow(origin).map_err(|error| {
            CommandError::usage(error.to_string()).hint("--allow-origin https://midfold.example")
        })?;
    }
    config.narration = serving::narration(&args.narration)?;
    config.prefer = match args.compaction {
        CompactedBy::Midfold => CompactionPreference::Midfold,
        CompactedBy::Upstream => CompactionPreference::Upstream,
    };
    Ok((config, name))
}

/// The address to listen on. Fails where other machines can reach it and no keys are asked for.
fn listen(serving: &ServerSettings) -> Result<SocketAddr, CommandError> {
    let listen = serving.listen.unwrap_or(LISTEN);
    let is_guarded = serving.keys.is_some() || serving.open == Some(true);
    if listen.ip().is_loopback() || is_guarded {
        return Ok(listen);
    }
    let text = format!("{listen} can be reached from other machines, and no keys are asked for");
    Err(CommandError::usage(text)
        .hint("ask for keys: `midfold serve key new NAME --keys keys.toml`, then --keys keys.toml")
        .hint("or listen on 127.0.0.1, or say --open where the network is yours alone"))
}

/// The upstreams of the settings, laid over those in `below`.
pub fn upstreams(
    serving: &ServerSettings,
    below: UpstreamTable,
) -> Result<UpstreamTable, CommandError> {
    let mut upstreams = below;
    upstreams.set_all(&serving.upstream).map_err(|error| {
        CommandError::usage(error.to_string())
            .hint("with http:// in front: --upstream http://127.0.0.1:8080/v1")
            .hint("for one provider: --upstream openai=http://127.0.0.1:8080/v1")
    })?;
    Ok(upstreams)
}

fn provider_keys(
    serving: &ServerSettings,
    to: &UpstreamTable,
) -> Result<ProviderKeys, CommandError> {
    let mut keys = ProviderKeys::default();
    if !serving.upstream_key.is_empty() && serving.keys.is_none() {
        let text =
            "the server's own keys are for clients with a key of ours, and none are asked for";
        return Err(CommandError::usage(text).hint(
            "ask for keys: `midfold serve key new NAME --keys keys.toml`, then --keys keys.toml",
        ));
    }
    for (provider, variable) in &serving.upstream_key {
        let is_there = |name| to.others().any(|(known, _)| known == name);
        if !PROVIDERS.contains(&provider.as_str()) && !is_there(provider) {
            let text = format!("a key is named for {provider}, and no upstream has this name");
            return Err(CommandError::usage(text)
                .hint(format!("name the upstream: --upstream {provider}=URL"))
                .hint("or: --upstream-key openai=OPENAI_API_KEY"));
        }
        let key = env::named(variable).ok_or_else(|| {
            CommandError::usage(format!("the variable {variable} is not set, or empty")).hint(
                format!("set it to the key for {provider}: --upstream-key names the variable"),
            )
        })?;
        keys.set(provider, &key).map_err(|error| {
            CommandError::usage(error.to_string()).hint(format!("look at the value of {variable}"))
        })?;
    }
    Ok(keys)
}
