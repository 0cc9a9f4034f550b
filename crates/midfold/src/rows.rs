//! The settings for training rows by name: limits, placement of the summary, trainer.

use midfold_core::trajectory::{ProtectedTurns, SummaryPlacement, TrajectoryLimits};
use midfold_formats::trajectory::{Trainer, TrajectorySettings};
use serde::Deserialize;

use crate::failure::{Failure, FailureArea};

/// The tokenizer for training rows if the caller names none.
pub const ROW_TOKENIZER: &str = "o200k";

/// The settings for training rows as a caller gives them. A missing one has a default, or follows from the trainer.
///
/// ```
/// use midfold::RowSettings;
/// use midfold::core::trajectory::SummaryPlacement;
///
/// let said = RowSettings { trainer: Some("trl".into()), ..RowSettings::default() };
/// let settings = said.settings()?;
/// assert_eq!(settings.limits.placement, SummaryPlacement::UserMessage);
/// let wrong = RowSettings { placement: Some("human".into()), ..RowSettings::default() };
/// assert_eq!(wrong.settings().unwrap_err().hints[0], "did you mean `human_turn`?");
/// # Ok::<(), midfold::Failure>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RowSettings {
    /// The most tokens that a row may have.
    pub target: Option<u64>,
    /// The tokens of them that are reserved for the summary.
    pub summary: Option<u64>,
    /// How many turns stay at the end of a row.
    pub keep_last: Option<usize>,
    /// The name of the place where the summary is put.
    pub placement: Option<String>,
    /// The name of the trainer that reads the rows.
    pub trainer: Option<String>,
    /// The kinds whose first turn stays: `system`, `human`, `gpt`, `tool`. `None` means all four.
    pub protect: Option<Vec<String>>,
    /// Text for the system turn of a row with a summary.
    pub notice: Option<String>,
    /// Whether rows with a summary get metrics.
    pub row_metrics: bool,
    /// Whether every row is counted, even one that is too short to exceed the target.
    pub count_all: bool,
    /// The names of lists beside the turns that have one element for each turn; they are kept in step with the turns.
    pub align: Vec<String>,
    /// Whether turns before the user's first and behind the last answer are cut off.
    pub trim_turns: bool,
    /// Whether rows that fit are folded, too.
    pub fold_all: bool,
}

impl RowSettings {
    /// Looks up the names, and fills in the defaults.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn settings(self) -> Result<TrajectorySettings, Failure> {
        let trainer = self.trainer.as_deref().map(trainer).transpose()?;
        let default = TrajectoryLimits::default();
        let limits = TrajectoryLimits {
            target: self.target.unwrap_or(default.target),
            summary: self.summary.unwrap_or(default.summary),
            keep_last: self.keep_last.unwrap_or(default.keep_last),
            protect: self.protect.map_or(Ok(default.protect), |turns| protect(&turns))?,
            placement: placement(self.placement.as_deref(), trainer)?,
            skip_under_target: !self.fold_all,
        };
        Ok(TrajectorySettings {
            limits,
            notice: self.notice,
            row_metrics: self.row_metrics,
            trainer,
            count_all: self.count_all,
            aligned: self.align,
            trim_turns: self.trim_turns,
        })
    }
}

fn trainer(name: &str) -> Result<Trainer, Failure> {
    let known = Trainer::ALL.map(Trainer::name);
    Trainer::from_name(name)
        .ok_or_else(|| Failure::unknown(FailureArea::Input, "trainer", name, &known))
}

/// The named placement; without a name, the one that the trainer reads; without a trainer, a turn of its own.
fn placement(name: Option<&str>, trainer: Option<Trainer>) -> Result<SummaryPlacement, Failure> {
    let known = SummaryPlacement::ALL.map(SummaryPlacement::name);
    match (name, trainer) {
        (Some(name), _) => SummaryPlacement::from_name(name)
            .ok_or_else(|| Failure::unknown(FailureArea::Input, "placement", name, &known)),
        (None, Some(Trainer::LlamaFactory)) => Ok(SummaryPlacement::MergeIntoPreviousObservation),
        (None, Some(Trainer::Trl)) => Ok(SummaryPlacement::UserMessage),
        (None, None) => Ok(TrajectoryLimits::default().placement),
    }
}

/// The turns that stay, by the names of their kinds.
fn protect(turns: &[String]) -> Result<ProtectedTurns, Failure> {
    let mut protect = ProtectedTurns { system: false, human: false, gpt: false, tool: false };
    for turn in turns {
        let flag = match turn.as_str() {
            "system" => &mut protect.system,
            "human" => &mut protect.human,
            "gpt" => &mut protect.gpt,
            "tool" => &mut protect.tool,
            _ => {
                let known = ["system", "human", "gpt", "tool"];
                return Err(Failure::unknown(FailureArea::Input, "first turn", turn, &known));
            }
        };
        *flag = true;
    }
    Ok(protect)
}
