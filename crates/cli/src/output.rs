//! The only place that writes: standard output, standard error, files, colours, widths.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use midfold_args::ColorChoice;
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

use crate::error::CommandError;
use crate::visible::{visible, visible_bytes};

/// Width of a line where nobody tells.
const WIDTH: usize = 80;
/// Wider lines are hard to read.
const WIDEST: usize = 140;

/// How to write to one of the two streams.
#[derive(Clone, Copy, Debug)]
pub struct OutputStyle {
    /// Colours.
    pub color: bool,
    /// Columns.
    pub width: usize,
}

/// The colours that mean something here.
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

/// Standard output and standard error.
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

    /// How to write to standard output.
    pub fn stdout_style(&self) -> OutputStyle {
        let out = io::stdout();
        OutputStyle { color: self.color(out.is_terminal()), width: width(terminal_size_of(&out)) }
    }

    /// How to write to standard error.
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

    /// Writes to standard output. A reader that left (`| head`) ends the command, silently.
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

    /// Writes to standard error. Nobody can be told when that fails.
    pub fn stderr(&self, text: &str) {
        let mut out = io::stderr().lock();
        let text = if out.is_terminal() { visible(text) } else { text.into() };
        let _ = out.write_all(text.as_bytes());
    }

    /// Writes a file, whole or not at all: what stood there stays until the new text is complete.
    pub fn file(&self, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
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

    /// The same, in a folder that is made where it is not there yet.
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

/// How often such a line is written.
pub const EVERY: Duration = Duration::from_millis(200);

/// One line on a terminal that is written over; nothing where nobody looks.
#[derive(Clone, Copy, Debug)]
pub struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    /// A line on standard error, where that is a terminal and it is not to be `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { shown: !quiet && io::stderr().is_terminal() }
    }

    /// Whether anybody looks: what is costly to say need not be.
    pub fn is_shown(self) -> bool {
        self.shown
    }

    /// Writes the line over. A longer one would be broken, and its first half stay there for ever: it
    /// is cut to the width.
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

/// As much of a text as fits into so many columns.
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
        // It stays one file under all of them.
        return fs::write(path, bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
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

/// Links that are followed one after another; systems follow about as many.
const MOST_LINKS: usize = 40;

/// Where a file is, or is to be: a link stays a link, and its target is what gets replaced, also where that is not
/// there yet.
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

/// What the system said, without its number.
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
