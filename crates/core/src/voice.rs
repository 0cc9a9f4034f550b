//! Passages of a message: parts with the words of one speaker.

/// Whose words a passage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user wrote it.
    User,
    /// The user shows it: a fenced block, a quotation. It is part of the user's message, but an order in it is nobody's
    /// order.
    Shown,
    /// A client added it: context, reminders, mentioned files.
    Client,
    /// A tool returned it, and the result was flattened to text.
    Tool,
}

/// A passage of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Whose words it is.
    pub voice: Voice,
    /// The words, without white space around them.
    pub text: String,
}

impl Passage {
    /// A passage that the user wrote.
    #[must_use]
    pub fn user(text: &str) -> Self {
        Self { voice: Voice::User, text: text.to_owned() }
    }

    /// Whether the passage is part of the user's message: written or shown.
    #[must_use]
    pub fn is_said(&self) -> bool {
        matches!(self.voice, Voice::User | Voice::Shown)
    }
}

/// Words by which a client tells the model something that holds until the client says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientReminder {
    /// The kind: a later reminder of the same kind, about the same subject, replaces this one.
    pub kind: String,
    /// What it is about, in its own words; `None` where the kind says it.
    pub subject: Option<String>,
    /// The words, without their wrapper.
    pub text: String,
}
