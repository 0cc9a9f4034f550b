//! Decides where the results of several transcripts go: under the transcripts' names, and never over a transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use midfold_args::CompactArgs;

use crate::error::CommandError;
use crate::paths::{FoundFile, unpacked};
use crate::stdin::is_stdin;

/// A transcript and the paths of its result and its record. A preview has no paths.
pub struct CompactTarget {
    pub transcript: FoundFile,
    pub output: Option<PathBuf>,
    pub record: Option<PathBuf>,
}

/// The name of a transcript with its target, or with the reason why its result cannot be written.
pub type PlacedTarget = (String, Result<CompactTarget, CommandError>);

/// Finds the target of every result. If two results have the same target, the later transcript gets an error of its own
/// and the others go on. If a result would overwrite a transcript, the whole command fails.
pub fn targets(
    args: &CompactArgs,
    files: Vec<FoundFile>,
) -> Result<Vec<PlacedTarget>, CommandError> {
    for (flag, folder) in [("-o", &args.output), ("--record", &args.record)] {
        if let Some(folder) = folder {
            check(flag, folder, &args.files)?;
        }
    }
    let inputs: BTreeSet<PathBuf> = files.iter().map(|file| settled(&file.path)).collect();
    let mut names = BTreeMap::new();
    let mut targets = Vec::with_capacity(files.len());
    for transcript in files {
        let target = placed(args, transcript);
        let places = [&target.output, &target.record].into_iter().flatten();
        let places: Vec<PathBuf> = places.map(|place| settled(place)).collect();
        let name = target.transcript.path.display().to_string();
        // An input that would be lost stops the whole command. Two results in one place are an error of the second
        // alone.
        if let Some(place) = places.iter().find(|place| inputs.contains(*place)) {
            let text = format!("the result of {name} would be written over {}", place.display());
            return Err(CommandError::usage(text).hint("name another folder with -o"));
        }
        let earlier = places.iter().find_map(|place| Some((place, names.get(place)?)));
        let result = match earlier {
            Some((place, earlier)) => {
                let text = format!(
                    "{name}: its result would be written over that of {earlier}, {}",
                    place.display()
                );
                Err(CommandError::failed(text).hint("compact one of them into another folder"))
            }
            None => {
                names.extend(places.into_iter().map(|place| (place, name.clone())));
                Ok(target)
            }
        };
        targets.push((name, result));
    }
    Ok(targets)
}

/// `a/b.jsonl.gz` is written to `OUT/a/b.jsonl`, its record to `DIR/a/b.jsonl.json`.
fn placed(args: &CompactArgs, transcript: FoundFile) -> CompactTarget {
    let file = transcript.name.file_name().unwrap_or_default();
    let mut file = match file.to_str() {
        Some(text) => unpacked(text).into(),
        // A name that is no UTF-8 stays as it is.
        None => file.to_owned(),
    };
    // A folder may be one transcript (of several files). Its result is a single file.
    if transcript.path.is_dir() {
        file.push(".jsonl");
    }
    let mut record = file.clone();
    record.push(".json");
    let output =
        args.output.as_ref().map(|folder| folder.join(transcript.name.with_file_name(file)));
    let record =
        args.record.as_ref().map(|folder| folder.join(transcript.name.with_file_name(record)));
    CompactTarget { transcript, output, record }
}

/// Checks that an output folder is a folder or does not exist yet, and that it lies outside of every folder that is
/// read. Otherwise the next run would read this run's results as transcripts.
fn check(flag: &str, folder: &Path, named: &[PathBuf]) -> Result<(), CommandError> {
    let place = folder.display();
    if is_stdin(folder) || fs::metadata(folder).is_ok_and(|meta| !meta.is_dir()) {
        let text = format!("{flag} {place}: several transcripts need a folder to be written to");
        return Err(CommandError::usage(text).hint("name a folder; it is made if it is not there"));
    }
    let inside = |read: &&PathBuf| read.is_dir() && settled(folder).starts_with(settled(read));
    let Some(read) = named.iter().find(inside) else { return Ok(()) };
    let relation =
        if settled(folder) == settled(read) { "is the folder" } else { "lies in a folder" };
    let text = format!("{flag} {place} {relation} that is read, {}", read.display());
    Err(CommandError::usage(text)
        .hint("name a folder outside of it: nothing is compacted in place"))
}

/// An absolute path with all links resolved. The end of the path may not exist yet.
fn settled(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = whole.ancestors().find_map(|part| Some((part, fs::canonicalize(part).ok()?)));
    let Some((part, real)) = there else { return whole };
    match whole.strip_prefix(part) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}
