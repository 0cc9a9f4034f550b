//! The only module that writes: to standard output, standard error and files. It knows colours and widths.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use midfold_args::ColorChoice;
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

use crate::error::CommandError;
use crate::visible::{visible, visible_bytes};

/// Columns of a line where the width of the terminal is not known.
const WIDTH: usize = 80;
/// The most columns of a line. Longer lines are hard to read.
const WIDEST: usize = 140;

/// Whether a stream shows colours, and its width.
#[derive(Clone, Copy, Debug)]
pub struct OutputStyle {
    /// Whether colours are used.
    pub color: bool,
    /// The width in columns.
    pub width: usize,
}

/// Colours, and dim and bold text. Each has a meaning of its own in outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputColor {
    Red,
    Green,
    Yellow,
    Magenta,
    Cyan,
    Dim,
    Bold,
}

impl OutputColor {
    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Magenta => "35",
            Self::Cyan => "36",
            Self::Dim => "2",
            Self::Bold => "1",
        }
    }
}

impl OutputStyle {
    /// `text` in this colour.
    pub fn paint(&self, color: OutputColor, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{}m{text}\x1b[0m", color.code())
        } else {
            text.to_owned()
        }
    }
}

/// Writes to standard output, standard error and files.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    when: ColorChoice,
}

impl Output {
    pub fn new(when: ColorChoice) -> Self {
        Self { when }
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// The style of standard output.
    pub fn stdout_style(&self) -> OutputStyle {
        let out = io::stdout();
        OutputStyle { color: self.color(out.is_terminal()), width: width(terminal_size_of(&out)) }
    }

    /// The style of standard error.
    pub fn stderr_style(&self) -> OutputStyle {
        let err = io::stderr();
        OutputStyle { color: self.color(err.is_terminal()), width: width(terminal_size_of(&err)) }
    }

    fn color(&self, terminal: bool) -> bool {
        match self.when {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                terminal && !set("NO_COLOR") && !dumb
            }
        }
    }

    /// Writes to standard output. If nobody reads it any more (`| head`), the command ends without a message.
    pub fn stdout(&self, bytes: impl AsRef<[u8]>) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        let bytes = match out.is_terminal() {
            true => visible_bytes(bytes.as_ref()),
            false => bytes.as_ref().into(),
        };
        let written = out.write_all(&bytes).and_then(|()| out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CommandError::silent(0),
            _ => CommandError::failed(format!("standard output cannot be written: {error}")),
        })
    }

    /// Writes to standard error. A failure is ignored, because there is nowhere to report it.
    pub fn stderr(&self, text: &str) {
        let mut out = io::stderr().lock();
        let text = if out.is_terminal() { visible(text) } else { text.into() };
        let _ = out.write_all(text.as_bytes());
    }

    /// Writes a file as a whole or not at all: the old file stays until the new text is complete.
    pub fn file(&self, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
        // A rename would replace a pipe or a device by a file.
        let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
        let written = if special { fs::write(path, bytes) } else { replace(path, bytes) };
        written.map_err(|error| {
            CommandError::failed(format!(
                "{} cannot be written: {}",
                path.display(),
                reason(&error)
            ))
        })
    }

    /// As [`Self::file`]. The folder is made where it does not exist.
    pub fn file_in_its_folder(&self, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder).map_err(|error| {
            let (folder, why) = (folder.display(), reason(&error));
            CommandError::failed(format!("the folder {folder} cannot be made: {why}"))
        })?;
        self.file(path, bytes)
    }

    /// Writes an error and its hints.
    pub fn error(&self, error: &CommandError) {
        if error.message.is_empty() {
            return;
        }
        let style = self.stderr_style();
        let mut text = format!("{} {}\n", style.paint(OutputColor::Red, "error:"), error.message);
        for hint in &error.hints {
            text += &format!("{} {hint}\n", style.paint(OutputColor::Cyan, "hint:"));
        }
        self.stderr(&text);
    }
}

/// The shortest time between two updates of a progress line.
pub const EVERY: Duration = Duration::from_millis(200);

/// One line on a terminal that is overwritten again and again. Nothing is shown where standard error is no terminal.
#[derive(Clone, Copy, Debug)]
pub struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    /// A line on standard error. It is not shown if `quiet`, or if standard error is no terminal.
    pub fn new(quiet: bool) -> Self {
        Self { shown: !quiet && io::stderr().is_terminal() }
    }

    /// Whether the line is shown. If it is not, callers can skip costly texts.
    pub fn is_shown(self) -> bool {
        self.shown
    }

    /// Overwrites the line. The text is cut to the width, because a longer one would wrap and its first row could not
    /// be overwritten.
    pub fn say(self, text: &str) {
        if self.shown {
            let columns = terminal_size_of(io::stderr()).map_or(WIDTH, |(Width(n), _)| n.into());
            let text = visible(text);
            let text = cut(&text, columns.saturating_sub(1));
            let _ = write!(io::stderr().lock(), "\r\x1b[2K{text}");
        }
    }

    /// Clears the line.
    pub fn end(self) {
        if self.shown {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}

/// The start of a text that fits into the given number of columns.
pub fn cut(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &behind_links(path)?;
    if has_other_names(path) {
        // Hard links: the other names of the file have to get the new text too, so it is written in place.
        return fs::write(path, bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // In the same folder, because a rename does not cross file systems.
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = fs::write(&part, bytes).and_then(|()| {
        if let Ok(old) = fs::metadata(path) {
            fs::set_permissions(&part, old.permissions())?;
        }
        fs::rename(&part, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// The most symbolic links that are followed one after another. Operating systems have a similar limit.
const MOST_LINKS: usize = 40;

/// The path of a file behind its symbolic links, so that a link stays a link and its target is replaced. The target
/// need not exist yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().map(|folder| folder.join(&target)).unwrap_or(target);
    }
    Err(io::Error::other("its links lead to each other"))
}

#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).is_ok_and(|meta| meta.nlink() > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> bool {
    false
}

/// The system's message without the error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

fn width(terminal: Option<(Width, terminal_size::Height)>) -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width = told.or(terminal.map(|(Width(columns), _)| usize::from(columns))).unwrap_or(WIDTH);
    width.clamp(40, WIDEST)
}
