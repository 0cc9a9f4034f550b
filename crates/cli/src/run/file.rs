//! A file that is there for as long as a client runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use midfold::store::private;

use crate::host::random;

/// What the names of these folders begin with; who made them follows.
const PREFIX: &str = "midfold-run-";
const FILE: &str = "midfold.js";

/// A file in a folder of its own, gone when it is dropped.
pub struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    /// Makes it, for the user alone.
    pub fn new(text: &str) -> io::Result<Self> {
        let pid = std::process::id();
        let name = format!("{PREFIX}{pid}-{}-{:x}", started(pid).unwrap_or(0), random());
        let folder = std::env::temp_dir().join(name);
        private::folder(&folder)?;
        let made = Self { path: folder.join(FILE) };
        private::file(&made.path)?.write_all(text.as_bytes())?;
        Ok(made)
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

/// Takes away what runs left behind that were killed. What is another user's stays: it cannot be removed.
pub fn sweep() {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(maker);
        // A link of this name is nobody's whose maker is known.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && maker.is_some_and(|maker| !runs(maker)) {
            remove(&entry.path());
        }
    }
}

/// The process that made a folder, and when that started.
fn maker(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Whether the process runs still. Its number may be another one's by now, which started at another time.
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
    // Nobody says: what is there stays, until the system clears its temporary files.
    true
}

/// When a process started, in ticks since the system did.
fn started(pid: u32) -> Option<u64> {
    let said = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets, with whatever is in it.
    let rest = said.rsplit_once(") ")?.1;
    rest.split(' ').nth(19)?.parse().ok()
}

/// Removes the file and its folder, and nothing else that somebody put there.
fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILE));
    let _ = fs::remove_dir(folder);
}
