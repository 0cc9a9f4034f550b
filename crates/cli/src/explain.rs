//! `midfold explain`: finds a text in a session, and tells whether the model sees it.

use std::path::Path;

use midfold::core::explain::{ContextReader, Explanation, FoldRef, Occurrence, Sight, SightAnswer};
use midfold::view;
use midfold_args::ExplainArgs;

use crate::error::CommandError;
use crate::output::{Output, OutputColor, OutputStyle};
use crate::page::LabelledPage;
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::session::short;
use crate::subject::{AskedSession, LAST};
use crate::words::{line, number, plural, quoted, wrap};

/// The most messages that are shown one by one.
const SHOWN: usize = 6;

pub fn run(args: &ExplainArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    let (word, text) = match &args.asked[..] {
        [file] if Path::new(file).exists() => {
            return Err(no_text(file));
        }
        [text] if text == LAST => return Err(no_text(text)),
        [text] => (LAST, text.clone()),
        [word, text @ ..] => (word.as_str(), text.join(" ")),
        [] => return Err(CommandError::usage("there is no text to look for")),
    };
    let is_named = args.asked.len() > 1;
    let (explanation, name) = block_on(async {
        if !is_named && AskedSession::is_id(&text, &args.at).await? {
            return Err(no_text(&text));
        }
        let subject = AskedSession::ahead_of(word, &text, "explain", &args.at, output).await?;
        if args.call.is_some() {
            subject.needs_session("calls")?;
        }
        let mut stored = subject.host.session(&subject.id).await?;
        Ok((view::explained(&mut stored, &text, args.call).await?, subject.name))
    })?;
    match json {
        true => output.stdout(pretty(&explanation)?),
        false => {
            output.stdout(page(&explanation, &name, &output.stdout_style()))?;
            if !is_named && explanation.answer == SightAnswer::NeverSaid {
                let text = quoted(&text);
                output.stderr(&format!("other sessions: midfold recall find {text}\n"));
            }
            Ok(())
        }
    }
}

fn no_text(session: &str) -> CommandError {
    CommandError::usage(format!("there is no text to look for in {session}"))
        .hint(format!("give the text behind it: midfold explain {session} TEXT"))
}

fn page(explanation: &Explanation, session: &str, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    let color = match explanation.answer {
        SightAnswer::NeverSaid | SightAnswer::NotYet => OutputColor::Yellow,
        SightAnswer::Gone => OutputColor::Red,
        _ if matches!(
            explanation.reader,
            ContextReader::Client | ContextReader::Overfull { .. }
        ) =>
        {
            OutputColor::Yellow
        }
        SightAnswer::Verbatim | SightAnswer::Edited | SightAnswer::InRecap => OutputColor::Green,
    };
    page.title(color, &format!("\"{}\": {}", line(&explanation.text, 200), explanation.verdict));
    let read = match &explanation.fold {
        Some(fold) => {
            format!("{} through {}", plural(u64::from(explanation.events), "message"), name(fold))
        }
        None => format!("{}, nothing folded", plural(u64::from(explanation.events), "message")),
    };
    page.field("asked of", &read);
    if let Some(fold) = &explanation.lost_with {
        let when = plural(u64::from(fold.events), "message");
        page.field("lost with", &format!("{}, made when the session had {when}", name(fold)));
    }
    for again in &explanation.asked_again {
        page.field("asked again", &line(&again.to_string(), 200));
    }
    for occurrence in explanation.occurrences.iter().take(SHOWN) {
        one(&mut page, occurrence, session);
    }
    for near in &explanation.near {
        let text = format!("@{} ({}): {}", near.seq, near.role.name(), line(&near.snippet, 200));
        page.field("words of it", &text);
    }
    let more = explanation.occurrences.len().saturating_sub(SHOWN) as u64;
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
    if let Some(loss) = &occurrence.left {
        detail(page, "left", &format!("with {}: {}, {}", name(&loss.fold), loss.rule, loss.reason));
    }
    if let Some(used) = &occurrence.used {
        let when = if used.after_left { "after it had left" } else { "while it was there" };
        detail(
            page,
            "used again",
            &format!("in message {} by the {}, {when}", used.seq, used.by.name()),
        );
    }
    if occurrence.recall && !matches!(occurrence.sight, Sight::Verbatim { .. } | Sight::Transcript)
    {
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
