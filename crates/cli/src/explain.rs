//! `midfold explain`: finds a text in a session, and tells whether the model sees it.

use midfold::core::explain::{
    AskedMoment, Explanation, FoldRef, Occurrence, Sight, SightAnswer, explain,
};
use midfold::core::ledger::CallRecord;
use midfold_args::ExplainArgs;

use crate::error::CommandError;
use crate::output::{Output, OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::session::short;
use crate::subject::AskedSession;
use crate::words::{line, number, plural, wrap};

/// The most messages that are shown one by one.
const SHOWN: usize = 6;

pub fn run(args: &ExplainArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let found = block_on(async {
        let subject = AskedSession::one(&args.id, &args.at, output).await?;
        if args.call.is_some() {
            subject.needs_session("calls")?;
        }
        let mut stored = subject.host.session(&subject.id).await?;
        let folds = stored.folds().await?;
        let calls = stored.calls().await?;
        let calls: Vec<CallRecord> = calls.into_iter().map(|(call, _)| call).collect();
        let moment = args.call.map_or(AskedMoment::Now(stored.row().active), AskedMoment::Call);
        let log = stored.whole().await?.log();
        Ok(explain(log, &folds, &calls, &args.text, moment)?)
    })?;
    match json {
        true => output.stdout(pretty(&found)?),
        false => output.stdout(text(&found, &args.id, &output.stdout_style())),
    }
}

fn text(found: &Explanation, session: &str, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    let at = found.call.map_or("now".to_owned(), |call| format!("at call {}", number(call)));
    let (color, answer) = match found.answer {
        SightAnswer::NeverSaid => {
            (OutputColor::Yellow, "no message of this session says it".to_owned())
        }
        SightAnswer::NotYet => (OutputColor::Yellow, format!("it had not been said {at}")),
        SightAnswer::Verbatim => {
            (OutputColor::Green, format!("the model sees it {at}, word for word"))
        }
        SightAnswer::Edited => {
            (OutputColor::Green, format!("the model sees it {at}, in a shortened message"))
        }
        SightAnswer::InRecap => {
            (OutputColor::Green, format!("the model sees it {at}, in the recap only"))
        }
        SightAnswer::Gone => (OutputColor::Red, format!("the model does not see it {at}")),
    };
    let answer = if found.call.is_some() {
        answer.replace("sees", "saw").replace("does not see", "did not see")
    } else {
        answer
    };
    page.title(color, &format!("\"{}\": {answer}", line(&found.text, 200)));
    let read = match &found.fold {
        Some(fold) => {
            format!("{} through {}", plural(u64::from(found.events), "message"), name(fold))
        }
        None => format!("{}, nothing folded", plural(u64::from(found.events), "message")),
    };
    page.field("asked of", &read);
    if let Some(fold) = &found.lost_with {
        let when = plural(u64::from(fold.events), "message");
        page.field("lost with", &format!("{}, made when the session had {when}", name(fold)));
    }
    for again in &found.asked_again {
        page.field("asked again", &line(&again.to_string(), 200));
    }
    for occurrence in found.occurrences.iter().take(SHOWN) {
        one(&mut page, occurrence, session);
    }
    let more = found.occurrences.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        page.text += &style.paint(
            OutputColor::Dim,
            &format!("\n  and {} (all of them with --json)\n", plural(more, "more message")),
        );
    }
    page.text
}

fn one(page: &mut LabelledPage<'_>, occurrence: &Occurrence, session: &str) {
    page.text.push('\n');
    let seq = u64::from(occurrence.seq);
    let head = format!("  message {seq} ({}): {}", occurrence.role.name(), occurrence.sight);
    page.text += &format!("{}\n", page.style.paint(OutputColor::Bold, &head));
    let quote = line(&occurrence.snippet, 300);
    let width = page.style.width.saturating_sub(8).max(20);
    for text in wrap(&quote, width) {
        page.text += &format!("    {} {text}\n", page.style.paint(OutputColor::Dim, "│"));
    }
    if let Some(left) = &occurrence.left {
        detail(
            page,
            "left",
            &format!("with {}, by the rule {} ({})", name(&left.fold), left.rule, left.reason),
        );
    }
    if let Some(used) = &occurrence.used {
        let when = if used.after_left { "after it had left" } else { "while it was there" };
        detail(
            page,
            "used again",
            &format!("in message {} by the {}, {when}", used.seq, used.by.name()),
        );
    }
    if occurrence.recall && !matches!(occurrence.sight, Sight::Verbatim { .. }) {
        detail(page, "original", &format!("midfold recall show {session} {seq}"));
    }
}

fn detail(page: &mut LabelledPage<'_>, label: &str, text: &str) {
    page.text +=
        &format!("    {} {text}\n", page.style.paint(OutputColor::Dim, &format!("{label:10}")));
}

fn name(fold: &FoldRef) -> String {
    format!("fold {} ({})", number(u64::from(fold.number)), short(fold.id))
}
