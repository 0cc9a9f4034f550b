//! Turns flags about conversations into settings.

use std::path::Path;

use midfold::formats::read::TranscriptFormat;
use midfold::{Policy, PolicyFrom, Settings, Setup};
use midfold_args::{FoldingArgs, MeasureArgs, PolicyArgs};

use crate::config;
use crate::error::CommandError;

pub use crate::input::HOST;

/// The policy that the flags name, or else the settings.
pub fn policy(folding: &FoldingArgs) -> Result<Policy, CommandError> {
    named(folding, false)
}

/// The policy that the flags name, or else the settings. With `--narrate` a model narrates its folds, whatever the
/// policy says.
pub fn narrated(args: &PolicyArgs) -> Result<Policy, CommandError> {
    named(&args.folding, args.narrate)
}

fn named(folding: &FoldingArgs, narrate: bool) -> Result<Policy, CommandError> {
    let policy = folding.policy.clone().map(PolicyFrom::File);
    let settings =
        Settings { preset: folding.preset.clone(), policy, narrate, ..Settings::default() };
    config::policy(settings)
}

/// The setup that the flags ask for, completed by the settings.
pub fn setup(measure: &MeasureArgs, to: Option<&str>) -> Result<Setup, CommandError> {
    let flags = Settings {
        window: measure.window,
        tokenizer: measure.tokenizer.clone(),
        profile: measure.profile.clone(),
        to: to.map(str::to_owned),
        ..Settings::default()
    };
    Ok(flags.over(config::settings()?).setup(&HOST)?)
}

/// The format that `--from` names. `None` where the flag is not given.
pub fn format(name: Option<&str>) -> Result<Option<TranscriptFormat>, CommandError> {
    Ok(name.map(midfold::format).transpose()?)
}

/// The policy in a file of the user's own.
pub fn policy_file(path: &Path) -> Result<Policy, CommandError> {
    policy(&FoldingArgs { preset: None, policy: Some(path.to_owned()) })
}
