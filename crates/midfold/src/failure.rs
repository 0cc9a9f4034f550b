//! Failures: why a door could not do what it was asked, and hints what to do. The words are the same at every door,
//! except that each door spells its options in its own way.

use std::fmt::Display;

use midfold_core::reduce::thousands;

/// A way into midfold. It decides how options are spelled in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Door {
    /// The command: `--keep-last 4`.
    Command,
    /// Python: `keep_last=4`.
    Python,
    /// Node: `keepLast: 4`.
    Node,
    /// JSON over HTTP: `"keep_last": 4`.
    Http,
}

impl Door {
    /// Spells the name of an option.
    ///
    /// ```
    /// use midfold::Door;
    /// assert_eq!(Door::Command.option("keep-last"), "--keep-last");
    /// assert_eq!(Door::Python.option("keep-last"), "keep_last");
    /// assert_eq!(Door::Node.option("keep-last"), "keepLast");
    /// ```
    #[must_use]
    pub fn option(self, name: &str) -> String {
        match self {
            Self::Command => format!("--{name}"),
            Self::Python => name.replace('-', "_"),
            Self::Node => camel(name),
            Self::Http => format!("`{}`", name.replace('-', "_")),
        }
    }

    /// Spells an option with its value.
    ///
    /// ```
    /// use midfold::Door;
    /// assert_eq!(Door::Command.set("window", 32_000), "--window 32000");
    /// assert_eq!(Door::Python.set("window", 32_000), "window=32000");
    /// assert_eq!(Door::Node.set("window", 32_000), "window: 32000");
    /// ```
    #[must_use]
    pub fn set(self, name: &str, value: impl Display) -> String {
        match self {
            Self::Command => format!("--{name} {value}"),
            Self::Python => format!("{}={value}", name.replace('-', "_")),
            Self::Node => format!("{}: {value}", camel(name)),
            Self::Http => format!("\"{}\": {value}", name.replace('-', "_")),
        }
    }

    /// Chooses the text for the command line, or else that for a program.
    pub(crate) fn says<'a>(self, command: &'a str, program: &'a str) -> &'a str {
        if self == Self::Command { command } else { program }
    }
}

/// `keep-last` as `keepLast`.
fn camel(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(part.len().min(1));
        name + &initial.to_ascii_uppercase() + rest
    })
}

/// What a failure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureArea {
    /// The data that was given, or the question about it.
    Input,
    /// A policy.
    Policy,
    /// Tokens that do not fit a budget.
    Budget,
    /// A store.
    Store,
    /// A tokenizer.
    Tokenizer,
}

/// An error message, and hints what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What it is about.
    pub area: FailureArea,
    /// The request itself is wrong, whatever the data: an unknown name, or two options that exclude each other.
    pub is_usage: bool,
    /// Says what is wrong, and where.
    pub message: String,
    /// Each says what to do.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure that is due to the data.
    #[must_use]
    pub fn new(area: FailureArea, message: impl Into<String>) -> Self {
        Self { area, is_usage: false, message: message.into(), hints: Vec::new() }
    }

    /// A failure that is due to the request.
    #[must_use]
    pub fn usage(area: FailureArea, message: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::new(area, message) }
    }

    /// A failure because `name` is not among `known`. Its hints list the known names, and the one that was perhaps
    /// meant.
    ///
    /// ```
    /// use midfold::{FailureArea, Failure};
    /// let failure = Failure::unknown(FailureArea::Policy, "preset", "defualt", &["default", "lean"]);
    /// assert_eq!(failure.hints, ["did you mean `default`?", "there are: default, lean"]);
    /// ```
    #[must_use]
    pub fn unknown(area: FailureArea, noun: &str, name: &str, known: &[&str]) -> Self {
        Self::usage(area, format!("there is no {noun} `{name}`"))
            .near(name, known.iter().copied())
            .hint(format!("there are: {}", known.join(", ")))
    }

    /// Puts a place before the message: a file, a conversation.
    #[must_use]
    pub fn at(self, place: impl Display) -> Self {
        Self { message: format!("{place}{}", self.message), ..self }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint if there is one.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }

    /// Adds a hint with the known name that was perhaps meant, if one is near.
    #[must_use]
    pub fn near<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.maybe_hint(nearest(name, known).map(|near| format!("did you mean `{near}`?")))
    }
}

/// Returns the known name that was perhaps meant: it begins with `name`, or few characters differ (a third of those of
/// `name`, at least one). `None` if there is no such name.
///
/// ```
/// use midfold::nearest;
/// let known = ["default", "head-tail", "hermes"];
/// assert_eq!(nearest("defualt", known), Some("default"));
/// assert_eq!(nearest("headtail", known), Some("head-tail"));
/// assert_eq!(nearest("head", known), Some("head-tail"));
/// assert_eq!(nearest("zzz", known), None);
/// assert_eq!(nearest("", known), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    // One or two letters begin too many names.
    let begins = |candidate: &str| name.len() >= 3 && candidate.starts_with(name);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most || begins(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Writes a number with commas: `1234567` as `1,234,567`.
#[must_use]
pub fn number(n: u64) -> String {
    thousands(usize::try_from(n).unwrap_or(usize::MAX))
}

/// Writes the numbers of a message of the engine as [`number`] does.
///
/// ```
/// assert_eq!(midfold::grouped("need 12345, have 1000: a 5,x 7 1.5"), "need 12,345, have 1,000: a 5,x 7 1.5");
/// ```
#[must_use]
pub fn grouped(text: &str) -> String {
    let figure = |word: &str| {
        let digits = word.trim_end_matches([',', ':', ';', '.']);
        let mark = &word[digits.len()..];
        digits.parse::<u64>().map_or(word.to_owned(), |figure| number(figure) + mark)
    };
    text.split(' ').map(figure).collect::<Vec<_>>().join(" ")
}

/// Writes a count with its noun: `1 message`, `2,000 messages`.
///
/// ```
/// assert_eq!(midfold::plural(1, "fold"), "1 fold");
/// assert_eq!(midfold::plural(1_200, "fold"), "1,200 folds");
/// ```
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(count)) }
}
