//! Failures and rejections that are still open, with what is needed to settle them later.

use smallvec::SmallVec;

use crate::tools::MissingPackage;
use crate::tools::command::CommandRun;

/// A failure or a rejection that a later event may settle.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenFailure {
    /// Index of its deed.
    pub deed: usize,
    /// The runs that failed or were refused.
    pub runs: SmallVec<[CommandRun; 1]>,
    /// The file whose change failed or was refused.
    pub path: Option<String>,
    /// Hash of the whole command, by which the same command is recognised.
    pub text: Option<u64>,
    /// The package that was missing.
    pub missing: Option<MissingPackage>,
    /// The interpreter of a script that the agent wrote for one look.
    pub scratch: Option<String>,
    /// The tool of a call that the user rejected, or the client blocked.
    pub refused: Option<String>,
    /// The reason that the user gave for the rejection.
    pub reason: Option<String>,
}

/// The commands that a script of the project runs.
#[derive(Clone, Debug)]
pub(super) struct InnerCommands {
    pub script: CommandRun,
    /// The runs inside the script.
    pub runs: SmallVec<[CommandRun; 1]>,
}
