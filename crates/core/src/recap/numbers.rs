//! How a recap writes the numbers of messages.

/// Whether a recap names the messages that its lines are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageNumbers {
    /// `@12`, by which an agent reads a message again and a later recap knows what is older.
    #[default]
    Shown,
    /// No numbers, for readers that cannot look anything up: a row of a training set has no such numbers.
    Absent,
}

impl MessageNumbers {
    /// The number behind an entry, with a space before it.
    pub(super) fn after(self, message: u32) -> String {
        self.shown(format!(" @{message}"))
    }

    /// The number before a line, with a space behind it.
    pub(super) fn before(self, message: u32) -> String {
        self.shown(format!("@{message} "))
    }

    /// A label that ends with ` @`, with the number.
    pub(super) fn labelled(self, label: &str, message: u32) -> String {
        match self {
            Self::Shown => format!("{label}{message}"),
            Self::Absent => label.trim_end_matches(" @").to_owned(),
        }
    }

    /// The text, which is about a number.
    pub(super) fn shown(self, text: String) -> String {
        match self {
            Self::Shown => text,
            Self::Absent => String::new(),
        }
    }
}
