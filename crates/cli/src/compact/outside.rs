//! Compaction by a policy whose engine is an external process. The process gets each conversation once, in the protocol
//! of `replay --engine`, and its answer is the result.

use std::sync::Arc;

use midfold::{Budget, PreparedConversation};
use midfold_args::CompactArgs;
use midfold_eval::exam::engine::{EngineProcess, LIMIT};
use midfold_eval::replay::OutsideEngine;

use crate::error::CommandError;
use crate::output::Output;
use crate::replay::engine;
use crate::transcript::list;
use crate::words::{number, plural};

/// Compacts conversations with the engine whose command line is `words`.
pub fn run(
    words: &[String],
    name: &str,
    all: Vec<PreparedConversation>,
    args: &CompactArgs,
    output: &Output,
) -> Result<(), CommandError> {
    let engine = engine::of(words.to_vec(), LIMIT)?;
    let lines = all.len() > 1;
    let mut result = Vec::new();
    for (at, prepared) in all.into_iter().enumerate() {
        let place = format!("{name}: conversation {}: ", at + 1);
        let messages: Vec<_> =
            prepared.log.events().iter().map(|event| event.bytes.clone()).collect();
        let budget = Budget::new(prepared.window);
        let answer = EngineProcess::new(Arc::clone(&engine), prepared.kind)
            .compact(&messages, budget.tokens())
            .map_err(|why| CommandError::failed(format!("{place}the engine failed: {why}")))?;
        let [before, after] = [messages.len(), answer.len()].map(|n| n as u64);
        output.stderr(&format!(
            "{place}{} → {} by {}\n",
            number(before),
            plural(after, "message"),
            engine.name()
        ));
        result.extend(list(&answer, if lines { b"" } else { b"\n" }));
        result.push(b'\n');
    }
    match &args.output {
        Some(path) if !crate::stdin::is_stdin(path) => output.file(path, &result),
        _ => output.stdout(result),
    }
}
