//! Why a door could not do what it was asked, and what to do about it: the same words at every door,
//! but for how the door spells its options.

use std::fmt::Display;

use midfold_core::reduce::thousands;

/// A way into midfold, by how it spells what it can be asked.
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
    /// An option.
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

    /// An option with its value.
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

    /// What is said at the command, or to a program.
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
    /// What was given to work on, or asked for.
    Input,
    /// A policy.
    Policy,
    /// What does not fit.
    Budget,
    /// A store.
    Store,
    /// A way to count.
    Tokenizer,
}

/// One clear message, and hints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What it is about.
    pub area: FailureArea,
    /// It lies in what was asked, whatever the data: a name that nobody has, two wishes that
    /// exclude each other.
    pub is_usage: bool,
    /// What is wrong, and where.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

impl Failure {
    /// What cannot be done with this data.
    #[must_use]
    pub fn new(area: FailureArea, message: impl Into<String>) -> Self {
        Self { area, is_usage: false, message: message.into(), hints: Vec::new() }
    }

    /// What cannot be asked.
    #[must_use]
    pub fn usage(area: FailureArea, message: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::new(area, message) }
    }

    /// `name` is not among `known`: says what is, and what was perhaps meant.
    ///
    /// ```
    /// use midfold::{FailureArea, Failure};
    /// let failure = Failure::unknown(FailureArea::Policy, "preset", "defualt", &["default", "lean"]);
    /// assert_eq!(failure.hints, ["did you mean `default`?", "there are: default, lean"]);
    /// ```
    #[must_use]
    pub fn unknown(area: FailureArea, what: &str, name: &str, known: &[&str]) -> Self {
        Self::usage(area, format!("there is no {what} `{name}`"))
            .near(name, known.iter().copied())
            .hint(format!("there are: {}", known.join(", ")))
    }

    /// The same, of this place: a file, a conversation.
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

    /// Adds a hint where there is one.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }

    /// Adds the name that was perhaps meant, where one is near.
    #[must_use]
    pub fn near<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        self.maybe_hint(nearest(name, known).map(|near| format!("did you mean `{near}`?")))
    }
}

/// The name that was perhaps meant: few letters have to be changed, or it begins so.
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
    let begins = |candidate: &str| name.len() >= 3 && candidate.starts_with(name);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= most || begins(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `1234567` as `1,234,567`.
#[must_use]
pub fn number(n: u64) -> String {
    thousands(usize::try_from(n).unwrap_or(usize::MAX))
}

/// A sentence of the engine with its figures as [`number`] writes them.
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

/// `1 message`, `2,000 messages`.
///
/// ```
/// assert_eq!(midfold::plural(1, "fold"), "1 fold");
/// assert_eq!(midfold::plural(1_200, "fold"), "1,200 folds");
/// ```
#[must_use]
pub fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{} {what}s", number(count)) }
}
