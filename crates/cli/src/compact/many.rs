//! `midfold compact` of folders and of several files: one line and one result for each.

use midfold::core::policy::EngineName;
use midfold::plural;
use midfold_args::CompactArgs;
use serde_json::{Value, json};

use super::emit::{records, transcripts};
use super::job::CompactJob;
use super::places::{CompactTarget, targets};
use crate::compacted_conversation::CompactedConversation;
use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{Output, OutputColor};
use crate::paths::{FolderContent, transcripts as transcripts_of};
use crate::report::{one_line, percent_change, sums};
use crate::words::number;

pub fn run(
    mut job: CompactJob<'_>,
    args: &CompactArgs,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    check(&job, args)?;
    let FolderContent { files, closed } = transcripts_of(&args.files)?;
    let targets = targets(args, files)?;
    let mut sum = FileTotals::default();
    for text in closed {
        sum.failed += 1;
        output.error(&CommandError::failed(text));
    }
    for (name, target) in targets {
        let outcome = target.and_then(|target| FileOutcome::of(&mut job, target, output));
        match outcome {
            Ok(outcome) => {
                sum.add(&outcome);
                match (json, args.preview) {
                    (true, _) => output.stdout(format!("{}\n", outcome.to_json()))?,
                    (false, true) => output.stdout(outcome.line())?,
                    (false, false) => output.stderr(&outcome.line()),
                }
            }
            Err(error) => {
                sum.failed += 1;
                output.error(&error);
                if json {
                    let object = json!({ "file": name, "error": error.message });
                    output.stdout(format!("{object}\n"))?;
                }
            }
        }
    }
    let line = output.stderr_style().paint(OutputColor::Bold, &sum.line(args.preview));
    output.stderr(&format!("{line}\n"));
    if sum.failed > 0 { Err(CommandError::silent(1)) } else { Ok(()) }
}

/// Refuses flags that need a single transcript.
fn check(job: &CompactJob<'_>, args: &CompactArgs) -> Result<(), CommandError> {
    let wrong = |text: &str, hint: &str| Err(CommandError::usage(text).hint(hint));
    let single = [("--show-recap", args.show_recap), ("--cache-check", args.cache_check)];
    if let Some((flag, _)) = single.iter().find(|(_, is_set)| *is_set) {
        return wrong(&format!("{flag} takes one transcript"), "name a single file");
    }
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        let hint = "write it to a file first, or compact it alone";
        return wrong("standard input has no name, and each result needs one", hint);
    }
    if matches!(job.compaction.policy.engine, EngineName::Command { .. }) {
        let text = "a policy whose engine is a command takes one transcript";
        return wrong(text, "name a single file, once for each");
    }
    if args.output.is_none() && !args.preview {
        let text = "several transcripts need a folder to be written to";
        return wrong(text, "-o FOLDER names it; --preview says what would be done without one");
    }
    Ok(())
}

/// The result of one file: its conversations, and where they were written.
struct FileOutcome {
    target: CompactTarget,
    all: Vec<CompactedConversation>,
}

impl FileOutcome {
    fn of(
        job: &mut CompactJob<'_>,
        target: CompactTarget,
        output: &Output,
    ) -> Result<Self, CommandError> {
        let input = InputFile::load(&target.transcript.path)?;
        let outcome = Self { all: job.compacted(&input)?, target };
        if let Some(path) = &outcome.target.record {
            output.file_in_its_folder(path, &records(&outcome.all)?)?;
        }
        if let Some(path) = &outcome.target.output {
            let result = match outcome.is_unchanged() {
                true => input.bytes,
                false => transcripts(&outcome.all).into(),
            };
            output.file_in_its_folder(path, &result)?;
        }
        Ok(outcome)
    }

    /// Whether nothing was folded or converted. The input's bytes are the result then.
    fn is_unchanged(&self) -> bool {
        self.all.iter().all(|compacted| compacted.fold().is_none() && !compacted.prepared.converted)
    }

    fn folded(&self) -> usize {
        self.all.iter().filter(|compacted| compacted.fold().is_some()).count()
    }

    fn notes(&self) -> u64 {
        self.all.iter().map(|compacted| compacted.report.problems.len() as u64).sum()
    }

    fn line(&self) -> String {
        let text = match self.all.as_slice() {
            [only] => one_line(only),
            all => {
                let (before, after) = sums(all);
                let [count, folded] = [all.len(), self.folded()].map(|n| number(n as u64));
                match self.folded() {
                    0 => format!("{} tokens, {count} conversations, unchanged", number(after)),
                    _ => format!(
                        "{} → {} tokens, {folded} of {count} conversations compacted",
                        number(before),
                        number(after)
                    ),
                }
            }
        };
        let notes = match self.notes() {
            0 => String::new(),
            count => format!(", {}", plural(count, "problem")),
        };
        format!("{}: {text}{notes}\n", self.target.transcript.path.display())
    }

    fn to_json(&self) -> Value {
        let (before, after) = sums(&self.all);
        let CompactTarget { transcript, output, record } = &self.target;
        json!({
            "file": transcript.path.display().to_string(),
            "output": output.as_ref().map(|path| path.display().to_string()),
            "record": record.as_ref().map(|path| path.display().to_string()),
            "conversations": self.all.len(),
            "folded": self.folded(),
            "copied": self.is_unchanged(),
            "tokens_before": before,
            "tokens_after": after,
            "problems": self.notes(),
        })
    }
}

/// The sums of all files. `before` and `after` are tokens.
#[derive(Default)]
struct FileTotals {
    folded: u64,
    unchanged: u64,
    failed: u64,
    before: u64,
    after: u64,
}

impl FileTotals {
    fn add(&mut self, outcome: &FileOutcome) {
        let (before, after) = sums(&outcome.all);
        (self.before, self.after) = (self.before + before, self.after + after);
        if outcome.folded() > 0 {
            self.folded += 1;
        } else {
            self.unchanged += 1;
        }
    }

    fn line(&self, preview: bool) -> String {
        let Self { folded, unchanged, failed, before, after } = *self;
        let count = plural(folded + unchanged + failed, "file");
        let verb = if preview { "would be compacted" } else { "compacted" };
        let failed =
            if failed > 0 { format!(", {} failed", number(failed)) } else { String::new() };
        format!(
            "{count}: {} {verb}, {} unchanged{failed}; {} → {} tokens ({})",
            number(folded),
            number(unchanged),
            number(before),
            number(after),
            percent_change(before, after)
        )
    }
}
