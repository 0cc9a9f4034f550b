//! `compact`.

use bytes::Bytes;
use midfold::view::{CarriedProblem, CompactionReport, CompactionSummary};
use midfold::{Door, ModelNarration, PlanOutcome};
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
    /// The fold's record, as JSON.
    pub record: Option<String>,
    /// What the compaction did, as JSON.
    pub report: String,
}

/// Makes a conversation fit a model's window.
#[napi]
pub fn compact(messages: Buffer, options: String) -> napi::Result<Compacted> {
    Ok(run(&Bytes::copy_from_slice(&messages), &options)?)
}

fn run(bytes: &Bytes, options: &str) -> NodeResult<Compacted> {
    let options: CompactOptions = read_options(options)?;
    let format = options.dialect.as_deref().map(midfold::format).transpose()?;
    let (settings, request, pins) = options.into_parts()?;
    let (conversation, problems) = midfold::conversation(bytes, format, Door::Node)?;
    let prepared = settings.setup(&HOST)?.prepare(conversation)?;
    let outcome = request.run(&prepared, &pins, &ModelNarration::default(), Door::Node)?;
    let record = outcome.fold().map(serde_json::to_string).transpose()?;
    let problems = problems.into_iter().map(CarriedProblem::of_reader).collect();
    let report = serde_json::to_string(&CompactionReport::of(&prepared, &outcome, problems))?;
    let messages = midfold::document(&outcome.context, &prepared.source).into();
    Ok(Compacted { messages, record, report })
}

/// Counts the tokens of messages, given as JSON.
#[napi]
pub fn count_messages(messages: Buffer, options: String) -> napi::Result<i64> {
    let count = || {
        let options: CompactOptions = read_options(&options)?;
        let format = options.dialect.as_deref().map(midfold::format).transpose()?;
        let (settings, _, _) = options.into_parts()?;
        let bytes = Bytes::copy_from_slice(&messages);
        let (conversation, _) = midfold::conversation(&bytes, format, Door::Node)?;
        Ok::<_, Failure>(settings.setup(&HOST)?.prepare(conversation)?.log.tokens())
    };
    Ok(crate::context::number(count()?))
}

/// The result of `Session.compact`: the fold, and what the compaction did.
pub fn folding(outcome: &PlanOutcome, summary: &CompactionSummary) -> napi::Result<String> {
    #[derive(Serialize)]
    struct FoldingJson<'a> {
        fold: Option<&'a midfold::Fold>,
        #[serde(flatten)]
        summary: &'a CompactionSummary,
    }
    json(&FoldingJson { fold: outcome.fold(), summary })
}
