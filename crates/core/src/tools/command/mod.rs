//! Reads a shell command as a list of simple commands, each with its purpose and with a `CommandRun`, by which two
//! of them are compared. `cd X && FOO=1 pytest -q 2>&1 | tail -5` is the check `pytest` in `X`.
//!
//! The lexer (`tools/shell`) is part of midfold; docs/ARCHITECTURE.md says why no bash parser is used.

mod label;
pub(crate) mod purpose;
mod run;
mod runners;
pub(crate) mod script;
mod step;
pub(crate) mod versions;
mod work_folder;

pub(crate) use label::{cut_at_word, label, script_label};
pub(crate) use purpose::CommandPurpose;
pub(crate) use run::CommandRun;
pub(crate) use step::{CommandDeeds, SimpleStep};

#[cfg(test)]
mod tests;
