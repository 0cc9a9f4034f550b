//! The windows of models, by patterns of their names.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model_pattern::{ModelPattern, ModelPatternError};

/// The windows of models in tokens, by patterns of their names.
///
/// ```
/// use midfold::ModelWindows;
/// let windows: ModelWindows = serde_json::from_str(r#"{"llama3*": 131072, "llama3.2:1b": 8192}"#)?;
/// assert_eq!((windows.of("llama3.1"), windows.of("llama3.2:1b")), (Some(131_072), Some(8_192)));
/// assert_eq!(windows.of("qwen3"), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "BTreeMap<String, u64>")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelWindows(Vec<(ModelPattern, u64)>);

impl ModelWindows {
    /// The window of a model in tokens. If several patterns match, the one with the most literal characters decides;
    /// `None` if no pattern matches.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<u64> {
        let fitting = self.0.iter().filter(|(pattern, _)| pattern.matches(model));
        fitting.max_by_key(|(pattern, _)| pattern.precision()).map(|(_, window)| *window)
    }

    /// Returns these windows, and those of `below` whose patterns are not among them.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let is_other =
            |(pattern, _): &(ModelPattern, u64)| self.0.iter().all(|(own, _)| own != pattern);
        let below: Vec<_> = below.0.into_iter().filter(is_other).collect();
        Self(self.0.into_iter().chain(below).collect())
    }

    /// Each pattern with its window.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(pattern, window)| (pattern.as_str(), *window))
    }
}

impl TryFrom<BTreeMap<String, u64>> for ModelWindows {
    type Error = ModelPatternError;

    fn try_from(all: BTreeMap<String, u64>) -> Result<Self, Self::Error> {
        let one = |(text, window): (String, u64)| Ok((text.parse()?, window));
        all.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}
