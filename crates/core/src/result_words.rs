//! Words of a person inside a tool's result: the answer to a question, the reason why a call was rejected, and messages
//! typed while the agent worked. All parts of midfold use this one rule: the recap, the summariser's sources, the judge
//! of its reply, and recall.

use crate::calls::{CallIndex, CallSite, ResultSite, tool_of};
use crate::dialect::Dialect;
use crate::event::Event;
use crate::tools::{CallVerdict, ToolTable};
use crate::view::{BlockKind, BlockView};
use crate::voice::Passage;

/// The tables that are needed to find a person's words in results.
#[derive(Clone, Copy)]
pub struct ResultEars<'a> {
    /// The table of tools: which of them ask a person.
    pub tools: &'a ToolTable,
    /// The wire format: it knows the text that clients write around a person's words.
    pub dialect: &'a dyn Dialect,
}

impl ResultEars<'_> {
    /// The words of persons in a result, in order; empty where nobody speaks in it. `call` is the call that it answers.
    #[must_use]
    pub fn hear(&self, result: &ResultSite<'_>, call: Option<&CallSite<'_>>) -> Vec<Passage> {
        let (event, block) = (result.event, result.block);
        let steered = self.steered(event, block);
        let tool = tool_of(call, event, block);
        let most = if self.tools.lookup(&tool).answers.is_nobody() { REFUSAL } else { MOST };
        // A long result is no answer that somebody typed, so it is not decoded and searched.
        if steered.is_none()
            && block.texts.iter().map(|text| text.token.len()).sum::<usize>() > most
        {
            return Vec::new();
        }
        let text = block.text(&event.bytes);
        let own = steered.as_ref().and_then(|(at, _)| text.get(..*at)).unwrap_or(&text);
        let mut said = self.answered(&tool, own, block);
        if said.is_empty()
            && self.tools.may_hold_reason(own)
            && let Some(call) = call
        {
            let outcome = self.tools.outcome(&call.facts(self.tools), own, flag(block));
            said.extend(outcome.reason.map(|reason| Passage::user(&reason)));
        }
        said.extend(steered.into_iter().flat_map(|(_, said)| said));
        said
    }

    /// The answers in the result of a tool that asks a person. Empty where the call failed or was rejected.
    #[must_use]
    pub(crate) fn answered(&self, tool: &str, text: &str, block: &BlockView) -> Vec<Passage> {
        let answers = self.tools.lookup(tool).answers;
        // A server names its tools as it likes, so the name does not show that the tool asks the user.
        if answers.is_nobody() || flag(block) == Some(true) || tool.starts_with(OF_SERVER) {
            return Vec::new();
        }
        let outcome = self.tools.outcome(&self.tools.facts(tool, ""), text, flag(block));
        if outcome.verdict.is_some_and(|verdict| verdict != CallVerdict::Ok) {
            return Vec::new();
        }
        answers.of(text).iter().flat_map(|answer| self.dialect.passages(&[&**answer])).collect()
    }

    /// The words that a client added behind a result because the user typed them while the agent worked, and the byte
    /// in the result's text at which they start. `None` where there are none.
    #[must_use]
    pub(crate) fn steered(
        &self,
        event: &Event,
        block: &BlockView,
    ) -> Option<(usize, Vec<Passage>)> {
        let last = block.texts.last()?;
        let token = last.token.of(&event.bytes);
        // Most results do not end like one with such words, so they are not decoded.
        let near = token.get(token.len().saturating_sub(NEAR)..).unwrap_or_default();
        if last.nested.is_none() && !self.dialect.may_be_steered(near) {
            return None;
        }
        let is_own = block.texts.len() > 1;
        let last = last.decode(&event.bytes);
        let (at, said) = self.dialect.steered(&last, is_own)?;
        let before = block.text(&event.bytes).len().saturating_sub(last.len());
        Some((before + at, said))
    }
}

/// The bytes at the end of a result that are checked for signs of such words.
const NEAR: usize = 256;
/// The prefix of the names of tools that come from other servers.
const OF_SERVER: &str = "mcp__";
/// The most bytes of a result in which a person speaks: nobody types more.
const MOST: usize = 1 << 17;
/// The most bytes of a refusal with its reason.
const REFUSAL: usize = 1 << 14;

/// Whether the result is marked as an error; `None` where the format does not say.
fn flag(block: &BlockView) -> Option<bool> {
    match block.kind {
        BlockKind::Result { error, .. } => error,
        _ => None,
    }
}

/// The words of persons in results, by event. Events without such words are left out.
#[must_use]
pub fn in_results(events: &[Event], ears: ResultEars<'_>) -> Vec<(u32, Vec<Passage>)> {
    let calls = CallIndex::find(events, 0..events.len());
    let mut out: Vec<(u32, Vec<Passage>)> = Vec::new();
    for result in &calls.results {
        let said = ears.hear(result, calls.call_of(result).as_ref());
        if said.is_empty() {
            continue;
        }
        match out.last_mut().filter(|(seq, _)| *seq == result.event.seq) {
            Some((_, before)) => before.extend(said),
            None => out.push((result.event.seq, said)),
        }
    }
    out
}
