//! Checks that need the network: the providers, our clock against theirs, the summariser, and the port of `midfold
//! serve`.

use std::net::SocketAddr;

use midfold_serve::config::Provider;
use midfold_serve::{OutgoingProxy, ProbeTrouble, ProbedProvider, UpstreamTable, probe};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::check::{DoctorCheck, LIMIT};
use super::near::{is_midfold, local};
use crate::env;
use crate::runtime;
use crate::words::number;

const CLOCK: &str = "clock";
const MODEL: &str = "narrator";
const PORT: &str = "port";
/// A clock that differs by more milliseconds than this is a warning.
const OFF: u64 = 30_000;

/// A check of each provider, and a check of our clock against the first provider on another machine that sent its date.
/// No clock check where none sent one.
pub async fn providers(
    upstreams: &UpstreamTable,
    outgoing: &OutgoingProxy,
) -> (Vec<DoctorCheck>, Option<DoctorCheck>) {
    let mut tasks = JoinSet::new();
    let usual = UpstreamTable::default().places();
    for (at, (name, url)) in upstreams.places().into_iter().enumerate() {
        let is_named = !usual.contains(&(name.clone(), url.clone()));
        let (upstreams, outgoing) = (upstreams.clone(), outgoing.clone());
        tasks.spawn(async move {
            let answer = probe(&upstreams, &outgoing, &name, LIMIT).await;
            let now = runtime::now();
            let check = match is_ours(&url).await {
                true => {
                    own_server(&name, &url, &format!("--upstream {name}=URL names the provider"))
                }
                false => {
                    let proxy = outgoing.is_proxied(&url).then(|| proxy_variable(&url)).flatten();
                    provider_check(&name, &url, is_named, proxy, &answer)
                }
            };
            // A server on this machine has this machine's clock.
            let answer = answer.ok().filter(|_| local(&url).is_none());
            (at, check, answer.and_then(|answer| answer.date).map(|date| (date, now)))
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|(at, ..)| *at);
    let date = all.iter().find_map(|(.., date)| *date);
    let checks = all.into_iter().map(|(_, check, _)| check).collect();
    (checks, date.map(|(provider_time, own_time)| clock(provider_time, own_time)))
}

/// The variable whose proxy requests to this URL take, if there is one.
fn proxy_variable(url: &str) -> Option<&'static str> {
    url.split_once("://").and_then(|(scheme, _)| env::proxy_variable(scheme))
}

/// The fault of a server, by its answer. A provider answers a request without a key with 401 or 403, so those
/// statuses mean that it works.
fn trouble(answer: &Result<ProbedProvider, ProbeTrouble>) -> Option<String> {
    match answer {
        Ok(ProbedProvider { status: status @ 500.., .. }) => {
            Some(format!("it answers with status {status}"))
        }
        Ok(_) => None,
        Err(trouble) => Some(trouble.to_string()),
    }
}

/// `proxy` is the variable of the proxy that leads to the provider.
fn provider_check(
    name: &str,
    url: &str,
    is_named: bool,
    proxy: Option<&str>,
    answer: &Result<ProbedProvider, ProbeTrouble>,
) -> DoctorCheck {
    let Some(trouble) = trouble(answer) else {
        let windows = answer.as_ref().map(windows).unwrap_or_default();
        return DoctorCheck::good(name.to_owned(), format!("{url} answers{windows}"));
    };
    let fix = match (answer, proxy) {
        (Ok(_), _) => "try again later".to_owned(),
        (Err(_), Some(proxy)) => {
            format!("see whether the proxy of {proxy} leads there; NO_PROXY excepts hosts from it")
        }
        (Err(ProbeTrouble::Answer(_)), _) => {
            format!(
                "see whether {url} is right, and whether this machine trusts its certificate; \
                 --ca FILE names more authorities"
            )
        }
        _ if is_named => format!("start it, or correct the address: --upstream {name}=URL"),
        _ => format!("fine where you do not use it; --upstream {name}=URL names another"),
    };
    let says = format!("{url}: {trouble}");
    match is_named {
        true => DoctorCheck::fail(name.to_owned(), says, fix),
        false => DoctorCheck::warn(name.to_owned(), says, fix),
    }
}

/// The windows that a server reports for its models.
fn windows(provider: &ProbedProvider) -> String {
    let one = |(model, window): &(String, u64)| format!("{} for {model}", number(*window));
    match provider.windows.is_empty() {
        true => String::new(),
        false => {
            let all: Vec<String> = provider.windows.iter().map(one).collect();
            format!("; windows that it reports: {}", all.join(", "))
        }
    }
}

fn clock(provider_time: u64, own_time: u64) -> DoctorCheck {
    let off = provider_time.abs_diff(own_time);
    if off <= OFF {
        return DoctorCheck::good(CLOCK, "agrees with the provider's");
    }
    let (seconds, side) =
        (off / 1_000, if own_time > provider_time { "ahead of" } else { "behind" });
    let says =
        format!("{seconds} s {side} the provider's: ages and times of sessions will be wrong");
    DoctorCheck::warn(CLOCK, says, "set it by the network: timedatectl set-ntp true")
}

/// Checks the model that narrates. It is fine to name none.
pub async fn model(url: Option<&str>, outgoing: &OutgoingProxy) -> DoctorCheck {
    let Some(url) = url else {
        return DoctorCheck::good(
            MODEL,
            "none is named, so recaps are computed (--narrator URL checks one)",
        );
    };
    let mut upstreams = UpstreamTable::default();
    if upstreams.set(&format!("openai={url}")).is_err() {
        return DoctorCheck::fail(
            MODEL,
            "the URL of --narrator is not usable",
            "it looks like https://api.openai.com/v1 or http://127.0.0.1:8080",
        );
    }
    let url = upstreams.url(Provider::OpenAi);
    if is_ours(&url).await {
        return own_server(MODEL, &url, "--narrator URL names the server of a model");
    }
    let answer = probe(&upstreams, outgoing, "openai", LIMIT).await;
    let Some(trouble) = trouble(&answer) else {
        return DoctorCheck::good(MODEL, format!("{url} answers"));
    };
    let fix = match answer {
        Ok(_) => "see its log",
        Err(_) => "start it, or do without: recaps are computed then",
    };
    DoctorCheck::warn(MODEL, format!("{url}: {trouble}"), fix)
}

/// A warning that the URL leads to midfold itself, where a model server is expected.
fn own_server(name: &str, url: &str, fix: &str) -> DoctorCheck {
    DoctorCheck::warn(name.to_owned(), format!("{url} is a midfold, and no model server"), fix)
}

async fn is_ours(url: &str) -> bool {
    match local(url) {
        Some(address) => is_midfold(address).await,
        None => false,
    }
}

/// Checks whether `midfold serve` can listen on its port: it is free, or midfold runs there already.
pub async fn port(listen: SocketAddr) -> DoctorCheck {
    match TcpListener::bind(listen).await {
        Ok(_) => return DoctorCheck::good(PORT, format!("{listen} is free for `midfold serve`")),
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => {
            let says = format!("{listen} cannot be listened on: {}", crate::output::reason(&error));
            return DoctorCheck::fail(PORT, says, "name another address: --listen 127.0.0.1:0");
        }
        Err(_) => {}
    }
    if is_midfold(listen).await {
        return DoctorCheck::good(PORT, format!("`midfold serve` runs on {listen}"));
    }
    DoctorCheck::warn(
        PORT,
        format!("another program has {listen}"),
        "midfold serve --listen 127.0.0.1:0 takes a free port; `midfold run` needs none",
    )
}
