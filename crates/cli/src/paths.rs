//! Finds out what a path on the command line names: standard input, a file, or the files of a folder.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::output::reason;
use crate::session_folder::SessionFolder;
use crate::stdin::is_stdin;

/// The ends of transcripts' names, before an end of [`PACKED`].
const TRANSCRIPTS: [&str; 3] = [".jsonl", ".json", ".traj"];
/// The ends of packed files' names.
const PACKED: [&str; 2] = [".gz", ".zst"];
/// The same ends, as a hint for people.
const LOOKED_AT: &str =
    "files that end in .jsonl, .json or .traj are looked at, also packed (.gz, .zst)";

/// A file that the user named, or that a named folder holds.
pub struct FoundFile {
    pub path: PathBuf,
    /// The path from the named folder to the file, or the file's name where the user named the file itself.
    pub name: PathBuf,
}

/// The transcripts in a folder.
#[derive(Default)]
pub struct FolderContent {
    pub files: Vec<FoundFile>,
    /// A message for each folder in it that could not be read.
    pub closed: Vec<String>,
}

/// Whether the path is a folder of transcripts. A folder that is one transcript counts as a file.
pub fn is_folder(path: &Path) -> bool {
    !is_stdin(path) && path.is_dir() && SessionFolder::of(path).is_none()
}

/// Whether a file with this name counts as a transcript in a folder.
pub fn is_transcript(name: &str) -> bool {
    let name = unpacked(name);
    TRANSCRIPTS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// The name without the end of a packed file. Other names are returned as they are.
pub fn unpacked(name: &str) -> &str {
    let plain = PACKED.iter().find_map(|end| name.strip_suffix(end));
    plain.filter(|name| !name.is_empty()).unwrap_or(name)
}

/// The transcripts that these paths name: files as they are, and all transcripts in folders.
///
/// An empty folder is an error: whoever named it expects something in it.
pub fn transcripts(named: &[PathBuf]) -> Result<FolderContent, CommandError> {
    let mut all = FolderContent::default();
    for path in named {
        if !is_folder(path) {
            let name = path.file_name().unwrap_or(path.as_os_str()).into();
            all.files.push(FoundFile { path: path.clone(), name });
            continue;
        }
        let place = path.display();
        let FolderContent { files, closed } =
            FolderWalk::of(path, true, &is_transcript).map_err(|error| {
                CommandError::failed(format!("{place} cannot be read: {}", reason(&error)))
            })?;
        if files.is_empty() {
            let text = format!("{place}: there is no transcript in this folder");
            let error = CommandError::failed(text).hint(LOOKED_AT);
            return Err(closed.into_iter().fold(error, CommandError::hint));
        }
        all.files.extend(files);
        all.closed.extend(closed);
    }
    Ok(all)
}

/// The transcripts in a folder and below it. Folders that cannot be read are skipped; the list may be empty.
pub fn transcripts_below(folder: &Path) -> Vec<PathBuf> {
    let walked = FolderWalk::of(folder, true, &is_transcript).unwrap_or_default();
    walked.files.into_iter().map(|file| file.path).collect()
}

/// The files directly in a folder whose names are `wanted`.
pub fn files_in(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let walked = FolderWalk::of(folder, false, wanted)?;
    Ok(walked.files.into_iter().map(|file| file.path).collect())
}

/// A walk through a folder that visits files in the order of their names.
struct FolderWalk<'a> {
    root: &'a Path,
    deep: bool,
    wanted: &'a dyn Fn(&str) -> bool,
    /// The real paths of the folders that were entered. A link back to one of them would make the walk endless.
    entered: BTreeSet<PathBuf>,
    content: FolderContent,
}

impl<'a> FolderWalk<'a> {
    fn of(
        root: &'a Path,
        deep: bool,
        wanted: &'a dyn Fn(&str) -> bool,
    ) -> io::Result<FolderContent> {
        let (entered, content) = (BTreeSet::new(), FolderContent::default());
        let mut walk = Self { root, deep, wanted, entered, content };
        walk.enter(root)?;
        Ok(walk.content)
    }

    fn enter(&mut self, folder: &Path) -> io::Result<()> {
        if !self.entered.insert(fs::canonicalize(folder)?) {
            return Ok(());
        }
        let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            // A path without metadata, such as a link whose target is missing, is skipped. Pipes and devices are
            // skipped below.
            let Ok(meta) = fs::metadata(&path) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if meta.is_dir() && self.deep {
                if SessionFolder::of(&path).is_some() {
                    if self.entered.insert(fs::canonicalize(&path)?) {
                        self.keep(path);
                    }
                } else if let Err(error) = self.enter(&path) {
                    let text = format!("{} cannot be read: {}", path.display(), reason(&error));
                    self.content.closed.push(text);
                }
            } else if meta.is_file() && (self.wanted)(&name) {
                self.keep(path);
            }
        }
        Ok(())
    }

    fn keep(&mut self, path: PathBuf) {
        let name = path.strip_prefix(self.root).unwrap_or(&path).to_owned();
        self.content.files.push(FoundFile { path, name });
    }
}
