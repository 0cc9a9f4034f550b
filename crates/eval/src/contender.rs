//! Replays recorded conversations: lists the strategies, runs one, and names its measures.

use midfold::{Failure, FailureArea};
use midfold_core::policy::Policy;
use midfold_formats::profile;
use serde_json::{Map, Value, json};

use crate::prices::PriceTable;
use crate::replay::{
    AgedCost, KeptShare, NameClass, Recording, ReplayError, ReplayMeasures, ReplayResult,
    ReplaySettings, ReplayStrategy, percentile, replay,
};

/// The state that a strategy keeps from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayForm {
    /// The strategy's own last output, and the messages that followed.
    Stateless,
    /// The whole history of the conversation.
    Session,
    /// Both forms, one after the other.
    Both,
}

impl ReplayForm {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Stateless, Self::Session, Self::Both];

    /// The name of the form.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stateless => "stateless",
            Self::Session => "session",
            Self::Both => "both",
        }
    }

    /// The form of this name.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let known = Self::ALL.map(Self::name);
        Self::ALL
            .into_iter()
            .find(|form| form.name() == name)
            .ok_or_else(|| Failure::unknown(FailureArea::Input, "form", name, &known))
    }
}

/// One strategy in one form.
#[derive(Clone, Debug)]
pub enum ReplayContender {
    /// The history as it is.
    Raw,
    /// A policy that gets its own last output and the messages that followed.
    Stateless(Box<Policy>),
    /// A policy, in a session that holds the whole history.
    Session(Box<Policy>),
}

impl ReplayContender {
    /// A strategy in the wanted forms. `None` is the history as it is, which has only one form.
    #[must_use]
    pub fn forms(policy: Option<&Policy>, form: ReplayForm) -> Vec<Self> {
        let Some(policy) = policy else { return vec![Self::Raw] };
        let stateless = || Self::Stateless(Box::new(policy.clone()));
        let session = || Self::Session(Box::new(policy.clone()));
        match form {
            ReplayForm::Stateless => vec![stateless()],
            ReplayForm::Session => vec![session()],
            ReplayForm::Both => vec![stateless(), session()],
        }
    }

    /// The name of its form.
    #[must_use]
    pub fn form(&self) -> &'static str {
        match self {
            Self::Raw | Self::Stateless(_) => ReplayForm::Stateless.name(),
            Self::Session(_) => ReplayForm::Session.name(),
        }
    }

    /// The strategy as the replay takes it.
    #[must_use]
    pub fn strategy(&self) -> ReplayStrategy<'_> {
        match self {
            Self::Raw => ReplayStrategy::Raw,
            Self::Stateless(policy) => ReplayStrategy::Stateless(policy),
            Self::Session(policy) => ReplayStrategy::Session(policy),
        }
    }
}

/// The names of all strategies, in the order in which they are shown: the history as it is, the baselines, the presets.
#[must_use]
pub fn strategy_names() -> Vec<&'static str> {
    let presets = Policy::preset_names().into_iter();
    std::iter::once("raw").chain(Policy::baseline_names()).chain(presets).collect()
}

/// The strategy of this name. `None` is the history as it is.
///
/// ```
/// assert!(midfold_eval::strategy("raw")?.is_none());
/// assert_eq!(midfold_eval::strategy("lean")?.unwrap().name, "lean");
/// assert_eq!(midfold_eval::strategy("rwa").unwrap_err().message, "there is no strategy `rwa`");
/// # Ok::<(), midfold::Failure>(())
/// ```
///
/// # Errors
/// The name is unknown.
pub fn strategy(name: &str) -> Result<Option<Policy>, Failure> {
    if name == "raw" {
        return Ok(None);
    }
    let unknown = |_| Failure::unknown(FailureArea::Policy, "strategy", name, &strategy_names());
    Policy::preset(name).map(Some).map_err(unknown)
}

/// The settings with which a strategy is replayed.
#[derive(Clone, Copy)]
pub struct ReplayOptions<'a> {
    /// The window in tokens.
    pub window: u64,
    /// The prices of requests.
    pub prices: &'a PriceTable,
    /// A clock in nanoseconds, with any starting point.
    pub clock: &'a (dyn Fn() -> u64 + Sync),
}

impl ReplayOptions<'_> {
    /// Replays a recording, and checks each context by the rules of its profile.
    ///
    /// # Errors
    /// The strategy cannot be replayed in this window.
    pub fn run(
        &self,
        recording: &Recording,
        strategy: ReplayStrategy<'_>,
    ) -> Result<ReplayResult, ReplayError> {
        let rules = profile::rules(recording.log().profile());
        let settings = ReplaySettings {
            window: self.window,
            rules: &rules,
            // The whole history is in the context, so a search has nothing to bring back.
            search: !matches!(strategy, ReplayStrategy::Raw),
            prices: self.prices,
            clock: Some(self.clock),
            watch: None,
        };
        replay(recording, strategy, &settings)
    }
}

/// The measures by the names of docs/MEASURES.md: sums, and the usual ratios.
#[must_use]
pub fn measures(sum: &ReplayMeasures, window: u64) -> Value {
    let share = |share: KeptShare| four(share.ratio());
    let classes = NameClass::ALL.iter().zip(sum.classes);
    let classes =
        classes.map(|(class, share)| (class.name().to_owned(), json!([share.need, share.have])));
    let tokens_by = sum.tokens_by.named().into_iter().map(|(name, n)| (name.to_owned(), json!(n)));
    let mut value = json!({
        "requests": sum.requests, "counted": sum.counted, "folds": sum.folds, "causes": sum.causes,
        "breaks": sum.breaks, "over": sum.over, "invalid": sum.invalid,
        "recall": share(sum.recall), "recall_need": sum.recall.need,
        "at_risk": share(sum.at_risk), "at_risk_need": sum.at_risk.need,
        "reachable": share(sum.reachable), "reachable_need": sum.reachable.need,
        "within_reach": four(sum.within_reach()),
        "rare": share(sum.rare), "rare_need": sum.rare.need,
        "classes": classes.collect::<Map<_, _>>(),
        "rules": share(sum.rules), "rules_need": sum.rules.need,
        "rereads": sum.rereads,
        "modified": share(sum.modified), "modified_need": sum.modified.need,
        "read": share(sum.read), "read_need": sum.read.need,
        "mean": four(sum.mean_context()),
        "mean_share": four(sum.mean_context() / window as f64),
        "peak": sum.peak,
        "tokens_by": tokens_by.collect::<Map<_, _>>(),
        "cost": four(sum.cost_ratio()),
        "price": four(sum.price), "raw_price": four(sum.raw_price),
        "hit_share": four(sum.hit_share()),
        "context_us": times(&sum.context_time), "fold_us": times(&sum.fold_time),
    });
    if sum.timed > 0 {
        let aged = |aged: AgedCost| {
            json!({
                "cold": aged.cold, "price": four(aged.price), "raw_price": four(aged.raw_price),
            })
        };
        value["timed"] = json!(sum.timed);
        value["cold"] = json!(sum.cold);
        value["lifetimes"] = json!({ "5m": aged(sum.lifetimes[0]), "1h": aged(sum.lifetimes[1]) });
    }
    if sum.summaries > 0 {
        value["summaries"] = json!(sum.summaries);
        value["accepted"] = json!(sum.accepted);
    }
    if sum.usages > 0 {
        value["usage"] = json!({
            "calls": sum.usages, "input": sum.usage.prompt, "output": sum.usage.output,
            "cache_read": sum.usage.cache_read, "cache_write": sum.usage.cache_write,
        });
    }
    value
}

/// The median and the 99th percentile, in microseconds.
fn times(nanos: &[u64]) -> Value {
    let at = |share| percentile(nanos, share).map(|nanos| four(nanos as f64 / 1e3));
    json!([at(0.5), at(0.99)])
}

fn four(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
