//! The real binary, as a user runs it: standard output, standard error and exit code. And, in `inside`, what can be
//! told of its parts alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod about;
mod after_fold;
mod bad_input;
mod bad_store;
mod client_files;
mod compact;
mod compact_model;
mod config;
mod config_page;
mod docs;
mod doctor;
mod engines;
mod eval_logs;
mod exam;
mod folders;
mod from_file;
mod help;
mod hooks;
mod hooks_plugin;
mod imports;
mod inside;
mod inspect;
mod mcp;
mod odd_files;
mod packaging;
mod printed;
mod replay;
mod replay_cold;
mod run;
mod secrets;
mod serve;
mod serve_keys;
mod serve_log;
mod serve_seal;
mod session;
mod session_change;
mod session_delete;
mod session_folders;
mod top;
mod trajectories;
mod trajectories_files;
mod trajectories_killed;
mod trajectories_model;
#[cfg(feature = "parquet")]
mod trajectories_parquet;
mod trajectories_transcripts;
mod verify;
mod watch;
mod worker;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository: relative paths in the tests start there.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of one test, empty.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The command, with nothing of the caller's environment.
pub fn midfold(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_midfold"));
    command.args(args).current_dir(root()).env_clear().env("COLUMNS", "90");
    command
}

/// Runs it with this standard input.
pub fn run(args: &[&str], stdin: &[u8]) -> Output {
    let mut command = midfold(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

/// Runs it and returns its standard output; fails the test when the command fails.
pub fn stdout(args: &[&str], stdin: &[u8]) -> String {
    let output = run(args, stdin);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All that a user sees, for a snapshot.
pub fn seen(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "exit {}\n----- stdout\n{}----- stderr\n{}",
        output.status.code().map_or("by a signal".to_owned(), |code| code.to_string()),
        text(&output.stdout),
        text(&output.stderr)
    )
}

/// Compares what a user sees with the snapshot of this name.
#[macro_export]
macro_rules! sees {
    ($name:expr, $args:expr) => {
        $crate::sees!($name, $args, b"")
    };
    ($name:expr, $args:expr, $stdin:expr) => {{
        let output = $crate::run(&$args, $stdin);
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(&regex_of(env!("CARGO_TARGET_TMPDIR")), "[TMP]");
        // Which identifiers come first is the engine's business, and tested there.
        settings.add_filter(r"identifiers: .*(\n {15}.*)*", "identifiers: …");
        settings.add_filter($crate::RECAP, "[RECAP]");
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!($name, $crate::seen(&output)));
    }};
}

/// A recap: what it says is the engine's business, and tested there.
pub const RECAP: &str = r"(?s)## Conversation Summary\n.*?\[End of recap[^\n]*";

/// A path as a pattern.
pub fn regex_of(path: &str) -> String {
    path.chars().flat_map(|c| if c.is_alphanumeric() { vec![c] } else { vec!['\\', c] }).collect()
}
