//! How the settings of a client name this program and its store.

use std::fs;

use midfold::store::{StoreUrl, mask};
use midfold::{Door, advise_open};

use crate::error::CommandError;
use crate::output::reason;

/// The program as others start it: `midfold` if the `PATH` leads to this very file, else its full path.
pub fn program() -> Result<String, CommandError> {
    let me = std::env::current_exe().and_then(fs::canonicalize).map_err(|error| {
        CommandError::failed(format!("this program cannot be found: {}", reason(&error)))
    })?;
    let name = format!("midfold{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let by_name = std::env::split_paths(&path).map(|folder| folder.join(&name));
    let by_name = by_name.filter_map(|file| fs::canonicalize(file).ok()).next();
    if by_name.as_ref() == Some(&me) {
        return Ok("midfold".to_owned());
    }
    Ok(me.display().to_string())
}

/// The URL of a store with an absolute path, because hooks run in many folders. Fails where the URL has a password,
/// names a store in memory or names none.
pub fn absolute(url: &str) -> Result<String, CommandError> {
    if mask(url) != url {
        return Err(CommandError::usage(
            "--store has a password, and settings are no place for it",
        )
        .hint("leave --store out, and set MIDFOLD_STORE where Claude Code is started"));
    }
    let named = StoreUrl::read(url).map_err(|error| advise_open(url, error, Door::Command))?;
    let path = match named {
        StoreUrl::Memory => {
            return Err(CommandError::usage("a store in memory ends with each hook")
                .hint("name a file: --store sqlite:PATH"));
        }
        StoreUrl::Sqlite(path) => path,
        StoreUrl::Postgres => return Ok(url.to_owned()),
    };
    let path = std::path::absolute(path).map_err(|error| {
        CommandError::failed(format!("{} has no full path: {}", path.display(), reason(&error)))
    })?;
    Ok(format!("sqlite:{}", path.display()))
}
