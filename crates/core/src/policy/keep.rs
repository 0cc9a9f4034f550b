//! The messages and files that a policy keeps word for word through every fold.

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde::{Deserialize, Serialize};

/// An entry of `keep`: `{ message = "…" }` or `{ file = "…" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum KeepRule {
    /// Keeps messages of the user, the assistant or the application whose words match this regular expression. Results
    /// of tools are not searched; they are kept by their file.
    Message(MessagePattern),
    /// Keeps the newest content of each file that matches this glob: the read or write with its call, and the edits
    /// since.
    File(FileGlob),
}

impl KeepRule {
    /// The pattern, if the rule is for messages.
    #[must_use]
    pub fn message(&self) -> Option<&MessagePattern> {
        match self {
            Self::Message(pattern) => Some(pattern),
            Self::File(_) => None,
        }
    }

    /// The glob, if the rule is for files.
    #[must_use]
    pub fn file(&self) -> Option<&FileGlob> {
        match self {
            Self::File(glob) => Some(glob),
            Self::Message(_) => None,
        }
    }
}

/// A regular expression over the words of a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct MessagePattern(Regex);

/// A glob over the paths of files: `**` is any number of folders, `*` any part of a name. A glob without a leading `/`
/// matches from any folder on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct FileGlob {
    pattern: String,
    matcher: GlobMatcher,
}

impl MessagePattern {
    /// Whether the pattern matches in these words.
    #[must_use]
    pub fn is_in(&self, words: &str) -> bool {
        self.0.is_match(words)
    }
}

impl FileGlob {
    /// Whether the glob matches a path as a call wrote it.
    #[must_use]
    pub fn is_of(&self, path: &str) -> bool {
        self.matcher.is_match(path.trim_start_matches("./"))
    }
}

impl TryFrom<String> for MessagePattern {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        let read = Regex::new(&pattern);
        read.map(Self).map_err(|error| {
            format!(
                "keep.message: {error}\na message is kept by a regular expression; put a \\ before \
                 characters that should be literal"
            )
        })
    }
}

impl TryFrom<String> for FileGlob {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        let anywhere = match pattern.strip_prefix("./").unwrap_or(&pattern) {
            rooted if rooted.starts_with(['/', '~']) || rooted.starts_with("**/") => {
                rooted.to_owned()
            }
            // Tools name files by absolute paths as well, so a relative pattern fits below any folder.
            name => format!("**/{name}"),
        };
        let read = GlobBuilder::new(&anywhere).literal_separator(true).build();
        match read {
            Ok(glob) => Ok(Self { matcher: glob.compile_matcher(), pattern }),
            Err(error) => Err(format!(
                "keep.file: `{pattern}` is no glob: {}; `*` is any name, `**` any folders, `[…]` and `{{a,b}}` \
                 have to be closed",
                error.kind()
            )),
        }
    }
}

impl From<MessagePattern> for String {
    fn from(pattern: MessagePattern) -> Self {
        pattern.0.as_str().to_owned()
    }
}

impl From<FileGlob> for String {
    fn from(glob: FileGlob) -> Self {
        glob.pattern
    }
}

impl PartialEq for MessagePattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for MessagePattern {}

impl PartialEq for FileGlob {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for FileGlob {}
