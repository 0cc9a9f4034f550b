//! `midfold.toml`: settings that apply where neither a flag nor a variable says otherwise. Also `midfold print config`, which
//! shows them.

use std::path::{Path, PathBuf};

use midfold::core::policy::EngineName;
use midfold::store::StoreUrl;
use midfold::{AfterFold, Policy, PolicyFrom, ServerSettings, ServingUpstream, Settings};
use serde_json::{Map, Value, json};

use crate::env;
use crate::error::CommandError;
use crate::input::{HOST, InputFile};
use crate::output::{Output, OutputColor};
use crate::presets::pretty;
use crate::table::TextTable;

/// The name of a project's settings file.
const PROJECT: &str = "midfold.toml";

/// The settings of one file, and its path.
struct SettingsFile {
    path: PathBuf,
    settings: Settings,
    /// The file belongs to a project folder, which may come from somebody else. So it must not run a command or send
    /// conversations to a server.
    is_project: bool,
}

/// The settings of all files; where two set the same key, the nearer file wins.
pub fn settings() -> Result<Settings, CommandError> {
    let files = files()?;
    let all = files.into_iter().fold(Settings::default(), |near, file| near.over(file.settings));
    // `MIDFOLD_WINDOW` overrides `window` of a file, but not a file's windows for single models.
    Ok(env::settings()?.over(all))
}

/// The path of the nearest file whose settings pass the test. `None` where no file does.
pub fn source(says: impl Fn(&Settings) -> bool) -> Result<Option<String>, CommandError> {
    let file = files()?.into_iter().find(|file| says(&file.settings));
    Ok(file.map(|file| file.path.display().to_string()))
}

/// The paths of the settings files in use, the nearer one first.
pub fn paths() -> Result<Vec<PathBuf>, CommandError> {
    Ok(files()?.into_iter().map(|file| file.path).collect())
}

/// The policy that the `flags` name, or else the one that the nearest file names.
pub fn policy(flags: Settings) -> Result<Policy, CommandError> {
    let names = |settings: &Settings| settings.preset.is_some() || settings.policy.is_some();
    let flags = flags.over(Settings { preset: env::settings()?.preset, ..Settings::default() });
    let files = files()?;
    // The file that decides the policy; none if a flag does.
    let by = files.iter().find(|file| names(&file.settings)).filter(|_| !names(&flags));
    let by_project = by.filter(|file| file.is_project).map(|file| file.path.clone());
    let all = files.into_iter().fold(flags, |near, file| near.over(file.settings));
    let policy = all.policy(&HOST)?;
    match by_project {
        Some(path) if matches!(policy.engine, EngineName::Command { .. }) => Err(untrusted(
            &path,
            "a policy that runs a command",
            "if you trust it, name it with --policy, or in your own config.toml",
        )),
        _ => Ok(policy),
    }
}

/// The store that the nearest file names. Fails where a project's file names a store on a server.
pub fn store() -> Result<Option<String>, CommandError> {
    let named = files()?.into_iter().find(|file| file.settings.store.is_some());
    let Some(SettingsFile { path, settings, is_project }) = named else { return Ok(None) };
    let url = settings.store.as_deref().map(StoreUrl::read);
    if is_project && matches!(url, Some(Ok(StoreUrl::Postgres))) {
        let hint = "if you trust it, use --store or MIDFOLD_STORE, or your own config.toml";
        return Err(untrusted(&path, "a store on a server", hint));
    }
    Ok(settings.store)
}

/// The server settings of all files. Fails where a project's file sets who may reach the server or where conversations
/// go.
pub fn serving() -> Result<ServerSettings, CommandError> {
    let files = files()?;
    if let Some(file) =
        files.iter().find(|file| file.is_project && file.settings.clone().serving().reaches_out())
    {
        let hint = "if you trust it, say it with a flag or a variable, or in your own config.toml; \
                    `strict` alone may stand here";
        return Err(untrusted(&file.path, "addresses, keys or files of a server", hint));
    }
    let layers = files.into_iter().map(|file| file.settings.serving());
    Ok(layers.fold(ServerSettings::default(), ServerSettings::over))
}

fn untrusted(path: &Path, setting: &str, hint: &str) -> CommandError {
    let text =
        format!("{} names {setting}: a file that comes with a folder may not", path.display());
    CommandError::failed(text).hint(hint)
}

/// Reads the settings files: first the project's, from the working directory or the nearest folder above it, then the
/// user's.
fn files() -> Result<Vec<SettingsFile>, CommandError> {
    let here = std::env::current_dir().ok();
    let project = here.iter().flat_map(|here| here.ancestors()).map(|dir| dir.join(PROJECT));
    let user = env::config_folder().map(|folder| folder.join("config.toml"));
    let nearest = project.into_iter().find(|path| path.is_file()).into_iter();
    let user = user.filter(|path| path.is_file()).map(|path| read(path, false));
    nearest.map(|path| read(path, true)).chain(user).collect()
}

fn read(path: PathBuf, is_project: bool) -> Result<SettingsFile, CommandError> {
    let text = InputFile::text(&path)?;
    let settings: Settings = toml::from_str(&text).map_err(|error| {
        CommandError::usage(format!("{}: {error}", path.display()).trim_end().to_owned())
            .hint("`midfold print config --help` lists the keys")
    })?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let settings = placed(settings, &folder);
    // `after_fold` sends the text of files to a model, so a project's file may only name files in its own folder.
    let after_fold = settings.after_fold.clone().with_paths_in(&folder, is_project);
    Ok(SettingsFile { settings: Settings { after_fold, ..settings }, path, is_project })
}

/// Makes the relative paths in a file's settings relative to the file's folder.
fn placed(settings: Settings, folder: &Path) -> Settings {
    let beside = |path: &str| folder.join(path).display().to_string();
    let file = |name: String, end: &str| if name.ends_with(end) { beside(&name) } else { name };
    Settings {
        policy: settings.policy.map(|policy| match policy {
            PolicyFrom::File(path) => PolicyFrom::File(folder.join(path)),
            toml => toml,
        }),
        tokenizer: settings.tokenizer.map(|name| file(name, ".json")),
        prices: settings.prices.map(|name| file(name, ".toml")),
        store: settings.store.map(|url| match url.strip_prefix("sqlite:") {
            Some(path)
                if matches!(StoreUrl::read(&url), Ok(StoreUrl::Sqlite(_)))
                    && !path.starts_with("//") =>
            {
                format!("sqlite:{}", beside(path))
            }
            _ => url,
        }),
        serve: settings.serve.with_paths_in(folder),
        ..settings
    }
}

/// The keys that are set, with their values. Secrets are masked.
fn stated(settings: &Settings) -> Vec<(String, Value)> {
    let Settings {
        window,
        tokenizer,
        profile,
        // Neither a file nor a variable sets it.
        model: _,
        default_model,
        to,
        preset,
        policy,
        tiers,
        narrate,
        store,
        prices,
        windows,
        after_fold: AfterFold { text, files, tokens, .. },
        upstream: _,
        looks_up: _,
        serve: _,
    } = settings;
    let policy = policy.as_ref().map(|policy| match policy {
        PolicyFrom::File(path) => path.display().to_string(),
        PolicyFrom::Toml(text) => text.clone(),
    });
    let store = store.as_deref().map(midfold::core::redact::mask);
    let all = [
        ("window", json!(window)),
        ("tokenizer", json!(tokenizer)),
        ("profile", json!(profile)),
        ("model", json!(default_model)),
        ("to", json!(to)),
        ("preset", json!(preset)),
        ("policy", json!(policy)),
        ("tiers", if tiers.is_empty() { Value::Null } else { json!(tiers) }),
        ("narrate", narrate.then_some(true).into()),
        ("store", json!(store)),
        ("prices", json!(prices)),
        ("after_fold.text", json!(text)),
        ("after_fold.files", if files.is_empty() { Value::Null } else { json!(files) }),
        ("after_fold.tokens", json!(tokens)),
    ];
    let all = all.into_iter().filter(|(_, value)| !value.is_null());
    let all = all.map(|(key, value)| (key.to_owned(), value));
    let windows = windows.iter().map(|(models, size)| (format!("windows.{models}"), json!(size)));
    all.chain(windows).chain(said_of_serving(&settings.clone().serving())).collect()
}

/// The keys of a server's settings that are set. Secrets are masked.
fn said_of_serving(serving: &ServerSettings) -> Vec<(String, Value)> {
    let ServerSettings { listen, open, allow_origin, strict, recall, cache_lifetime, keys, .. } =
        serving;
    let ServerSettings { agent_tools, tls_cert, tls_key, ca, upstream, upstream_key, .. } = serving;
    let origins = Some(allow_origin).filter(|origins| !origins.is_empty());
    let single = [
        ("listen", json!(listen)),
        ("open", json!(open)),
        ("allow_origin", json!(origins)),
        ("strict", json!(strict)),
        ("recall", json!(recall)),
        ("agent_tools", json!(agent_tools)),
        ("cache_lifetime", json!(cache_lifetime)),
        ("keys", json!(keys)),
        ("tls_cert", json!(tls_cert)),
        ("tls_key", json!(tls_key)),
        ("ca", json!(ca)),
    ];
    let single = single.into_iter().map(|(key, value)| (key.to_owned(), value));
    let masked = |(name, to): (&String, &ServingUpstream)| {
        let url = midfold::core::redact::mask(&to.url);
        let models: Vec<_> = to.models.iter().map(ToString::to_string).collect();
        let text = if models.is_empty() { url } else { format!("{url} for {}", models.join(", ")) };
        (format!("upstream.{name}"), json!(text))
    };
    let variable = |(name, variable)| (format!("upstream_key.{name}"), json!(variable));
    let all = single.chain(upstream.0.iter().map(masked)).chain(upstream_key.iter().map(variable));
    all.filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (format!("serve.{key}"), value))
        .collect()
}

/// Shows the settings of files and environment variables, and where each was set.
pub fn run(json: bool, output: &Output) -> Result<(), CommandError> {
    let mut rows: Vec<(String, Value, String)> = Vec::new();
    let mut add = |settings: &Settings, from: &str| {
        let hidden = |key: &str, rows: &[(String, Value, String)]| {
            // `preset` and `policy` are the same choice, so the nearer one hides the other as well.
            let is_policy = |key: &str| matches!(key, "preset" | "policy");
            rows.iter().any(|(had, ..)| had == key || is_policy(had) && is_policy(key))
        };
        let new = stated(settings).into_iter().filter(|(key, _)| !hidden(key, &rows));
        let new: Vec<_> = new.map(|(key, value)| (key, value, from.to_owned())).collect();
        rows.extend(new);
    };
    if let Some(url) = env::store() {
        add(&Settings { store: Some(url), ..Settings::default() }, env::STORE);
    }
    if let Some(window) = env::window()? {
        add(&Settings { window: Some(window), ..Settings::default() }, env::WINDOW);
    }
    if let Some(preset) = env::settings()?.preset {
        add(&Settings { preset: Some(preset), ..Settings::default() }, env::PRESET);
    }
    for (variable, serve) in env::serving()? {
        add(&Settings { serve, ..Settings::default() }, variable);
    }
    for SettingsFile { path, settings, .. } in files()? {
        add(&settings, &path.display().to_string());
    }
    if json {
        let object = rows
            .into_iter()
            .map(|(key, value, from)| (key, json!({ "value": value, "from": from })));
        return output.stdout(pretty(&object.collect::<Map<_, _>>())?);
    }
    if rows.is_empty() {
        return output.stdout(format!(
            "nothing is set: there is no {PROJECT} here or above, and no file of the user's\n"
        ));
    }
    let mut table = TextTable::new(["key", "value", "from"])
        .color(0, OutputColor::Bold)
        .color(2, OutputColor::Dim);
    for (key, value, from) in rows {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.row([key, value, from]);
    }
    output.stdout(table.render(&output.stdout_style(), 0))
}
