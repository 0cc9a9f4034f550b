//! What the environment says: variables, and the user's folders.

use std::path::PathBuf;

/// Names a store for all commands.
pub const STORE: &str = "MIDFOLD_STORE";

/// The store that the environment names.
pub fn store() -> Option<String> {
    set(STORE)
}

/// Holds the keys that seal what clients carry.
pub const SEAL_KEYS: &str = "MIDFOLD_SEAL_KEYS";

/// The keys that the environment holds.
pub fn seal_keys() -> Option<String> {
    set(SEAL_KEYS)
}

/// Where the user's data is kept.
pub fn data_folder() -> Option<PathBuf> {
    let home = || set("HOME").map(PathBuf::from);
    let folder = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        set("LOCALAPPDATA").map(PathBuf::from)
    } else {
        // The specification says that a relative path is to be ignored.
        let given = set("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".local/share")))
    };
    folder.map(|folder| folder.join("midfold"))
}

/// Where the user keeps settings.
pub fn config_folder() -> Option<PathBuf> {
    let home = || set("HOME").map(PathBuf::from);
    let folder = if cfg!(windows) {
        set("APPDATA").map(PathBuf::from)
    } else {
        let given = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        given.or_else(|| home().map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("midfold"))
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
