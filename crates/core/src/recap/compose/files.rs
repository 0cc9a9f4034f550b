//! The section of a recap that lists the used files.

use super::RecapWriter;
use crate::recap::escape;
use crate::recap::file_uses::FileUses;
use crate::recap::gather::FileUse;
use crate::recap::section;

/// Longest path, in characters.
const PATH: usize = 300;

impl RecapWriter<'_> {
    /// Writes the files section within `allowed` tokens, and returns it with the number of files that it names.
    /// Changed files come first; files that were only read are listed where `read` is true.
    pub(super) fn files(&self, allowed: u64, read: bool) -> (String, usize) {
        if self.frame.file_blocks {
            return self.file_blocks(allowed);
        }
        let mut text = format!("### {}\n", section::FILES);
        let mut listed = 0;
        let mut room = allowed.saturating_sub(self.cost(&text));
        let lists = [
            ("changed", FileUseKind::Changed),
            ("scratch", FileUseKind::Scratch),
            ("read", FileUseKind::Read),
        ];
        for (label, kind) in lists.into_iter().take(if read { 3 } else { 1 }) {
            // A changed file has the number of its last change, because a read since then changed nothing.
            let entry = |(path, used): (&str, &FileUse)| {
                let path = escape::inline(&self.printer.listed(path), PATH);
                match used.changed.or(used.message) {
                    None => path,
                    Some(message) => path + &self.frame.numbers.after(message),
                }
            };
            let paths: Vec<String> = files(&self.files, &[kind]).into_iter().map(entry).collect();
            let line = |n: usize| format!("{label}: {}\n", paths[..n].join(", "));
            let n = most(1, paths.len(), |n| self.cost(&line(n)) <= room);
            if n > 0 {
                room = room.saturating_sub(self.cost(&line(n)));
                text.push_str(&line(n));
                listed += n;
            }
        }
        if listed == 0 { (String::new(), 0) } else { (text, listed) }
    }

    /// Writes the changed and the read files as two blocks of tags, within `allowed` tokens.
    fn file_blocks(&self, allowed: u64) -> (String, usize) {
        let (mut rest, mut listed) = (allowed, 0);
        let mut text = String::new();
        let paths = |kinds: &[FileUseKind]| -> Vec<String> {
            files(&self.files, kinds).iter().map(|(path, _)| escape::inline(path, PATH)).collect()
        };
        let (changed, read) =
            (paths(&[FileUseKind::Changed, FileUseKind::Scratch]), paths(&[FileUseKind::Read]));
        let whole = |label: &str, paths: &[String]| match paths {
            [] => String::new(),
            paths => format!("<{label}>\n{}\n</{label}>\n", paths.join("\n")),
        };
        // The block of read files keeps up to a third of the room, so that it does not vanish where many files
        // changed.
        let for_read = self.cost(&whole("read-files", &read)).min(allowed / 3);
        for (label, paths, reserved) in
            [("modified-files", changed, for_read), ("read-files", read, 0)]
        {
            let block = |n: usize| whole(label, &paths[..n]);
            let room = rest.saturating_sub(reserved);
            let n = most(1, paths.len(), |n| self.cost(&block(n)) <= room);
            if n > 0 {
                rest = rest.saturating_sub(self.cost(&block(n)));
                text.push_str(&block(n));
                listed += n;
            }
        }
        (text, listed)
    }
}

/// The largest `n ≤ max` for which `fits` holds; 0 where none does. `fits` has to be true up to some `n` and false
/// above it.
///
/// The search starts at `about` and doubles its step, because each call of `fits` counts the tokens of a text.
pub(super) fn most(about: usize, max: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high, mut step) = (about.min(max), max, 1);
    while low > 0 && !fits(low) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    // From here on `low` fits or is 0, and nothing above `high` fits.
    let mut step = 1;
    while low < high {
        let next = (low + step).min(high);
        if !fits(next) {
            high = next - 1;
            break;
        }
        low = next;
        step *= 2;
    }
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// The use of a file that a recap lists. A file that was read and changed is listed as changed only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileUseKind {
    Changed,
    /// A changed file in a folder for temporary files, or one that was removed again.
    Scratch,
    Read,
}

impl FileUseKind {
    fn of(used: &FileUse) -> Self {
        match used {
            FileUse { modified: true, scratch: true, .. } => Self::Scratch,
            FileUse { modified: true, .. } => Self::Changed,
            _ => Self::Read,
        }
    }
}

/// The files with one of these uses, the newest use first.
fn files<'f>(all: &'f FileUses<'_>, uses: &[FileUseKind]) -> Vec<(&'f str, &'f FileUse)> {
    let mut listed: Vec<_> = all
        .iter()
        .filter(|(_, used)| !(used.is_removed && used.scratch))
        .filter(|(_, used)| uses.contains(&FileUseKind::of(used)))
        .map(|(path, used)| (path.as_str(), used))
        .collect();
    listed.sort_by(|a, b| b.1.last.cmp(&a.1.last).then_with(|| a.0.cmp(b.0)));
    listed
}
