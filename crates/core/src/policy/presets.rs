//! Policies by name, and policies that build on a named one.

use super::{Policy, TriggerPolicy};
use crate::budget::Ratio;

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No preset has this name.
    #[error("there is no preset `{name}`; there are {known}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// The TOML is not a policy.
    #[error("the policy cannot be read: {0}")]
    Invalid(String),
    /// The buffer line is not below the threshold, so a model would be asked too late.
    #[error(
        "trigger.buffer ({}) has to be below trigger.threshold ({}): a model is asked from the buffer \
         on, so that its summary is there when the threshold is crossed; leave trigger.buffer out, and \
         it follows the threshold", .buffer.to_f64(), .threshold.to_f64()
    )]
    Buffer {
        /// The share of the budget at which a model is asked.
        buffer: Ratio,
        /// The share of the budget at which a fold is made.
        threshold: Ratio,
    },
}

/// The presets by name, as TOML.
const PRESETS: &[(&str, &str)] = &[
    ("default", include_str!("../../presets/default.toml")),
    ("generous", include_str!("../../presets/generous.toml")),
    ("lean", include_str!("../../presets/lean.toml")),
    ("verbatim", include_str!("../../presets/verbatim.toml")),
    ("head-tail", include_str!("../../presets/head-tail.toml")),
    ("hermes", include_str!("../../presets/hermes.toml")),
    ("nucleic", include_str!("../../presets/nucleic.toml")),
    ("projection", include_str!("../../presets/projection.toml")),
];

/// The rules of other tools as policies: for comparisons, not for use.
const BASELINES: &[(&str, &str)] = &[
    ("sliding", include_str!("../../presets/baselines/sliding.toml")),
    ("mask", include_str!("../../presets/baselines/mask.toml")),
    ("clear", include_str!("../../presets/baselines/clear.toml")),
];

/// Keys that earlier versions wrote and that have no effect any more: how a recap mentions edits and references is no
/// setting now.
const RETIRED: &[(&str, &str)] = &[("recap", "edits"), ("recap", "refs")];

impl Policy {
    /// The names of the baselines: common rules to compare against. [`Policy::preset`] knows these names, too.
    #[must_use]
    pub fn baseline_names() -> Vec<&'static str> {
        BASELINES.iter().map(|(name, _)| *name).collect()
    }

    /// The names of the presets, `default` first.
    #[must_use]
    pub fn preset_names() -> Vec<&'static str> {
        PRESETS.iter().map(|(name, _)| *name).collect()
    }

    /// A preset as TOML, with its comments.
    ///
    /// # Errors
    /// When there is no preset of this name.
    pub fn preset_source(name: &str) -> Result<&'static str, PolicyError> {
        let known = PRESETS.iter().chain(BASELINES).find(|(known, _)| *known == name);
        known.map(|(_, source)| *source).ok_or_else(|| PolicyError::Unknown {
            name: name.into(),
            known: Self::preset_names().join(", "),
        })
    }

    /// A preset.
    ///
    /// # Errors
    /// When there is no preset of this name.
    ///
    /// ```
    /// let policy = midfold_core::policy::Policy::preset("head-tail").unwrap();
    /// assert_eq!(policy.recap.marker, "[Earlier messages truncated]");
    /// ```
    pub fn preset(name: &str) -> Result<Self, PolicyError> {
        Self::from_toml(Self::preset_source(name)?)
    }

    /// Reads a policy. A key `base = "name"` at the top starts from that preset, so that a file contains only the
    /// differences.
    ///
    /// # Errors
    /// When the text is no TOML, a key is unknown, a value has the wrong type, or the buffer is not below the
    /// threshold.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        let mut table: toml::Table = toml::from_str(text).map_err(invalid)?;
        let base = table.remove("base");
        let says =
            |table: &toml::Table, key| table.get("trigger").is_some_and(|t| t.get(key).is_some());
        // A file that sets the threshold but not the buffer moves both.
        let follows = says(&table, "threshold") && !says(&table, "buffer");
        let mut policy: Self = match base {
            // The text is read once more instead of the table, so that an error names its line.
            None => toml::from_str(text).map_err(invalid)?,
            Some(base) => {
                let base = base.as_str().unwrap_or_default();
                let mut merged: toml::Table =
                    toml::from_str(Self::preset_source(base)?).map_err(invalid)?;
                overlay(&mut merged, table);
                merged.try_into().map_err(invalid)?
            }
        };
        let TriggerPolicy { buffer, threshold, .. } = &mut policy.trigger;
        if follows {
            *buffer = TriggerPolicy::buffer_below(*threshold);
        } else if *buffer >= *threshold {
            return Err(PolicyError::Buffer { buffer: *buffer, threshold: *threshold });
        }
        Ok(policy)
    }

    /// Reads the policy that a session was stored with. Keys of earlier versions that have no effect any more are
    /// ignored, so that old sessions stay readable.
    ///
    /// # Errors
    /// When the text is no TOML, another key is unknown, or a value has the wrong type.
    pub fn from_stored(text: &str) -> Result<Self, PolicyError> {
        let mut table: toml::Table = toml::from_str(text).map_err(invalid)?;
        for (section, key) in RETIRED {
            if let Some(toml::Value::Table(section)) = table.get_mut(*section) {
                section.remove(*key);
            }
        }
        table.try_into().map_err(invalid)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
fn invalid(error: toml::de::Error) -> PolicyError {
    PolicyError::Invalid(error.to_string())
}

/// Lays one table over another: tables are merged key by key, and any other value replaces the one below.
fn overlay(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => overlay(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_asked_below_the_threshold() {
        let read = |text: &str| Policy::from_toml(text);
        for (buffer, fine) in [("0.5", false), ("0.6", false), ("0.49", true)] {
            let text = format!("base = \"hermes\"\n[trigger]\nbuffer = {buffer}");
            match read(&text) {
                Ok(policy) => assert!(fine && policy.trigger.buffer < policy.trigger.threshold),
                Err(error) => {
                    assert!(!fine, "{error}");
                    assert!(error.to_string().contains("below trigger.threshold (0.5)"), "{error}");
                }
            }
        }
        // The buffer follows a threshold that is set alone, with a base and without one.
        let moved = read("base = \"default\"\n[trigger]\nthreshold = 0.4").unwrap();
        assert_eq!(moved.trigger.buffer, Ratio(3_000));
        let whole = Policy::preset("default").unwrap().to_toml();
        let whole =
            whole.replace("threshold = 0.78", "threshold = 0.4").replace("buffer = 0.6\n", "");
        assert_eq!(read(&whole).unwrap().trigger.buffer, Ratio(3_000));
    }

    /// Whichever rule sets the line, a model is asked below it; so reading a stored policy need not check that.
    #[test]
    fn the_buffer_lies_below_the_line_at_every_window() {
        use crate::policy::ModelTrigger;
        let over = |name: &str, threshold, tokens| ModelTrigger {
            name: name.into(),
            threshold,
            tokens,
            ..ModelTrigger::default()
        };
        for name in Policy::preset_names().into_iter().chain(Policy::baseline_names()) {
            let mut trigger = Policy::preset(name).unwrap().trigger;
            assert!(trigger.buffer < trigger.threshold || trigger.threshold.is_zero(), "{name}");
            trigger.models =
                vec![over("low", Some(Ratio(2_000)), None), over("tight", None, Some(9_000))];
            let rules: [fn(&mut TriggerPolicy); 5] = [
                |_| {},
                |trigger| trigger.tokens = 5_000,
                |trigger| trigger.reserve = 7_000,
                |trigger| trigger.cliffs = vec![6_000],
                |trigger| trigger.buffer = Ratio(6_000),
            ];
            for (at, rule) in rules.into_iter().enumerate() {
                for model in ["any", "low", "tight"] {
                    let mut trigger = trigger.for_model(model);
                    rule(&mut trigger);
                    for tokens in [2, 8_000, 64_000, 128_000, 200_000, 1_000_000] {
                        let (buffer, line) = (trigger.buffer_tokens(tokens), trigger.line(tokens));
                        assert!(
                            buffer < line.tokens,
                            "{name}, rule {at}, {model}, {tokens}: {buffer} of {line:?}"
                        );
                    }
                }
            }
        }
        let hermes = Policy::preset("hermes").unwrap().trigger;
        assert_eq!((hermes.line(128_000).tokens, hermes.buffer_tokens(128_000)), (64_000, 48_640));
    }

    #[test]
    fn a_stored_policy_of_an_earlier_version_is_read() {
        let policy = Policy::preset("hermes").unwrap();
        let old = policy.to_toml().replace("[recap]\n", "[recap]\nedits = false\nrefs = false\n");
        assert!(Policy::from_toml(&old).is_err(), "in a user's file it is an unknown key");
        assert_eq!(Policy::from_stored(&old).unwrap(), policy);
        let other = old.replace("refs = false", "notthere = false");
        assert!(Policy::from_stored(&other).unwrap_err().to_string().contains("notthere"));
    }
}
