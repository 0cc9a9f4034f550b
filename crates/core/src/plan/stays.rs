//! Messages that stay beside a recap without a pin. There are four kinds, the most important first: messages that a
//! person or the policy keeps, those that load tools, instructions of the application, and results that a policy calls
//! durable facts (`retain.never_evict`).
//!
//! Where they do not fit, the last kinds are dropped first. The first kind is never dropped: it counts as pinned.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::kept_parts::{has_tags, kept};
use super::request::PlanRequest;
use crate::calls::{CallIndex, tool_of};
use crate::event::Event;
use crate::instruction::instruction;
use crate::log::EventLog;
use crate::tools::ToolTable;

/// The lists of pins to plan with, longest first: the request's own and those of this module. The first list that fits
/// is used.
pub(super) fn tries<'a>(request: &PlanRequest<'a>) -> Vec<Cow<'a, [u32]>> {
    let kept = kept(request.log, request.policy);
    let with = |more: &[u32]| Cow::Owned([request.pins, &kept, more].concat());
    let mut tries = vec![if kept.is_empty() { Cow::Borrowed(request.pins) } else { with(&[]) }];
    let mut all = Vec::new();
    for more in [loaded_tools(request.log), instructions(request), durable(request)] {
        if !more.is_empty() {
            all.extend(more);
            tries.push(with(&all));
        }
    }
    tries.reverse();
    tries
}

/// The pins for the case that everything fits.
pub(super) fn pins<'a>(request: &PlanRequest<'a>) -> Cow<'a, [u32]> {
    tries(request).swap_remove(0)
}

/// Whether a message after the head stays without a pin, as far as the message alone shows it.
pub(crate) fn stays(log: &EventLog, at: usize) -> bool {
    let dialect = &**log.dialect();
    let stays = |event: &Event| {
        has_tags(event, dialect)
            || event.loads_tools
            || instruction(event, dialect, false).is_some()
    };
    log.events().get(at).is_some_and(stays)
}

/// Events with results that never expire by the policy.
fn durable(request: &PlanRequest<'_>) -> Vec<u32> {
    let retain = &request.policy.retain;
    if !retain.has_durable() {
        return Vec::new();
    }
    let tools = ToolTable::of(&request.policy.tools);
    let events = request.log.events();
    let calls = CallIndex::find(events, 0..events.len());
    let durable = calls.results.iter().filter(|site| {
        let tool = tool_of(calls.call_of(site).as_ref(), site.event, site.block);
        retain.never_evicts(&tool, &format!("<{}>", tools.lookup(&tool).kind.as_str()))
    });
    durable.map(|site| site.event.seq).collect()
}

/// Events that load tools. An event is left out where newer ones load all of its tools.
fn loaded_tools(log: &EventLog) -> Vec<u32> {
    let mut seen = FxHashSet::default();
    let loads = |event: &&Event| {
        let names = log.dialect().loaded_tools(&event.bytes);
        // `count` and not `any`: each name has to be inserted, also after the first new one.
        names.into_iter().filter(|name| seen.insert(name.clone())).count() > 0
    };
    let events = log.events().iter().rev().filter(|event| event.loads_tools);
    events.filter(loads).map(|event| event.seq).collect()
}

/// Instructions may take this fraction (one third) of what a fold leaves.
const SHARE: u64 = 3;

/// Instructions that the application gives in the middle of a conversation. Of equal ones the newest stays. If they
/// exceed their share of the budget, of those that differ only in their digits (a time, a count) the newest stays, too;
/// after that the oldest ones are dropped.
fn instructions(request: &PlanRequest<'_>) -> Vec<u32> {
    let (log, dialect) = (request.log, &**request.log.dialect());
    let events = log.events();
    // System messages in front belong to the head, which stays in any case.
    let leading = events.iter().take_while(|event| event.view.role.is_system()).count();
    let mut users = events.iter().filter(|event| event.view.is_real_user());
    // Where the user has no name, a name marks another speaker.
    let has_names = users.any(|event| dialect.speaker(&event.bytes).is_none());
    let told = events[leading..].iter().rev();
    let told = told.filter_map(|event| Some((event, instruction(event, dialect, has_names)?)));
    let newest = once(told, |text| text.to_owned());
    let budget = request.budget.with_policy(request.policy).tokens();
    let most = request.target.unwrap_or(request.policy.fold.target.of(budget)) / SHARE;
    let tokens = |told: &[(&Event, Cow<'_, str>)]| -> u64 {
        told.iter().map(|(event, _)| u64::from(event.tokens.total)).sum()
    };
    let newest = if tokens(&newest) > most { once(newest, without_figures) } else { newest };
    let mut left = most;
    let fits = newest.into_iter().filter(|(event, _)| {
        // Only the message that does not fit is left out: a smaller older one may still fit.
        let rest = left.checked_sub(u64::from(event.tokens.total));
        left = rest.unwrap_or(left);
        rest.is_some()
    });
    fits.map(|(event, _)| event.seq).collect()
}

/// Keeps the first of those with the same key.
fn once<'a>(
    told: impl IntoIterator<Item = (&'a Event, Cow<'a, str>)>,
    key: impl Fn(&str) -> String,
) -> Vec<(&'a Event, Cow<'a, str>)> {
    let mut seen = FxHashSet::default();
    told.into_iter().filter(|(_, text)| seen.insert(key(text))).collect()
}

/// The text without digits.
fn without_figures(text: &str) -> String {
    text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}
