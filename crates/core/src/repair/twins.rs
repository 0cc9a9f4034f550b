//! Calls that share an id, or have an empty one: within one step, or within the whole request where the provider wants
//! that. A provider refuses them, and the id does not tell which call a result answers. Every such call but the first
//! gets a new id; an empty id is always replaced.
//!
//! Results get the new id of their call. They are paired by the tool's name where they have one, else by order.

use std::borrow::Cow;
use std::hash::Hasher;

use bytes::Bytes;
use rpds::RedBlackTreeSetSync;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::jsonstr;
use crate::profile::ProviderProfile;
use crate::unit::id_bytes;
use crate::view::{BlockKind, BlockView, EventView, Role, TextCoding, TextRef};

/// The start of the id that replaces an empty one; a number follows.
const NAMELESS: &str = "call";

/// An id of this many bytes is short enough for every provider, even with a number behind it.
const NEVER_CUT: usize = 32;

/// The length of Mistral's ids, which are letters and digits. Mistral refuses any other length.
const FIXED_LENGTH: usize = 9;

/// How many open calls of one id are searched for the tool of a result.
const LOOKED_AT: usize = 64;

/// The ids of the newest step.
#[derive(Clone, Debug)]
pub(super) struct StepIds {
    /// Whether consecutive events of the assistant are one step.
    joins: bool,
    /// Whether the provider allows empty ids.
    empty_ids: bool,
    /// The longest id that the provider accepts, in bytes.
    longest: usize,
    seen_result: bool,
    /// The number of calls in the step.
    calls: usize,
    /// The place of the call that was answered last; 0 for none.
    answered: usize,
    /// The calls by their id in the log.
    steps: FxHashMap<Vec<u8>, CallsOfId>,
    /// Whether all results of a step come at once, so that no more will come for a copy.
    at_once: bool,
    /// Whether no id may be used again in a later step.
    unique: bool,
    /// The ids of calls after the repair: those of the step, or all where no id may be used again. A tree, because the
    /// state is copied at every saved place.
    ids: RedBlackTreeSetSync<String>,
}

/// The calls that share one id in the log.
#[derive(Clone, Debug, Default)]
struct CallsOfId {
    /// The calls in order.
    given: Vec<NumberedCall>,
    /// Whether each of them is answered.
    answered: Vec<bool>,
    /// No call before this index is open.
    first: usize,
}

/// One of the calls that share an id.
#[derive(Clone, Debug)]
struct NumberedCall {
    /// Its place among the calls of the step.
    place: usize,
    /// Its id after the repair.
    id: String,
    tool: Vec<u8>,
    /// The call as it is in the message.
    block: u64,
    /// Whether an earlier one is the same, byte for byte: some adapters of streams write a call twice.
    is_copy: bool,
}

impl CallsOfId {
    fn push(&mut self, place: usize, id: String, own: &OwnId<'_>) {
        let (tool, block) = (own.tool.to_vec(), own.block);
        let is_copy = self.given.iter().any(|call| call.block == block);
        self.given.push(NumberedCall { place, id, tool, block, is_copy });
        self.answered.push(false);
    }

    /// Closes the oldest open call, of this tool if there is one, and returns it.
    fn answer(&mut self, tool: &[u8]) -> Option<&NumberedCall> {
        while self.answered.get(self.first) == Some(&true) {
            self.first += 1;
        }
        let mut waiting = (self.first..self.given.len()).filter(|at| !self.answered[*at]);
        let same = |at: &usize| self.given[*at].tool == tool;
        let named =
            if tool.is_empty() { None } else { waiting.by_ref().take(LOOKED_AT).find(same) };
        let at = named.unwrap_or(self.first);
        *self.answered.get_mut(at)? = true;
        self.given.get(at)
    }
}

impl StepIds {
    pub fn new(profile: &ProviderProfile) -> Self {
        Self {
            joins: profile.joins_assistant(),
            empty_ids: profile.empty_ids,
            longest: profile.longest_id,
            at_once: profile.merges_roles,
            unique: profile.unique_ids,
            seen_result: false,
            calls: 0,
            answered: 0,
            steps: FxHashMap::default(),
            ids: RedBlackTreeSetSync::new_sync(),
        }
    }

    /// Ends the step: the next event starts a new one.
    pub fn end_step(&mut self) {
        self.steps.clear();
        (self.calls, self.answered) = (0, 0);
        if !self.unique {
            self.ids = RedBlackTreeSetSync::new_sync();
        }
    }

    /// Whether all calls of the step that have no result are copies, and the newest result is that of a call behind
    /// them. Results come in the order of their calls, so the client has passed the copies over. Where all results come at
    /// once, it has in any case.
    pub fn has_passed_copies(&self) -> bool {
        let waiting = self.steps.values().flat_map(|calls| calls.given.iter().zip(&calls.answered));
        let mut waiting = waiting.filter(|(_, answered)| !**answered).peekable();
        let is_passed =
            |call: &NumberedCall| call.is_copy && (self.at_once || call.place < self.answered);
        waiting.peek().is_some() && waiting.all(|(call, _)| is_passed(call))
    }

    /// The event with new ids for calls that need one, and for their results; `None` where no id changes.
    pub fn push(&mut self, view: &EventView, bytes: &Bytes) -> Option<Bytes> {
        let results = view.has_results();
        // A new answer of the model or a message of anybody else ends the step, and its ids may be used again.
        if !results && (view.role != Role::Assistant || !self.joins || self.seen_result) {
            self.end_step();
        }
        self.seen_result = results;
        let own: Vec<_> = view.blocks.iter().filter_map(|block| own_id(block, bytes)).collect();
        if own.is_empty() {
            return None;
        }
        let literal: FxHashSet<&[u8]> = own.iter().map(|own| &*own.id).collect();
        let mut renamed = Vec::new();
        for own in &own {
            let name = match own.calls {
                true => self.call(own, &literal),
                false => self.result(&own.id, &own.tool),
            };
            renamed.extend(name.map(|name| (own.place, name)));
        }
        (!renamed.is_empty()).then(|| with_ids(bytes, &renamed))
    }

    /// The new id of a call; `None` where it keeps its own. `literal` is all ids in the event: a new one must differ.
    fn call(&mut self, own: &OwnId<'_>, literal: &FxHashSet<&[u8]>) -> Option<String> {
        self.calls += 1;
        let id = &*own.id;
        let text = String::from_utf8_lossy(id);
        let may_stay = !id.is_empty() || self.empty_ids;
        let is_first = !self.steps.contains_key(id) && !self.ids.contains(&*text);
        if is_first && may_stay {
            self.ids.insert_mut(text.clone().into_owned());
            self.steps.entry(id.to_vec()).or_default().push(self.calls, text.into_owned(), own);
            return None;
        }
        let given_count = self.steps.get(id).map_or(0, |names| names.given.len());
        // Calls of an id are numbered from 1, and the first keeps the bare id. A first call whose id is taken already
        // is therefore number 2; empty ids, which may not stay, begin at 1.
        let mut number = given_count + 1 + usize::from(given_count == 0 && may_stay);
        let mut name = self.numbered(&text, number);
        while literal.contains(name.as_bytes()) || self.ids.contains(&name) {
            number += 1;
            name = self.numbered(&text, number);
        }
        self.ids.insert_mut(name.clone());
        self.steps.entry(id.to_vec()).or_default().push(self.calls, name.clone(), own);
        Some(name)
    }

    /// An id with a number behind it, cut to the length that the provider accepts.
    fn numbered(&self, id: &str, number: usize) -> String {
        if has_fixed_length(id) {
            let number = number.to_string();
            return format!("{}{number}", &id[..FIXED_LENGTH.saturating_sub(number.len())]);
        }
        let number = format!("_{number}");
        let id = if id.is_empty() { NAMELESS } else { id };
        let most = id.floor_char_boundary(self.longest.saturating_sub(number.len()));
        format!("{}{number}", &id[..most])
    }

    /// The new id of the call that a result answers; `None` where the result has the right one.
    fn result(&mut self, id: &[u8], tool: &[u8]) -> Option<String> {
        // A result with an id that no call has is an orphan and keeps it.
        let call = self.steps.get_mut(id)?.answer(tool)?;
        self.answered = call.place;
        (call.id.as_bytes() != id).then(|| call.id.clone())
    }
}

/// An id that is a JSON string of its own.
struct OwnId<'a> {
    place: TextRef,
    id: Cow<'a, [u8]>,
    /// The tool's name; empty where there is none.
    tool: Cow<'a, [u8]>,
    /// The hash of a call's whole block.
    block: u64,
    /// Whether it is the id of a call; otherwise it is a result's.
    calls: bool,
}

/// The id of a call or result where it is a JSON string of its own; else `None`. Results inside one string (ShareGPT)
/// pair by order alone.
fn own_id<'a>(block: &BlockView, bytes: &'a [u8]) -> Option<OwnId<'a>> {
    let (id, name, calls) = match &block.kind {
        BlockKind::Call { id, name } => ((*id)?, name, true),
        BlockKind::Result { id, name, .. } => ((*id)?, name, false),
        _ => return None,
    };
    let own = id.nested.is_none() && id.coding == TextCoding::Str;
    own.then(|| OwnId {
        place: id,
        id: id_bytes(Some(&id), bytes),
        tool: id_bytes(name.as_ref(), bytes),
        block: if calls { hash_of(block.outer.of(bytes)) } else { 0 },
        calls,
    })
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Whether the id may be one of Mistral's, which have a fixed length.
fn has_fixed_length(id: &str) -> bool {
    id.len() == FIXED_LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether `new` is `old` with a number in place of its end.
fn is_numbered_end(old: &str, new: &str) -> bool {
    let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
    new.bytes().skip(same).all(|byte| byte.is_ascii_digit())
}

/// Whether `new` is `old`, or an id that a repair may give to a call with the id `old`.
pub(crate) fn is_given(old: &str, new: &str) -> bool {
    if has_fixed_length(old) && has_fixed_length(new) {
        return is_numbered_end(old, new);
    }
    let Some((id, number)) = new.rsplit_once('_').filter(|_| old != new) else { return old == new };
    let is_of = match old {
        "" => id == NAMELESS,
        // An id that would be too long was cut before the number was added.
        _ => !id.is_empty() && old.starts_with(id) && (old == id || old.len() > NEVER_CUT),
    };
    is_of && number.parse::<usize>().is_ok()
}

/// The ids that a repair gave in an event, each with the id in the log.
pub(super) fn given_ids(
    (before, old): (&EventView, &[u8]),
    (after, new): (&EventView, &[u8]),
) -> Vec<(String, String)> {
    let text = |own: OwnId<'_>| String::from_utf8_lossy(&own.id).into_owned();
    let ids = |view: &EventView, bytes| -> Vec<String> {
        view.blocks.iter().filter_map(|block| own_id(block, bytes)).map(text).collect()
    };
    // This repair changes ids and no blocks, so both lists have the same order.
    let pairs = ids(after, new).into_iter().zip(ids(before, old));
    pairs.filter(|(new, old)| new != old).collect()
}

/// The place of a block's id, with its id in the log; `None` where the repair did not change it.
pub(super) fn logged_id(
    block: &BlockView,
    bytes: &[u8],
    given: &[(String, String)],
) -> Option<(TextRef, String)> {
    let own = own_id(block, bytes)?;
    let (_, old) = given.iter().find(|(new, _)| new.as_bytes() == &*own.id)?;
    Some((own.place, old.clone()))
}

/// The event with these ids at their places. The places have to be ascending.
pub(crate) fn with_ids(bytes: &[u8], ids: &[(TextRef, String)]) -> Bytes {
    let mut out = Vec::with_capacity(bytes.len() + 8 * ids.len());
    let mut from = 0;
    for (place, id) in ids {
        let place = place.token.to_usize();
        out.extend_from_slice(bytes.get(from..place.start).unwrap_or_default());
        jsonstr::encode_into(id, &mut out);
        from = place.end;
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out.into()
}

/// Whether `after` is `before` with some ids as this repair gives them.
pub(crate) fn is_renamed(before: (&EventView, &[u8]), after: (&EventView, &[u8])) -> bool {
    let ids = |(view, bytes)| -> Vec<(TextRef, String)> {
        let EventView { blocks, .. }: &EventView = view;
        let ids = blocks.iter().filter_map(|block| own_id(block, bytes));
        ids.map(|own| (own.place, String::from_utf8_lossy(&own.id).into_owned())).collect()
    };
    let (old, new) = (ids(before), ids(after));
    if old.len() != new.len() || !old.iter().zip(&new).all(|(old, new)| is_given(&old.1, &new.1)) {
        return false;
    }
    let changed = old.iter().zip(new).filter(|(old, new)| old.1 != new.1);
    let changed: Vec<_> = changed.map(|(old, new)| (old.0, new.1)).collect();
    !changed.is_empty() && *with_ids(before.1, &changed) == *after.1
}
