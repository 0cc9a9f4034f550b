//! Reads the environment: variables, and the user's folders.

use std::path::PathBuf;

use midfold::{ServerSettings, ServingUpstreams, Settings};
use midfold_serve::{OutgoingProxy, ProxyAddress};

use crate::error::CommandError;

/// The variable with the window, in tokens, of models that no pattern of a settings file names.
pub const WINDOW: &str = "MIDFOLD_WINDOW";

/// The window in tokens that the environment sets. Fails where the value is no number of tokens.
pub fn window() -> Result<Option<u64>, CommandError> {
    let Some(text) = get(WINDOW) else { return Ok(None) };
    let tokens = midfold_args::tokens(&text).map_err(|_| wrong(WINDOW, "tokens: 32000 or 32k"))?;
    Ok(Some(tokens))
}

/// The variable with the preset that holds where no flag names a policy.
pub const PRESET: &str = "MIDFOLD_PRESET";

/// The settings that variables hold, without those of a server.
pub fn settings() -> Result<Settings, CommandError> {
    Ok(Settings { window: window()?, preset: get(PRESET), ..Settings::default() })
}

/// The proxies for outgoing requests, as the environment names them.
///
/// # Errors
/// If a variable names a proxy that is not supported.
pub fn proxies() -> Result<OutgoingProxy, CommandError> {
    let proxy = |scheme| proxy_variable(scheme).map(proxy_address).transpose();
    Ok(OutgoingProxy {
        https_proxy: proxy("https")?,
        http_proxy: proxy("http")?,
        no_proxy: get("NO_PROXY").or_else(|| get("no_proxy")),
        ..OutgoingProxy::default()
    })
}

/// The variable that names the proxy for addresses with this scheme. `None` where none does.
pub fn proxy_variable(scheme: &str) -> Option<&'static str> {
    let own = match scheme {
        "https" => ["HTTPS_PROXY", "https_proxy"],
        // `http_proxy` comes first, because a client can set `HTTP_PROXY` for a CGI program: by sending a header `Proxy`.
        _ => ["http_proxy", "HTTP_PROXY"],
    };
    own.into_iter().chain(["ALL_PROXY", "all_proxy"]).find(|name| get(name).is_some())
}

fn proxy_address(variable: &str) -> Result<ProxyAddress, CommandError> {
    get(variable).unwrap_or_default().parse().map_err(|error| {
        CommandError::usage(format!("the variable {variable} cannot be used: {error}")).hint(
            "HTTPS_PROXY and HTTP_PROXY override ALL_PROXY and take http://HOST:PORT; an empty variable counts as not set",
        )
    })
}

/// The variable that names a store for all commands.
pub const STORE: &str = "MIDFOLD_STORE";

/// The URL of the store that the environment names. `None` where it names none.
pub fn store() -> Option<String> {
    get(STORE)
}

/// The server settings that variables hold, each with the name of its variable. Earlier ones override later ones.
pub fn serving() -> Result<Vec<(&'static str, ServerSettings)>, CommandError> {
    let mut all = Vec::new();
    let mut say = |name, make: &dyn Fn(String) -> Result<ServerSettings, CommandError>| {
        if let Some(value) = get(name) {
            all.push((name, make(value)?));
        }
        Ok::<_, CommandError>(())
    };
    let none = ServerSettings::default;
    say("MIDFOLD_LISTEN", &|value| {
        let listen =
            value.parse().map_err(|_| wrong("MIDFOLD_LISTEN", "an address: 127.0.0.1:7878"))?;
        Ok(ServerSettings { listen: Some(listen), ..none() })
    })?;
    say("MIDFOLD_OPEN", &|text| {
        Ok(ServerSettings { open: Some(yes("MIDFOLD_OPEN", &text)?), ..none() })
    })?;
    say("MIDFOLD_ALLOW_ORIGIN", &|text| {
        let origins = text.split([',', ' ']).filter(|origin| !origin.is_empty()).map(str::to_owned);
        Ok(ServerSettings { allow_origin: origins.collect(), ..none() })
    })?;
    say("MIDFOLD_STRICT", &|text| {
        Ok(ServerSettings { strict: Some(yes("MIDFOLD_STRICT", &text)?), ..none() })
    })?;
    say("MIDFOLD_RECALL", &|text| {
        Ok(ServerSettings { recall: Some(yes("MIDFOLD_RECALL", &text)?), ..none() })
    })?;
    say("MIDFOLD_AGENT_TOOLS", &|text| {
        Ok(ServerSettings { agent_tools: Some(yes("MIDFOLD_AGENT_TOOLS", &text)?), ..none() })
    })?;
    say("MIDFOLD_CACHE_LIFETIME", &|text| {
        let wanted = || wrong("MIDFOLD_CACHE_LIFETIME", "a number of seconds: 300");
        Ok(ServerSettings { cache_lifetime: Some(text.parse().map_err(|_| wanted())?), ..none() })
    })?;
    say("MIDFOLD_KEYS", &|path| Ok(ServerSettings { keys: Some(path.into()), ..none() }))?;
    say("MIDFOLD_TLS_CERT", &|path| Ok(ServerSettings { tls_cert: Some(path.into()), ..none() }))?;
    say("MIDFOLD_TLS_KEY", &|path| Ok(ServerSettings { tls_key: Some(path.into()), ..none() }))?;
    say("MIDFOLD_CA", &|path| Ok(ServerSettings { ca: Some(path.into()), ..none() }))?;
    for (provider, address, key) in [
        ("openai", "MIDFOLD_UPSTREAM_OPENAI", "MIDFOLD_UPSTREAM_KEY_OPENAI"),
        ("anthropic", "MIDFOLD_UPSTREAM_ANTHROPIC", "MIDFOLD_UPSTREAM_KEY_ANTHROPIC"),
        ("gemini", "MIDFOLD_UPSTREAM_GEMINI", "MIDFOLD_UPSTREAM_KEY_GEMINI"),
    ] {
        let one = |value: String| [(provider.to_owned(), value)];
        say(address, &|url| {
            Ok(ServerSettings { upstream: one(url).into_iter().collect(), ..none() })
        })?;
        // The settings keep the name of the variable, not the key. The key is read only where it is needed.
        say(key, &|_| Ok(ServerSettings { upstream_key: one(key.to_owned()).into(), ..none() }))?;
    }
    say("MIDFOLD_UPSTREAM", &|text| {
        let each = text.split([',', ' ']).filter(|part| !part.is_empty());
        Ok(ServerSettings { upstream: ServingUpstreams::from_texts(each), ..none() })
    })?;
    Ok(all)
}

fn yes(name: &str, value: &str) -> Result<bool, CommandError> {
    match value {
        "1" | "true" | "yes" => Ok(true),
        "0" | "false" | "no" => Ok(false),
        _ => Err(wrong(name, "1 or 0")),
    }
}

fn wrong(name: &str, wanted: &str) -> CommandError {
    CommandError::usage(format!("the variable {name} cannot be read"))
        .hint(format!("it takes {wanted}"))
}

/// The value of a variable whose name comes from the user.
pub fn named(name: &str) -> Option<String> {
    get(name)
}

/// Whether the environment names a collector of traces, and does not switch traces off.
#[cfg(feature = "otel")]
pub fn collects_traces() -> bool {
    let is = |name, value: &str| get(name).is_some_and(|text| text.eq_ignore_ascii_case(value));
    let addresses = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let is_off = is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none");
    !is_off && addresses.into_iter().any(|name| get(name).is_some())
}

/// The variable with the keys that seal vendors' compactions, which clients carry.
pub const SEAL_KEYS: &str = "MIDFOLD_SEAL_KEYS";

/// The keys of [`SEAL_KEYS`] as text. `None` where the variable is not set.
pub fn seal_keys() -> Option<String> {
    get(SEAL_KEYS)
}

/// The folder for midfold's data. `None` where the environment names no home.
pub fn data_folder() -> Option<PathBuf> {
    let home = || get("HOME").map(PathBuf::from);
    let folder = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        get("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // The specification says that a relative path is to be ignored.
        let given = get("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".local/share")))
    };
    folder.map(|folder| folder.join("midfold"))
}

/// The folder for the user's settings. `None` where the environment names no home.
pub fn config_folder() -> Option<PathBuf> {
    let home = || get("HOME").map(PathBuf::from);
    let folder = if cfg!(windows) {
        get("APPDATA").map(PathBuf::from)
    } else {
        let given = get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("midfold"))
}

/// The user's home folder.
pub fn home() -> Option<PathBuf> {
    get(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from)
}

/// The value of a variable. `None` where it is unset, empty or not Unicode.
pub fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
