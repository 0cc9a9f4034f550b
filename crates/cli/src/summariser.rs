//! Makes the client of a model that writes summaries, as the command line asks.

use std::path::Path;

use midfold::model::{ModelClient, ModelConfig, Secret};
use midfold::tokens;

use crate::error::CommandError;
use crate::input::InputFile;

/// Names a model, and says how to reach it.
pub struct SummariserModel<'a> {
    pub url: &'a str,
    pub name: &'a str,
    pub key_env: Option<&'a str>,
    pub key_file: Option<&'a Path>,
    /// The model's window in tokens. `None` takes the built-in window of a known model.
    pub window: Option<u64>,
    /// The option that gives the URL, for hints.
    pub option: &'static str,
}

impl SummariserModel<'_> {
    pub fn client(&self) -> Result<ModelClient, CommandError> {
        self.client_with(|_| {})
    }

    /// As [`SummariserModel::client`]. `set` can change the settings before the client is made.
    pub fn client_with(
        &self,
        set: impl FnOnce(&mut ModelConfig),
    ) -> Result<ModelClient, CommandError> {
        let counter = tokens::by_name(tokens::for_model(self.name))
            .or_else(|_| tokens::by_name("estimate:openai"))
            .map_err(|error| CommandError::failed(error.to_string()))?;
        let mut config = ModelConfig::new(self.url, self.name, counter);
        config.key = self.key()?;
        config.window_tokens = self.window.or_else(|| tokens::window_of(self.name));
        set(&mut config);
        ModelClient::new(config).map_err(|error| {
            CommandError::usage(error.to_string()).hint(format!(
                "{} looks like https://api.openai.com/v1 or http://127.0.0.1:8080",
                self.option
            ))
        })
    }

    /// The key, from a variable or a file. It is never an argument, because other users can see the arguments of a
    /// process.
    fn key(&self) -> Result<Option<Secret>, CommandError> {
        if let Some(name) = self.key_env {
            return match std::env::var(name) {
                Ok(key) if !key.trim().is_empty() => Ok(Some(Secret::new(&key))),
                _ => Err(CommandError::usage(format!("the environment has no key in {name}"))
                    .hint("--key-env takes the name of a variable, not the key")),
            };
        }
        let Some(path) = self.key_file else { return Ok(None) };
        let key = InputFile::text(path)?;
        if key.trim().is_empty() {
            return Err(CommandError::failed(format!("{} holds no key", path.display())));
        }
        Ok(Some(Secret::new(&key)))
    }
}
