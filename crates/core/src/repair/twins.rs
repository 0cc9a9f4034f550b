//! Calls of one step that share an id: a provider refuses them, and nothing tells whose a result is.
//! All but the first get an id of their own, and so do their results, which pair in order.

use std::borrow::Cow;

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::jsonstr;
use crate::unit::id_bytes;
use crate::view::{Block, BlockKind, Coding, Role, TextRef, View};

/// The ids of the step that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Twins {
    /// Whether consecutive events of the assistant are one step.
    joins: bool,
    seen_result: bool,
    /// By the id that the log has.
    steps: FxHashMap<Vec<u8>, Names>,
}

/// The calls of one id.
#[derive(Clone, Debug, Default)]
struct Names {
    /// The ids that they are given, in order.
    given: Vec<String>,
    answered: usize,
}

impl Twins {
    pub fn new(joins: bool) -> Self {
        Self { joins, ..Self::default() }
    }

    /// The event with ids of their own for calls that have none, and for their results.
    pub fn push(&mut self, view: &View, bytes: &Bytes) -> Option<Bytes> {
        let results = view.has_results();
        if !results && (view.role != Role::Assistant || !self.joins || self.seen_result) {
            self.steps.clear();
        }
        self.seen_result = results;
        let own: Vec<_> = view.blocks.iter().filter_map(|block| own_id(block, bytes)).collect();
        if own.is_empty() {
            return None;
        }
        let literal: FxHashSet<&[u8]> = own.iter().map(|(_, id, _)| &**id).collect();
        let mut renamed = Vec::new();
        for (place, id, calls) in &own {
            let name = match calls {
                true => self.call(id, &literal),
                false => self.result(id),
            };
            renamed.extend(name.map(|name| (*place, name)));
        }
        (!renamed.is_empty()).then(|| with_ids(bytes, &renamed))
    }

    fn call(&mut self, id: &[u8], literal: &FxHashSet<&[u8]>) -> Option<String> {
        let text = String::from_utf8_lossy(id);
        let Some(names) = self.steps.get(id) else {
            self.steps.insert(id.to_vec(), Names { given: vec![text.into_owned()], answered: 0 });
            return None;
        };
        let mut number = names.given.len() + 1;
        let mut name = format!("{text}_{number}");
        while literal.contains(name.as_bytes()) || self.steps.contains_key(name.as_bytes()) {
            number += 1;
            name = format!("{text}_{number}");
        }
        self.steps.get_mut(id)?.given.push(name.clone());
        Some(name)
    }

    /// The id of the call that this result answers, where it is another one than it says.
    fn result(&mut self, id: &[u8]) -> Option<String> {
        let names = self.steps.get_mut(id)?;
        let name = names.given.get(names.answered)?.clone();
        names.answered += 1;
        (names.answered > 1).then_some(name)
    }
}

/// The id of a call (true) or result (false) where it is a string of its own. Where results are in
/// one string (ShareGPT), they pair by order alone.
fn own_id<'a>(block: &Block, bytes: &'a [u8]) -> Option<(TextRef, Cow<'a, [u8]>, bool)> {
    let (id, calls) = match &block.kind {
        BlockKind::Call { id, .. } => ((*id)?, true),
        BlockKind::Result { id, .. } => ((*id)?, false),
        _ => return None,
    };
    let own = id.nested.is_none() && id.coding == Coding::Str;
    own.then(|| (id, id_bytes(Some(&id), bytes), calls))
}

/// Whether `new` is `old`, or an id that was given to a twin of it.
pub(crate) fn is_given(old: &str, new: &str) -> bool {
    let number = new.strip_prefix(old).and_then(|rest| rest.strip_prefix('_'));
    old == new || number.is_some_and(|number| number.parse::<usize>().is_ok())
}

/// The event with these ids, given by their places in order.
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

/// Whether `after` is `before` with some ids that were given here.
pub(crate) fn is_renamed(before: (&View, &[u8]), after: (&View, &[u8])) -> bool {
    let ids = |(view, bytes)| -> Vec<(TextRef, String)> {
        let View { blocks, .. }: &View = view;
        let ids = blocks.iter().filter_map(|block| own_id(block, bytes));
        ids.map(|(place, id, _)| (place, String::from_utf8_lossy(&id).into_owned())).collect()
    };
    let (old, new) = (ids(before), ids(after));
    if old.len() != new.len() || !old.iter().zip(&new).all(|(old, new)| is_given(&old.1, &new.1)) {
        return false;
    }
    let changed = old.iter().zip(new).filter(|(old, new)| old.1 != new.1);
    let changed: Vec<_> = changed.map(|(old, new)| (old.0, new.1)).collect();
    !changed.is_empty() && *with_ids(before.1, &changed) == *after.1
}
