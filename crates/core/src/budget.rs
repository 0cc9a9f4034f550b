//! The budget: one value, handed down and shrinking.

use serde::{Deserialize, Serialize};

/// Parts per 10,000: how ratios are kept, so that planning is integer arithmetic and gives the
/// same answer on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(pub u32);

impl Ratio {
    /// The whole.
    pub const ONE: Self = Self(10_000);

    /// `self` of `tokens`, rounded down.
    ///
    /// ```
    /// use midfold_core::budget::Ratio;
    /// assert_eq!(Ratio(8_000).of(128_000), 102_400);
    /// ```
    #[must_use]
    pub fn of(self, tokens: u64) -> u64 {
        u64::try_from(u128::from(tokens) * u128::from(self.0) / 10_000).unwrap_or(u64::MAX)
    }

    /// Whether it is nothing.
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
        if !(0.0..=100.0).contains(&value) {
            return Err(D::Error::custom(format!("a ratio lies between 0 and 100, not {value}")));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(Self((value * 10_000.0).round() as u32))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Ratio {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ratio".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0, "maximum": 100 })
    }
}

/// What a context may cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Budget {
    /// The model's window, in tokens.
    pub window: u64,
    /// Kept free for the reply.
    pub output_reserve: u64,
    /// Kept free for what hooks add after compaction (seed 004: 2,000 in its preset).
    pub injection_reserve: u64,
    /// Caps per tier (`tool_results`, …). Part of the value so that enforcing them later changes
    /// no signature; [`Budget::check`] refuses them until then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
}

/// A cap on one class of content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tier {
    /// Which content.
    pub name: String,
    /// At most this share of the budget.
    pub cap: Ratio,
}

/// Why a budget cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// Nothing is left of the window.
    #[error("the reserves ({reserved} tokens) leave nothing of a window of {window} tokens")]
    Empty {
        /// The window.
        window: u64,
        /// Output and injection reserve together.
        reserved: u64,
    },
    /// Per-tier caps are part of the value, but not enforced yet.
    #[error("per-tier caps are not enforced yet (tier `{0}`); remove `tiers` from the budget")]
    TiersNotYet(String),
}

impl Budget {
    /// A budget of a whole window, without reserves.
    #[must_use]
    pub fn new(window: u64) -> Self {
        Self { window, output_reserve: 0, injection_reserve: 0, tiers: Vec::new() }
    }

    /// What a context may cost: the window without the reserves. Every ratio of a policy
    /// multiplies this.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.window.saturating_sub(self.output_reserve).saturating_sub(self.injection_reserve)
    }

    /// Checks that the budget can be used.
    ///
    /// # Errors
    /// When nothing is left, or a tier is set.
    pub fn check(&self) -> Result<(), BudgetError> {
        if let Some(tier) = self.tiers.first() {
            return Err(BudgetError::TiersNotYet(tier.name.clone()));
        }
        if self.tokens() == 0 {
            let reserved = self.output_reserve.saturating_add(self.injection_reserve);
            return Err(BudgetError::Empty { window: self.window, reserved });
        }
        Ok(())
    }
}
