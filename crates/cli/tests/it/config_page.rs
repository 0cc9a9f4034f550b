//! `docs/CONFIG.md` and `docs/config.schema.json` say what the file of settings, the variables and the flags are: no
//! more and no less. MIDFOLD_WRITE_DOCS=1 writes both anew.

use std::collections::BTreeSet;
use std::fs;

use midfold_cli::inside::{KEYS, SettingKey};
use serde_json::Value;

use crate::{folder, midfold, root, seen, stdout};

/// What the page says of keys stands between these lines.
const BEGIN: &str = "<!-- begin of keys -->\n";
const END: &str = "<!-- end of keys -->\n";

/// Flags of `midfold serve` that no file says, and why.
const FLAGS_ALONE: [(&str, &str); 10] = [
    ("compaction", "who compacts is said where the server is started"),
    ("seal-keys", "a secret: a variable, or a file of its own"),
    ("narrator", "a model that narrates costs money: whoever starts the server says so"),
    ("narrator-model", "the same"),
    ("narrator-key-env", "the same"),
    ("narrator-key-file", "the same"),
    ("narrator-calls", "the same"),
    ("narrator-tokens", "the same"),
    ("json", "what the command prints"),
    ("color", "what the command prints"),
];

/// Variables that no file says, and why.
const VARIABLES_ALONE: [(&str, &str); 1] = [("MIDFOLD_SEAL_KEYS", "it holds a secret")];

fn schema() -> Value {
    serde_json::from_str(&stdout(&["print", "schema", "config"], b"")).unwrap()
}

/// The keys of the file, each with its schema; those of `[serve]` by `serve.NAME`.
fn keys_of(schema: &Value) -> Vec<(String, &Value)> {
    let mut all = Vec::new();
    for (name, key) in schema["properties"].as_object().unwrap() {
        match key["properties"].as_object() {
            Some(within) => {
                all.extend(within.iter().map(|(key, it)| (format!("{name}.{key}"), it)));
            }
            None => all.push((name.clone(), key)),
        }
    }
    all
}

#[test]
fn every_key_of_the_file_is_listed_and_nothing_else_is() {
    let schema = schema();
    let there: BTreeSet<String> = keys_of(&schema).into_iter().map(|(name, _)| name).collect();
    let listed: BTreeSet<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
    assert_eq!(listed.len(), KEYS.len(), "a key is listed twice");
    let new: Vec<_> = there.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&there).collect();
    assert!(
        new.is_empty(),
        "add to KEYS (crates/cli/src/keys.rs), with variable and flag: {new:?}"
    );
    assert!(gone.is_empty(), "take out of KEYS, the file has none such: {gone:?}");
    let help = stdout(&["print", "config", "--help"], b"");
    let unsaid = |name: &&String| {
        let key = name.rsplit('.').next().unwrap();
        !help.lines().any(|line| line.contains(&format!("{key} ")))
    };
    let unsaid: Vec<_> = there.iter().filter(unsaid).collect();
    assert!(
        unsaid.is_empty(),
        "`midfold print config --help` lacks (crates/args/src/about.rs): {unsaid:?}"
    );
    for (name, key) in keys_of(&schema) {
        assert!(key["description"].is_string(), "{name} has no meaning: a comment on its member");
    }
}

#[test]
fn every_flag_is_one_and_every_flag_of_a_server_is_a_key() {
    let cli = midfold_args::command();
    let flags_of = |command: &clap::Command| -> BTreeSet<String> {
        command.get_arguments().filter_map(|it| it.get_long()).map(str::to_owned).collect()
    };
    let mut all = BTreeSet::new();
    let mut open = vec![&cli];
    while let Some(command) = open.pop() {
        all.extend(flags_of(command));
        open.extend(command.get_subcommands());
    }
    let bare = |key: &SettingKey| key.flag.map(|flag| flag.strip_prefix("--").unwrap().to_owned());
    for key in KEYS {
        assert!(bare(key).is_none_or(|flag| all.contains(&flag)), "no command has {key:?}");
    }
    let serve = cli.find_subcommand("serve").unwrap();
    let listed: BTreeSet<String> = KEYS.iter().filter_map(bare).collect();
    let alone: BTreeSet<String> = FLAGS_ALONE.iter().map(|(flag, _)| (*flag).to_owned()).collect();
    for flag in flags_of(serve) {
        assert!(
            listed.contains(&flag) || alone.contains(&flag),
            "`serve --{flag}` has no key: name it in KEYS (crates/cli/src/keys.rs), or in FLAGS_ALONE here"
        );
    }
    assert!(alone.is_subset(&all), "no command has all of FLAGS_ALONE");
}

/// A value that the variable of a key takes.
fn value_for(key: &str) -> &'static str {
    match key {
        "window" => "32k",
        "serve.listen" => "127.0.0.1:7",
        "serve.open" | "serve.strict" | "serve.recall" | "serve.agent_tools" => "1",
        "serve.cache_lifetime" => "60",
        "serve.upstream" => "http://127.0.0.1:7",
        _ => "x",
    }
}

#[test]
fn every_variable_says_its_key_and_no_other_is_read() {
    let mut known: BTreeSet<&str> = VARIABLES_ALONE.iter().map(|(name, _)| *name).collect();
    for key in KEYS {
        for variable in key.variables {
            known.insert(variable);
            let shown =
                midfold(&["print", "config", "--json"]).env(variable, value_for(key.name)).output();
            let shown: Value = serde_json::from_slice(&shown.unwrap().stdout).unwrap();
            let mut all = shown.as_object().unwrap().iter();
            let says = |(name, it): (&String, &Value)| {
                name.starts_with(key.name) && it["from"] == **variable
            };
            assert!(all.any(says), "{variable} does not say {}: {shown}", key.name);
        }
    }
    let source = fs::read_to_string(root().join("crates/cli/src/env.rs")).unwrap();
    let read = source.split('"').filter(|text| text.starts_with("MIDFOLD_"));
    let unknown: BTreeSet<_> = read.filter(|name| !known.contains(name)).collect();
    assert!(
        unknown.is_empty(),
        "name them in KEYS (crates/cli/src/keys.rs), or in VARIABLES_ALONE here: {unknown:?}"
    );
}

/// What a value of the file is, in TOML's words.
fn kind(of: &Value) -> String {
    if let Some(forms) = of["anyOf"].as_array() {
        return forms.iter().map(kind).collect::<Vec<_>>().join(", or ");
    }
    match of["type"].as_str().unwrap_or("anything") {
        "array" => format!("array of {}", kind(&of["items"])),
        "object" => match of["properties"].as_object() {
            Some(within) => {
                let names: Vec<String> = within.keys().map(|name| format!("`{name}`")).collect();
                format!("table with {}", names.join(", "))
            }
            None => format!("table of {}", kind(&of["additionalProperties"])),
        },
        "number" => "number from 0 to 1".to_owned(),
        plain => plain.to_owned(),
    }
}

/// The tables of the page.
fn tables(schema: &Value) -> String {
    let keys = keys_of(schema);
    let row = |key: &SettingKey| {
        let (_, of) = keys.iter().find(|(name, _)| name == key.name).unwrap();
        let code = |text: &&str| format!("`{text}`");
        let meaning = of["description"].as_str().unwrap().replace('\n', " ").replace('|', "\\|");
        let variables: Vec<_> = key.variables.iter().map(code).collect();
        let flag = key.flag.map(|flag| code(&flag)).unwrap_or_default();
        let name = key.name.rsplit('.').next().unwrap();
        format!("| `{name}` | {} | {meaning} | {} | {flag} |\n", kind(of), variables.join(" "))
    };
    let table = |title: &str, keys: &mut dyn Iterator<Item = &SettingKey>| {
        let head = "| key | type | meaning | variable | flag |\n|---|---|---|---|---|\n";
        format!("{title}\n\n{head}{}", keys.map(row).collect::<String>())
    };
    let within = |table: &'static str| {
        KEYS.iter().filter(move |key| key.name.split_once('.').map_or("", |(of, _)| of) == table)
    };
    let titles = [
        ("", "In the file itself:"),
        ("serve", "In `[serve]`, for `midfold serve`:"),
        ("after_fold", "In `[after_fold]`, for every command that folds a session:"),
    ];
    let all: usize = titles.iter().map(|(of, _)| within(of).count()).sum();
    assert_eq!(all, KEYS.len(), "a key of another table has no place on the page");
    let tables = titles.map(|(of, title)| table(title, &mut within(of)));
    format!("\n{}\n", tables.join("\n"))
}

#[test]
fn the_page_and_the_schema_are_those_of_this_build() {
    let schema = stdout(&["print", "schema", "config"], b"");
    let page = fs::read_to_string(root().join("docs/CONFIG.md")).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let tables = tables(&serde_json::from_str(&schema).unwrap());
    let wanted = format!("{before}{BEGIN}{tables}{END}{after}");
    if std::env::var_os("MIDFOLD_WRITE_DOCS").is_some() {
        fs::write(root().join("docs/CONFIG.md"), &wanted).unwrap();
        fs::write(root().join("docs/config.schema.json"), &schema).unwrap();
    }
    for (name, wanted) in [("docs/CONFIG.md", &wanted), ("docs/config.schema.json", &schema)] {
        let there = fs::read_to_string(root().join(name)).unwrap_or_default();
        let differs = wanted.lines().zip(there.lines()).find(|(wanted, there)| wanted != there);
        assert!(
            there == *wanted,
            "{name} is stale; MIDFOLD_WRITE_DOCS=1 cargo test -p midfold-cli config_page writes it anew: {differs:?}"
        );
    }
}

#[test]
fn the_example_of_the_page_is_read() {
    let page = fs::read_to_string(root().join("docs/CONFIG.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let home = folder("config-page");
    let user = home.join(".config/midfold");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("config.toml"), example).unwrap();
    let shown = midfold(&["print", "config", "--json"]).env("HOME", &home).output().unwrap();
    assert!(shown.status.success(), "{}", seen(&shown));
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["windows.llama3.2*"]["value"], 8192, "{shown}");
    assert_eq!(shown["serve.upstream.local"]["value"], "http://127.0.0.1:11434 for llama*, qwen*");
}
