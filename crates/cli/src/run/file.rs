//! A file that is there for as long as a client runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use midfold::store::private;

use crate::host::random;

/// A file in a folder of its own, gone when it is dropped.
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Makes it, for the user alone.
    pub fn new(text: &str) -> io::Result<Self> {
        let name = format!("midfold-{}-{:x}", std::process::id(), random());
        let folder = std::env::temp_dir().join(name);
        private::folder(&folder)?;
        let made = Self { path: folder.join("midfold.js") };
        private::file(&made.path)?.write_all(text.as_bytes())?;
        Ok(made)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.path.parent().map(fs::remove_dir);
    }
}
