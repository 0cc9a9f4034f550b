//! The forms that a message of the log may have in a context: edited by a reducer, or in another form because a
//! provider would refuse the original.

use bytes::Bytes;

use super::{ProofChecker, ReadMessage, is_blank};
use crate::arguments::with_form;
use crate::dialect::ServerTool;
use crate::edit::{self, BlockChange};
use crate::jsonstr::without_halves;
use crate::log::{content_of, measure};
use crate::profile::ArgumentForm;
use crate::repair::{
    CONTINUE_ASSISTANT, CONTINUE_USER, EMPTY, NO_CALL, NO_REASONING, NO_REPLY, NO_RESULT, OF_OTHER,
    OF_SYSTEM, OPENING, RepairReason, is_given, is_of_other_shape, is_renamed, labelled,
    plain_text, results_first, text_with_calls, with_blank, with_ids, without, without_blank,
};
use crate::view::{BlockKind, BlockView, Role, TextRef};

/// The changes, by block, that turn `before` into `after`; `None` where no such changes exist.
pub(super) fn changes(
    before: &ReadMessage<'_>,
    after: &ReadMessage<'_>,
) -> Option<Vec<(usize, BlockChange)>> {
    if before.view.role != after.view.role || after.view.blocks.len() > before.view.blocks.len() {
        return None;
    }
    let mut changes = Vec::new();
    let mut rest = after.view.blocks.iter().peekable();
    for (index, block) in before.view.blocks.iter().enumerate() {
        let Some(other) = rest.next_if(|other| is_same(block, before, other, after)) else {
            changes.push((index, BlockChange::Remove));
            rest.next_if(|other| is_emptied(block, other, after));
            continue;
        };
        let (old, new) = (block.body.decode(&before.bytes), other.body.decode(&after.bytes));
        if old != new {
            changes.push((index, BlockChange::Replace(new.into_owned())));
        }
    }
    if rest.next().is_some() || changes.is_empty() {
        return None;
    }
    // Equal readings may have other bytes, such as other keys. Only the splice proves the edit.
    (apply(before, &changes) == *after.bytes).then_some(changes)
}

/// Whether two blocks are the same except for their bodies. Reasoning is never rewritten: it is the same, or it is not
/// there.
fn is_same(
    block: &BlockView,
    before: &ReadMessage<'_>,
    other: &BlockView,
    after: &ReadMessage<'_>,
) -> bool {
    let text = |part: &Option<TextRef>, bytes: &[u8]| part.map(|p| p.decode(bytes).into_owned());
    let same =
        |a: &Option<TextRef>, b: &Option<TextRef>| text(a, &before.bytes) == text(b, &after.bytes);
    match (&block.kind, &other.kind) {
        (BlockKind::Call { id: a, name: n }, BlockKind::Call { id: b, name: m }) => {
            same(a, b) && same(n, m)
        }
        (
            BlockKind::Result { id: a, name: n, error: e },
            BlockKind::Result { id: b, name: m, error: f },
        ) => same(a, b) && same(n, m) && e == f,
        (BlockKind::Text, BlockKind::Text) => true,
        (a, b) => {
            // Blocks that share one string have the same `outer`, which differs as soon as one of them does: compare
            // their own text.
            let same = match block.body.nested {
                Some(_) => block.body.decode(&before.bytes) == other.body.decode(&after.bytes),
                None => block.outer.of(&before.bytes) == other.outer.of(&after.bytes),
            };
            std::mem::discriminant(a) == std::mem::discriminant(b) && same
        }
    }
}

/// Whether `other` is what is left of a removed block. A block inside a string has no place of its own to go with it, so
/// its tags stay there, empty.
fn is_emptied(block: &BlockView, other: &BlockView, after: &ReadMessage<'_>) -> bool {
    block.body.nested.is_some()
        && other.body.nested.is_some()
        && std::mem::discriminant(&block.kind) == std::mem::discriminant(&other.kind)
        && other.body.decode(&after.bytes).is_empty()
}

/// The bytes of a message after these changes.
fn apply(message: &ReadMessage<'_>, changes: &[(usize, BlockChange)]) -> Bytes {
    let blocks = &message.view.blocks;
    let changes: Vec<_> =
        changes.iter().filter_map(|(at, change)| Some((blocks.get(*at)?, change))).collect();
    edit::apply(&message.bytes, &changes)
}

/// The id in a result; `None` for other blocks.
fn id_of(block: &BlockView) -> Option<TextRef> {
    match block.kind {
        BlockKind::Result { id, .. } => id,
        _ => None,
    }
}

fn is_bound(block: &BlockView) -> bool {
    matches!(block.kind, BlockKind::Reasoning { bound: true })
}

impl ProofChecker<'_> {
    /// Whether some reducer or repair makes these changes, for a compaction without a record. Results and arguments get
    /// shorter, reasoning is removed, and text is only replaced as a whole.
    pub(super) fn is_usual(
        &self,
        before: &ReadMessage<'_>,
        changes: &[(usize, BlockChange)],
    ) -> bool {
        let counter = self.case.counter;
        // As the log counts: a result of tool references has no text and still costs tokens.
        let tokens = measure(counter, &before.bytes, &before.view).blocks;
        changes.iter().all(|(at, change)| {
            let Some((block, tokens)) = before.view.blocks.get(*at).zip(tokens.get(*at)) else {
                return false;
            };
            match (&block.kind, change) {
                (BlockKind::Reasoning { .. }, BlockChange::Remove) => true,
                (BlockKind::Call { .. } | BlockKind::Result { .. }, BlockChange::Replace(new)) => {
                    counter.count(new, content_of(before.view.role, &block.kind)) < *tokens
                }
                (BlockKind::Text, BlockChange::Replace(new)) => {
                    new == crate::reduce::CAPPED || new == EMPTY && is_blank(block, before)
                }
                _ => false,
            }
        })
    }

    /// The repair that changes `before` to `after`; `None` where no repair does.
    pub(super) fn rendering(
        &self,
        before: &ReadMessage<'_>,
        after: &ReadMessage<'_>,
    ) -> Option<RepairReason> {
        // The engine makes this repair first, so the others are made of its result.
        if let Some(bytes) = without_halves(&before.bytes) {
            let bytes = Bytes::from(bytes);
            let whole = ReadMessage::new(self.case.dialect, &bytes);
            let is_whole = *whole.bytes == *after.bytes;
            return if is_whole {
                Some(RepairReason::HalfCharacter)
            } else {
                self.rendering(&whole, after)
            };
        }
        // This repair is the last, so the others are searched in what it was made of.
        let dialect = self.case.dialect;
        if with_blank(&before.bytes, dialect).is_some_and(|bytes| *bytes == *after.bytes) {
            return Some(RepairReason::BlankReasoning);
        }
        let bare = without_blank(&after.bytes, dialect);
        let other = |bare: Bytes| self.rendering(before, &ReadMessage::new(dialect, &bare));
        if let Some(why) = bare.and_then(other) {
            return Some(why);
        }
        if let Some(bytes) = self.without_lone_results(before, after) {
            let paired = ReadMessage::new(dialect, &bytes);
            if *paired.bytes == *after.bytes {
                return Some(RepairReason::LoneServerResult);
            }
            if let Some(why) = self.rendering(&paired, after) {
                return Some(why);
            }
        }
        if let Some(bytes) = results_first(&before.bytes, &before.view) {
            let sorted = ReadMessage::new(dialect, &bytes);
            if *sorted.bytes == *after.bytes {
                return Some(RepairReason::ResultsBehind);
            }
            if let Some(why) = self.rendering(&sorted, after) {
                return Some(why);
            }
        }
        for form in [ArgumentForm::JsonText, ArgumentForm::Object] {
            let Some(bytes) = with_form(&before.bytes, &before.view, form) else { continue };
            let formed = ReadMessage::new(self.case.dialect, &bytes);
            if *formed.bytes == *after.bytes {
                return Some(RepairReason::Arguments);
            }
            if let Some(why) = self.rendering(&formed, after) {
                return Some(why);
            }
        }
        let forms = self.renderings(before);
        if let Some((why, _)) = forms.iter().find(|(_, bytes)| **bytes == *after.bytes) {
            return Some(*why);
        }
        let renamed = |message: &ReadMessage<'_>| {
            is_renamed((&message.view, &message.bytes), (&after.view, &after.bytes))
        };
        let in_forms = |holds: &dyn Fn(&ReadMessage<'_>) -> bool| {
            forms.iter().any(|(_, bytes)| holds(&ReadMessage::new(dialect, bytes)))
        };
        if renamed(before) || in_forms(&renamed) {
            return Some(RepairReason::DuplicateId);
        }
        if self.is_completed(before, after) {
            return Some(RepairReason::UnansweredCall);
        }
        let as_text = |message: &ReadMessage<'_>| self.is_as_text(message, after);
        let orphan = before.view.has_results() && (as_text(before) || in_forms(&as_text));
        orphan.then_some(RepairReason::OrphanResult)
    }

    /// Whether `after` is `before`, possibly in another form, with added results in front for calls that it leaves
    /// unanswered.
    fn is_completed(&self, before: &ReadMessage<'_>, after: &ReadMessage<'_>) -> bool {
        let blocks = &after.view.blocks;
        let count = blocks.iter().take_while(|block| self.is_made_result(block, after)).count();
        if count == 0 || !before.view.has_results() {
            return false;
        }
        let start = blocks[0].outer.start as usize;
        // A result of the log may have the text of a made one, so each number of made results is tried.
        blocks.iter().take(count + 1).skip(1).any(|rest| {
            let parts = [&after.bytes[..start], &after.bytes[rest.outer.start as usize..]];
            let bytes = Bytes::from(parts.concat());
            let rest = ReadMessage::new(self.case.dialect, &bytes);
            *rest.bytes == *before.bytes || self.rendering(before, &rest).is_some()
        })
    }

    /// Whether a block is a result that a repair added.
    fn is_made_result(&self, block: &BlockView, message: &ReadMessage<'_>) -> bool {
        let BlockKind::Result { id, name, .. } = &block.kind else { return false };
        if block.text(&message.bytes) != NO_RESULT {
            return false;
        }
        let part =
            |part: &Option<TextRef>| part.map(|p| p.decode(&message.bytes)).unwrap_or_default();
        let dialect = self.case.dialect;
        let result = dialect.made_result(&message.bytes, &part(id), &part(name), NO_RESULT);
        let view = dialect.view(&result);
        view.blocks.iter().any(|own| own.outer.of(&result) == block.outer.of(&message.bytes))
    }

    /// All forms that repairs give a message, except those of its results.
    fn renderings(&self, message: &ReadMessage<'_>) -> Vec<(RepairReason, Bytes)> {
        // All forms that any profile may need: a proof knows no profile but its validator.
        let mut forms = Vec::new();
        let view = &message.view;
        let dialect = self.case.dialect;
        if view.role == Role::Other || view.role.is_system() {
            let (why, label) = match view.role {
                Role::Other => (RepairReason::UnknownRole, OF_OTHER),
                _ => (RepairReason::SystemInside, OF_SYSTEM),
            };
            let text = labelled(label, view, &message.bytes);
            forms.push((why, dialect.made_message(Role::User, &text)));
        }
        if is_of_other_shape(view, &message.bytes) {
            let text = plain_text(view, &message.bytes);
            forms.push((RepairReason::OtherShape, dialect.made_message(view.role, &text)));
        }
        let of = |wanted: &dyn Fn(&BlockView) -> bool| -> Vec<usize> {
            (0..view.blocks.len()).filter(|at| wanted(&view.blocks[*at])).collect()
        };
        let bound = of(&is_bound);
        if !bound.is_empty() {
            forms.push(self.without(message, RepairReason::BoundReasoning, &bound, NO_REASONING));
        }
        if view.role == Role::Assistant && view.has_calls() {
            let text = text_with_calls(view, &message.bytes);
            forms.push((RepairReason::ToldCall, dialect.made_message(Role::Assistant, &text)));
        }
        if let Some(filled) = dialect.filled_result(&message.bytes, view, EMPTY) {
            forms.push((RepairReason::EmptyMessage, filled));
        }
        let blank = of(&|block| is_blank(block, message));
        if !blank.is_empty() || view.blocks.is_empty() {
            forms.push(self.without(message, RepairReason::EmptyMessage, &blank, EMPTY));
        }
        if !blank.is_empty() {
            let changes: Vec<_> =
                blank.iter().map(|at| (*at, BlockChange::Replace(EMPTY.to_owned()))).collect();
            forms.push((RepairReason::EmptyMessage, apply(message, &changes)));
        }
        forms
    }

    /// The message without these blocks. Where it has no others, a message with this text.
    fn without(
        &self,
        message: &ReadMessage<'_>,
        why: RepairReason,
        blocks: &[usize],
        text: &str,
    ) -> (RepairReason, Bytes) {
        (why, without(&message.bytes, &message.view, blocks, text, self.case.dialect))
    }

    /// The message without those results of the provider's own tools that `after` lacks; `None` where it has all.
    fn without_lone_results(
        &self,
        before: &ReadMessage<'_>,
        after: &ReadMessage<'_>,
    ) -> Option<Bytes> {
        let dialect = self.case.dialect;
        let of = |message: &ReadMessage<'_>| -> Vec<(usize, ServerTool)> {
            let blocks = message.view.blocks.iter().enumerate();
            let tool = |(at, block)| Some((at, dialect.server_tool(&message.bytes, block)?));
            blocks.filter_map(tool).collect()
        };
        let remaining: Vec<_> = of(after).into_iter().map(|(_, tool)| tool).collect();
        let removed = of(before)
            .into_iter()
            .filter(|(_, tool)| matches!(tool, ServerTool::Result(_)) && !remaining.contains(tool));
        let removed: Vec<usize> = removed.map(|(at, _)| at).collect();
        let without = || without(&before.bytes, &before.view, &removed, NO_CALL, dialect);
        (!removed.is_empty()).then(without)
    }

    /// Whether `after` is `before` with some of its results as text. The other results may have an id that a repair
    /// gave them.
    fn is_as_text(&self, before: &ReadMessage<'_>, after: &ReadMessage<'_>) -> bool {
        let id = |block: &BlockView, message: &ReadMessage<'_>| match &block.kind {
            BlockKind::Result { id, .. } => {
                Some(id.map(|id| id.decode(&message.bytes).into_owned()))
            }
            _ => None,
        };
        let mut remaining =
            after.view.blocks.iter().filter_map(|block| id(block, after)).peekable();
        let (mut orphans, mut renamed) = (Vec::new(), Vec::new());
        for (at, block) in before.view.blocks.iter().enumerate() {
            let Some(own) = id(block, before) else { continue };
            let is_own = |other: &Option<String>| match (&own, other) {
                (Some(own), Some(other)) => is_given(own, other),
                (own, other) => own == other,
            };
            match remaining.next_if(is_own) {
                None => orphans.push(at),
                Some(other) if other == own => {}
                Some(other) => renamed.extend(id_of(block).zip(other)),
            }
        }
        if orphans.is_empty() {
            return false;
        }
        let bytes = with_ids(&before.bytes, &renamed);
        let before = ReadMessage::new(self.case.dialect, &bytes);
        self.case.dialect.results_as_text(&before.bytes, &before.view, &orphans) == *after.bytes
    }

    /// Whether a message consists of added results for several calls.
    fn are_made_results(&self, message: &ReadMessage<'_>) -> bool {
        let blocks = &message.view.blocks;
        let Some(last) = blocks.last() else { return false };
        let id_and_name = |block: &BlockView| match &block.kind {
            BlockKind::Result { id, name, .. } => {
                [id, name].map(|part| part.map(|p| p.decode(&message.bytes)).unwrap_or_default())
            }
            _ => Default::default(),
        };
        let [id, name] = id_and_name(last);
        let alone = self.case.dialect.made_result(&message.bytes, &id, &name, NO_RESULT);
        let start = blocks[0].outer.start as usize;
        let without = [&message.bytes[..start], &message.bytes[last.outer.start as usize..]];
        blocks.iter().all(|block| self.is_made_result(block, message)) && without.concat() == *alone
    }

    /// The repair that adds this message; `None` where no repair adds such a message.
    pub(super) fn addition(&self, message: &ReadMessage<'_>) -> Option<RepairReason> {
        if let Some(bare) = without_blank(&message.bytes, self.case.dialect) {
            return self.addition(&ReadMessage::new(self.case.dialect, &bare));
        }
        let (block, more) = message.view.blocks.split_first()?;
        if !more.is_empty() {
            return self.are_made_results(message).then_some(RepairReason::UnansweredCall);
        }
        let text = block.text(&message.bytes);
        let dialect = self.case.dialect;
        if let BlockKind::Result { id, name, .. } = &block.kind {
            let part =
                |part: &Option<TextRef>| part.map(|p| p.decode(&message.bytes)).unwrap_or_default();
            let result = dialect.made_result(&message.bytes, &part(id), &part(name), NO_RESULT);
            return (result == *message.bytes).then_some(RepairReason::UnansweredCall);
        }
        let (role, why) = match &*text {
            NO_REPLY => (Role::Assistant, RepairReason::LoneReasoning),
            CONTINUE_ASSISTANT => (Role::Assistant, RepairReason::Bridge),
            OPENING | CONTINUE_USER => (Role::User, RepairReason::Bridge),
            _ => return None,
        };
        (dialect.made_message(role, &text) == *message.bytes).then_some(why)
    }
}
