//! `midfold check file`: checks a compacted transcript against the original.

use bytes::Bytes;
use midfold::core::verify::ProofReport;
use midfold::formats::read::TranscriptFormat;
use midfold::formats::verify;
use midfold::{Fold, PreparedConversation};
use midfold_args::{MeasureArgs, VerifyArgs};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{Output, OutputColor};
use crate::page::LabelledPage;
use crate::prepare;
use crate::words::{number, plural};

/// One conversation and the result of its checks.
struct CheckedConversation {
    number: usize,
    report: ProofReport,
    recorded: bool,
    /// The most tokens that it may count. `None` where no window is known.
    budget: Option<u64>,
}

pub fn run(args: &VerifyArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let from = prepare::format(args.from.as_deref())?;
    let folds = args.record.as_deref().map(|path| records(&InputFile::load(path)?)).transpose()?;
    let mut setup = prepare::setup(&measure(args, folds.as_deref()), args.to.as_deref())?;
    let [before, after] = [InputFile::load(&args.before)?, InputFile::load(&args.after)?];
    let conversations = before.conversations(from)?.conversations;
    let prepared =
        conversations.into_iter().map(|one| setup.prepare(one)).collect::<Result<Vec<_>, _>>()?;
    // The compacted list may not show its dialect any more, so that of the original is used.
    let format = prepared.first().map(|first| TranscriptFormat::from(first.kind));
    let after_all = after.conversations(format)?.conversations;
    same_number(
        (&before.name, (prepared.len(), "conversation")),
        (&after.name, (after_all.len(), "conversation")),
    )?;
    if let Some(folds) = &folds {
        let record = args.record.as_ref().map_or(String::new(), |path| path.display().to_string());
        same_number(
            (&before.name, (prepared.len(), "conversation")),
            (&record, (folds.len(), "record")),
        )?;
    }
    let mut all = Vec::with_capacity(prepared.len());
    for (at, (prepared, after)) in prepared.iter().zip(after_all).enumerate() {
        let fold = folds.as_ref().and_then(|folds| folds.get(at)?.as_ref());
        let after: Vec<Bytes> = after.events.into_iter().map(|event| event.bytes).collect();
        all.push(check(at + 1, prepared, &after, fold));
    }
    if json {
        let lines: Vec<String> = all.iter().map(|one| one.to_json().to_string() + "\n").collect();
        output.stdout(lines.concat())?;
    } else {
        output.stdout(page(&all, folds.is_some(), output))?;
    }
    let findings: usize = all.iter().map(|one| one.report.findings.len()).sum();
    if findings == 0 { Ok(()) } else { Err(CommandError::silent(1)) }
}

/// The flags for counting. Without a flag the counter and the profile of the recorded fold are used, because its
/// figures came from them.
fn measure(args: &VerifyArgs, folds: Option<&[Option<Fold>]>) -> MeasureArgs {
    let fold = folds.into_iter().flatten().flatten().next();
    let given = &args.measure;
    MeasureArgs {
        window: given.window,
        tokenizer: given.tokenizer.clone().or_else(|| fold.map(|fold| fold.counter.clone())),
        profile: given.profile.clone().or_else(|| fold.map(|fold| fold.profile.clone())),
    }
}

/// The recorded folds: one, or one on each line. `null`, read as `None`, is a conversation without a fold.
fn records(input: &InputFile) -> Result<Vec<Option<Fold>>, CommandError> {
    let stream = serde_json::Deserializer::from_slice(&input.bytes).into_iter::<Option<Fold>>();
    let folds = stream.collect::<Result<Vec<_>, _>>().map_err(|error| {
        CommandError::failed(format!("{} is no record of a fold: {error}", input.name))
            .hint("`midfold compact FILE --record RECORD` writes one")
    })?;
    if folds.is_empty() {
        return Err(CommandError::failed(format!("{}: the file is empty", input.name)));
    }
    Ok(folds)
}

/// A number of things, and their name in the singular.
type NamedCount = (usize, &'static str);

/// Fails if two files do not have as many things.
fn same_number(
    (before, one): (&str, NamedCount),
    (other, two): (&str, NamedCount),
) -> Result<(), CommandError> {
    if one.0 == two.0 {
        return Ok(());
    }
    let words = |(number, noun): NamedCount| plural(number as u64, noun);
    let message = format!("{before} has {}, but {other} has {}", words(one), words(two));
    Err(CommandError::failed(message).hint("both have to come from one run of `midfold compact`"))
}

fn check(
    number: usize,
    prepared: &PreparedConversation,
    after: &[Bytes],
    fold: Option<&Fold>,
) -> CheckedConversation {
    let budget = prepared.limit(fold);
    let envelope = &prepared.source.envelope;
    let report = verify::check(prepared.kind, &prepared.log, envelope, after, fold, budget);
    CheckedConversation { number, report, recorded: fold.is_some(), budget }
}

impl CheckedConversation {
    fn to_json(&self) -> Value {
        let findings = self.report.findings.iter();
        let findings =
            findings.map(|f| json!({ "rule": f.rule, "message": f.at, "detail": f.detail }));
        let checked =
            self.report.checked.iter().map(|(rule, count)| ((*rule).to_owned(), json!(count)));
        json!({
            "conversation": self.number,
            "ok": self.report.is_clean(),
            "record": self.recorded,
            "budget": self.budget,
            "violations": findings.collect::<Vec<_>>(),
            "checked": checked.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// `has_record` says that a file of records was given.
fn page(all: &[CheckedConversation], has_record: bool, output: &Output) -> String {
    let style = output.stdout_style();
    let mut page = LabelledPage { style: &style, text: String::new() };
    let findings: usize = all.iter().map(|one| one.report.findings.len()).sum();
    let checks: u64 = all.iter().flat_map(|one| &one.report.checked).map(|(_, count)| count).sum();
    let mut rules: Vec<&str> = Vec::new();
    for (rule, _) in all.iter().flat_map(|one| &one.report.checked) {
        if !rules.contains(rule) {
            rules.push(rule);
        }
    }
    if findings == 0 {
        page.title(
            OutputColor::Green,
            &format!("verified: {} checks, no violation", number(checks)),
        );
    } else {
        page.title(
            OutputColor::Red,
            &format!("{} violation(s) in {} checks", findings, number(checks)),
        );
    }
    for one in all {
        let place =
            if all.len() > 1 { format!("conversation {}, ", one.number) } else { String::new() };
        for finding in &one.report.findings {
            let at = finding.at.map_or(String::new(), |at| format!("message {at}: "));
            let rule = style.paint(OutputColor::Yellow, finding.rule);
            page.text += &format!("  {rule}: {place}{at}{}\n", finding.detail);
        }
    }
    page.field("rules", &rules.join(", "));
    let recorded = all.iter().filter(|one| one.recorded).count();
    match recorded {
        0 if has_record => page.field("record", "it says that nothing was folded"),
        0 => page.field("record", "none: the fold itself was not checked (give --record)"),
        n if n == all.len() => page.field("record", "checked"),
        n => page
            .field("record", &format!("checked for {n} conversations, the others were not folded")),
    }
    match all {
        [CheckedConversation { budget: Some(budget), .. }] => {
            page.field("budget", &format!("at most {} counted tokens", number(*budget)));
        }
        _ if all.iter().all(|one| one.budget.is_some()) => page.field("budget", "checked"),
        _ => page.field("budget", "not checked: nothing tells the window (give --window)"),
    }
    page.text
}
