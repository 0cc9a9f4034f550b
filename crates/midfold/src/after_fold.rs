//! Texts that the user wants behind the recap of each fold: a fixed text, and files that are read again from disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use midfold_core::fold::Fold;
use midfold_core::hooks::FoldHooks;
use midfold_core::log::EventLog;
use midfold_core::put_back::{HostText, HostTexts};
use serde::Deserialize;

use crate::failure::{Failure, FailureArea};
use crate::regular::bounded;

/// Tokens for all these texts together if the settings name no number: an eighth of 32,000, the smallest window that
/// agents commonly run with. In a smaller budget an eighth of that budget is the limit.
const TOKENS: u64 = 4_000;
/// A file with more bytes than this for each token of the limit is not read: no text has tokens of that length.
const BYTES_PER_TOKEN: u64 = 16;

/// The texts that are put back into the recap of each fold.
///
/// ```
/// use midfold::AfterFold;
/// let said = r#"{"text": "Answer briefly.", "files": ["PLAN.md"], "tokens": 2000}"#;
/// let said: AfterFold = serde_json::from_str(said)?;
/// assert!(!said.is_nothing());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AfterFold {
    /// A text of the user's own.
    pub text: Option<String>,
    /// Paths of text files. They are read again at each fold.
    pub files: Vec<PathBuf>,
    /// The most tokens of all these texts; what does not fit is left out and reported. 4,000 by default, at most an
    /// eighth of the budget.
    pub tokens: Option<u64>,
    /// The folder that the paths are relative to.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// Whether files outside of the folder are refused: settings that came with the folder may be somebody else's.
    #[serde(skip)]
    pub is_bound: bool,
}

impl AfterFold {
    /// Reads settings that are given as JSON.
    ///
    /// ```
    /// use midfold::AfterFold;
    /// assert!(AfterFold::json(br#"{"text": "Answer briefly."}"#)?.text.is_some());
    /// assert!(AfterFold::json(br#"{"texts": []}"#).is_err());
    /// # Ok::<(), midfold::Failure>(())
    /// ```
    ///
    /// # Errors
    /// If it is no object of `text`, `files` and `tokens`.
    pub fn json(given: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(given).map_err(|error| {
            Failure::new(FailureArea::Input, format!("after_fold: {error}")).hint(
                "it has a text, files and tokens: {\"text\": \"…\", \"files\": [\"PLAN.md\"]}",
            )
        })
    }

    /// Whether there is no text and no file to put back.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.text.is_none() && self.files.is_empty()
    }

    /// Returns these settings; a setting that they leave out is taken from `below`. The list of files is taken from one
    /// of the two as a whole, because its paths belong to its folder.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        let (text, tokens) = (self.text.or(below.text), self.tokens.or(below.tokens));
        let Self { files, folder, is_bound, .. } = match self.files.is_empty() {
            true => Self { text: None, ..below },
            false => Self { text: None, ..self },
        };
        Self { text, tokens, files, folder, is_bound }
    }

    /// Returns the settings with the folder that file names are relative to. With `is_bound`, no file may lie outside
    /// of it.
    #[must_use]
    pub fn with_paths_in(self, folder: &Path, is_bound: bool) -> Self {
        Self { folder: Some(folder.to_owned()), is_bound, ..self }
    }

    /// Returns the hooks for a session; `None` if nothing is put back. After each fold `warn` is called for every file
    /// that is missing in it, with the reason.
    #[must_use]
    pub fn hooks(self, warn: fn(file: &str, why: &str)) -> Option<Arc<dyn FoldHooks>> {
        let hooks = PuttingBack { texts: self, warn };
        (!hooks.texts.is_nothing()).then(|| Arc::new(hooks) as Arc<dyn FoldHooks>)
    }
}

/// Reads the texts each time a fold is about to be planned.
struct PuttingBack {
    texts: AfterFold,
    warn: fn(file: &str, why: &str),
}

impl FoldHooks for PuttingBack {
    fn put_back(&self) -> HostTexts {
        let most = self.texts.tokens.unwrap_or(TOKENS);
        let own =
            self.texts.text.iter().map(|text| HostText { file: None, text: Ok(text.clone()) });
        let files = self.texts.files.iter().map(|path| HostText {
            file: Some(path.display().to_string()),
            text: self.text(path, most),
        });
        HostTexts { most, texts: own.chain(files).collect() }
    }

    fn after_fold(&self, _: &EventLog, fold: &Fold) {
        for part in fold.put_back.iter().flat_map(|record| &record.parts) {
            if let Some(why) = &part.missing {
                (self.warn)(&part.name, why);
            }
        }
    }
}

impl PuttingBack {
    /// Reads one file. The error is a clause that is printed behind the file's name.
    fn text(&self, path: &Path, most: u64) -> Result<String, String> {
        let bytes = most.saturating_mul(BYTES_PER_TOKEN);
        let folder = self.texts.folder.as_deref();
        let place = folder.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        let read = bounded(&place, folder.filter(|_| self.texts.is_bound), bytes)?;
        // A NUL is valid UTF-8, but shows that the file is no text.
        let text = String::from_utf8(read).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| "it is not text in UTF-8".to_owned())?;
        match text.trim().is_empty() {
            true => Err("it is empty".to_owned()),
            false => Ok(text),
        }
    }
}
