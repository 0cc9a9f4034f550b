//! The clients that are installed, and where their requests go.

use std::path::PathBuf;

use super::check::{CheckState, DoctorCheck};
use super::near::{is_midfold, local};
use crate::clients::{CLIENTS, ClientSurroundings, KnownClient, VARIABLES};
use crate::env;

/// The known clients on the path.
pub async fn all() -> Vec<DoctorCheck> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut checks = Vec::new();
    for client in CLIENTS {
        let file = format!("{}{}", client.name, std::env::consts::EXE_SUFFIX);
        if folders.iter().any(|folder| folder.join(&file).is_file()) {
            checks.push(check(&client).await);
            checks.extend((client.name == "claude").then(million).flatten());
        }
    }
    if checks.is_empty() {
        let says = "none of the known ones is on the PATH; others read the same variables";
        checks.push(DoctorCheck::good("clients", says));
    }
    checks
}

/// Behind an address that is not Anthropic's, Claude Code takes 200,000 tokens for its window, and compacts long before a
/// larger one is full. Only a model that is named with `[1m]` keeps it. Nothing here tells whether an account has that
/// window, so nothing is set for the user.
fn million() -> Option<DoctorCheck> {
    let is_named = env::get("ANTHROPIC_MODEL").is_some_and(|model| model.ends_with("[1m]"));
    if is_named || env::get("CLAUDE_CODE_DISABLE_1M_CONTEXT").is_some() {
        return None;
    }
    let says = "behind midfold Claude Code takes 200,000 tokens for its window; if your account has 1,000,000, \
                name the model with [1m]";
    let fix = Some("midfold run -- claude --model 'opus[1m]'".to_owned());
    Some(DoctorCheck {
        name: "claude 1m".into(),
        state: CheckState::Good,
        says: says.to_owned(),
        fix,
    })
}

async fn check(client: &KnownClient) -> DoctorCheck {
    let around = ClientSurroundings {
        home: env::home(),
        folder: std::env::current_dir().unwrap_or_default(),
        variable: &env::get,
        arguments: Vec::new(),
    };
    let (url, from) = match client.own(&around) {
        Some(own) => (Some(own.url), own.from.display().to_string()),
        None => {
            let read = VARIABLES.iter().filter(|it| client.providers.contains(&it.provider));
            let set = read.filter_map(|it| Some((env::get(it.name)?, it.name))).next();
            set.map_or((None, String::new()), |(url, name)| (Some(url), name.to_owned()))
        }
    };
    let fix = Some(format!("midfold run -- {}", client.name));
    let Some(url) = url else {
        let says = format!("{} goes to its provider", client.title);
        return DoctorCheck { name: client.name.into(), state: CheckState::Good, says, fix };
    };
    let Some(address) = local(&url) else {
        let says = format!("{} goes to {} ({from})", client.title, shown(&url));
        return DoctorCheck { name: client.name.into(), state: CheckState::Good, says, fix };
    };
    if is_midfold(address).await {
        return DoctorCheck::good(
            client.name,
            format!("{} goes through midfold ({from})", client.title),
        );
    }
    if tokio::net::TcpStream::connect(address).await.is_ok() {
        let says = format!("{} goes to {} ({from})", client.title, shown(&url));
        return DoctorCheck { name: client.name.into(), state: CheckState::Good, says, fix };
    }
    let says =
        format!("{} goes to {} ({from}), and nothing listens there", client.title, shown(&url));
    DoctorCheck::warn(client.name, says, format!("midfold serve --listen {address}"))
}

/// A URL as it may be shown: without what may be a secret.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}")
}
