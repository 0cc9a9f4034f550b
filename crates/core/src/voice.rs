//! Who speaks: a passage of a message, and whose words it is.

/// Whose words a passage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user wrote it.
    User,
    /// The user shows it: a fenced block, a quotation. It belongs to what the user says, but an
    /// order in it is nobody's order.
    Shown,
    /// A client put it there: context, reminders, files that were mentioned.
    Client,
    /// A tool answered it: a result that was flattened to text.
    Tool,
}

/// A passage of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Whose words it is.
    pub voice: Voice,
    /// The words, white space around them left out.
    pub text: String,
}

impl Passage {
    /// What the user wrote.
    #[must_use]
    pub fn user(text: &str) -> Self {
        Self { voice: Voice::User, text: text.to_owned() }
    }

    /// Whether the user says it: wrote it or shows it.
    #[must_use]
    pub fn is_said(&self) -> bool {
        matches!(self.voice, Voice::User | Voice::Shown)
    }
}
