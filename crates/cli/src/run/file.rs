//! A temporary file that exists while a client runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use midfold::store::private;

use crate::host::random;

/// The start of the folders' names. The number and the start time of the process that made the folder follow.
const PREFIX: &str = "midfold-run-";
const FILE: &str = "midfold.js";

/// A file in a folder of its own. Both are removed when it is dropped.
pub struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Makes the file. Only the user can read it.
    pub fn new(text: &str) -> io::Result<Self> {
        let pid = std::process::id();
        // The random part keeps a folder that somebody else made beforehand from being taken for this one.
        let name = format!("{PREFIX}{pid}-{}-{:x}", started(pid).unwrap_or(0), random());
        let folder = std::env::temp_dir().join(name);
        private::folder(&folder)?;
        // Made before the file, so that its drop removes the folder if the file cannot be written.
        let temporary = Self { path: folder.join(FILE) };
        private::file(&temporary.path)?.write_all(text.as_bytes())?;
        Ok(temporary)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        remove(self.path.parent().unwrap_or(Path::new("")));
    }
}

/// Removes the folders of earlier runs that were killed. Folders of other users stay, because they cannot be removed.
pub fn sweep() {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(maker);
        // A symbolic link with such a name was not made by midfold, so it stays.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && maker.is_some_and(|maker| !runs(maker)) {
            remove(&entry.path());
        }
    }
}

/// The process that made a folder, and the time when that process started.
fn maker(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Whether the process still runs. A later process may have the same number, so the start times have to match.
#[cfg(target_os = "linux")]
fn runs((pid, at): (u32, u64)) -> bool {
    started(pid) == Some(at)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn runs((pid, _): (u32, u64)) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn runs(_: (u32, u64)) -> bool {
    // There is no way to ask here. All folders stay until the system clears its temporary files.
    true
}

/// The time when a process started, in clock ticks since the system started. `None` where the system does not say.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name is in brackets and may hold spaces and brackets itself, so fields are counted after the last
    // bracket.
    let rest = stat.rsplit_once(") ")?.1;
    rest.split(' ').nth(19)?.parse().ok()
}

/// Removes the file and its folder. The folder stays if somebody put another file into it.
fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILE));
    let _ = fs::remove_dir(folder);
}
