//! The result of one check of `midfold doctor`.

use std::borrow::Cow;
use std::time::Duration;

use crate::error::CommandError;
use crate::output::OutputColor;

/// The most time that a check may take.
pub const LIMIT: Duration = Duration::from_secs(3);

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    Good,
    /// Something is off, but midfold works or can do without it.
    Warn,
    Fail,
}

impl CheckState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    pub fn color(self) -> OutputColor {
        match self {
            Self::Good => OutputColor::Green,
            Self::Warn => OutputColor::Yellow,
            Self::Fail => OutputColor::Red,
        }
    }
}

/// One check with its outcome, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct DoctorCheck {
    pub name: Cow<'static, str>,
    pub state: CheckState,
    pub says: String,
    /// What the user can do about it.
    pub fix: Option<String>,
}

impl DoctorCheck {
    pub fn good(name: impl Into<Cow<'static, str>>, says: impl Into<String>) -> Self {
        Self { name: name.into(), state: CheckState::Good, says: says.into(), fix: None }
    }

    pub fn warn(
        name: impl Into<Cow<'static, str>>,
        says: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            state: CheckState::Warn,
            says: says.into(),
            fix: Some(fix.into()),
        }
    }

    pub fn fail(
        name: impl Into<Cow<'static, str>>,
        says: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            state: CheckState::Fail,
            says: says.into(),
            fix: Some(fix.into()),
        }
    }

    /// A failed check with the message of an error and its first hint.
    pub fn of_error(name: &'static str, error: CommandError) -> Self {
        // Messages about TOML quote the file in lines with a ` |`. Here the place and the reason are enough.
        let lines = error.message.lines().filter(|line| !line.contains(" |"));
        let says = lines.collect::<Vec<_>>().join(": ");
        Self {
            name: name.into(),
            state: CheckState::Fail,
            says,
            fix: error.hints.into_iter().next(),
        }
    }
}
