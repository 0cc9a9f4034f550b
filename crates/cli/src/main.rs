//! The `midfold` command. All of it is in the library beside this file, so that its tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    midfold_cli::main()
}
