//! What a simple command is for.

/// What a simple command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CommandPurpose {
    /// It checks the work.
    Check(CheckKind),
    /// It changes the history of the work, or hands it on: commits, pushes, opens a request.
    Versions,
    /// It installs something.
    Install,
    /// It changes files.
    Edit,
    /// It only shows something.
    LookUp,
    /// A program written into the command, or a file that an interpreter runs.
    Script,
    /// It prepares what comes next: `cd`, `export`.
    Prepare,
    /// Any other program.
    Other,
}

/// What a check checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CheckKind {
    /// Tests.
    Test,
    /// Style and known faults.
    Lint,
    /// Types.
    Types,
    /// That it builds.
    Build,
}
