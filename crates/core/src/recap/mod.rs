//! Recaps: the text that takes the place of a covered span.
//!
//! The computed part of a recap can only hold words of the log: code copies, ranks and cuts them. Text from the log
//! is quoted, escaped and redacted, so it gains no authority.

mod bound;
pub mod change_deeds;
pub mod checks;
mod choose;
mod claim;
pub mod compose;
pub mod deed;
mod deeds;
mod edits;
mod elsewhere;
pub mod escape;
mod file_uses;
pub mod frame;
pub mod gather;
mod gathered_facts;
pub mod ground;
pub(crate) mod guard;
pub(crate) mod history;
pub mod idtable;
mod interest;
mod later;
pub mod lost_names;
mod names;
pub mod numbers;
mod open_failures;
pub mod ordinary;
pub mod parse;
pub(crate) mod print;
pub mod prompt;
mod prose;
mod quote;
pub(crate) mod rank;
pub(crate) mod read_line;
mod reply;
pub(crate) mod seam;
mod sentence;
mod settle;
pub mod sources;
mod standing;
mod tasks;
mod user_orders;
mod user_words;
mod verdicts;
pub(crate) mod visible;
pub mod vocabulary;
mod words;
mod worth;

pub use crate::seal::{END, NOTE_START};

/// Names of the sections, as they follow `### `. Composing writes them, and parsing finds them.
pub(crate) mod section {
    /// The user's requests.
    pub const TASK: &str = "Task";
    /// Text of earlier recaps by other authors.
    pub const NOTES: &str = "Notes from before";
    /// The current state of the work.
    pub const STATE: &str = "State";
    /// Words and deeds that did not fail.
    pub const DONE: &str = "Done so far";
    /// Failures, rejections and interruptions.
    pub const FAILED: &str = "Tried and failed";
    /// The files that were used.
    pub const FILES: &str = "Files";
    /// Identifiers, in recaps of earlier versions.
    pub const INDEX: &str = "Index";
    /// Notes that the agent asked to keep.
    pub const NOTED: &str = "Notes of the agent";
    /// Texts that settings put back after each fold.
    pub const PUT_BACK: &str = "Put back after each fold";
    /// All names of sections.
    pub const ALL: &[&str] = &[TASK, NOTES, STATE, DONE, FAILED, FILES, INDEX, NOTED, PUT_BACK];
}

/// The line above the rules in the task section of recaps from before 27 November 2026.
pub(crate) const RULES: &str = "Rules the user stated:";
/// The words of the header before the folder that most files share.
pub(crate) const PATHS_BELOW: &str = " Paths of files are below ";
/// The start of the line that counts what was left out.
pub(crate) const LEFT_OUT: &str = "[Left out: ";
/// How the lines of the state section begin.
pub(crate) mod state {
    /// The to-do list; its items follow, indented.
    pub const TASKS: &str = "to-do list @";
    /// The newest verdict of each check; more of them follow, indented.
    pub const CHECKS: &str = "checks: ";
    /// The commits; more of them follow, indented.
    pub const COMMITS: &str = "commits: ";
    /// The number of older commits, which are not listed.
    pub const OLDER: &str = "older, not told: ";
    /// In place of a commit's hash: it got another one.
    pub const MOVED: &str = "(rebased or amended, hash unknown) ";
    /// The message with the last push, and its branch.
    pub const PUSHED: &str = "pushed @";
    /// Requests to merge.
    pub const REQUESTS: &str = "pull requests: ";
    /// The files that changed after the last commit.
    pub const CHANGED: &str = "changed since the last commit: ";
    /// How many files changed after the last check that passed.
    pub const SINCE: &str = "changed since the last of these passed: ";
    /// Commands and agents that still run; more of them follow, indented.
    pub const RUNNING: &str = "still running: ";
    /// What agents in the background reported; more of them follow, indented.
    pub const REPORTED: &str = "reports of agents: ";
    /// Where the agent works.
    pub const PLACE: &str = "works in: ";
    /// The message with the plan that holds; its steps follow, indented.
    pub const PLAN: &str = "plan @";
    /// The skills that were loaded.
    pub const SKILLS: &str = "skills in use: ";
    /// What the client said of a subject.
    pub const CLIENT: &str = "the client on ";
    /// What else the client said once.
    pub const SAID: &str = "the client said: ";
    /// All of these beginnings.
    pub const ALL: &[&str] = &[
        SAID, TASKS, CHECKS, COMMITS, PUSHED, REQUESTS, CHANGED, SINCE, RUNNING, REPORTED, PLACE,
        PLAN, SKILLS, CLIENT,
    ];

    /// The lines of a labelled list: the first entry is beside the label, the others are indented below it.
    pub(crate) fn listed(label: &str, entries: impl Iterator<Item = String>) -> Vec<String> {
        let line = |(at, entry)| match at {
            0 => format!("{label}{entry}\n"),
            _ => format!("  {entry}\n"),
        };
        entries.enumerate().map(line).collect()
    }
}
/// The marker in the place of a span without a recap, where the policy has no other text.
pub const MARKER: &str = "[Earlier messages truncated]";
