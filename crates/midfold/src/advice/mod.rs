//! Turns each error into a [`Failure`] with hints, in the words of the door that shows it.

#[cfg(feature = "store")]
mod stored;

use midfold_core::engine::{CompleteError, RecoverError, UndoError};
use midfold_core::explain::ExplainError;
use midfold_core::inject::InjectError;
use midfold_core::plan::{FloorError, PlanError};
use midfold_core::policy::{Policy, PolicyError};
use midfold_formats::convert::TARGETS;
use midfold_formats::read::ReadError;
use midfold_formats::{DialectKind, profile};
use midfold_tokens as tokens;

use crate::failure::{Door, Failure, FailureArea, grouped, number};
use crate::prepare::SetupError;

#[cfg(feature = "store")]
pub use stored::{advise_in, advise_open, advise_recall};

/// An error that a door can show with hints.
pub trait AdvisedError {
    /// Returns the error as a [`Failure`] with its hints; options are spelled as this door spells them.
    fn advise(self, door: Door) -> Failure;
}

impl AdvisedError for Failure {
    fn advise(self, _: Door) -> Failure {
        self
    }
}

/// No record of midfold fails to serialise, so no caller sees this; the impl lets such errors pass with `?`.
impl AdvisedError for serde_json::Error {
    fn advise(self, _: Door) -> Failure {
        Failure::new(FailureArea::Input, self.to_string())
    }
}

impl AdvisedError for SetupError {
    fn advise(self, door: Door) -> Failure {
        let failure = Failure::usage(FailureArea::Input, self.to_string());
        let Self::Profile { dialect, kind, .. } = self;
        let fitting: Vec<_> = profile::for_dialect(kind).iter().map(|p| p.name).collect();
        let target = TARGETS.iter().find(|kind| kind.name() == dialect);
        let convert = target.map(|target: &DialectKind| {
            format!("or convert the messages: `midfold compact … --to {target}`")
        });
        failure
            .hint(format!("profiles for {kind}: {}", fitting.join(", ")))
            .maybe_hint(convert.filter(|_| door == Door::Command))
    }
}

impl AdvisedError for tokens::CounterError {
    fn advise(self, _: Door) -> Failure {
        let Self::Unknown { name, .. } = &self else {
            return Failure::usage(FailureArea::Tokenizer, self.to_string());
        };
        let known = tokens::names();
        Failure::usage(FailureArea::Tokenizer, format!("there is no tokenizer `{name}`"))
            .near(name, known.iter().copied())
            .hint(format!("there are: {}, or the path of a tokenizer.json", known.join(", ")))
    }
}

impl AdvisedError for PolicyError {
    fn advise(self, door: Door) -> Failure {
        let text = self.to_string();
        let failure = Failure::usage(FailureArea::Policy, text.trim_end());
        let failure = match &self {
            Self::Unknown { name, .. } => failure.near(name, Policy::preset_names()),
            Self::Buffer { .. } => failure,
            // The TOML error has no kinds, only text: it quotes the unknown word first, then the known ones.
            Self::Invalid(text) => {
                let words: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
                match words.split_first().filter(|_| text.contains("unknown ")) {
                    Some((wrong, known)) => failure.near(wrong, known.iter().copied()),
                    None => failure,
                }
            }
        };
        failure.hint(door.says(
            "`midfold print presets default` prints a whole policy to start from, \
             `midfold print schema policy` all keys",
            "a policy that starts from a preset says only what differs: base = \"default\"",
        ))
    }
}

impl AdvisedError for ReadError {
    fn advise(self, door: Door) -> Failure {
        let failed = |text: String| Failure::new(FailureArea::Input, text);
        match self {
            Self::Empty => failed(door.says("the file is empty", "the input is empty").to_owned())
                .hint("pass a request body or a session file"),
            Self::Binary { offset } => {
                failed(format!("not text (byte {offset} belongs to no UTF-8 text)"))
                    .hint("unpack or convert it to JSON or JSON Lines in UTF-8 first")
            }
            Self::NotJson { line, column, detail } => {
                failed(format!("not JSON at line {line}, column {column}: {detail}"))
                    .hint("JSON, or JSON Lines with one value a line, can be read")
            }
            Self::Truncated { line, column } => {
                failed(format!("the JSON ends in the middle, at line {line}, column {column}"))
                    .hint("the file was cut off: fetch it again, or wait until it is written")
            }
            Self::Unrecognised { seen } => failed(format!("no messages found in {seen}"))
                .hint(
                    "looked for `messages`, `input`, `contents`, `conversations`, `traj`, `history`, a list \
                     of messages, one message a line, and the files of clients that docs/FORMATS.md lists",
                )
                .hint(format!(
                    "name the format with {} to force one",
                    match door {
                        Door::Command => "--from".to_owned(),
                        door => door.option("dialect"),
                    }
                )),
            Self::NoObjects { line, count, first } => failed(format!(
                "line {line}: none of the {count} messages is an object, the first is {first}"
            ))
            .hint(MESSAGE),
            other => failed(other.to_string()),
        }
    }
}

/// The setting of a policy that shows the results of a newest step cut, as a hint.
pub(crate) const CUT_RESULTS: &str = "`cut_results = true` under `[tail]` of a policy";

/// An example of a message, as a hint.
pub(crate) const MESSAGE: &str = "a message looks like {\"role\":\"user\",\"content\":\"…\"}";

impl AdvisedError for PlanError {
    fn advise(self, door: Door) -> Failure {
        let failure = Failure::new(FailureArea::Budget, grouped(&self.to_string()));
        match self {
            Self::Floor(floor) => match door {
                Door::Command => failure
                    .hint(
                        "import or fork it into a session with a larger --window, unpin messages, or keep less \
                         (`keep` of the policy)",
                    )
                    .maybe_hint(cut_results(&floor)),
                Door::Python | Door::Node | Door::Http => failure
                    .hint(parts(&floor))
                    .hint("give a larger window, unpin messages, keep less (`keep`), or choose another preset")
                    .maybe_hint(cut_results(&floor)),
            },
            Self::Budget(_) => failure.hint(format!(
                "raise {} or lower {}",
                door.option("window"),
                door.option("output-reserve")
            )),
            Self::Off { .. } => failure.hint(door.says(
                "`midfold session compact ID` folds all the same",
                "`compact()` folds all the same",
            )),
            Self::Engine(_) => Failure { area: FailureArea::Policy, ..failure }.hint(
                "sessions and `serve` run the engines `midfold` and `passthrough`; a command as \
                     engine works in `midfold compact` and `midfold measure replay`",
            ),
        }
    }
}

/// A hint to show results and arguments cut, where the newest step is more than half of what does not fit.
fn cut_results(floor: &FloorError) -> Option<String> {
    let is_most = floor.newest > floor.needed / 2;
    is_most.then(|| format!("or set {CUT_RESULTS}: long results and arguments are then shown cut"))
}

/// The parts of a floor that are not 0 tokens, largest first, as a hint.
pub(crate) fn parts(floor: &FloorError) -> String {
    let part = |(label, tokens): (&str, u64)| format!("{label} {}", number(tokens));
    let texts: Vec<_> = floor.parts().into_iter().map(part).collect();
    format!("that is {}", texts.join(", "))
}

impl AdvisedError for UndoError {
    fn advise(self, door: Door) -> Failure {
        Failure::new(FailureArea::Input, self.to_string()).hint(door.says(
            "only a fold that the context is read through can be taken back: \
             `midfold session status` names it",
            "`folds()` lists what was folded, with ids",
        ))
    }
}

impl AdvisedError for RecoverError {
    fn advise(self, _: Door) -> Failure {
        let failure = Failure::new(FailureArea::Budget, grouped(&self.to_string()));
        match self {
            Self::StillTooLong => failure.hint(
                "do not send it a third time: show the provider's error; then unpin messages, or use \
                 a model with a larger window",
            ),
            Self::Nothing(_) | Self::Plan(_) => {
                failure.hint("show the provider's error; nothing that may be folded is left")
            }
        }
    }
}

impl AdvisedError for CompleteError {
    fn advise(self, _: Door) -> Failure {
        Failure::new(FailureArea::Input, self.to_string())
            .hint("answer a request on the session that made it")
    }
}

impl AdvisedError for InjectError {
    fn advise(self, door: Door) -> Failure {
        let text = self.to_string();
        let failure = |text: String| Failure::new(FailureArea::Input, text);
        match self {
            Self::Unknown(name) => {
                let (setting, how) = match door {
                    Door::Command => (format!("--inject {name}"), format!("--reserve {name}=200")),
                    Door::Http => (format!("injections: `{name}`"), "\"reserve\": 200".to_owned()),
                    Door::Python => {
                        (format!("inject: `{name}`"), format!("reserve={{\"{name}\": 200}}"))
                    }
                    Door::Node => {
                        (format!("inject: `{name}`"), format!("reserve: {{ {name}: 200 }}"))
                    }
                };
                Failure::usage(FailureArea::Input, format!("{setting} has no reserve"))
                    .hint(format!("{how} keeps 200 tokens free for it, also in folds"))
            }
            Self::Overrun { size, .. } => failure(text)
                .hint(format!("raise its reserve to {size}, or give it a shorter text")),
            Self::OpenCall => failure(text).hint("append the result first"),
            Self::Twice(_) => Failure::usage(FailureArea::Input, text),
            Self::Repeated(_) => failure(text),
        }
    }
}

impl AdvisedError for ExplainError {
    fn advise(self, door: Door) -> Failure {
        let failure = Failure::usage(FailureArea::Input, self.to_string());
        let without = format!("without {} the present context is asked", door.option("call"));
        match self {
            Self::Empty => failure.hint("name a file, a word, an identifier"),
            Self::NoCall { count: 0, .. } => failure.hint(format!(
                "{} records calls; {without}",
                door.says("`midfold session context`", "`context()` of a stored session")
            )),
            Self::NoCall { .. } => failure.hint(format!("calls are numbered from 1; {without}")),
            Self::NoEvent { .. } => failure.hint("messages are numbered from 0"),
            Self::NoFold(_) => failure.hint(door.says(
                "`midfold check session` checks the session",
                "`audit()` checks the session",
            )),
        }
    }
}
