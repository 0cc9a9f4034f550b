//! The labels of metrics by request. The name of a model is the client's text, so only so many names become labels.

use std::collections::HashSet;
use std::sync::Mutex;

use prometheus_client::encoding::EncodeLabelSet;

/// The most names of models that become labels. Each one is a time series that a monitor keeps.
pub const MOST_MODELS: usize = 100;
/// The most characters of a name that becomes a label.
const LONGEST_MODEL: usize = 100;
/// The label of a model beyond these.
const OTHER: &str = "other";

/// Which request is counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RequestLabels {
    /// The model; empty where the request names none.
    pub model: String,
    /// The name of the upstream.
    pub upstream: String,
    /// The name of the holder of the key; empty if the server has no keys.
    pub key: String,
}

/// The labels of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct AnswerLabels {
    model: String,
    upstream: String,
    key: String,
    status: u16,
}

/// The labels of counted tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct TokenLabels {
    model: String,
    upstream: String,
    key: String,
    kind: &'static str,
}

impl RequestLabels {
    pub fn with_status(&self, status: u16) -> AnswerLabels {
        let Self { model, upstream, key } = self.clone();
        AnswerLabels { model, upstream, key, status }
    }

    pub fn with_kind(&self, kind: &'static str) -> TokenLabels {
        let Self { model, upstream, key } = self.clone();
        TokenLabels { model, upstream, key, kind }
    }
}

/// The names of models that are labels.
#[derive(Default)]
pub struct ModelNames(Mutex<HashSet<String>>);

impl ModelNames {
    /// The label of a model: its name, or `other` once there are too many or where the name is too long.
    #[must_use]
    pub fn label(&self, model: &str) -> String {
        if model.chars().count() > LONGEST_MODEL {
            return OTHER.to_owned();
        }
        let mut names = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if names.contains(model) || (names.len() < MOST_MODELS && names.insert(model.to_owned())) {
            model.to_owned()
        } else {
            OTHER.to_owned()
        }
    }
}
