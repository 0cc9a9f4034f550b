//! `midfold schema`.

use midfold::{Fold, Policy};
use schemars::schema_for;

use crate::args::{Schema, SchemaOf};
use crate::error::CommandError;
use crate::output::Output;
use crate::presets::pretty;

pub fn run(args: &Schema, output: &Output) -> Result<(), CommandError> {
    let schema = match args.of {
        SchemaOf::Fold => schema_for!(Fold).into(),
        SchemaOf::Policy => schema_for!(Policy).into(),
        SchemaOf::Openapi => midfold_serve::openapi(),
    };
    output.stdout(pretty(&schema)?)
}
