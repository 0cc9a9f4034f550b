//! `midfold inspect` of folders and of several files: one line for each conversation.

use midfold::{PlanOutcome, plural};
use midfold_args::InspectArgs;
use serde_json::json;

use super::inspection::{FoldForecast, Inspection};
use super::reading::InspectReader;
use crate::error::CommandError;
use crate::input::InputFile;
use crate::output::{Output, OutputColor, ProgressLine};
use crate::paths::{FolderContent, FoundFile, transcripts};
use crate::table::TextTable;
use crate::words::{number, wrap};

pub fn run(
    mut reading: InspectReader,
    args: &InspectArgs,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let single = [("--only", args.only.is_some()), ("--fold", args.fold.is_some())];
    if let Some((flag, _)) = single.iter().find(|(_, is_set)| *is_set) {
        let error = CommandError::usage(format!("{flag} takes one transcript"));
        return Err(error.hint("name a single file"));
    }
    let FolderContent { files, closed: mut unread } = transcripts(&args.files)?;
    let count = files.len() as u64;
    let mut list = InspectionList::new();
    let progress = ProgressLine::new(false);
    for (at, file) in (1..).zip(files) {
        let name = file.path.display();
        progress.show(&format!("{} of {}: {name}", number(at), number(count)));
        match of_file(&mut reading, &file) {
            Ok(all) => {
                progress.end();
                for (at, one) in (1..).zip(&all) {
                    let is_due = one.is_due(&reading.policy);
                    let several = all.len() > 1;
                    let place = if several { format!("{name}#{at}") } else { name.to_string() };
                    list.add(place, one, is_due);
                    if json {
                        let mut object = one.to_json(at);
                        object["file"] = json!(name.to_string());
                        object["due"] = json!(is_due);
                        output.stdout(format!("{object}\n"))?;
                    }
                }
            }
            Err(error) => unread.push(error.message),
        }
    }
    progress.end();
    if !json && list.conversations > 0 {
        output.stdout(list.text(&reading.policy.name, output))?;
    }
    if !unread.is_empty() {
        let style = output.stderr_style();
        let count = plural(unread.len() as u64, "file");
        let title = format!("warning: {count} could not be read:");
        let title = style.paint(OutputColor::Yellow, &title);
        output.stderr(&format!("{title}\n  {}\n", unread.join("\n  ")));
    }
    if list.conversations == 0 {
        let text = format!("no transcript could be read from {}", plural(count, "file"));
        return Err(CommandError::failed(text).hint("--from FORMAT says what they are written in"));
    }
    Ok(())
}

fn of_file(reading: &mut InspectReader, file: &FoundFile) -> Result<Vec<Inspection>, CommandError> {
    let input = InputFile::load(&file.path)?;
    let all = reading.conversations(&input)?.into_iter();
    let inspected = all.map(|(conversation, notes)| {
        let prepared = reading.prepare(conversation, &input.name)?;
        Ok(Inspection::new(prepared, notes, &reading.policy, &[]))
    });
    inspected.collect()
}

/// The table with a line for each conversation, and the sums for its last line.
struct InspectionList {
    table: TextTable<7>,
    conversations: u64,
    messages: u64,
    tokens: u64,
    due: u64,
}

impl InspectionList {
    fn new() -> Self {
        // Paths are the last column: they can be of any length without moving another column.
        let table =
            TextTable::new(["messages", "tokens", "window", "folds", "after", "format", "file"]);
        Self { table: table.right([0, 1, 2, 4]), conversations: 0, messages: 0, tokens: 0, due: 0 }
    }

    fn add(&mut self, place: String, one: &Inspection, is_due: bool) {
        let log = &one.prepared.log;
        let (messages, tokens) = (log.len() as u64, log.tokens());
        self.conversations += 1;
        self.messages += messages;
        self.tokens += tokens;
        self.due += u64::from(is_due);
        let forecast = one.forecasts.first();
        let is_folded =
            |forecast: &&FoldForecast| matches!(forecast.outcome, Ok(PlanOutcome::Folded(_)));
        let folds = match forecast.filter(is_folded) {
            _ if is_due => "now",
            Some(_) => "by hand",
            None => "–",
        };
        self.table.row([
            number(messages),
            number(tokens),
            one.full(),
            folds.to_owned(),
            forecast.map_or("–".to_owned(), FoldForecast::after),
            one.prepared.source.format.name().to_owned(),
            place,
        ]);
    }

    /// The table with the line of sums. Call it once, because it adds that line.
    fn text(&mut self, policy: &str, output: &Output) -> String {
        let due = if self.due > 0 { format!("{} now", number(self.due)) } else { "–".to_owned() };
        self.table.row([
            number(self.messages),
            number(self.tokens),
            String::new(),
            due,
            String::new(),
            "total".to_owned(),
            plural(self.conversations, "conversation"),
        ]);
        let style = output.stdout_style();
        let hint = format!(
            "`window`: how much of it is taken. `folds`: whether `{policy}` folds it now by itself, \
             or only by hand, by `compact`; `after`: the tokens that this leaves."
        );
        let hint = wrap(&hint, style.width).join("\n");
        format!("{}\n{}\n", self.table.render(&style, 0), style.paint(OutputColor::Dim, &hint))
    }
}
