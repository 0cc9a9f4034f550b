//! `midfold recall`: what a fold took out, brought back from the log.

use midfold::store::recall::{
    self, Described, Found, MAX_HITS, Page as Originals, RecallError, Shape, What,
};
use midfold::store::{SearchMode, StoreError};
use serde_json::json;

use crate::args::{Describe, Expand, Grep, Names, Recall, RecallCommand, Tools, ToolsShape};
use crate::error::CommandError;
use crate::host::{Host, Make, block_on};
use crate::output::{Color, Output, Style};
use crate::page::Page;
use crate::presets::pretty;
use crate::session::{find, folds_of};
use crate::words::{line, number, plural, printable, wrap};

pub fn run(args: &Recall, json: bool, output: &Output) -> Result<(), CommandError> {
    if let RecallCommand::Tools(args) = &args.command {
        return tools(args, output);
    }
    block_on(async {
        let host = Host::open(&args.at, Make::No).await?;
        match &args.command {
            RecallCommand::Grep(args) => grep(args, &host, json, output).await,
            RecallCommand::Names(args) => names(args, &host, json, output).await,
            RecallCommand::Expand(args) => expand(args, &host, json, output).await,
            RecallCommand::Describe(args) => describe(args, &host, json, output).await,
            RecallCommand::Tools(args) => tools(args, output),
        }
    })
}

async fn failed(host: &Host, id: &str, error: RecallError) -> CommandError {
    let text = error.to_string();
    match error {
        RecallError::Store(StoreError::Query(_)) => {
            CommandError::usage(text).hint("for exactly this text: --literal")
        }
        RecallError::Store(error) => host.store_failed(error).await,
        RecallError::What(_) => CommandError::usage(text)
            .hint("`midfold recall grep` finds messages and prints their numbers"),
        RecallError::NoFold(_) | RecallError::Ambiguous(_) => CommandError::failed(text)
            .hint(format!("`midfold audit {id}` lists the folds with their ids")),
        RecallError::Unfolded => {
            CommandError::failed(text).hint(format!("all of it is there: midfold session log {id}"))
        }
        RecallError::Cursor(_) => {
            CommandError::usage(text).hint("leave --from out to start at the beginning")
        }
        RecallError::NoEvent(..) | RecallError::Empty => {
            CommandError::failed(text).hint(format!("`midfold session log {id}` lists them"))
        }
    }
}

async fn grep(args: &Grep, host: &Host, json: bool, output: &Output) -> Result<(), CommandError> {
    if args.query.trim().is_empty() {
        return Err(CommandError::usage("there is nothing to look for")
            .hint("give a word or a part of a name"));
    }
    let mode = match (args.literal, args.regex) {
        (true, _) => SearchMode::Literal,
        (_, true) => SearchMode::Regex,
        _ => SearchMode::Text,
    };
    let found = recall::grep(&*host.store, &args.id, &args.query, mode, args.limit).await;
    let found = match found {
        Ok(found) => found,
        Err(error) => return Err(failed(host, &args.id, error).await),
    };
    if json {
        return output.stdout(pretty(&found)?);
    }
    if found.is_empty() {
        let hint = match mode {
            SearchMode::Text => "; a part of a word is found with --literal",
            _ => "",
        };
        output.stderr(&format!("no message says it{hint}\n"));
        return Ok(());
    }
    let style = output.stdout_style();
    output.stdout(hits(&found, &style))?;
    let shown = found.len() as u32;
    if shown == args.limit.clamp(1, MAX_HITS) {
        output.stderr(&format!("the first {} (--limit)\n", plural(u64::from(shown), "message")));
    }
    Ok(())
}

fn hits(found: &[Found], style: &Style) -> String {
    let mut out = String::new();
    let width = style.width.saturating_sub(4).max(20);
    for Found { event, role, turn, snippet } in found {
        let head = format!(
            "message {} ({}, turn {})",
            number(*event),
            role.name(),
            number(u64::from(*turn))
        );
        out += &format!("{}\n", style.paint(Color::Bold, &head));
        for text in wrap(&line(snippet, 400), width) {
            out += &format!("  {} {text}\n", style.paint(Color::Dim, "│"));
        }
    }
    out
}

async fn names(args: &Names, host: &Host, json: bool, output: &Output) -> Result<(), CommandError> {
    let found = match recall::names(&*host.store, &args.id, &args.question, args.max_chars).await {
        Ok(found) => found,
        Err(error) => return Err(failed(host, &args.id, error).await),
    };
    if json {
        return output.stdout(pretty(&found)?);
    }
    if found.names.is_empty() {
        output.stderr("no name left: the context has all of them\n");
        return Ok(());
    }
    let style = output.stdout_style();
    let mut text = String::new();
    for row in wrap(&found.names.join(" "), style.width.max(20)) {
        text += &format!("{row}\n");
    }
    output.stdout(text)?;
    if found.more > 0 {
        output.stderr(&format!("and {} (--max-chars)\n", plural(found.more as u64, "other name")));
    }
    Ok(())
}

async fn expand(
    args: &Expand,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let done = async {
        let what = What::parse(&args.what)?;
        recall::expand(&*host.store, &args.id, &what, args.from.as_deref(), args.max_chars).await
    };
    let page: Originals = match done.await {
        Ok(page) => page,
        Err(error) => return Err(failed(host, &args.id, error).await),
    };
    if json {
        return output.stdout(pretty(&page)?);
    }
    let style = output.stdout_style();
    let mut text = String::new();
    for original in &page.originals {
        let place = if original.offset > 0 {
            format!(", from byte {}", number(original.offset as u64))
        } else {
            String::new()
        };
        let head = format!(
            "── message {} ({}, turn {}{place})",
            number(original.event),
            original.role.name(),
            number(u64::from(original.turn))
        );
        text += &format!(
            "{}\n{}\n",
            style.paint(Color::Bold, &head),
            printable(original.text.trim_end())
        );
    }
    output.stdout(text)?;
    if let Some(next) = &page.next {
        output.stderr(&format!(
            "there is more: midfold recall expand {} {} --from {next}\n",
            args.id, args.what
        ));
    }
    Ok(())
}

async fn describe(
    args: &Describe,
    host: &Host,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let name = match &args.fold {
        // Numbers are what the other commands print; the library knows ids alone.
        Some(name) if name != "active" => {
            let stored = host.session(&args.id).await?;
            let folds = folds_of(host, &stored).await?;
            find(&folds, name, &args.id)?.1.id.to_hex()
        }
        _ => String::new(),
    };
    let found = match recall::describe(&*host.store, &args.id, &name).await {
        Ok(found) => found,
        Err(error) => return Err(failed(host, &args.id, error).await),
    };
    match json {
        true => output.stdout(pretty(&found)?),
        false => output.stdout(described(&found, &args.id, &output.stdout_style())),
    }
}

fn described(found: &Described, session: &str, style: &Style) -> String {
    let mut page = Page { style, text: String::new() };
    let active = if found.active { "active" } else { "not active" };
    let id: String = found.id.chars().take(12).collect();
    page.title(Color::Bold, &format!("fold {} ({id}), {active}", number(found.number)));
    let runs = |runs: &[(u64, u64)]| {
        let run = |(from, to): &(u64, u64)| match from == to {
            true => number(*from),
            false => format!("{} to {}", number(*from), number(*to)),
        };
        runs.iter().take(8).map(run).collect::<Vec<_>>().join(", ")
    };
    let more = if found.covered.len() > 8 { ", …" } else { "" };
    let count: u64 = found.covered.iter().map(|(from, to)| to - from + 1).sum();
    page.field("covers", &format!("{}: {}{more}", plural(count, "message"), runs(&found.covered)));
    if !found.edited.is_empty() {
        page.field(
            "",
            &format!("{} of them are sent shortened", number(found.edited.len() as u64)),
        );
    }
    page.field("kept", &format!("{} between them, as they are", plural(found.kept, "message")));
    page.field(
        "tokens",
        &format!("{} → {}", number(found.tokens_before), number(found.tokens_after)),
    );
    page.field("policy", &found.policy);
    if !found.lost_ids.is_empty() {
        let ids: Vec<_> = found.lost_ids.iter().map(|id| line(id, 60)).collect();
        page.field("not named", &ids.join(", "));
    }
    page.field("originals", &format!("midfold recall expand {session} {id}"));
    if let Some(recap) = &found.recap {
        page.text += &format!("\n{}\n", printable(recap.trim_end()));
    }
    page.text
}

fn tools(args: &Tools, output: &Output) -> Result<(), CommandError> {
    let shape = match args.shape {
        ToolsShape::Openai => Shape::OpenAi,
        ToolsShape::Anthropic => Shape::Anthropic,
    };
    let tools: serde_json::Value =
        serde_json::from_str(&recall::tools(shape)).unwrap_or_else(|_| json!([]));
    output.stdout(pretty(&tools)?)
}
