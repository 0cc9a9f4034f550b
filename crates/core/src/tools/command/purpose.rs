//! The purposes of simple commands.

/// The purpose of a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CommandPurpose {
    /// Checks the work.
    Check(CheckKind),
    /// Changes the history of the work or publishes it: commits, pushes, opens a merge request.
    Versions,
    /// Installs something.
    Install,
    /// Changes files.
    Edit,
    /// Only shows something.
    LookUp,
    /// Runs a program that is written in the command, or a file through an interpreter.
    Script,
    /// Prepares the next command, as `cd` and `export` do.
    Prepare,
    /// Runs any other program.
    Other,
}

/// The subject of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CheckKind {
    /// Tests.
    Test,
    /// Style and known faults.
    Lint,
    /// Types.
    Types,
    /// Whether it builds.
    Build,
}
