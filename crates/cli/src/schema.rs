//! `midfold schema`.

use midfold::{Fold, Policy};
use schemars::schema_for;

use crate::args::{Schema, SchemaOf};
use crate::error::CommandError;
use crate::output::Output;
use crate::presets::pretty;

pub fn run(args: &Schema, output: &Output) -> Result<(), CommandError> {
    let text = match args.of {
        SchemaOf::Fold => pretty(&schema_for!(Fold)),
        SchemaOf::Policy => pretty(&schema_for!(Policy)),
        SchemaOf::Openapi => pretty(&midfold_serve::openapi()),
    };
    output.stdout(text?)
}
