//! Messages that stay beside a recap without a pin. There are five kinds, the most important first:
//!
//! 1. messages that a person or the policy keeps,
//! 2. messages that load tools,
//! 3. instructions of the application,
//! 4. reminders of a client that still hold,
//! 5. results that a policy calls durable facts (`retain.never_evict`).
//!
//! Where they do not fit, the last kinds are dropped first. The first kind is never dropped: it counts as pinned.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::kept_parts::{has_tags, kept_events};
use super::request::PlanRequest;
use crate::calls::{CallIndex, tool_of};
use crate::counter::TextKind;
use crate::event::Event;
use crate::instruction::instruction;
use crate::log::EventLog;
use crate::policy::RecapFallback;
use crate::reminders::{StandingReminder, standing};
use crate::tools::ToolTable;

/// The lists of pins to plan with, longest first: the request's own and those of this module. The first list that fits
/// is used.
pub(super) fn tries<'a>(request: &PlanRequest<'a>) -> Vec<Cow<'a, [u32]>> {
    let marked = kept_events(request.log, request.policy);
    let with = |more: &[u32]| Cow::Owned([request.pins, &marked, more].concat());
    let mut tries = vec![if marked.is_empty() { Cow::Borrowed(request.pins) } else { with(&[]) }];
    let mut all = Vec::new();
    let mut room = room(request);
    let instructed = instructions(request, &mut room);
    let reminders = reminders(request, &mut room);
    for more in [loaded_tools(request.log), instructed, reminders, durable(request)] {
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
        has_tags(event, dialect) || event.loads_tools || instruction(event, dialect).is_some()
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

/// Instructions and reminders may take this fraction (one third) of what a fold leaves.
const SHARE: u64 = 3;

/// Instructions that the application gives in the middle of a conversation. Of identical ones the newest stays. Where
/// they exceed their share, the recap quotes the others.
fn instructions(request: &PlanRequest<'_>, room: &mut u64) -> Vec<u32> {
    let (log, dialect) = (request.log, &**request.log.dialect());
    let events = log.events();
    // System messages in front belong to the head, which stays in any case.
    let leading = events.iter().take_while(|event| event.view.role.is_system()).count();
    // Where the user has no name, a name marks another speaker, also before the user's first message.
    let mut users = events.iter().filter(|event| event.view.is_real_user());
    let has_names = users.any(|event| dialect.speaker(&event.bytes).is_none());
    let named = |event: &Event| {
        has_names && event.view.is_real_user() && dialect.speaker(&event.bytes).is_some()
    };
    let orders = events[leading..].iter().rev().filter_map(|event| {
        let text = instruction(event, dialect).or_else(|| named(event).then(|| event.text()))?;
        Some((event, text))
    });
    let (newest, _) = parted(orders, |text| text.to_owned());
    // A clock after each step would take the room of all rules. So of those that differ only in figures the newest comes
    // first, and the others after all else.
    let (first, others) = parted(newest, without_figures);
    let events = first.into_iter().chain(others).map(|(event, _)| event);
    events
        .filter(|event| takes(room, u64::from(event.tokens.total)))
        .map(|event| event.seq)
        .collect()
}

/// An event with the words by which it instructs.
type ToldEvent<'a> = (&'a Event, Cow<'a, str>);

/// Parts texts into the first of each key and the others.
fn parted<'a>(
    orders: impl IntoIterator<Item = ToldEvent<'a>>,
    key: impl Fn(&str) -> String,
) -> (Vec<ToldEvent<'a>>, Vec<ToldEvent<'a>>) {
    let mut seen = FxHashSet::default();
    orders.into_iter().partition(|(_, text)| seen.insert(key(text)))
}

/// Takes these tokens of the room; false where it has fewer left. Only what does not fit is left out: something smaller
/// may still fit.
fn takes(room: &mut u64, tokens: u64) -> bool {
    let rest = room.checked_sub(tokens);
    *room = rest.unwrap_or(*room);
    rest.is_some()
}

/// The tokens that instructions and reminders may take.
fn room(request: &PlanRequest<'_>) -> u64 {
    let budget = request.budget.with_policy(request.policy).tokens();
    request.target.unwrap_or(request.policy.fold.target.of(budget)) / SHARE
}

/// The text without digits.
fn without_figures(text: &str) -> String {
    text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}

/// Tokens of a call with its result beside which a reminder still counts as the larger part.
const SMALL_STEP: u64 = 120;

/// Events with reminders of a client that still hold, the newest first: those that hold little else. A recap tells the
/// others; where no recap is computed, they stay, too.
fn reminders(request: &PlanRequest<'_>, room: &mut u64) -> Vec<u32> {
    let log = request.log;
    let tells = request.policy.recap.fallback == RecapFallback::Computed;
    let units = log.units();
    let stays = |reminder: &StandingReminder| {
        let at = log.events().partition_point(|event| event.seq < reminder.seq);
        let unit = units.partition_point(|unit| unit.events.end <= at);
        let tokens = log.tokens_in(units.get(unit)?.events.clone());
        let words = u64::from(log.counter().count(&reminder.text, TextKind::Prose));
        // The user's own message is carried or folded by its own rules.
        let is_users = log.events().get(at)?.view.is_real_user();
        let is_mostly = tokens <= 2 * words + SMALL_STEP;
        (!is_users && (is_mostly || !tells) && takes(room, tokens)).then_some(reminder.seq)
    };
    standing(log).iter().rev().filter_map(stays).collect()
}
