//! `midfold verify`.

use crate::args::Verify;
use crate::error::CommandError;
use crate::output::Output;

pub fn run(_: &Verify, _: bool, _: &Output) -> Result<(), CommandError> {
    Err(CommandError::failed("not wired yet"))
}
