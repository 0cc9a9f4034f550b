//! The name of standard input among paths.

use std::path::Path;

/// Whether the path is `-`, which names standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}
