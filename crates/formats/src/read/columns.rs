//! The table of columns: for each fact that an agent's file may hold, where a format holds it or why it does not.
//!
//! All columns are required, so a new format has to answer for each of them.

use std::fmt;

use midfold_core::event::Usage;

use crate::fields::ObjectFields;

/// A column of one format. `W` is what the walker needs to find the fact.
pub(super) enum Column<W> {
    /// The walker finds the fact there, in the object from which a message was built.
    At(W),
    /// The walker finds the fact there, in the record that holds this object: a line of the file.
    InRecord(W),
    /// The reader finds the fact itself, or the dialect reads it from the message. The text names the place.
    ByReader(&'static str),
    /// The files hold the fact there, and no message or conversation has a place for it.
    Unread(&'static str),
    /// The files do not hold the fact, for this reason.
    Lacks(&'static str),
}

/// A column that the walker never fills: its fact decides which messages there are, or nothing takes it yet.
pub(super) type ShapeColumn = Column<std::convert::Infallible>;

/// The columns of one format. A path names members with dots between them.
pub(super) struct ColumnTable {
    /// Whether the call failed whose result a message holds.
    pub error: Column<&'static [FailureMark]>,
    /// When a message was recorded: the paths in the order in which they are asked, of the object and then of its record.
    pub time: Column<&'static [&'static str]>,
    /// The folder in which the agent works.
    pub cwd: ShapeColumn,
    /// The mode of the client: planning or acting, or what it may do without asking.
    pub mode: ShapeColumn,
    /// The tokens of the request that a reply answers.
    pub usage: Column<UsagePlace>,
    /// The model that replied: the paths in the order in which they are asked.
    pub model: Column<&'static [&'static str]>,
    /// The message before, where a file is a tree.
    pub parent: ShapeColumn,
    /// Images that a person or a tool gave.
    pub images: ShapeColumn,
    /// Words that a person typed while the agent worked.
    pub queued: ShapeColumn,
    /// Answers to questions that the agent asked.
    pub answers: ShapeColumn,
}

/// A member that says that a call failed.
pub(super) struct FailureMark {
    pub at: &'static str,
    value: FailedValue,
}

/// The values of a member that say so.
enum FailedValue {
    /// One of these JSON values.
    Is(&'static [&'static str]),
    /// Any value but `null` and the empty text.
    Any,
}

/// The member with the counts of a reply, and how they are read.
pub(super) struct UsagePlace {
    pub at: &'static str,
    pub read: fn(&ObjectFields<'_>) -> Option<Usage>,
}

impl UsagePlace {
    pub(super) const fn new(
        at: &'static str,
        read: fn(&ObjectFields<'_>) -> Option<Usage>,
    ) -> Self {
        Self { at, read }
    }
}

impl FailureMark {
    /// A member that has one of these JSON values where a call failed.
    pub(super) const fn is(at: &'static str, values: &'static [&'static str]) -> Self {
        Self { at, value: FailedValue::Is(values) }
    }

    /// A member that is there only where a call failed.
    pub(super) const fn any(at: &'static str) -> Self {
        Self { at, value: FailedValue::Any }
    }

    /// Whether the member has such a value.
    pub(super) fn is_in(&self, fields: &ObjectFields<'_>) -> bool {
        let value = fields.at_path(self.at, ObjectFields::raw);
        value.is_some_and(|value| self.value.is_met(value))
    }
}

impl FailedValue {
    /// Whether this JSON value says that the call failed.
    fn is_met(&self, value: &[u8]) -> bool {
        match self {
            Self::Is(values) => values.iter().any(|failed| failed.as_bytes() == value),
            Self::Any => !matches!(value, b"null" | b"\"\""),
        }
    }
}

impl fmt::Display for FailureMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            FailedValue::Is(values) => write!(f, "`{}: {}`", self.at, values.join("` or `")),
            FailedValue::Any => write!(f, "`{}`", self.at),
        }
    }
}

/// A fact about one format, for people: where its files hold it, or why they do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnFact {
    /// Where the fact is that the reader takes.
    At(String),
    /// Where a fact is that the reader leaves out, because no message or conversation has a place for it.
    Unread(&'static str),
    /// The reason why the files do not hold it.
    Lacks(&'static str),
}

impl<W> Column<W> {
    fn is_walked(&self) -> bool {
        matches!(self, Self::At(_) | Self::InRecord(_))
    }

    fn fact(&self, place: impl FnOnce(&W) -> String) -> ColumnFact {
        match self {
            Self::At(walked) | Self::InRecord(walked) => ColumnFact::At(place(walked)),
            Self::ByReader(place) => ColumnFact::At((*place).to_owned()),
            Self::Unread(place) => ColumnFact::Unread(place),
            Self::Lacks(reason) => ColumnFact::Lacks(reason),
        }
    }
}

impl ColumnTable {
    /// Whether the walker finds any column.
    pub(super) fn is_walked(&self) -> bool {
        self.error.is_walked()
            || self.time.is_walked()
            || self.usage.is_walked()
            || self.model.is_walked()
    }

    /// Each column by its name.
    pub(super) fn facts(&self) -> [(&'static str, ColumnFact); 10] {
        let paths = |paths: &&[&str]| code_of(paths.iter());
        let shape = |column: &ShapeColumn| column.fact(|never| match *never {});
        [
            ("error", self.error.fact(|marks| joined(marks.iter()))),
            ("time", self.time.fact(paths)),
            ("cwd", shape(&self.cwd)),
            ("mode", shape(&self.mode)),
            ("usage", self.usage.fact(|place| code_of([place.at].iter()))),
            ("model", self.model.fact(paths)),
            ("parent", shape(&self.parent)),
            ("images", shape(&self.images)),
            ("queued", shape(&self.queued)),
            ("answers", shape(&self.answers)),
        ]
    }
}

fn code_of<'a>(names: impl Iterator<Item = &'a &'a str>) -> String {
    joined(names.map(|name| format!("`{name}`")))
}

fn joined(places: impl Iterator<Item = impl fmt::Display>) -> String {
    places.map(|place| place.to_string()).collect::<Vec<_>>().join(", ")
}
