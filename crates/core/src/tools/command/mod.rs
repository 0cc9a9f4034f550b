//! A shell command as a list of deeds: what each simple command of it is for, and what makes two of
//! them the same. `cd X && FOO=1 pytest -q 2>&1 | tail -5` is the check `pytest` in `X`.
//!
//! The lexer is our own (`tools/shell`): docs/ARCHITECTURE.md says why no bash parser is kept.

mod label;
pub(crate) mod purpose;
mod run;
pub(crate) mod script;
mod step;
pub(crate) mod versions;

pub(crate) use label::{cut_at_word, label, script_label};
pub(crate) use purpose::CommandPurpose;
pub(crate) use run::CommandRun;
pub(crate) use step::{CommandDeeds, SimpleStep};

#[cfg(test)]
mod tests;
