//! The keys of `midfold.toml`, each with the variables and the flag that set the same. Their types and meanings are in
//! the structs that read the file.

use midfold::Settings;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::env;

/// A key of the file, with the variables and the flag that set the same.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    /// The key with its table: `serve.listen`.
    pub name: &'static str,
    /// The variables. An earlier one overrides a later one.
    pub variables: &'static [&'static str],
    /// The flag as the user types it.
    pub flag: Option<&'static str>,
}

/// All keys, in the order in which `midfold print config` shows them.
pub const KEYS: &[SettingKey] = &[
    SettingKey::new("window", &[env::WINDOW], Some("--window")),
    SettingKey::new("windows", &[], None),
    SettingKey::new("tokenizer", &[], Some("--tokenizer")),
    SettingKey::new("profile", &[], Some("--profile")),
    SettingKey::new("model", &[], None),
    SettingKey::new("to", &[], Some("--to")),
    SettingKey::new("preset", &[env::PRESET], Some("--preset")),
    SettingKey::new("policy", &[], Some("--policy")),
    SettingKey::new("tiers", &[], None),
    SettingKey::new("narrate", &[], Some("--narrate")),
    SettingKey::new("store", &[env::STORE], Some("--store")),
    SettingKey::new("prices", &[], Some("--prices")),
    SettingKey::new("upstream", &[], Some("--upstream")),
    SettingKey::new("after_fold.text", &[], None),
    SettingKey::new("after_fold.files", &[], None),
    SettingKey::new("after_fold.tokens", &[], None),
    SettingKey::new("serve.listen", &["MIDFOLD_LISTEN"], Some("--listen")),
    SettingKey::new("serve.open", &["MIDFOLD_OPEN"], Some("--open")),
    SettingKey::new("serve.allow_origin", &["MIDFOLD_ALLOW_ORIGIN"], Some("--allow-origin")),
    SettingKey::new("serve.strict", &["MIDFOLD_STRICT"], Some("--strict")),
    SettingKey::new("serve.recall", &["MIDFOLD_RECALL"], Some("--recall")),
    SettingKey::new("serve.agent_tools", &["MIDFOLD_AGENT_TOOLS"], Some("--agent-tools")),
    SettingKey::new("serve.cache_lifetime", &["MIDFOLD_CACHE_LIFETIME"], Some("--cache-lifetime")),
    SettingKey::new("serve.keys", &["MIDFOLD_KEYS"], Some("--keys")),
    SettingKey::new("serve.tls_cert", &["MIDFOLD_TLS_CERT"], Some("--tls-cert")),
    SettingKey::new("serve.tls_key", &["MIDFOLD_TLS_KEY"], Some("--tls-key")),
    SettingKey::new("serve.ca", &["MIDFOLD_CA"], Some("--ca")),
    SettingKey::new(
        "serve.upstream",
        &[
            "MIDFOLD_UPSTREAM_OPENAI",
            "MIDFOLD_UPSTREAM_ANTHROPIC",
            "MIDFOLD_UPSTREAM_GEMINI",
            "MIDFOLD_UPSTREAM",
        ],
        Some("--upstream"),
    ),
    SettingKey::new(
        "serve.upstream_key",
        &[
            "MIDFOLD_UPSTREAM_KEY_OPENAI",
            "MIDFOLD_UPSTREAM_KEY_ANTHROPIC",
            "MIDFOLD_UPSTREAM_KEY_GEMINI",
        ],
        Some("--upstream-key"),
    ),
];

impl SettingKey {
    const fn new(
        name: &'static str,
        variables: &'static [&'static str],
        flag: Option<&'static str>,
    ) -> Self {
        Self { name, variables, flag }
    }
}

/// The JSON schema of the file. `x-variables` and `x-flag` name the variables and the flag that set the same as a key.
pub fn schema() -> Value {
    // Subschemas are inlined, so that the description of each key is found at the key itself.
    let plain = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(AsToml);
    let mut schema = plain.into_generator().into_root_schema_for::<ConfigSchema>().to_value();
    for key in KEYS {
        let place = key.name.replace('.', "/properties/");
        let Some(Value::Object(of)) = schema.pointer_mut(&format!("/properties/{place}")) else {
            continue;
        };
        if !key.variables.is_empty() {
            of.insert("x-variables".to_owned(), json!(key.variables));
        }
        if let Some(flag) = key.flag {
            of.insert("x-flag".to_owned(), json!(flag));
        }
    }
    schema
}

/// The schema of the whole file, with a description for its readers.
struct ConfigSchema;

impl JsonSchema for ConfigSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "midfold.toml".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> Schema {
        let mut schema = Settings::json_schema(generator);
        let about =
            "Settings of midfold: midfold.toml of a project, or midfold/config.toml of a user.";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

/// Changes a schema to describe a TOML file. A key of TOML is left out instead of `null`, so `null` is no type of it.
/// Rust examples in descriptions are cut, because they do not help to write the file.
#[derive(Clone, Debug)]
struct AsToml;

impl Transform for AsToml {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                schema.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
            forms.retain(|form| form["type"] != "null");
        }
        if schema
            .get("default")
            .is_some_and(|value| value.is_null() || *value == json!({}) || *value == json!([]))
        {
            schema.remove("default");
        }
        if let Some(Value::String(text)) = schema.get_mut("description")
            && let Some(end) = text.find("\n\n```")
        {
            text.truncate(end);
        }
        transform_subschemas(self, schema);
    }
}
