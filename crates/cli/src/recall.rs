//! `midfold recall`: reads folded messages again from the log. The texts that it prints come from the library, because
//! agents get the same ones.

mod everywhere;

use midfold::store::recall::{
    self, ExpandTarget, FoldDescription, GrepQuery as Ask, RecallError, ToolListShape,
    WantedOutcome,
};
use midfold::store::{SearchMode, mask};
use midfold::{Door, advise_recall};
use midfold_args::{
    DescribeArgs, FindArgs, NamesArgs, OutlineArgs, RecallArgs, RecallCommand, ShowArgs, ToolsArgs,
    ToolsShape,
};
use serde_json::json;

use crate::error::CommandError;
use crate::output::{Output, OutputColor, OutputStyle};
use crate::page::{LabelledPage, heads_bold};
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::session::find;
use crate::subject::AskedSession;
use crate::words::{line, number, plural, printable, quoted, wrap};

pub fn run(args: &RecallArgs, json: bool, output: &Output) -> Result<(), CommandError> {
    if let RecallCommand::Tools(args) = &args.command {
        return tools(args, output);
    }
    block_on(async {
        let of = async |word| AskedSession::one(word, &args.at, output).await;
        match &args.command {
            RecallCommand::Find(find) => match &find.asked[..] {
                [query] if AskedSession::is_missing(query, &args.at).await? => {
                    everywhere::find(ask(find, query), &args.at, json, output).await
                }
                words => {
                    let (word, query) = (&words[0], words[1..].join(" "));
                    let of =
                        AskedSession::ahead_of(word, &query, "recall find", &args.at, output).await;
                    grep(ask(find, &query), &of?, json, output).await
                }
            },
            RecallCommand::Outline(args) => outline(args, &of(&args.id).await?, json, output).await,
            RecallCommand::Show(args) => expand(args, &of(&args.id).await?, json, output).await,
            RecallCommand::Names(args) => names(args, &of(&args.id).await?, json, output).await,
            RecallCommand::Describe(args) => {
                describe(args, &of(&args.id).await?, json, output).await
            }
            RecallCommand::Tools(args) => tools(args, output),
        }
    })
}

async fn failed(subject: &AskedSession, error: RecallError) -> CommandError {
    if matches!(error, RecallError::Unfolded | RecallError::NoFold(_))
        && let Err(error) = subject.needs_session("folds")
    {
        return error;
    }
    advise_recall(&*subject.host.store, error, &subject.name, Door::Command).await.into()
}

async fn grep(
    ask: Result<Ask, RecallError>,
    subject: &AskedSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let ask = match ask {
        Ok(ask) => ask,
        Err(error) => return Err(failed(subject, error).await),
    };
    if ask.folded {
        subject.needs_session("folds")?;
    }
    let hits = match recall::grep(&*subject.host.store, &subject.id, &ask).await {
        Ok(hits) => hits,
        Err(error) => return Err(failed(subject, error).await),
    };
    if json {
        return output.stdout(pretty(&hits.found)?);
    }
    if hits.found.is_empty() {
        let hint = match ask.mode {
            SearchMode::Text if !ask.query.is_empty() => {
                "; a part of a word is found with --literal"
            }
            _ => "",
        };
        let newest = match is_proxied(subject).await {
            true => {
                "; what an agent sent last is stored with its next request, or when its run ends"
            }
            false => "",
        };
        output.stderr(&format!("no message matches{hint}{newest}\n"));
        return Ok(());
    }
    let mut text = heads_bold(&recall::hits_text(&hits), &output.stdout_style());
    if let Some(skip) = hits.next {
        text += &format!("{} in all\n", number(hits.total as u64));
        text += &next("--skip", &skip.to_string());
    }
    output.stdout(text)
}

/// Whether a client sends its own history of this session through a proxy.
async fn is_proxied(subject: &AskedSession) -> bool {
    let stored = subject.host.session(&subject.id).await;
    stored.is_ok_and(|stored| stored.meta().is_proxied())
}

fn ask(args: &FindArgs, query: &str) -> Result<Ask, RecallError> {
    Ok(Ask {
        query: query.to_owned(),
        mode: match (args.literal, args.regex) {
            (true, _) => SearchMode::Literal,
            (_, true) => SearchMode::Regex,
            _ => SearchMode::Text,
        },
        role: args.role.clone(),
        tool: args.tool.clone(),
        outcome: args.errors.then_some(WantedOutcome::Failed),
        folded: args.folded,
        within: args.range.as_deref().map(Ask::range).transpose()?,
        context: args.context,
        limit: args.limit,
        skip: args.skip,
    })
}

async fn outline(
    args: &OutlineArgs,
    subject: &AskedSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    if args.folded {
        subject.needs_session("folds")?;
    }
    let work = async {
        let from = ExpandTarget::number(&args.from)?;
        recall::outline(&*subject.host.store, &subject.id, from, args.limit, args.folded).await
    };
    let page = match work.await {
        Ok(page) => page,
        Err(error) => return Err(failed(subject, error).await),
    };
    if json {
        return output.stdout(pretty(&page)?);
    }
    let mut text = recall::outline_text(&page);
    if let Some(from) = page.next {
        text += &next("--from", &from.to_string());
    }
    output.stdout(text)
}

/// The command line that shows the next page: this very command with another value of an option.
fn next(option: &str, value: &str) -> String {
    let mut words = vec!["midfold".to_owned()];
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == option {
            args.next();
        } else if arg.split_once('=').is_none_or(|(name, _)| name != option) {
            words.push(arg);
        }
    }
    // A word with a password is left out of the printed command: `$MIDFOLD_STORE` can hold the store's URL instead.
    words.retain(|word| mask(word) == *word);
    if words.last().is_some_and(|word| word == "--store") {
        words.pop();
    }
    words.extend([option.to_owned(), value.to_owned()]);
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("next: {}\n", words.join(" "))
}

async fn names(
    args: &NamesArgs,
    subject: &AskedSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let page = match recall::names(
        &*subject.host.store,
        &subject.id,
        &args.question,
        args.max_chars,
    )
    .await
    {
        Ok(page) => page,
        Err(error) => return Err(failed(subject, error).await),
    };
    if json {
        return output.stdout(pretty(&page)?);
    }
    if page.names.is_empty() {
        output.stderr("no name left: the context has all of them\n");
        return Ok(());
    }
    let style = output.stdout_style();
    let mut text = String::new();
    for row in wrap(&page.names.join(" "), style.width.max(20)) {
        text += &format!("{row}\n");
    }
    output.stdout(text)?;
    if page.more > 0 {
        output.stderr(&format!("and {} (--max-chars)\n", plural(page.more as u64, "other name")));
    }
    Ok(())
}

async fn expand(
    args: &ShowArgs,
    subject: &AskedSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let work = async {
        let target = ExpandTarget::parse(&args.what.join(","))?;
        recall::expand(
            &*subject.host.store,
            &subject.id,
            &target,
            args.from.as_deref(),
            args.max_chars,
        )
        .await
    };
    let page = match work.await {
        Ok(page) => page,
        Err(error) => return Err(failed(subject, error).await),
    };
    if json {
        return output.stdout(pretty(&page)?);
    }
    let mut text = heads_bold(&recall::page_text(&page), &output.stdout_style());
    if let Some(from) = &page.next {
        text += &next("--from", from);
    }
    output.stdout(text)
}
async fn describe(
    args: &DescribeArgs,
    subject: &AskedSession,
    json: bool,
    output: &Output,
) -> Result<(), CommandError> {
    let name = match &args.fold {
        // Other commands print numbers of folds, and the library only knows their ids.
        Some(name) if name != "active" => {
            subject.needs_session("folds")?;
            let stored = subject.host.session(&subject.id).await?;
            let folds = stored.folds().await?;
            find(&folds, name, &subject.name)?.1.id.to_hex()
        }
        _ => String::new(),
    };
    let fold = match recall::describe(&*subject.host.store, &subject.id, &name).await {
        Ok(fold) => fold,
        Err(error) => return Err(failed(subject, error).await),
    };
    match json {
        true => output.stdout(pretty(&fold)?),
        false => output.stdout(described(&fold, &subject.name, &output.stdout_style())),
    }
}

fn described(fold: &FoldDescription, session: &str, style: &OutputStyle) -> String {
    let mut page = LabelledPage { style, text: String::new() };
    let active = if fold.active { "active" } else { "not active" };
    let id: String = fold.id.chars().take(12).collect();
    page.title(OutputColor::Bold, &format!("fold {} ({id}), {active}", number(fold.number)));
    let runs = |runs: &[(u64, u64)]| {
        let run = |(from, to): &(u64, u64)| match from == to {
            true => format!("@{from}"),
            false => format!("@{from}-@{to}"),
        };
        runs.iter().take(8).map(run).collect::<Vec<_>>().join(", ")
    };
    let more = if fold.covered.len() > 8 { ", …" } else { "" };
    let count: u64 = fold.covered.iter().map(|(from, to)| to - from + 1).sum();
    page.field("covers", &format!("{}: {}{more}", plural(count, "message"), runs(&fold.covered)));
    if !fold.edited.is_empty() {
        page.field("", &format!("{} of them are sent shortened", number(fold.edited.len() as u64)));
    }
    page.field("kept", &format!("{} between them, as they are", plural(fold.kept, "message")));
    page.field(
        "tokens",
        &format!("{} → {}", number(fold.tokens_before), number(fold.tokens_after)),
    );
    page.field("policy", &fold.policy);
    if !fold.lost_ids.is_empty() {
        let ids: Vec<_> = fold.lost_ids.iter().map(|id| line(id, 60)).collect();
        page.field("not named", &ids.join(", "));
    }
    if !fold.asked_again.is_empty() {
        let again = recall::asked_again_text(fold);
        page.field("asked again", &line(&again, 300));
    }
    page.field("originals", &format!("midfold recall show {session} {id}"));
    if let Some(recap) = &fold.recap {
        page.text += &format!("\n{}\n", printable(recap.trim_end()));
    }
    page.text
}

fn tools(args: &ToolsArgs, output: &Output) -> Result<(), CommandError> {
    let shape = match args.shape {
        ToolsShape::Openai => ToolListShape::OpenAi,
        ToolsShape::Anthropic => ToolListShape::Anthropic,
    };
    let tools: serde_json::Value =
        serde_json::from_str(&recall::tools(shape)).unwrap_or_else(|_| json!([]));
    output.stdout(pretty(&tools)?)
}
