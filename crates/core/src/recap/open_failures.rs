//! What a failure or a rejection has to do with, so that something later can settle it.

use smallvec::SmallVec;

use crate::tools::command::CommandRun;

/// A failure or a rejection that may be settled.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenFailure {
    /// Its statement.
    pub statement: usize,
    /// What failed.
    pub runs: SmallVec<[CommandRun; 1]>,
    /// The file whose change failed.
    pub path: Option<String>,
    /// It is a check.
    pub check: bool,
    /// The command, word by word.
    pub text: Option<u64>,
    /// The package that is not there.
    pub missing: Option<String>,
    /// The interpreter of a script that was written for one look.
    pub scratch: Option<String>,
    /// The tool of a call that the user rejected, or the client blocked.
    pub refused: Option<String>,
    /// What the user said with it.
    pub reason: Option<String>,
}

/// What a script of the project runs.
#[derive(Clone, Debug)]
pub(super) struct InnerCommands {
    pub script: CommandRun,
    /// That.
    pub runs: SmallVec<[CommandRun; 1]>,
}
