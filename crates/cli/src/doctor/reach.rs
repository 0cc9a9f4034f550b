//! What is reached over the network: providers, their clocks, the summariser, our own port.

use std::net::SocketAddr;

use midfold_serve::config::Provider;
use midfold_serve::{Answered, Trouble, Upstreams, probe};
use tokio::net::TcpListener;

use super::check::{Check, LIMIT};
use super::near::{is_midfold, local};
use crate::{env, runtime};

const CLOCK: &str = "clock";
const MODEL: &str = "narrator";
const PORT: &str = "port";
/// A clock that is further off is a warning, in milliseconds.
const OFF: u64 = 30_000;

/// The providers, and our clock against theirs.
pub async fn providers(upstreams: &Upstreams) -> (Vec<Check>, Option<Check>) {
    let ask = |provider| async move {
        let answer = probe(upstreams, provider, LIMIT).await;
        let at = runtime::now();
        (provider, answer, at, is_ours(&upstreams.url(provider)).await)
    };
    let [openai, anthropic, gemini] = Provider::ALL.map(ask);
    let (openai, anthropic, gemini) = tokio::join!(openai, anthropic, gemini);
    let all = [openai, anthropic, gemini];
    let checks = all.iter().map(|(provider, answer, _, is_ours)| {
        let (name, url) = (provider.name(), upstreams.url(*provider));
        match is_ours {
            true => ours(name, &url, &format!("--upstream {name}=URL names the provider")),
            false => provider_check(name, &url, answer),
        }
    });
    let date = all.iter().find_map(|(_, answer, at, _)| Some((answer.as_ref().ok()?.date?, *at)));
    (checks.collect(), date.map(|(theirs, ours)| clock(theirs, ours)))
}

fn provider_check(name: &'static str, url: &str, answer: &Result<Answered, Trouble>) -> Check {
    let trouble = match answer {
        // 401 and 403 are what a provider says to whoever shows no key.
        Ok(Answered { status: status @ 500.., .. }) => format!("it answers with status {status}"),
        Ok(_) => return Check::good(name, format!("{url} answers")),
        Err(trouble) => trouble.to_string(),
    };
    let fix = match answer {
        Ok(_) => "try again later".to_owned(),
        Err(_) if proxied() => {
            "HTTPS_PROXY is set, which midfold does not use: it has to get there directly"
                .to_owned()
        }
        Err(Trouble::Answer(_)) => {
            format!("see whether {url} is right, and whether this machine trusts its certificate")
        }
        Err(_) => format!("fine where you do not use it; --upstream {name}=URL names another"),
    };
    Check::warn(name, format!("{url}: {trouble}"), fix)
}

fn proxied() -> bool {
    ["HTTPS_PROXY", "https_proxy"].iter().any(|name| env::get(name).is_some())
}

fn clock(theirs: u64, ours: u64) -> Check {
    let off = theirs.abs_diff(ours);
    if off <= OFF {
        return Check::good(CLOCK, "agrees with the provider's");
    }
    let (seconds, way) = (off / 1_000, if ours > theirs { "ahead of" } else { "behind" });
    let says =
        format!("{seconds} s {way} the provider's: ages and times of sessions will be wrong");
    Check::warn(CLOCK, says, "set it by the network: timedatectl set-ntp true")
}

/// The model that narrates, where one was named.
pub async fn model(url: Option<&str>) -> Check {
    let Some(url) = url else {
        return Check::good(
            MODEL,
            "none is named, so recaps are computed (--narrator URL checks one)",
        );
    };
    let mut upstreams = Upstreams::default();
    if upstreams.set(&format!("openai={url}")).is_err() {
        return Check::fail(
            MODEL,
            "the URL of --narrator is not usable",
            "it looks like https://api.openai.com/v1 or http://127.0.0.1:8080",
        );
    }
    let url = upstreams.url(Provider::OpenAi);
    if is_ours(&url).await {
        return ours(MODEL, &url, "--narrator URL names the server of a model");
    }
    match probe(&upstreams, Provider::OpenAi, LIMIT).await {
        Ok(Answered { status: status @ 500.., .. }) => {
            Check::warn(MODEL, format!("{url} answers with status {status}"), "see its log")
        }
        Ok(_) => Check::good(MODEL, format!("{url} answers")),
        Err(trouble) => Check::warn(
            MODEL,
            format!("{url}: {trouble}"),
            "start it, or do without: recaps are computed then",
        ),
    }
}

/// A midfold where a model server should be.
fn ours(name: &'static str, url: &str, fix: &str) -> Check {
    Check::warn(name, format!("{url} is a midfold, and no model server"), fix)
}

async fn is_ours(url: &str) -> bool {
    match local(url) {
        Some(address) => is_midfold(address).await,
        None => false,
    }
}

/// Who has the port of `midfold serve`.
pub async fn port(listen: SocketAddr) -> Check {
    match TcpListener::bind(listen).await {
        Ok(_) => return Check::good(PORT, format!("{listen} is free for `midfold serve`")),
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
            let says = format!("{listen} cannot be listened on: {}", crate::output::reason(&error));
            return Check::fail(PORT, says, "name another address: --listen 127.0.0.1:0");
        }
        Err(_) => {}
    }
    if is_midfold(listen).await {
        return Check::good(PORT, format!("`midfold serve` runs on {listen}"));
    }
    Check::warn(
        PORT,
        format!("another program has {listen}"),
        "midfold serve --listen 127.0.0.1:0 takes a free port; `midfold run` needs none",
    )
}
