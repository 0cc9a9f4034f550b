//! Writes to standard output, standard error and, through `whole_file`, to files. It knows colours and widths.

use std::borrow::Cow;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use midfold_args::ColorChoice;
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthChar;

use crate::error::CommandError;
use crate::stdin::is_stdin;
use crate::visible::{painted, visible, visible_bytes, with_plain_codes};
use crate::whole_file::{FileReaders, WholeFile};

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
        if self.color && !text.is_empty() { painted(color.code(), text) } else { text.to_owned() }
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
                terminal && !set("NO_COLOR") && !is_dumb()
            }
        }
    }

    /// Writes to standard output. If nobody reads it any more (`| head`), the command ends without a message.
    pub fn stdout(&self, bytes: impl AsRef<[u8]>) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        let bytes = shown_bytes(bytes.as_ref(), out.is_terminal());
        let written = out.write_all(&bytes).and_then(|()| out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CommandError::silent(0),
            _ => CommandError::failed(format!("standard output cannot be written: {error}")),
        })
    }

    /// Writes to standard error. A failure is ignored, because there is nowhere to report it.
    pub fn stderr(&self, text: &str) {
        let mut out = io::stderr().lock();
        let bytes = shown_bytes(text.as_bytes(), out.is_terminal());
        let _ = out.write_all(&bytes);
    }

    /// Writes a file as a whole or not at all: the old file stays until the new text is complete.
    pub fn file(&self, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
        OpenedFile::open(path)?.write(bytes)
    }

    /// Opens the file of `--output`, so that a command which changes something fails before it does. `None` where the
    /// result goes to standard output.
    pub fn open<'a>(&self, path: Option<&'a Path>) -> Result<Option<OpenedFile<'a>>, CommandError> {
        path.filter(|path| !is_stdin(path)).map(OpenedFile::open).transpose()
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

/// A file that can be written. The old one stays until the new text is complete.
#[derive(Debug)]
pub struct OpenedFile<'a> {
    path: &'a Path,
    file: WholeFile,
}

impl<'a> OpenedFile<'a> {
    fn open(path: &'a Path) -> Result<Self, CommandError> {
        let file = WholeFile::open(path, FileReaders::Usual);
        file.map(|file| Self { path, file }).map_err(|error| unwritten(path, &error))
    }

    /// Writes the whole text.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), CommandError> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.finish());
        written.map_err(|error| unwritten(self.path, &error))
    }
}

/// The bytes as a terminal or a file gets them.
fn shown_bytes(bytes: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if is_terminal { visible_bytes(bytes) } else { with_plain_codes(bytes) }
}

fn unwritten(path: &Path, error: &io::Error) -> CommandError {
    CommandError::failed(format!("{} cannot be written: {}", path.display(), reason(error)))
}

/// Whether the terminal knows no codes: those that color a text, or overwrite a line.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The shortest time between two updates of a progress line.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// One line on a terminal that is overwritten again and again. Nothing is shown where standard error is no terminal.
#[derive(Clone, Copy, Debug)]
pub struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    /// A line on standard error. It is not shown if `quiet`, or if standard error is no terminal that can overwrite it.
    pub fn new(quiet: bool) -> Self {
        Self { shown: !quiet && io::stderr().is_terminal() && !is_dumb() }
    }

    /// Whether the line is shown. If it is not, callers can skip costly texts.
    pub fn is_shown(self) -> bool {
        self.shown
    }

    /// Overwrites the line. The text is cut to the width, because a longer one would wrap and its first row could not
    /// be overwritten.
    pub fn show(self, text: &str) {
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

/// The system's message without the error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

fn width(terminal: Option<(Width, terminal_size::Height)>) -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let width =
        variable.or(terminal.map(|(Width(columns), _)| usize::from(columns))).unwrap_or(WIDTH);
    width.clamp(40, WIDEST)
}
