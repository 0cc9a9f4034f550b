//! The clients that are installed, and where they send their requests.

use std::path::PathBuf;

use super::check::{CheckState, DoctorCheck};
use super::near::{is_midfold, local};
use crate::clients::{CLIENTS, ClientSurroundings, KnownClient, VARIABLES};
use crate::env;

/// One check for each known client on the `PATH`.
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

/// A hint for users of a window of 1,000,000 tokens. Behind an address that is not Anthropic's, Claude Code assumes a
/// window of 200,000 tokens, and so compacts long before a larger one is full. Only a model named with `[1m]` keeps the
/// larger window. midfold cannot see whether an account has it, so it only tells the user.
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
            let read =
                VARIABLES.iter().filter(|variable| client.providers.contains(&variable.provider));
            let set =
                read.filter_map(|variable| Some((env::get(variable.name)?, variable.name))).next();
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

/// A URL without its user, password, query and fragment, which may hold secrets.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['?', '#']).next().unwrap_or(rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}")
}
