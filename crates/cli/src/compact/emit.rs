//! Writes the results of `midfold compact`: transcripts, records, recaps and reports.

use bytes::Bytes;
use midfold_args::CompactArgs;

use crate::compacted_conversation::CompactedConversation;
use crate::error::CommandError;
use crate::output::{Output, OutputColor};
use crate::picture;
use crate::presets::pretty;
use crate::report::FileReport;
use crate::stdin::is_stdin;
use crate::transcript::{self, flat};
use crate::words::{grouped, printable};

/// How and where the results are written.
pub struct EmitOptions<'a> {
    pub args: &'a CompactArgs,
    pub json: bool,
    pub output: &'a Output,
    /// The name of the input, for reports.
    pub name: &'a str,
    /// The name of the policy.
    pub policy: &'a str,
}

impl EmitOptions<'_> {
    pub fn emit(&self, all: &[CompactedConversation]) -> Result<(), CommandError> {
        let (args, output) = (self.args, self.output);
        if args.preview {
            return match self.json {
                true => output.stdout(objects(all, false)?),
                false => output.stdout(self.preview(all)),
            };
        }
        if let (true, Some(_), None) = (args.show_recap, &args.output, self.file()) {
            let error = "`-o -` and --show-recap both write to standard output";
            return Err(CommandError::usage(error).hint("give -o a file, or leave it out"));
        }
        let result = if self.json { objects(all, true)? } else { transcripts(all) };
        if let Some(path) = &args.record {
            output.file(path, &records(all)?)?;
        }
        if let Some(path) = self.file() {
            output.file(path, &result)?;
        }
        let on_terminal = args.output.is_none() && output.is_terminal() && !self.json;
        match (args.show_recap, on_terminal) {
            (true, _) => self.recaps(all),
            (false, true) => output.stdout(self.seen(all)),
            (false, false) => {
                output.stderr(&self.report(all).text(&output.stderr_style()));
                if self.file().is_none() { output.stdout(result) } else { Ok(()) }
            }
        }
    }

    /// The file of the result. `None` where it goes to standard output.
    fn file(&self) -> Option<&std::path::PathBuf> {
        self.args.output.as_ref().filter(|path| !is_stdin(path))
    }

    fn report<'b>(&'b self, all: &'b [CompactedConversation]) -> FileReport<'b> {
        let preview = self.args.preview.then_some(self.policy);
        FileReport { name: self.name, all, preview }
    }

    /// The text for a terminal, where no result is written: the report, a picture, and a hint how to get the result.
    fn seen(&self, all: &[CompactedConversation]) -> String {
        let style = self.output.stdout_style();
        let mut text = self.report(all).text(&style);
        if let [only] = all {
            text += &picture::folded(&style, only);
        }
        let how = "nothing was written: `-o FILE` writes the result, and so does a pipe\n";
        text + &style.paint(OutputColor::Dim, how)
    }

    /// The text of `--preview`: the report, a picture and the recaps.
    fn preview(&self, all: &[CompactedConversation]) -> String {
        let style = self.output.stdout_style();
        let mut text = self.report(all).text(&style);
        if let [only] = all {
            text += &picture::folded(&style, only);
        }
        for (at, compacted) in all.iter().enumerate() {
            let Ok(recap) = compacted.recap() else { continue };
            let prefix = self.place(at, all.len());
            let title = format!("{prefix}The model would read this where messages were folded:");
            text += &format!("{}\n\n", style.paint(OutputColor::Bold, &title));
            text += &format!("{}\n\n", printable(recap.trim_end()));
        }
        text + &style.paint(OutputColor::Dim, "preview: nothing was written\n")
    }

    /// Prints the recaps, and for each conversation without one the reason. If the result went to a file, the report is
    /// printed too.
    fn recaps(&self, all: &[CompactedConversation]) -> Result<(), CommandError> {
        let style = self.output.stderr_style();
        let mut texts = Vec::new();
        for (at, compacted) in all.iter().enumerate() {
            match compacted.recap() {
                Ok(recap) => texts.push(format!("{}\n", recap.trim_end_matches('\n'))),
                Err(_) if self.file().is_some() => {}
                Err(why) => {
                    let (prefix, why) = (self.place(at, all.len()), grouped(&why.to_string()));
                    let text = format!("{}: {prefix}there is no recap: {why}\n", self.name);
                    self.output.stderr(&style.paint(OutputColor::Yellow, &text));
                }
            }
        }
        if self.file().is_some() {
            self.output.stderr(&self.report(all).text(&style));
        }
        match self.json {
            true => self.output.stdout(objects(all, false)?),
            false => self.output.stdout(texts.join("\n")),
        }
    }

    /// Names one of several conversations, before a message about it. Empty where there is only one.
    fn place(&self, at: usize, count: usize) -> String {
        if count == 1 { String::new() } else { format!("conversation {} of {count}: ", at + 1) }
    }
}

/// The compacted messages in the shape of the input. Several conversations become one line each.
pub fn transcripts(all: &[CompactedConversation]) -> Vec<u8> {
    let transcript = |compacted: &CompactedConversation| {
        transcript::of(&compacted.prepared, &compacted.outcome.context).line()
    };
    match all {
        [only] => transcript::of(&only.prepared, &only.outcome.context).document(),
        _ => all.iter().flat_map(transcript).collect(),
    }
}

/// The folds as JSON: indented where there is one conversation, else one on each line. `null` where a conversation was
/// not folded.
pub fn records(all: &[CompactedConversation]) -> Result<Vec<u8>, CommandError> {
    if let [only] = all {
        return Ok(pretty(&only.fold())?.into_bytes());
    }
    let mut lines = Vec::new();
    for compacted in all {
        lines.extend_from_slice(&encoded(&compacted.fold())?);
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Each conversation as an object `{messages?, system?, tools?, fold, …}` with the members of its report, one on each
/// line.
fn objects(all: &[CompactedConversation], with_messages: bool) -> Result<Vec<u8>, CommandError> {
    let mut out = Vec::new();
    for compacted in all {
        let object = object(compacted, with_messages)?;
        // A single conversation keeps the exact bytes of its messages, even line breaks between tokens. With several,
        // each has to fit on one line.
        out.extend_from_slice(&if all.len() == 1 { object } else { flat(&object) });
        out.push(b'\n');
    }
    Ok(out)
}

fn object(compacted: &CompactedConversation, with_messages: bool) -> Result<Vec<u8>, CommandError> {
    let envelope = &compacted.prepared.source.envelope;
    let messages = with_messages.then(|| {
        Bytes::from(transcript::of(&compacted.prepared, &compacted.outcome.context).messages())
    });
    let members = [
        ("messages", messages),
        ("system", envelope.system.clone()),
        ("tools", envelope.tools.clone()),
        ("fold", Some(encoded(&compacted.fold())?.into())),
    ];
    let mut out = vec![b'{'];
    for (name, value) in members.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        out.extend_from_slice(value);
    }
    // The members of the report follow in the same object. There is always one before them: the fold.
    out.push(b',');
    out.extend_from_slice(&encoded(&compacted.report)?[1..]);
    Ok(out)
}

fn encoded(value: &impl serde::Serialize) -> Result<Vec<u8>, CommandError> {
    serde_json::to_vec(value).map_err(|error| CommandError::failed(error.to_string()))
}
