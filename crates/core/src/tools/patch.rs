//! Finds the files that a patch changes.

/// The paths in the headers of a patch, in order: `*** Update File: x` and similar lines, and the headers of unified
/// diffs.
pub(super) fn paths(text: &str) -> Vec<String> {
    const MARKS: [&str; 4] =
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let mut out = Vec::new();
    let mut old = None;
    for line in text.lines() {
        if let Some(path) = MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            out.push(path.trim().to_owned());
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = Some(diff_path(path));
        } else if let (Some(path), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            let new = diff_path(path);
            let path = if new == "/dev/null" { before } else { new };
            if path != "/dev/null" {
                out.push(path.to_owned());
            }
        } else {
            old = None;
        }
    }
    out
}

/// The path in the header of a diff, without the time behind a tab, and without `a/` or `b/`.
fn diff_path(header: &str) -> &str {
    let path = header.split('\t').next().unwrap_or(header).trim();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}
