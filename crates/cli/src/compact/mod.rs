//! `midfold compact`: compacts transcripts, or shows what a compaction would do.

pub mod cache;
mod emit;
mod job;
mod many;
mod outside;
mod places;

use std::path::Path;

use midfold::core::policy::EngineName;
use midfold_args::CompactArgs;

use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::Output;
use crate::paths::is_folder;
use emit::EmitOptions;
use job::CompactJob;

pub fn run(args: &CompactArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let job = CompactJob::new(args, output)?;
    match args.files.as_slice() {
        [file] if !is_folder(file) => one(file, job, args, json, output),
        _ => many::run(job, args, json, output),
    }
}

/// Compacts one file. The result is written to a file or to standard output.
fn one(
    file: &Path,
    mut job: CompactJob<'_>,
    args: &CompactArgs,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if let (Some(output), Some(record)) = (&args.output, &args.record)
        && same_file(output, record)
    {
        let error = format!("-o and --record both write {}", output.display());
        return Err(CommandError::usage(error).hint("give the record a file of its own"));
    }
    let input = InputFile::load(file)?;
    let policy = job.compaction.policy.clone();
    if let EngineName::Command { command } = &policy.engine {
        return outside::run(command, &input.name, job.prepared(&input)?, args, output);
    }
    if args.cache_check {
        return cache::run(job.prepared(&input)?, &policy, json, output);
    }
    let all = job.compacted(&input)?;
    EmitOptions { args, json, output, name: &input.name, policy: &policy.name }.emit(&all)
}

/// Whether two paths name the same file. The file need not exist.
fn same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    a == b || whole(a).is_ok_and(|a| whole(b).is_ok_and(|b| a == b))
}
