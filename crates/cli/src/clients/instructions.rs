//! The instructions that send a client's requests to the proxy where the common variables do not suffice: options and
//! variables. No file of a client is changed.

use midfold_serve::config::Provider;
use serde_json::{Map, Value, json};

use super::around::ClientSurroundings;
use super::front::ProxyFront;
use super::own_provider::OwnProvider;

/// Arguments and variables that a client gets in addition to the common variables.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClientInstructions {
    /// Arguments that come before the user's own.
    pub arguments: Vec<String>,
    /// Variables, which override the common ones.
    pub variables: Vec<(&'static str, String)>,
    /// The text of a temporary file that exists while the client runs. Its path is added after `arguments`.
    pub file: Option<String>,
}

pub fn nothing(
    _: &ClientSurroundings,
    _: &ProxyFront,
    _: Option<&OwnProvider>,
) -> ClientInstructions {
    ClientInstructions::default()
}

/// Claude Code: its settings files override the environment, and `--settings` overrides the files. Nothing is added
/// where the user gave `--settings`: a second one would replace the user's.
pub fn claude(
    around: &ClientSurroundings,
    front: &ProxyFront,
    own: Option<&OwnProvider>,
) -> ClientInstructions {
    let Some(own) = own.filter(|_| around.option(&["--settings"]).is_none()) else {
        return ClientInstructions::default();
    };
    let url = front.base(own.provider, "", Some(&own.url));
    let settings = json!({ "env": { "ANTHROPIC_BASE_URL": url } });
    ClientInstructions {
        arguments: vec!["--settings".to_owned(), settings.to_string()],
        ..ClientInstructions::default()
    }
}

/// Codex reads no variable for the address. An option gives the user's own provider another address; its name and login
/// stay.
pub fn codex(
    _: &ClientSurroundings,
    front: &ProxyFront,
    own: Option<&OwnProvider>,
) -> ClientInstructions {
    let url = front.base(Provider::OpenAi, "/v1", own.map(|own| own.url.as_str()));
    let key = match own.map(|own| own.name.as_str()) {
        None | Some("openai") => "openai_base_url".to_owned(),
        Some(name) => format!("model_providers.{name}.base_url"),
    };
    ClientInstructions {
        arguments: vec!["-c".to_owned(), format!("{key}=\"{url}\"")],
        ..ClientInstructions::default()
    }
}

/// opencode: its Anthropic client wants `/v1` in the variable, where others do not; its Google client reads no variable.
/// `OPENCODE_CONFIG_CONTENT` overrides its files. opencode offers every provider that is listed there, with or without
/// a key, so Google is listed only where its key is set.
pub fn opencode(
    around: &ClientSurroundings,
    front: &ProxyFront,
    own: Option<&OwnProvider>,
) -> ClientInstructions {
    let base = |provider, usual| front.base(provider, usual, None);
    let mut bases = Vec::new();
    if ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"]
        .iter()
        .any(|key| around.get(key).is_some())
    {
        bases.push(("google", base(Provider::Gemini, "/v1beta")));
    }
    if let Some(own) = own {
        bases.push((&own.name, front.base(own.provider, "/v1", Some(&own.url))));
    }
    let mut variables = vec![("ANTHROPIC_BASE_URL", base(Provider::Anthropic, "/v1"))];
    if !bases.is_empty() {
        let text = around.get("OPENCODE_CONFIG_CONTENT").unwrap_or_default();
        let mut content = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        for (name, url) in bases {
            set(&mut content, &["provider", name, "options", "baseURL"], url);
        }
        variables.push(("OPENCODE_CONFIG_CONTENT", content.to_string()));
    }
    ClientInstructions { variables, ..ClientInstructions::default() }
}

/// pi: an extension gives its providers another address; keys, logins and models stay.
pub fn pi(
    around: &ClientSurroundings,
    front: &ProxyFront,
    own: Option<&OwnProvider>,
) -> ClientInstructions {
    const COMMANDS: [&str; 7] =
        ["install", "remove", "uninstall", "update", "list", "config", "auth"];
    let first = around.arguments.first().map_or("", String::as_str);
    if COMMANDS.contains(&first) {
        return ClientInstructions::default();
    }
    let mut bases = vec![
        ("openai", front.base(Provider::OpenAi, "/v1", None)),
        ("anthropic", front.base(Provider::Anthropic, "", None)),
        ("google", front.base(Provider::Gemini, "/v1beta", None)),
    ];
    if let Some(own) = own {
        // The user's own address for a provider goes before the usual one; registered twice, the order would decide.
        bases.retain(|(name, _)| *name != own.name);
        bases.push((&own.name, front.base(own.provider, "/v1", Some(&own.url))));
    }
    let lines: String = bases
        .iter()
        .map(|(name, url)| {
            format!("  pi.registerProvider({}, {});\n", json!(name), json!({ "baseUrl": url }))
        })
        .collect();
    ClientInstructions {
        arguments: vec!["-e".to_owned()],
        file: Some(format!("export default function (pi) {{\n{lines}}}\n")),
        ..ClientInstructions::default()
    }
}

/// Hermes Agent: its providers read the common variables, except `custom`, which reads a variable of its own.
pub fn hermes(
    _: &ClientSurroundings,
    front: &ProxyFront,
    own: Option<&OwnProvider>,
) -> ClientInstructions {
    let base =
        |own: &OwnProvider| ("CUSTOM_BASE_URL", front.base(own.provider, "/v1", Some(&own.url)));
    ClientInstructions {
        variables: own.map(base).into_iter().collect(),
        ..ClientInstructions::default()
    }
}

/// Sets a value in a tree of objects. A value on the path that is no object is replaced by one.
fn set(tree: &mut Value, path: &[&str], text: String) {
    let Some((first, rest)) = path.split_first() else {
        *tree = Value::String(text);
        return;
    };
    if !tree.is_object() {
        *tree = Value::Object(Map::new());
    }
    if let Value::Object(tree) = tree {
        set(tree.entry(*first).or_insert(Value::Null), rest, text);
    }
}
