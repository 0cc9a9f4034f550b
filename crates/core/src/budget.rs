//! The budget: the tokens that a context may have, and the shares that are taken of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A ratio in parts per 10,000. An integer, so that planning gives the same answer on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u32);

impl Ratio {
    /// The whole.
    pub const ONE: Self = Self(10_000);

    /// This share of `tokens`, rounded down.
    ///
    /// ```
    /// use midfold_core::budget::Ratio;
    /// assert_eq!(Ratio(8_000).of(128_000), 102_400);
    /// ```
    #[must_use]
    pub fn of(self, tokens: u64) -> u64 {
        u64::try_from(u128::from(tokens) * u128::from(self.0) / 10_000).unwrap_or(u64::MAX)
    }

    /// Whether the ratio is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// The ratio as a number, for reports.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
}

impl Serialize for Ratio {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(D::Error::custom(format!(
                "{value} is no share: write one from 0 to 1, as 0.3 for three tenths"
            )));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(Self((value * 10_000.0).round() as u32))
    }
}

/// Reads a ratio that may exceed 1, because it is not a share of a whole.
pub(crate) fn factor<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
    use serde::de::Error;
    let value = f64::deserialize(deserializer)?;
    let parts = (value * 10_000.0).round();
    if !(0.0..=f64::from(u32::MAX)).contains(&parts) {
        return Err(D::Error::custom(format!("{value} is no ratio: it is a number from 0 on")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    Ok(Ratio(parts as u32))
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Ratio {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ratio".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

/// The limits of a context, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The model's window, in tokens.
    pub window: u64,
    /// Tokens of the window that are kept free for the reply.
    pub output_reserve: u64,
    /// Tokens that are kept free for texts that hooks add after a fold (projection note: 2,000 in its preset).
    pub injection_reserve: u64,
    /// The most that classes of content may take, as shares of the budget. For a class that is not named here the
    /// policy's `[budget.tiers]` applies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tiers: BTreeMap<TierName, Ratio>,
}

/// A class of content that can have a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TierName {
    /// Results of tool calls.
    Results,
    /// Arguments of tool calls.
    Arguments,
    /// Text of the user and the assistant.
    Dialogue,
}

impl std::fmt::Display for TierName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Results => "results",
            Self::Arguments => "arguments",
            Self::Dialogue => "dialogue",
        })
    }
}

/// Why a budget cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The reserves take up the whole window.
    #[error("the reserves ({reserved} tokens) leave nothing of a window of {window} tokens")]
    Empty {
        /// The window in tokens.
        window: u64,
        /// Output and injection reserve together, in tokens.
        reserved: u64,
    },
}

impl Budget {
    /// A budget of a whole window, without reserves.
    #[must_use]
    pub fn new(window: u64) -> Self {
        Self { window, output_reserve: 0, injection_reserve: 0, tiers: BTreeMap::new() }
    }

    /// The tokens that a context may have: the window less the reserves. Every ratio of a policy multiplies this.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.window.saturating_sub(self.output_reserve).saturating_sub(self.injection_reserve)
    }

    /// The caps of the tiers in tokens, as shares of `tokens`.
    #[must_use]
    pub fn caps(&self, tokens: u64) -> Vec<(TierName, u64)> {
        self.tiers.iter().map(|(tier, cap)| (*tier, cap.of(tokens))).collect()
    }

    /// Checks that the budget can be used.
    ///
    /// # Errors
    /// When the reserves leave nothing of the window.
    pub fn check(&self) -> Result<(), BudgetError> {
        if self.tokens() == 0 {
            let reserved = self.output_reserve.saturating_add(self.injection_reserve);
            return Err(BudgetError::Empty { window: self.window, reserved });
        }
        Ok(())
    }
}
