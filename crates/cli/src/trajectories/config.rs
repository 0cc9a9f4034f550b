//! The YAML file of Hermes' trajectory compressor, which is read as it is.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::CommandError;
use crate::input::InputFile;

/// The text that Hermes adds to system turns where its file gives none, in our own words.
const NOTICE: &str = "\n\nA summary may stand for a part of this conversation.";

/// The settings of a file. `None` means that the file does not set a value, and midfold's default is used.
#[derive(Debug, Default)]
pub struct JobFile {
    /// The model whose tokens are counted.
    pub tokenizer: Option<String>,
    /// The most tokens that a row may have.
    pub target: Option<u64>,
    /// The part of the target that is reserved for the summary.
    pub summary: Option<u64>,
    /// Whether the first system turn stays.
    pub first_system: Option<bool>,
    /// Whether the first turn of the user stays.
    pub first_human: Option<bool>,
    /// Whether the first turn of the model stays.
    pub first_gpt: Option<bool>,
    /// Whether the first result of a tool stays.
    pub first_tool: Option<bool>,
    /// The number of turns that stay at the end.
    pub keep_last: Option<usize>,
    /// The text that is added to the system turn of a row with a summary.
    pub notice: Option<String>,
    /// The number of rows that are worked on at once.
    pub workers: Option<usize>,
    /// Whether rows that fit stay as they are.
    pub skip_under_target: Option<bool>,
    /// Whether rows that stay too long are written.
    pub save_over_limit: Option<bool>,
    /// Whether rows with a summary get metrics of their own.
    pub row_metrics: bool,
    /// The name of the metrics file. Empty where none is wanted.
    pub metrics_file: Option<String>,
    /// How a model is asked for summaries.
    pub summariser: SummariserSettings,
    /// Notes for the user about settings without effect.
    pub notes: Vec<String>,
}

/// The file's settings for asking a model.
#[derive(Debug, Default)]
pub struct SummariserSettings {
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub temperature: Option<f64>,
    pub max_retries: Option<u32>,
    /// In seconds.
    pub retry_delay: Option<f64>,
    pub concurrency: Option<u16>,
    /// In seconds.
    pub timeout: Option<f64>,
}

/// The effect of a key in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyUse {
    /// It is always used.
    Yes,
    /// It is used where a model is asked.
    Model,
    /// It has no effect: `-o` names the output.
    Named,
}
use KeyUse::{Model, Named, Yes};

/// The sections of the file and their keys. `trust_remote_code` is accepted but changes nothing, because no tokenizer
/// runs code here.
const KEYS: &[(&str, &[(&str, KeyUse)])] = &[
    ("tokenizer", &[("name", Yes), ("trust_remote_code", Yes)]),
    ("compression", &[("target_max_tokens", Yes), ("summary_target_tokens", Yes)]),
    (
        "protected_turns",
        &[
            ("first_system", Yes),
            ("first_human", Yes),
            ("first_gpt", Yes),
            ("first_tool", Yes),
            ("last_n_turns", Yes),
        ],
    ),
    (
        "summarization",
        &[
            ("model", Model),
            ("base_url", Model),
            ("api_key_env", Model),
            ("temperature", Model),
            ("max_retries", Model),
            ("retry_delay", Model),
        ],
    ),
    (
        "output",
        &[("add_summary_notice", Yes), ("summary_notice_text", Yes), ("output_suffix", Named)],
    ),
    (
        "processing",
        &[
            ("num_workers", Yes),
            ("max_concurrent_requests", Model),
            ("skip_under_target", Yes),
            ("save_over_limit", Yes),
            ("per_trajectory_timeout", Model),
        ],
    ),
    ("metrics", &[("enabled", Yes), ("per_trajectory", Yes), ("output_file", Yes)]),
];

impl JobFile {
    /// Reads a file. `is_asked` says that the command line names a model.
    pub fn load(path: &Path, is_asked: bool) -> Result<Self, CommandError> {
        let name = path.display().to_string();
        Self::parse(&name, &InputFile::text(path)?, is_asked)
    }

    /// Parses the text of a file with this name. `is_asked` is as for [`Self::load`].
    pub fn parse(name: &str, text: &str, is_asked: bool) -> Result<Self, CommandError> {
        let parsed = serde_saphyr::from_str::<Value>(text);
        let whole = match parsed {
            Ok(Value::Object(whole)) => whole,
            Ok(Value::Null) => Map::new(),
            Ok(_) => {
                return Err(CommandError::usage(format!("{name}: there are no sections in it")));
            }
            Err(error) => {
                return Err(CommandError::usage(format!("{name} is not YAML: {error}")));
            }
        };
        let file = WrittenJobFile { name, whole: &whole };
        let notice = match file.get::<bool>("output", "add_summary_notice")? {
            Some(false) => None,
            _ => Some(
                file.get("output", "summary_notice_text")?.unwrap_or_else(|| NOTICE.to_owned()),
            ),
        };
        let wants_metrics = file.get::<bool>("metrics", "enabled")?.unwrap_or(true);
        let metrics_file = match wants_metrics {
            true => file.file_name("metrics", "output_file")?,
            false => Some(String::new()),
        };
        let summariser = file.summariser()?;
        let is_asked = is_asked || summariser.base_url.is_some();
        Ok(Self {
            tokenizer: file.get("tokenizer", "name")?,
            target: file.get("compression", "target_max_tokens")?,
            summary: file.get("compression", "summary_target_tokens")?,
            first_system: file.get("protected_turns", "first_system")?,
            first_human: file.get("protected_turns", "first_human")?,
            first_gpt: file.get("protected_turns", "first_gpt")?,
            first_tool: file.get("protected_turns", "first_tool")?,
            keep_last: file.get("protected_turns", "last_n_turns")?,
            notice,
            workers: file.get("processing", "num_workers")?,
            skip_under_target: file.get("processing", "skip_under_target")?,
            save_over_limit: file.get("processing", "save_over_limit")?,
            row_metrics: file.get("metrics", "per_trajectory")?.unwrap_or(true),
            metrics_file,
            summariser,
            notes: file.notes(is_asked),
        })
    }
}

impl JobFile {
    /// The names of the first turns that stay.
    pub fn protect(&self) -> Vec<String> {
        let turns = [
            ("system", self.first_system),
            ("human", self.first_human),
            ("gpt", self.first_gpt),
            ("tool", self.first_tool),
        ];
        let protected = turns.into_iter().filter(|(_, is_kept)| is_kept.unwrap_or(true));
        protected.map(|(turn, _)| turn.to_owned()).collect()
    }
}

struct WrittenJobFile<'a> {
    name: &'a str,
    whole: &'a Map<String, Value>,
}

impl WrittenJobFile<'_> {
    /// A value of the file. `None` where the key is missing or `null`.
    fn get<T: for<'de> Deserialize<'de>>(
        &self,
        section: &str,
        key: &str,
    ) -> Result<Option<T>, CommandError> {
        let value = self.whole.get(section).and_then(|section| section.get(key));
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
        T::deserialize(value).map(Some).map_err(|error| {
            CommandError::usage(format!("{}: {section}.{key}: {error}", self.name))
        })
    }

    /// The name of a file in the output's folder. Fails where the value is a path.
    fn file_name(&self, section: &str, key: &str) -> Result<Option<String>, CommandError> {
        let Some(text) = self.get::<String>(section, key)? else { return Ok(None) };
        let plain = Path::new(&text).file_name().is_some_and(|name| name == text.as_str());
        if plain {
            return Ok(Some(text));
        }
        Err(self.wrong(section, key, "no plain file name"))
    }

    fn summariser(&self) -> Result<SummariserSettings, CommandError> {
        let seconds = |section, key| {
            let number = self.get::<f64>(section, key)?;
            match number.filter(|number| !(0.0..=1e9).contains(number)) {
                Some(_) => Err(self.wrong(section, key, "no number of seconds")),
                None => Ok(number),
            }
        };
        let temperature = self.get::<f64>("summarization", "temperature")?;
        if temperature.is_some_and(|value| !(0.0..=10.0).contains(&value)) {
            return Err(self.wrong("summarization", "temperature", "no temperature"));
        }
        let is_said = |text: &String| !text.trim().is_empty();
        Ok(SummariserSettings {
            model: self.get("summarization", "model")?.filter(is_said),
            base_url: self.get("summarization", "base_url")?.filter(is_said),
            api_key_env: self.get("summarization", "api_key_env")?.filter(is_said),
            temperature,
            max_retries: self.get("summarization", "max_retries")?,
            retry_delay: seconds("summarization", "retry_delay")?,
            concurrency: self.get("processing", "max_concurrent_requests")?,
            timeout: seconds("processing", "per_trajectory_timeout")?,
        })
    }

    fn wrong(&self, section: &str, key: &str, reason: &str) -> CommandError {
        CommandError::usage(format!("{}: {section}.{key} is {reason}", self.name))
    }

    /// A note on first turns that the file does not protect, but that stay because a later one is protected. `None`
    /// where there are none.
    fn shadowed(&self) -> Option<String> {
        const TURNS: [&str; 4] = ["first_system", "first_human", "first_gpt", "first_tool"];
        let is_kept = |key| self.get::<bool>("protected_turns", key).ok().flatten().unwrap_or(true);
        let last = TURNS.iter().rposition(|key| is_kept(key))?;
        let first = &TURNS[..last.min(2)];
        let let_go: Vec<&str> = first.iter().filter(|key| !is_kept(key)).copied().collect();
        let of = TURNS[last];
        (!let_go.is_empty()).then(|| {
            let names = let_go.join(", ");
            format!(
                "without effect where {of} is kept, since all turns before it stay: {names} = false \
                 (set protected_turns.{of} = false, too)"
            )
        })
    }

    /// Notes on settings of the file that have no effect. `is_asked` says that a model writes the summaries.
    fn notes(&self, is_asked: bool) -> Vec<String> {
        let mut idle = Vec::new();
        let mut named = Vec::new();
        let mut unknown = Vec::new();
        for (section, values) in self.whole {
            let keys = KEYS.iter().find(|(name, _)| name == section).map(|(_, keys)| *keys);
            let (Some(keys), Value::Object(values)) = (keys, values) else {
                unknown.push(section.clone());
                continue;
            };
            for key in values.keys() {
                match keys.iter().find(|(name, _)| name == key) {
                    Some((_, Yes)) => {}
                    Some((_, Model)) if is_asked => {}
                    Some((_, Model)) => idle.push(format!("{section}.{key}")),
                    Some((_, Named)) => named.push(format!("{section}.{key}")),
                    None => unknown.push(format!("{section}.{key}")),
                }
            }
        }
        let mut notes = Vec::new();
        if !idle.is_empty() {
            let idle = idle.join(", ");
            notes.push(format!(
                "without effect, since no model is asked: {idle} (--model URL, or base_url in this \
                 file, has summaries written by one)"
            ));
        }
        if !named.is_empty() {
            let named = named.join(", ");
            notes.push(format!("without effect, since -o names the output: {named}"));
        }
        notes.extend(self.shadowed());
        if !unknown.is_empty() {
            notes.push(format!("unknown in {}: {}", self.name, unknown.join(", ")));
        }
        notes
    }
}

/// Our tokenizer with the vocabulary of this model. `None` for a model that we do not know.
pub fn family(model: &str) -> Option<&'static str> {
    const FAMILIES: &[(&str, &str)] = &[
        ("kimi-k2", "kimi_k2"),
        ("qwen", "qwen2"),
        ("llama-3", "llama3"),
        ("deepseek-v3", "deepseek_v3"),
        ("glm-4", "glm4"),
    ];
    let model = model.to_ascii_lowercase();
    FAMILIES.iter().find(|(part, _)| model.contains(part)).map(|(_, family)| *family)
}
