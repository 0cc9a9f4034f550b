//! Applies `clear_tool_uses_20250919` and `clear_thinking_20251015` to messages.
//!
//! The vendor keeps no state, and neither does this module. It goes through the history request by request, so the same
//! history is cleared in the same way with each request. Between two clearings nothing changes, and each prompt extends
//! the one before.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;

use super::answer::AppliedEdit;
use super::edits::{
    ClearInputs, ClearThinking, ClearToolUses, ContextEdit, EditTrigger, KeepThinking,
};
use crate::fields::ObjectFields;
use crate::scan;
use crate::vendor::rewrite::Splices;
use crate::vendor::write::list;

/// The text in the place of a cleared result.
const CLEARED: &[u8] = br#""[Old tool result content cleared]""#;

/// Messages after the edits, with the effects of the edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClearedMessages {
    /// The messages.
    pub messages: Vec<Bytes>,
    /// The effect of each edit that changed something.
    pub applied: Vec<AppliedEdit>,
}

impl ClearedMessages {
    /// The tokens that all edits removed.
    #[must_use]
    pub fn input_tokens(&self) -> u64 {
        let of = |edit: &AppliedEdit| match *edit {
            AppliedEdit::ClearToolUses { input_tokens, .. }
            | AppliedEdit::ClearThinking { input_tokens, .. } => input_tokens,
        };
        self.applied.iter().map(of).sum()
    }
}

/// The measures of a conversation.
pub struct ConversationMeasure<'a> {
    /// The tokens of everything beside the messages.
    pub beside: u64,
    /// Whether the model binds its thinking to all messages before it: thinking from before a clearing is then void.
    pub is_bound: bool,
    /// Counts the tokens of a message.
    pub count: &'a dyn Fn(&Bytes) -> u64,
}

/// Applies the edits that clear, in their order. A message from which nothing is cleared keeps its bytes.
#[must_use]
pub fn clear(
    messages: Vec<Bytes>,
    edits: &[ContextEdit],
    measure: &ConversationMeasure<'_>,
) -> ClearedMessages {
    let mut cleared = ClearedMessages { messages, applied: Vec::new() };
    for edit in edits {
        let applied = match edit {
            ContextEdit::ClearThinking(edit) => thinking(&mut cleared.messages, *edit, measure),
            ContextEdit::ClearToolUses(edit) => tool_uses(&mut cleared.messages, edit, measure),
            ContextEdit::Compact(_) | ContextEdit::Other(_) => None,
        };
        cleared.applied.extend(applied);
    }
    cleared
}

fn thinking(
    messages: &mut [Bytes],
    edit: ClearThinking,
    measure: &ConversationMeasure<'_>,
) -> Option<AppliedEdit> {
    // The default of every current model is to keep all of its thinking.
    let KeepThinking::Turns(keep) = edit.keep else { return None };
    let thinks: Vec<usize> =
        (0..messages.len()).filter(|at| without_thinking(&messages[*at]).is_some()).collect();
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let old = &thinks[..thinks.len().saturating_sub(keep)];
    let mut input_tokens = 0;
    for at in old {
        if let Some(bare) = without_thinking(&messages[*at]) {
            let before = (measure.count)(&messages[*at]);
            input_tokens += before.saturating_sub((measure.count)(&bare));
            messages[*at] = bare;
        }
    }
    let turns = old.len() as u64;
    (turns > 0).then_some(AppliedEdit::ClearThinking { turns, input_tokens })
}

/// A message of the model without its thinking. `None` where it has no thinking, or nothing else.
fn without_thinking(message: &Bytes) -> Option<Bytes> {
    let fields = ObjectFields::of(message, 0..message.len());
    let content = fields.array("content").filter(|_| fields.is("role", "assistant"))?;
    let thinks = |at: &Range<usize>| {
        let block = ObjectFields::of(message, at.clone());
        block.is("type", "thinking") || block.is("type", "redacted_thinking")
    };
    let all: Vec<_> = scan::elements(message, content.clone()).collect();
    let rest: Vec<_> = all.iter().filter(|at| !thinks(at)).collect();
    if rest.is_empty() || rest.len() == all.len() {
        return None;
    }
    let mut splices = Splices::default();
    splices.replace(content, list(rest.into_iter().map(|at| &message[at.clone()])));
    Some(splices.apply(message).into())
}

/// A call of a tool that has a result.
struct UsedTool {
    /// The message, and the range of the call's input in it.
    call: (usize, Range<usize>),
    /// The message, and the range of the result's block in it.
    result: (usize, Range<usize>),
    name: String,
    is_cleared: bool,
}

/// Clears tool uses as the vendor did request by request, and returns the effect. `None` where nothing was cleared.
fn tool_uses(
    messages: &mut [Bytes],
    edit: &ClearToolUses,
    measure: &ConversationMeasure<'_>,
) -> Option<AppliedEdit> {
    let mut uses = uses(messages);
    let mut walk = ClearWalk { messages, edit, measure, total: measure.beside, freed: 0, void: 0 };
    // The last round, after all messages, is the request that is being made now.
    for at in 0..=walk.messages.len() {
        if walk.is_request(at) {
            walk.request(at, &mut uses);
        }
        // A message of the model is counted after the request that it answers.
        walk.total += walk.messages.get(at).map_or(0, |message| (measure.count)(message));
    }
    let (freed, void) = (walk.freed, walk.void);
    let cleared: Vec<&UsedTool> = uses.iter().filter(|used| used.is_cleared).collect();
    if cleared.is_empty() {
        return None;
    }
    let applied =
        AppliedEdit::ClearToolUses { tool_uses: cleared.len() as u64, input_tokens: freed };
    let mut splices: HashMap<usize, Splices> = HashMap::new();
    for used in cleared {
        used.clear_result(messages, splices.entry(used.result.0).or_default());
        if edit.clears_input(&used.name) {
            used.clear_input(splices.entry(used.call.0).or_default());
        }
    }
    for (at, splices) in splices {
        messages[at] = splices.apply(&messages[at]).into();
    }
    if measure.is_bound {
        for message in &mut messages[..void] {
            *message = without_thinking(message).unwrap_or_else(|| message.clone());
        }
    }
    Some(applied)
}

/// The state of one pass through a history, request by request.
struct ClearWalk<'a> {
    messages: &'a [Bytes],
    edit: &'a ClearToolUses,
    measure: &'a ConversationMeasure<'a>,
    /// The tokens of the current request after the clearings so far.
    total: u64,
    /// The tokens that all clearings so far have freed.
    freed: u64,
    /// The number of messages before the last clearing.
    void: usize,
}

impl ClearWalk<'_> {
    /// Whether a request was sent with the messages before this one.
    fn is_request(&self, at: usize) -> bool {
        let is_model = |at: usize| {
            let message = &self.messages[at];
            ObjectFields::of(message, 0..message.len()).is("role", "assistant")
        };
        at == self.messages.len() || at > 0 && is_model(at) && !is_model(at - 1)
    }

    /// Clears uses for the request that is sent with the messages before `end`, if its trigger is reached.
    fn request(&mut self, end: usize, uses: &mut [UsedTool]) {
        // The uses are in the order of their results, so those of this request come first.
        let known = uses.iter().take_while(|used| used.result.0 < end).count();
        let known = &mut uses[..known];
        let open = known.iter().filter(|used| !used.is_cleared).count() as u64;
        let is_over = match self.edit.trigger {
            EditTrigger::InputTokens(most) => self.total > most,
            EditTrigger::ToolUses(most) => open > most,
        };
        if !is_over {
            return;
        }
        let may = |used: &&mut UsedTool| !self.edit.exclude_tools.contains(&used.name);
        let mut may: Vec<&mut UsedTool> = known.iter_mut().filter(may).collect();
        let keep = usize::try_from(self.edit.keep).unwrap_or(usize::MAX);
        // The newest uses stay. This is decided before cleared uses are skipped, so that an older use never counts as
        // new.
        may.truncate(may.len().saturating_sub(keep));
        may.retain(|used| !used.is_cleared);
        let freed = may.iter().map(|used| self.frees(used)).sum();
        if may.is_empty() || self.edit.clear_at_least.is_some_and(|least| freed < least) {
            return;
        }
        may.into_iter().for_each(|used| used.is_cleared = true);
        self.total = self.total.saturating_sub(freed);
        self.freed += freed;
        self.void = end;
    }

    /// The tokens that clearing a use frees: those of the use, less those that are left of it.
    fn frees(&self, used: &UsedTool) -> u64 {
        let less = |at: usize, splices: Splices| {
            let before = (self.measure.count)(&self.messages[at]);
            let after = (self.measure.count)(&splices.apply(&self.messages[at]).into());
            before.saturating_sub(after)
        };
        let mut result = Splices::default();
        used.clear_result(self.messages, &mut result);
        let mut freed = less(used.result.0, result);
        if self.edit.clears_input(&used.name) {
            let mut input = Splices::default();
            used.clear_input(&mut input);
            freed += less(used.call.0, input);
        }
        freed
    }
}

impl ClearToolUses {
    fn clears_input(&self, tool: &str) -> bool {
        match &self.clear_tool_inputs {
            ClearInputs::None => false,
            ClearInputs::All => true,
            ClearInputs::Of(tools) => tools.iter().any(|name| name == tool),
        }
    }
}

impl UsedTool {
    fn clear_result(&self, messages: &[Bytes], splices: &mut Splices) {
        let (at, block) = self.result.clone();
        splices.set(&messages[at], block, "content", CLEARED);
    }

    fn clear_input(&self, splices: &mut Splices) {
        splices.replace(self.call.1.clone(), *b"{}");
    }
}

/// The uses that have a result, in the order of their results.
fn uses(messages: &[Bytes]) -> Vec<UsedTool> {
    let mut calls: HashMap<String, (usize, Range<usize>, String)> = HashMap::new();
    let mut uses = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let content = ObjectFields::of(message, 0..message.len()).array("content").unwrap_or(0..0);
        for range in scan::elements(message, content) {
            let block = ObjectFields::of(message, range.clone());
            if block.is("type", "tool_use") {
                let (id, name) = (block.text("id"), block.text("name"));
                let place = id.zip(block.get("input"));
                if let Some((id, input)) = place {
                    let name = name.unwrap_or_default().into_owned();
                    calls.insert(id.into_owned(), (at, input, name));
                }
            } else if block.is("type", "tool_result")
                && let Some((call, input, name)) =
                    block.text("tool_use_id").and_then(|id| calls.remove(&*id))
            {
                // A second result with the same id finds no call any more, so that no use counts twice.
                let (call, result) = ((call, input), (at, range));
                uses.push(UsedTool { call, result, name, is_cleared: false });
            }
        }
    }
    uses
}
