//! Reads where a client's own configuration sends its requests, because these clients prefer it to variables. Files are
//! never written, and only addresses are taken from them: keys and logins stay there.

use std::path::{Path, PathBuf};

use midfold_serve::config::Provider;
use serde_json::Value;

use super::around::ClientSurroundings;
use crate::regular;

/// A provider that a client's own configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProvider {
    /// The provider's name in that configuration.
    pub name: String,
    /// The provider whose wire format it speaks.
    pub provider: Provider,
    /// Its base URL.
    pub url: String,
    /// The file that names it.
    pub from: PathBuf,
}

impl OwnProvider {
    /// The provider, if `url` is an http or https URL. Otherwise `None`.
    fn new(name: &str, provider: Provider, url: &Value, from: PathBuf) -> Option<Self> {
        let url = url.as_str().filter(|url| url.starts_with("http"))?;
        Some(Self { name: name.to_owned(), provider, url: url.to_owned(), from })
    }
}

pub fn none(_: &ClientSurroundings) -> Option<OwnProvider> {
    None
}

/// Claude Code: `env` in its settings, which overrides the environment. The file nearest to the working directory wins.
pub fn claude(around: &ClientSurroundings) -> Option<OwnProvider> {
    let user = around.folder_of("CLAUDE_CONFIG_DIR", ".claude");
    let project = around.folder.join(".claude");
    let files = [project.join("settings.local.json"), project.join("settings.json")];
    files.into_iter().chain(user.map(|user| user.join("settings.json"))).find_map(|file| {
        let settings = json(&file)?;
        OwnProvider::new("env", Provider::Anthropic, &settings["env"]["ANTHROPIC_BASE_URL"], file)
    })
}

/// Codex: the entry that `model_provider` names.
pub fn codex(around: &ClientSurroundings) -> Option<OwnProvider> {
    let file = around.folder_of("CODEX_HOME", ".codex")?.join("config.toml");
    let config: Value = toml::from_str(&regular::text(&file).ok()?).ok()?;
    match config["model_provider"].as_str() {
        None | Some("openai") => {
            OwnProvider::new("openai", Provider::OpenAi, &config["openai_base_url"], file)
        }
        Some(name) => {
            let url = &config["model_providers"][name]["base_url"];
            OwnProvider::new(name, Provider::OpenAi, url, file)
        }
    }
}

/// opencode: the provider of the model that an option or a file chooses.
pub fn opencode(around: &ClientSurroundings) -> Option<OwnProvider> {
    let named = around.get("OPENCODE_CONFIG").map(PathBuf::from);
    let near = around.folder.ancestors().map(|folder| folder.join("opencode.json"));
    let user = around.folder_of("XDG_CONFIG_HOME", ".config");
    let user = user.map(|user| user.join("opencode/opencode.json"));
    let files: Vec<_> = named.into_iter().chain(near).chain(user).collect();
    let read = || files.iter().filter_map(|file| Some((file, json(file)?)));
    let option = around.option(&["--model", "-m"]).map(str::to_owned);
    let model = option.or_else(|| {
        read().find_map(|(_, settings_file)| settings_file["model"].as_str().map(str::to_owned))
    })?;
    let (name, _) = model.split_once('/')?;
    read().find_map(|(file, config)| {
        let entry = &config["provider"][name];
        let provider = match entry["npm"].as_str() {
            Some("@ai-sdk/anthropic") => Provider::Anthropic,
            Some("@ai-sdk/google") => Provider::Gemini,
            None if name == "anthropic" => Provider::Anthropic,
            None if name == "google" => Provider::Gemini,
            _ => Provider::OpenAi,
        };
        OwnProvider::new(name, provider, &entry["options"]["baseURL"], file.clone())
    })
}

/// pi: the provider that an option or the settings choose.
pub fn pi(around: &ClientSurroundings) -> Option<OwnProvider> {
    let folder = around.folder_of("PI_CODING_AGENT_DIR", ".pi/agent")?;
    let settings = json(&folder.join("settings.json")).unwrap_or_default();
    let model = around.option(&["--model"]).and_then(|model| model.split_once('/'));
    let provider_option = around.option(&["--provider"]).or(model.map(|(name, _)| name));
    let name = provider_option.or_else(|| settings["defaultProvider"].as_str())?;
    let file = folder.join("models.json");
    let models = json(&file)?;
    let entry = &models["providers"][name];
    let provider = match entry["api"].as_str() {
        Some("anthropic-messages") => Provider::Anthropic,
        Some("google-generative-ai") => Provider::Gemini,
        None if name == "anthropic" => Provider::Anthropic,
        None if name == "google" => Provider::Gemini,
        _ => Provider::OpenAi,
    };
    OwnProvider::new(name, provider, &entry["baseUrl"], file)
}

/// Hermes Agent: the endpoint of `provider: custom`.
pub fn hermes(around: &ClientSurroundings) -> Option<OwnProvider> {
    let file = around.folder_of("HERMES_HOME", ".hermes")?.join("config.yaml");
    let config: Value = serde_saphyr::from_str(&regular::text(&file).ok()?).ok()?;
    let model = &config["model"];
    let provider = match model["api_mode"].as_str() {
        Some("anthropic_messages") => Provider::Anthropic,
        _ => Provider::OpenAi,
    };
    (model["provider"] == "custom").then_some(())?;
    OwnProvider::new("custom", provider, &model["base_url"], file)
}

/// Reads a JSON file. `None` where it does not exist, or is not plain JSON (comments are not).
fn json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&regular::file(file).ok()?).ok()
}
