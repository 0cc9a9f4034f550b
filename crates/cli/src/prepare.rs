//! What the command line says about conversations, as settings.

use std::path::Path;

use midfold::formats::read::Format;
use midfold::{Policy, PolicyFrom, Settings, Setup};

use crate::args::{Folding, Measure, Narrated};
use crate::config;
use crate::error::CommandError;

pub use crate::input::HOST;

impl Measure {
    /// The flags as settings.
    pub fn settings(&self) -> Settings {
        Settings {
            window: self.window,
            tokenizer: self.tokenizer.clone(),
            profile: self.profile.clone(),
            ..Settings::default()
        }
    }
}

impl Folding {
    /// The policy that the flags name.
    pub fn policy(&self) -> Result<Policy, CommandError> {
        self.narrated(false)
    }

    /// The same, narrated whatever it says.
    fn narrated(&self, narrate: bool) -> Result<Policy, CommandError> {
        let policy = self.policy.clone().map(PolicyFrom::File);
        let settings =
            Settings { preset: self.preset.clone(), policy, narrate, ..Settings::default() };
        config::policy(settings)
    }
}

impl Narrated {
    /// The policy that the flags name.
    pub fn policy(&self) -> Result<Policy, CommandError> {
        self.folding.narrated(self.narrate)
    }
}

/// The flags as a setup.
pub fn setup(measure: &Measure, to: Option<&str>) -> Result<Setup, CommandError> {
    let to = to.map(str::to_owned);
    let said = Settings { to, ..measure.settings() };
    Ok(said.over(config::settings()?).setup(&HOST)?)
}

/// `--from`.
pub fn format(name: Option<&str>) -> Result<Option<Format>, CommandError> {
    Ok(name.map(midfold::format).transpose()?)
}

/// A policy of the user's own.
pub fn policy_file(path: &Path) -> Result<Policy, CommandError> {
    Folding { preset: None, policy: Some(path.to_owned()) }.policy()
}
