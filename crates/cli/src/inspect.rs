//! `midfold inspect`.

use crate::args::Inspect;
use crate::error::CommandError;
use crate::output::Output;

pub fn run(_: &Inspect, _: bool, _: &Output) -> Result<(), CommandError> {
    Err(CommandError::failed("not wired yet"))
}
