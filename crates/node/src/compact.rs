//! `compact`.

use bytes::Bytes;
use midfold::core::project::project;
use midfold::{CompactionFeedback, Door, ModelNarration, PlanOutcome, SizeCount};
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use serde::Serialize;

use crate::errors::{Failure, NodeResult, json};
use crate::options::{CompactOptions, HOST, read_options};

/// The result of a compaction.
#[napi(object)]
pub struct Compacted {
    /// The messages, in the shape of the given ones.
    pub messages: Buffer,
    /// The text that the model reads where messages were folded.
    pub recap: Option<String>,
    /// The fold's record, as JSON.
    pub record: Option<String>,
    /// The figures, as JSON.
    pub report: String,
    /// The words for a person, as JSON.
    pub feedback: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    noop: Option<String>,
    tokens_before: u64,
    tokens_after: u64,
    messages_before: usize,
    messages_after: usize,
    missed: Option<u64>,
    window: u64,
    dialect: &'a str,
    profile: &'a str,
    tokenizer: &'a str,
    problems: Vec<String>,
}

/// The words for a person, with the names of Node.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FoldFeedback<'a> {
    noop: bool,
    headline: &'a str,
    token_line: &'a str,
    note: Option<&'a str>,
    instead: Option<&'a str>,
}

impl<'a> From<&'a CompactionFeedback> for FoldFeedback<'a> {
    fn from(said: &'a CompactionFeedback) -> Self {
        Self {
            noop: said.noop,
            headline: &said.headline,
            token_line: &said.token_line,
            note: said.note.as_deref(),
            instead: said.instead.as_deref(),
        }
    }
}

/// Makes a conversation fit a model's window.
#[napi]
pub fn compact(messages: Buffer, options: String) -> napi::Result<Compacted> {
    Ok(run(&Bytes::copy_from_slice(&messages), &options)?)
}

fn run(bytes: &Bytes, options: &str) -> NodeResult<Compacted> {
    let options: CompactOptions = read_options(options)?;
    let format = options.dialect.as_deref().map(midfold::format).transpose()?;
    let (settings, wish, pins) = options.wish()?;
    let (conversation, problems) = midfold::conversation(bytes, format, Door::Node)?;
    let prepared = settings.setup(&HOST)?.prepare(conversation)?;
    let made = wish.run(&prepared, &pins, &ModelNarration::default(), Door::Node)?;
    let before = project(&prepared.log, None);
    let size = SizeCount { messages: prepared.log.len() as u64, tokens: before.tokens() };
    let (record, noop) = match &made.outcome {
        PlanOutcome::Folded(fold) => (Some(serde_json::to_string(fold)?), None),
        PlanOutcome::Nothing(reason) => (None, Some(reason.to_string())),
    };
    let report = Report {
        noop,
        tokens_before: before.tokens(),
        tokens_after: made.context.tokens(),
        messages_before: prepared.log.len(),
        messages_after: made.context.len(),
        missed: made.missed,
        window: prepared.window,
        dialect: prepared.kind.name(),
        profile: prepared.log.profile().name,
        tokenizer: prepared.log.counter().name(),
        problems: problems.iter().map(ToString::to_string).collect(),
    };
    Ok(Compacted {
        messages: midfold::document(&made.context, &prepared.source).into(),
        recap: midfold::recap(&made.outcome).ok().map(str::to_owned),
        record,
        report: serde_json::to_string(&report)?,
        feedback: serde_json::to_string(&FoldFeedback::from(&CompactionFeedback::of(
            &made.outcome,
            size,
        )))?,
    })
}

/// Counts the tokens of messages, given as JSON.
#[napi]
pub fn count_messages(messages: Buffer, options: String) -> napi::Result<i64> {
    let count = || {
        let options: CompactOptions = read_options(&options)?;
        let format = options.dialect.as_deref().map(midfold::format).transpose()?;
        let (settings, _, _) = options.wish()?;
        let bytes = Bytes::copy_from_slice(&messages);
        let (conversation, _) = midfold::conversation(&bytes, format, Door::Node)?;
        Ok::<_, Failure>(settings.setup(&HOST)?.prepare(conversation)?.log.tokens())
    };
    Ok(crate::context::number(count()?))
}

/// The result of `Session.compact`: the fold, and the words for a person.
pub fn folding(outcome: &PlanOutcome, feedback: &CompactionFeedback) -> napi::Result<String> {
    #[derive(Serialize)]
    struct FoldOptions<'a> {
        fold: Option<&'a midfold::Fold>,
        noop: Option<String>,
        recap: Option<&'a str>,
        feedback: FoldFeedback<'a>,
    }
    let (fold, noop) = match outcome {
        PlanOutcome::Folded(fold) => (Some(fold), None),
        PlanOutcome::Nothing(reason) => (None, Some(reason.to_string())),
    };
    let recap = midfold::recap(outcome).ok();
    json(&FoldOptions { fold: fold.map(|fold| &**fold), noop, recap, feedback: feedback.into() })
}
