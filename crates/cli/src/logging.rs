//! Shows what the crates report with `tracing`: to people (`-v`) or as JSON to programs (`--log`).

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::sync::Mutex;

use midfold_args::LoggingArgs;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::CommandError;
use crate::output::reason;
use crate::visible::{ColourSource, VisibleStream};

/// Starts the logs that the flags ask for. Without flags a server reports what it does besides passing requests on, and
/// other commands report nothing.
pub fn start(args: &LoggingArgs, is_server: bool) -> Result<(), CommandError> {
    let level = match (args.verbose, is_server) {
        (0, true) if args.log.is_none() => Some(LevelFilter::INFO),
        (0, _) => None,
        (1, false) => Some(LevelFilter::INFO),
        (1, true) | (2, false) => Some(LevelFilter::DEBUG),
        _ => Some(LevelFilter::TRACE),
    };
    if level.is_none() && args.log.is_none() {
        return Ok(());
    }
    let people = level.map(|level| {
        tracing_subscriber::fmt::layer()
            .with_writer(|| VisibleStream::new(std::io::stderr(), ColourSource::Logs))
            .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
            .with_filter(own_targets(level))
    });
    let programs = match &args.log {
        None => None,
        Some(path) => {
            let writer = if path.as_os_str() == "-" {
                BoxMakeWriter::new(|| VisibleStream::new(std::io::stderr(), ColourSource::Own))
            } else {
                let file = OpenOptions::new().create(true).append(true).open(path);
                let file = file.map_err(|error| {
                    let text = format!("{} cannot be written: {}", path.display(), reason(&error));
                    CommandError::failed(text).hint("--log takes a file, or - for standard error")
                })?;
                BoxMakeWriter::new(Mutex::new(file))
            };
            let lines =
                tracing_subscriber::fmt::layer().json().flatten_event(true).with_span_list(false);
            Some(lines.with_writer(writer).with_filter(own_targets(LevelFilter::DEBUG)))
        }
    };
    // A second start in one process would fail. The command starts it once.
    let _ = tracing_subscriber::registry().with(people).with(programs).try_init();
    Ok(())
}

/// Only events of this project. Reports of its libraries about sockets and statements help no user.
fn own_targets(level: LevelFilter) -> Targets {
    Targets::new().with_target("midfold", level)
}
