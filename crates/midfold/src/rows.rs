//! Settings of rows of training sets, by name: limits, placement, trainer.

use midfold_core::trajectory::{ProtectedTurns, SummaryPlacement, TrajectoryLimits};
use midfold_formats::trajectory::{Trainer, TrajectorySettings};
use serde::Deserialize;

use crate::failure::{Failure, FailureArea};

/// How rows are counted where nothing tells.
pub const ROW_TOKENIZER: &str = "o200k";

/// What is said about rows. What is left out is a default, or follows from the trainer.
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
    /// Of them, what is set aside for the summary.
    pub summary: Option<u64>,
    /// How many turns stay at the end.
    pub keep_last: Option<usize>,
    /// Where the summary goes.
    pub placement: Option<String>,
    /// The trainer that takes the rows.
    pub trainer: Option<String>,
    /// The first turns that stay: system, human, gpt, tool. All of them where nothing is said.
    pub protect: Option<Vec<String>>,
    /// Text for the system turn of a row with a summary.
    pub notice: Option<String>,
    /// Put metrics into rows with a summary.
    pub row_metrics: bool,
    /// Count every row, also those that cannot be too long.
    pub count_all: bool,
    /// Lists beside the turns with one element for each.
    pub align: Vec<String>,
    /// Fold also rows that fit.
    pub fold_all: bool,
}

impl RowSettings {
    /// The same, looked up.
    ///
    /// # Errors
    /// When a name is unknown.
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
        })
    }
}

fn trainer(name: &str) -> Result<Trainer, Failure> {
    let known = Trainer::ALL.map(Trainer::name);
    Trainer::from_name(name)
        .ok_or_else(|| Failure::unknown(FailureArea::Input, "trainer", name, &known))
}

/// The one that is named, else what the trainer takes, else a turn of its own.
fn placement(name: Option<&str>, trainer: Option<Trainer>) -> Result<SummaryPlacement, Failure> {
    let known = SummaryPlacement::ALL.map(SummaryPlacement::name);
    match (name, trainer) {
        (Some(name), _) => SummaryPlacement::from_name(name)
            .ok_or_else(|| Failure::unknown(FailureArea::Input, "placement", name, &known)),
        (None, Some(Trainer::LlamaFactory)) => Ok(SummaryPlacement::MergeIntoPreviousObservation),
        (None, Some(Trainer::Trl)) => Ok(SummaryPlacement::UserMessage),
        (None, None) => Ok(SummaryPlacement::HumanTurn),
    }
}

fn protect(turns: &[String]) -> Result<ProtectedTurns, Failure> {
    let mut protect = ProtectedTurns { system: false, human: false, gpt: false, tool: false };
    for turn in turns {
        let kept = match turn.as_str() {
            "system" => &mut protect.system,
            "human" => &mut protect.human,
            "gpt" => &mut protect.gpt,
            "tool" => &mut protect.tool,
            _ => {
                let known = ["system", "human", "gpt", "tool"];
                return Err(Failure::unknown(FailureArea::Input, "first turn", turn, &known));
            }
        };
        *kept = true;
    }
    Ok(protect)
}
