//! Results that a policy calls durable facts (`retain.never_evict`): they stay beside a recap as they
//! stay beside expired ones.

use std::borrow::Cow;

use super::request::Plan;
use crate::calls::{Calls, tool_of};
use crate::tools::ToolTable;

/// The pins of a request, and the events with results that never expire.
pub(super) fn pins<'a>(request: &Plan<'a>) -> Cow<'a, [u32]> {
    let retain = &request.policy.retain;
    if !retain.has_durable() {
        return Cow::Borrowed(request.pins);
    }
    let tools = ToolTable::of(&request.policy.tools);
    let events = request.log.events();
    let calls = Calls::find(events, 0..events.len());
    let durable = calls.results.iter().filter(|site| {
        let tool = tool_of(calls.call_of(site).as_ref(), site.event, site.block);
        retain.never_evicts(&tool, &format!("<{}>", tools.lookup(&tool).kind.as_str()))
    });
    let durable = durable.map(|site| site.event.seq);
    Cow::Owned(request.pins.iter().copied().chain(durable).collect())
}
