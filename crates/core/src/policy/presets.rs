//! Policies by name, and policies that start from one.

use super::Policy;

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No preset has this name.
    #[error("there is no preset `{name}`; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The TOML is not a policy.
    #[error("the policy cannot be read: {0}")]
    Invalid(String),
}

const PRESETS: &[(&str, &str)] = &[
    ("default", include_str!("../../presets/default.toml")),
    ("generous", include_str!("../../presets/generous.toml")),
    ("lean", include_str!("../../presets/lean.toml")),
    ("head-tail", include_str!("../../presets/head-tail.toml")),
    ("hermes", include_str!("../../presets/hermes.toml")),
    ("nucleic", include_str!("../../presets/nucleic.toml")),
    ("projection", include_str!("../../presets/projection.toml")),
];

/// What others do, as policies: to compare against, not to use.
const BASELINES: &[(&str, &str)] = &[
    ("sliding", include_str!("../../presets/baselines/sliding.toml")),
    ("mask", include_str!("../../presets/baselines/mask.toml")),
    ("clear", include_str!("../../presets/baselines/clear.toml")),
];

/// Keys of earlier versions: the whole recap decides now what is told of an edit, and which
/// references a recap carries.
const RETIRED: &[(&str, &str)] = &[("recap", "edits"), ("recap", "refs")];

impl Policy {
    /// The names of the baselines: common rules to compare against, which [`Policy::preset`] knows,
    /// too.
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

    /// Reads a policy. A table `base = "name"` at the top starts from that preset, so that a file
    /// only has to say what differs.
    ///
    /// # Errors
    /// When the text is no TOML, a key is unknown, or a value has the wrong type.
    pub fn from_toml(text: &str) -> Result<Self, PolicyError> {
        let mut table: toml::Table = toml::from_str(text).map_err(invalid)?;
        let Some(base) = table.remove("base") else {
            return toml::from_str(text).map_err(invalid);
        };
        let base = base.as_str().unwrap_or_default().to_owned();
        let mut merged: toml::Table =
            toml::from_str(Self::preset_source(&base)?).map_err(invalid)?;
        overlay(&mut merged, table);
        merged.try_into().map_err(invalid)
    }

    /// Reads a policy that a session was stored with. Keys that an earlier version wrote and that
    /// mean nothing any more are passed over, so that its sessions stay readable.
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
    fn a_stored_policy_of_an_earlier_version_is_read() {
        let policy = Policy::preset("hermes").unwrap();
        let old = policy.to_toml().replace("[recap]\n", "[recap]\nedits = false\nrefs = false\n");
        assert!(Policy::from_toml(&old).is_err(), "in a user's file it is an unknown key");
        assert_eq!(Policy::from_stored(&old).unwrap(), policy);
        let other = old.replace("refs = false", "notthere = false");
        assert!(Policy::from_stored(&other).unwrap_err().to_string().contains("notthere"));
    }
}
