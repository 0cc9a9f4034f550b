//! What the environment says: variables, and the user's folders.

use std::path::PathBuf;

use midfold::Serving;

use crate::error::CommandError;

/// Names a store for all commands.
pub const STORE: &str = "MIDFOLD_STORE";

/// The store that the environment names.
pub fn store() -> Option<String> {
    get(STORE)
}

/// What variables say about a server, and which of them, the nearer one first.
pub fn serving() -> Result<Vec<(&'static str, Serving)>, CommandError> {
    let mut all = Vec::new();
    let mut say = |name, make: &dyn Fn(String) -> Result<Serving, CommandError>| {
        if let Some(value) = get(name) {
            all.push((name, make(value)?));
        }
        Ok::<_, CommandError>(())
    };
    let none = Serving::default;
    say("MIDFOLD_LISTEN", &|value| {
        let listen =
            value.parse().map_err(|_| wrong("MIDFOLD_LISTEN", "an address: 127.0.0.1:7878"))?;
        Ok(Serving { listen: Some(listen), ..none() })
    })?;
    say("MIDFOLD_OPEN", &|it| Ok(Serving { open: Some(yes("MIDFOLD_OPEN", &it)?), ..none() }))?;
    say("MIDFOLD_ALLOW_ORIGIN", &|it| {
        let origins = it.split([',', ' ']).filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(Serving { allow_origin: origins.collect(), ..none() })
    })?;
    say("MIDFOLD_STRICT", &|it| {
        Ok(Serving { strict: Some(yes("MIDFOLD_STRICT", &it)?), ..none() })
    })?;
    say("MIDFOLD_RECALL", &|it| {
        Ok(Serving { recall: Some(yes("MIDFOLD_RECALL", &it)?), ..none() })
    })?;
    say("MIDFOLD_KEYS", &|path| Ok(Serving { keys: Some(path.into()), ..none() }))?;
    say("MIDFOLD_TLS_CERT", &|path| Ok(Serving { tls_cert: Some(path.into()), ..none() }))?;
    say("MIDFOLD_TLS_KEY", &|path| Ok(Serving { tls_key: Some(path.into()), ..none() }))?;
    for (provider, address, key) in [
        ("openai", "MIDFOLD_UPSTREAM_OPENAI", "MIDFOLD_UPSTREAM_KEY_OPENAI"),
        ("anthropic", "MIDFOLD_UPSTREAM_ANTHROPIC", "MIDFOLD_UPSTREAM_KEY_ANTHROPIC"),
        ("gemini", "MIDFOLD_UPSTREAM_GEMINI", "MIDFOLD_UPSTREAM_KEY_GEMINI"),
    ] {
        let one = |value: String| [(provider.to_owned(), value)].into();
        say(address, &|url| Ok(Serving { upstream: one(url), ..none() }))?;
        // It is the variable that holds the key: the key itself is read where it is needed.
        say(key, &|_| Ok(Serving { upstream_key: one(key.to_owned()), ..none() }))?;
    }
    say("MIDFOLD_UPSTREAM", &|url| {
        let all = ["openai", "anthropic", "gemini"].map(|name| (name.to_owned(), url.clone()));
        Ok(Serving { upstream: all.into(), ..none() })
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

/// The value of a variable that somebody named.
pub fn named(name: &str) -> Option<String> {
    get(name)
}

/// Holds the keys that seal what clients carry.
pub const SEAL_KEYS: &str = "MIDFOLD_SEAL_KEYS";

/// The keys that the environment holds.
pub fn seal_keys() -> Option<String> {
    get(SEAL_KEYS)
}

/// Where the user's data is kept.
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

/// Where the user keeps settings.
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

/// The user's home.
pub fn home() -> Option<PathBuf> {
    get(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).map(PathBuf::from)
}

/// The value of a variable that is set, and not to nothing.
pub fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
