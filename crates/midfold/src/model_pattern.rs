//! Patterns of models' names, with `*` for any run of characters.

use std::fmt;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;

/// A pattern of names of models: `*` is any run of characters, `?` any one character. Upper and lower case are the
/// same.
///
/// ```
/// use midfold::ModelPattern;
/// let pattern: ModelPattern = "llama3*".parse()?;
/// assert!(pattern.matches("Llama3.2:3b") && !pattern.matches("qwen3"));
/// assert!("claude-*[1m]".parse::<ModelPattern>()?.matches("claude-opus-4-6[1m]"));
/// # Ok::<(), midfold::ModelPatternError>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct ModelPattern {
    text: String,
    matcher: GlobMatcher,
}

/// The error for a text that is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no pattern of models' names: it looks like `llama3*` or `*-instruct`")]
pub struct ModelPatternError(String);

impl ModelPattern {
    /// Whether the pattern matches this name.
    #[must_use]
    pub fn matches(&self, model: &str) -> bool {
        self.matcher.is_match(model)
    }

    /// The number of characters that are not wildcards. Of two patterns that match, the one with more is the more
    /// specific.
    #[must_use]
    pub fn precision(&self) -> usize {
        self.text.chars().filter(|c| !matches!(c, '*' | '?')).count()
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for ModelPattern {
    type Err = ModelPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let wrong = || ModelPatternError(text.to_owned());
        if text.is_empty() {
            return Err(wrong());
        }
        // Brackets belong to names (`[1m]`), so they are escaped for the glob.
        let escaped = text.chars().fold(String::new(), |mut escaped, c| {
            if matches!(c, '[' | ']' | '{' | '}' | '\\') {
                escaped.push('\\');
            }
            escaped.push(c);
            escaped
        });
        let glob = GlobBuilder::new(&escaped).case_insensitive(true).backslash_escape(true).build();
        let matcher = glob.map_err(|_| wrong())?.compile_matcher();
        Ok(Self { text: text.to_owned(), matcher })
    }
}

impl TryFrom<String> for ModelPattern {
    type Error = ModelPatternError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl PartialEq for ModelPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ModelPattern {}

impl fmt::Display for ModelPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
