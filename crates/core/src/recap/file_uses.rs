//! The files of a span: the folder that most of them share, and one entry for each of them.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::recap::gathered_facts::{FileUse, GatheredFacts};

/// The uses of files, by path.
pub(super) type FileUses<'a> = Cow<'a, FxHashMap<String, FileUse>>;

/// The folder that holds at least three quarters of the files by their absolute paths, with its last `/`. `None` where
/// there is no such folder. Of several nested folders, the innermost.
pub(super) fn common_root(gathered: &GatheredFacts) -> Option<String> {
    let absolute = || gathered.files.keys().filter(|path| path.starts_with('/'));
    // A file without a whole path may be anywhere.
    let count = gathered.files.len();
    let mut holds: FxHashMap<&str, usize> = FxHashMap::default();
    for path in absolute() {
        // `/home/` alone says nothing, so folders at the top are left out.
        for (at, _) in path.match_indices('/').skip(2) {
            *holds.entry(&path[..=at]).or_default() += 1;
        }
    }
    let most = holds.into_iter().filter(|(_, number)| *number > 1 && number * 4 >= count * 3);
    // The hash map has no order, so the text decides between folders of equal length.
    most.map(|(root, _)| root).max_by_key(|root| (root.len(), *root)).map(str::to_owned)
}

/// The files by path. One that calls named by its whole path and also from the common folder, or from a folder above
/// it, is one file.
pub(super) fn distinct_files<'a>(gathered: &'a GatheredFacts, root: Option<&str>) -> FileUses<'a> {
    let root = root.unwrap_or_default();
    let folders = || root.match_indices('/').map(|(at, _)| &root[..=at]).rev();
    let whole = |path: &str| {
        let path = path.trim_start_matches("./");
        let known = |path: &String| gathered.files.contains_key(path);
        folders().map(|folder| format!("{folder}{path}")).find(known)
    };
    let relative = gathered.files.keys().filter(|path| !path.starts_with('/'));
    let twice: Vec<(&String, String)> =
        relative.filter_map(|path| Some((path, whole(path)?))).collect();
    let mut files = Cow::Borrowed(&gathered.files);
    for (path, whole) in twice {
        let files = files.to_mut();
        if let Some(own) = files.remove(path)
            && let Some(known) = files.get_mut(&whole)
        {
            known.join(&own);
        }
    }
    files
}
