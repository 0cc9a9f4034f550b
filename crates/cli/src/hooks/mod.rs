//! `midfold connect`: puts midfold into the settings of clients. `midfold hooks`: what Claude Code then calls.

mod called;
pub mod claude;
pub mod client_rows;
pub mod plugin;
mod program;
mod recall_server;
pub mod session_compact;
pub mod settings;

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use midfold::Failure;
use midfold_args::{ConnectArgs, ConnectedClient, HooksArgs, HooksCommand, SettingsScope, StoreAt};
use serde_json::json;

use crate::clients::ClientSurroundings;
use crate::env;
use crate::error::CommandError;
use crate::output::{Output, OutputColor, reason};
use crate::presets::pretty;
use crate::regular;
use crate::words::quoted;

use plugin::{ClientPlugin, PluginCommand};
use program::{absolute, program};
use settings::{HookSetting, SettingsChange};

/// `midfold connect`.
pub fn connect(args: &ConnectArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    match args.client {
        None => status(json, output),
        Some(ConnectedClient::Claude) if args.remove => uninstall(args.scope, json, output),
        Some(ConnectedClient::Claude) => install(args.scope, &args.at, json, output),
        Some(other) => recall_server::connect(other, args, json, output),
    }
}

/// What a connected client calls.
pub fn run(args: &HooksArgs, output: &Output) -> Result<(), CommandError> {
    match &args.command {
        HooksCommand::PreCompact(args) => called::pre_compact(&args.at, output),
        HooksCommand::SessionStart(args) => called::session_start(&args.at, output),
        HooksCommand::SessionCompact(args) => return called::session_compact(&args.at, output),
    }
    Ok(())
}

/// A settings file of Claude Code.
struct HookSettingsFile {
    scope: &'static str,
    path: PathBuf,
}

impl HookSettingsFile {
    fn of(scope: SettingsScope) -> Result<Self, CommandError> {
        let file = if scope.user { Self::of_user() } else { Some(Self::of_project()) };
        file.ok_or_else(|| {
            CommandError::failed("there is no home folder to look for settings in")
                .hint("set HOME, or CLAUDE_CONFIG_DIR as for Claude Code")
        })
    }

    fn of_project() -> Self {
        Self { scope: "project", path: PathBuf::from(".claude/settings.json") }
    }

    fn of_user() -> Option<Self> {
        let around = ClientSurroundings {
            home: env::home(),
            folder: PathBuf::new(),
            variable: &env::get,
            arguments: Vec::new(),
        };
        let folder = around.folder_of("CLAUDE_CONFIG_DIR", ".claude")?;
        Some(Self { scope: "user", path: folder.join("settings.json") })
    }

    /// The text of the file. `None` where the file does not exist.
    fn text(&self) -> Result<Option<String>, CommandError> {
        match regular::text(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CommandError::failed(format!(
                "{} cannot be read: {}",
                self.path.display(),
                reason(&error)
            ))),
        }
    }

    /// Applies a change to the file. Returns whether there was anything to change.
    fn change(&self, change: SettingsChange, output: &Output) -> Result<bool, CommandError> {
        match change {
            SettingsChange::None => return Ok(false),
            SettingsChange::Text(text) => output.file_in_its_folder(&self.path, text.as_bytes())?,
            // A symbolic link stays, and so does the file that it leads to: the user set both up.
            SettingsChange::Remove if self.path.is_symlink() => output.file(&self.path, b"{}\n")?,
            SettingsChange::Remove => fs::remove_file(&self.path).map_err(|error| {
                let (path, why) = (self.path.display(), reason(&error));
                CommandError::failed(format!("{path} cannot be removed: {why}"))
            })?,
        }
        Ok(true)
    }

    fn place(&self, failure: Failure) -> CommandError {
        failure.at(format_args!("{}: ", self.path.display())).into()
    }
}

fn install(
    scope: SettingsScope,
    at: &StoreAt,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let file = HookSettingsFile::of(scope)?;
    let hooks = hooks(at)?;
    let change = settings::install(file.text()?.as_deref(), &hooks);
    let change = change.map_err(|failure| file.place(failure))?;
    // The plug-in comes first: where its folder is somebody else's, nothing is changed.
    let plugin = ClientPlugin::beside(&file.path);
    let plugged = plugin.install(&plugin_command(at)?, output)?;
    let changed = file.change(change, output)? || plugged;
    if json {
        let value = json!({
            "file": file.path, "plugin": plugin.folder(), "changed": changed, "hooks": to_json(&hooks),
        });
        return output.stdout(pretty(&value)?);
    }
    let (path, folder) = (file.path.display(), plugin.folder().display());
    match changed {
        true => output.stdout(format!(
            "Plug-in written to {folder}\n  Claude Code 2.1.287 and newer compacts by midfold, without a model\n\
             Hooks written to {path}\n  before a compaction  {}\n  after it             {}\n\
             Sessions of Claude Code that are started from now on call them.\n",
            hooks[0].command, hooks[1].command
        )),
        false => output.stdout(format!(
            "Nothing changed: the plug-in is in {folder} already, and the hooks in {path}\n"
        )),
    }
}

fn uninstall(scope: SettingsScope, json: bool, output: &Output) -> Result<(), CommandError> {
    let file = HookSettingsFile::of(scope)?;
    let plugin = ClientPlugin::beside(&file.path);
    let change = settings::uninstall(file.text()?.as_deref());
    let unhooked = file.change(change.map_err(|failure| file.place(failure))?, output)?;
    let unplugged = plugin.uninstall()?;
    if json {
        let changed = unhooked || unplugged;
        let value = json!({ "file": file.path, "plugin": plugin.folder(), "changed": changed });
        return output.stdout(pretty(&value)?);
    }
    let (path, folder) = (file.path.display(), plugin.folder().display());
    let mut text = String::new();
    if unplugged {
        text += &format!("Plug-in taken out of {folder}\n");
    }
    text += &match unhooked {
        true => format!("Hooks taken out of {path}\n"),
        false if unplugged => String::new(),
        false => format!("Nothing changed: no hook of midfold is in {path}\n"),
    };
    output.stdout(text)
}

fn status(json: bool, output: &Output) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    for file in
        [Some(HookSettingsFile::of_project()), HookSettingsFile::of_user()].into_iter().flatten()
    {
        let text = file.text()?.unwrap_or_default();
        let in_file = match text.trim().is_empty() {
            true => Vec::new(),
            false => settings::installed(&text).map_err(|failure| file.place(failure))?,
        };
        let plugin = ClientPlugin::beside(&file.path);
        rows.push((file, in_file, plugin.is_installed().then_some(plugin)));
    }
    let log = called::log_file();
    if json {
        let files = rows.iter().map(|(file, in_file, plugin)| {
            let plugin = plugin.as_ref().map(ClientPlugin::folder);
            json!({ "scope": file.scope, "file": file.path, "plugin": plugin, "hooks": to_json(in_file) })
        });
        let files: Vec<_> = files.collect();
        return output.stdout(pretty(&json!({ "files": files, "log": log }))?);
    }
    let style = output.stdout_style();
    let mut text = String::new();
    for (file, in_file, plugin) in &rows {
        let name = style.paint(OutputColor::Bold, &file.path.display().to_string());
        text += &format!("{name} ({})\n", file.scope);
        for hook in in_file {
            text += &format!("  {:<14}{}\n", hook.event, hook.command);
        }
        if let Some(plugin) = plugin {
            text += &format!("  {:<14}{}\n", "plug-in", plugin.folder().display());
        }
        if in_file.is_empty() && plugin.is_none() {
            text += "  no hook of midfold\n";
        }
    }
    let log = log.map_or("nowhere: there is no data folder".to_owned(), |log| {
        let is_there = if log.exists() { "" } else { " (nothing is in it yet)" };
        format!("{}{is_there}", log.display())
    });
    output.stdout(format!("{text}what a hook could not do is written to {log}\n"))
}

fn to_json(hooks: &[HookSetting]) -> serde_json::Value {
    let one = |hook: &HookSetting| json!({ "event": hook.event, "command": hook.command });
    hooks.iter().map(one).collect()
}

/// The hooks as Claude Code has to call them, whatever its working directory is.
fn hooks(at: &StoreAt) -> Result<[HookSetting; 2], CommandError> {
    let more = match &at.store {
        None => String::new(),
        Some(url) => format!(" --store {}", quoted(&absolute(url)?)),
    };
    Ok(claude::hooks(&quoted(&program()?), &more))
}

/// The command as the plug-in calls it, without a shell.
fn plugin_command(at: &StoreAt) -> Result<PluginCommand, CommandError> {
    let store = at.store.as_deref().map(absolute).transpose()?;
    Ok(PluginCommand { program: program()?, store })
}
