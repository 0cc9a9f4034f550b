//! The plug-in for Claude Code: its files, written into a folder that the client looks into by itself. No settings name
//! it, so they keep their bytes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::CommandError;
use crate::output::{Output, reason};
use crate::presets::pretty;
use crate::regular;

/// The manifest. It says whose a folder is.
const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The module with the hooks.
const MODULE: &str = "hooks/midfold.js";
/// The entry of midfold's MCP server.
const SERVER: &str = ".mcp.json";
/// The files, as they are in a marketplace.
const FILES: [(&str, &str); 5] = [
    (MANIFEST, include_str!("../../plugin/.claude-plugin/plugin.json")),
    ("hooks/hooks.json", include_str!("../../plugin/hooks/hooks.json")),
    (MODULE, include_str!("../../plugin/hooks/midfold.js")),
    (SERVER, include_str!("../../plugin/.mcp.json")),
    ("README.md", include_str!("../../plugin/README.md")),
];
/// The folder into which the client writes its type declarations, beside the manifest.
const TYPES: &str = ".claude-plugin/types";
/// The file by which the client has an editor find them.
const CONFIG: &str = "tsconfig.json";

/// The plug-in in a folder of skills, beside a settings file.
pub struct ClientPlugin {
    folder: PathBuf,
}

/// The command that the plug-in calls.
pub struct PluginCommand {
    /// The program.
    pub program: String,
    /// The URL of the store; `None` for the usual one.
    pub store: Option<String>,
}

impl ClientPlugin {
    /// The plug-in beside this settings file.
    #[must_use]
    pub fn beside(settings: &Path) -> Self {
        let folder = settings.parent().unwrap_or(Path::new("")).join("skills").join("midfold");
        Self { folder }
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether it is there.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.is_ours() && self.folder.join(MODULE).is_file()
    }

    /// Writes the files. Returns whether there was anything to change.
    ///
    /// # Errors
    /// If the folder is somebody else's, or a file cannot be written.
    pub fn install(&self, command: &PluginCommand, output: &Output) -> Result<bool, CommandError> {
        if !self.is_free() && !self.is_ours() {
            return Err(CommandError::failed(format!(
                "{} is there, and is not midfold's plug-in",
                self.folder.display()
            ))
            .hint("nothing was changed; move that folder away"));
        }
        let mut changed = false;
        for (name, text) in files(command)? {
            let path = self.folder.join(name);
            if regular::text(&path).is_ok_and(|there| there == text) {
                continue;
            }
            output.file_in_its_folder(&path, text.as_bytes())?;
            changed = true;
        }
        Ok(changed)
    }

    /// Takes the files out, and the folders that are empty then. Returns whether there was anything to take out.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn uninstall(&self) -> Result<bool, CommandError> {
        if !self.is_ours() {
            return Ok(false);
        }
        for (name, _) in FILES {
            allow_missing(&self.folder.join(name), fs::remove_file(self.folder.join(name)))?;
        }
        let config = self.folder.join(CONFIG);
        if regular::text(&config).is_ok_and(|text| text.contains(TYPES)) {
            allow_missing(&config, fs::remove_file(&config))?;
        }
        let types = self.folder.join(TYPES);
        allow_missing(&types, fs::remove_dir_all(&types))?;
        let inside = [".claude-plugin", "hooks", ""].map(|name| self.folder.join(name));
        let skills = self.folder.parent().map(Path::to_owned);
        for folder in inside.into_iter().chain(skills) {
            // A folder with files of somebody else stays.
            if fs::remove_dir(&folder).is_err() {
                break;
            }
        }
        Ok(true)
    }

    /// Whether nothing is where the folder is to be.
    fn is_free(&self) -> bool {
        match fs::read_dir(&self.folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    fn is_ours(&self) -> bool {
        let text = regular::text(&self.folder.join(MANIFEST)).unwrap_or_default();
        let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
        manifest["name"] == "midfold"
    }
}

/// The files, with the command that they call.
fn files(command: &PluginCommand) -> Result<Vec<(&'static str, String)>, CommandError> {
    let store: Vec<&str> = command.store.iter().flat_map(|url| ["--store", url]).collect();
    let text = |(name, text): (&'static str, &str)| {
        Ok((
            name,
            match name {
                MODULE => text
                    .replace(
                        "const MIDFOLD = ['midfold']",
                        &format!("const MIDFOLD = {}", json!([command.program])),
                    )
                    .replace("const STORE = []", &format!("const STORE = {}", json!(store))),
                SERVER => {
                    let arguments: Vec<&str> =
                        ["mcp"].into_iter().chain(store.iter().copied()).collect();
                    let server = json!({ "command": command.program, "args": arguments });
                    pretty(&json!({ "mcpServers": { "midfold": server } }))?
                }
                _ => text.to_owned(),
            },
        ))
    };
    FILES.into_iter().map(text).collect()
}

/// What a removal did. That something is gone already is no error.
fn allow_missing(path: &Path, removed: std::io::Result<()>) -> Result<(), CommandError> {
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let (path, why) = (path.display(), reason(&error));
            Err(CommandError::failed(format!("{path} cannot be removed: {why}")))
        }
        _ => Ok(()),
    }
}
