//! `midfold print schema`: prints the JSON schema of a fold record, a policy or the settings, or the OpenAPI document.

use midfold::{Fold, Policy};
use midfold_args::{SchemaArgs, SchemaOf};
use schemars::schema_for;

use crate::error::CommandError;
use crate::keys;
use crate::output::Output;
use crate::presets::pretty;

pub fn run(args: &SchemaArgs, output: &Output) -> Result<(), CommandError> {
    let text = match args.of {
        SchemaOf::Fold => pretty(&schema_for!(Fold)),
        SchemaOf::Policy => pretty(&schema_for!(Policy)),
        SchemaOf::Config => pretty(&keys::schema()),
        #[cfg(feature = "sessions")]
        SchemaOf::Openapi => pretty(&midfold_serve::openapi()),
        #[cfg(not(feature = "sessions"))]
        SchemaOf::Openapi => {
            return Err(CommandError::usage("this build of midfold has no server"));
        }
    };
    output.stdout(text?)
}
