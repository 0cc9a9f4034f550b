//! Words of a person inside a tool's result: the answer to a question, the reason why a call was rejected, and messages
//! typed while the agent worked. All parts of midfold use this one rule: the recap, the summariser's sources, the judge
//! of its reply, and recall.

use crate::calls::{CallIndex, CallSite, ResultSite, tool_of};
use crate::dialect::Dialect;
use crate::event::Event;
use crate::tools::{CallVerdict, ToolTable, is_of_server};
use crate::view::{BlockKind, BlockView};
use crate::voice::Passage;

/// Finds a person's words in results.
#[derive(Clone, Copy)]
pub struct ResultWordFinder<'a> {
    /// The table of tools: which of them ask a person.
    pub tools: &'a ToolTable,
    /// The wire format: it knows the text that clients write around a person's words.
    pub dialect: &'a dyn Dialect,
}

impl ResultWordFinder<'_> {
    /// The words of persons in a result, in order; empty where nobody speaks in it. `call` is the call that it answers.
    #[must_use]
    pub fn find(&self, result: &ResultSite<'_>, call: Option<&CallSite<'_>>) -> Vec<Passage> {
        let (event, block) = (result.event, result.block);
        let added = self.added_words(event, block);
        let tool = tool_of(call, event, block);
        let longest = if self.tools.lookup(&tool).answers.is_nobody() {
            LONGEST_REFUSAL
        } else {
            LONGEST_ANSWER
        };
        // A long result is no answer that somebody typed, so it is not decoded and searched.
        if added.is_none()
            && block.texts.iter().map(|text| text.token.len()).sum::<usize>() > longest
        {
            return Vec::new();
        }
        let text = block.text(&event.bytes);
        let of_tool = added.as_ref().and_then(|(at, _)| text.get(..*at)).unwrap_or(&text);
        let mut passages = self.answers(&tool, of_tool, block);
        if passages.is_empty()
            && self.tools.may_hold_reason(of_tool)
            && let Some(call) = call
        {
            let outcome = self.tools.outcome(&call.facts(self.tools), of_tool, flag(block));
            passages.extend(outcome.reason.map(|reason| Passage::user(&reason)));
        }
        passages.extend(added.into_iter().flat_map(|(_, passages)| passages));
        passages
    }

    /// The answers in the result of a tool that asks a person. Empty where the call failed or was rejected.
    #[must_use]
    pub(crate) fn answers(&self, tool: &str, text: &str, block: &BlockView) -> Vec<Passage> {
        let answers = self.tools.lookup(tool).answers;
        if answers.is_nobody() || flag(block) == Some(true) || is_of_server(tool) {
            return Vec::new();
        }
        let outcome = self.tools.outcome(&self.tools.facts(tool, ""), text, flag(block));
        if outcome.verdict.is_some_and(|verdict| verdict != CallVerdict::Ok) {
            return Vec::new();
        }
        answers
            .of(text)
            .iter()
            .flat_map(|answer| self.dialect.client_words().passages(&[&**answer]))
            .collect()
    }

    /// The words that a client added behind a result because the user typed them while the agent worked, and the byte
    /// in the result's text at which they start. `None` where there are none.
    #[must_use]
    pub(crate) fn added_words(
        &self,
        event: &Event,
        block: &BlockView,
    ) -> Option<(usize, Vec<Passage>)> {
        let last = block.texts.last()?;
        let token = last.token.of(&event.bytes);
        // Most results do not end like one with such words, so they are not decoded.
        let tail = token.get(token.len().saturating_sub(CHECKED_TAIL)..).unwrap_or_default();
        if last.nested.is_none() && !self.dialect.client_words().may_be_steered(tail) {
            return None;
        }
        // Some clients add the words as a text of their own, behind the texts of the tool.
        let is_own = block.texts.len() > 1;
        let last = last.decode(&event.bytes);
        let (at, passages) = self.dialect.client_words().steered(&last, is_own)?;
        let before = block.text(&event.bytes).len().saturating_sub(last.len());
        Some((before + at, passages))
    }
}

/// The bytes at the end of a result that are checked for signs of such words.
const CHECKED_TAIL: usize = 256;
/// The most bytes of the result of a tool that asks a person. Nobody types more.
const LONGEST_ANSWER: usize = 1 << 17;
/// The most bytes of any other result in which a person may say why the call was rejected.
const LONGEST_REFUSAL: usize = 1 << 14;

/// Whether the result is marked as an error; `None` where the format does not say.
fn flag(block: &BlockView) -> Option<bool> {
    match block.kind {
        BlockKind::Result { error, .. } => error,
        _ => None,
    }
}

/// The words of persons in results, by event. Events without such words are left out.
#[must_use]
pub fn in_results(events: &[Event], finder: ResultWordFinder<'_>) -> Vec<(u32, Vec<Passage>)> {
    let calls = CallIndex::find(events, 0..events.len());
    let mut out: Vec<(u32, Vec<Passage>)> = Vec::new();
    for result in &calls.results {
        let passages = finder.find(result, calls.call_of(result).as_ref());
        if passages.is_empty() {
            continue;
        }
        match out.last_mut().filter(|(seq, _)| *seq == result.event.seq) {
            Some((_, before)) => before.extend(passages),
            None => out.push((result.event.seq, passages)),
        }
    }
    out
}
