//! The `midfold` command. Its code is in the library of this crate, so that tests can use it.

use std::process::ExitCode;

fn main() -> ExitCode {
    midfold_cli::main()
}
