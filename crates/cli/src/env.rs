//! What the environment says: variables, and the user's folders.

use std::path::PathBuf;

/// Names a store for all commands.
pub const STORE: &str = "MIDFOLD_STORE";

/// The store that the environment names.
pub fn store() -> Option<String> {
    get(STORE)
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
