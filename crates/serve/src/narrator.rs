//! Narrates in the background with a model, within a budget of calls and tokens an hour. No turn waits for it; only a
//! summary that a client asks for does.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use midfold::core::calendar::date;
use midfold::core::fold::VerdictCode;
use midfold::core::narrate::{SummaryFailure, SummaryReply, SummaryRequest};
use midfold_proxy::vendor::VendorWork;
use midfold_proxy::{MatchedRequest, NarrationTarget};
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};

use crate::config::{Clock, ServeNarration};

/// The most narrations at a time.
const AT_ONCE: usize = 2;
const HOUR: u64 = 3_600_000;
/// How often it is checked whether the conversation still exists.
const LOOK: Duration = Duration::from_secs(1);

/// Asks the model, within the budget.
pub(crate) struct BackgroundNarrator {
    narration: ServeNarration,
    clock: Clock,
    spent: Mutex<HourlyCost>,
    at_once: Arc<Semaphore>,
}

/// The cost of the present hour.
#[derive(Default)]
struct HourlyCost {
    since: u64,
    calls: u32,
    tokens: u64,
}

impl BackgroundNarrator {
    pub fn new(narration: ServeNarration, clock: Clock) -> Arc<Self> {
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        Arc::new(Self { narration, clock, spent: Mutex::default(), at_once })
    }

    /// Asks the model if the conversation has something to narrate and the budget allows it. `done` is called with
    /// whether the narration was accepted.
    pub fn offer(
        self: &Arc<Self>,
        narratable: NarrationTarget,
        report: impl FnOnce(bool) + Send + 'static,
    ) {
        let now = (self.clock)();
        if !self.may(now) {
            return;
        }
        let Ok(permit) = Arc::clone(&self.at_once).try_acquire_owned() else { return };
        // Asked last: a span is handed out only once, so it must not be taken where nobody can ask the model.
        let Some(mut request) = narratable.wants(now) else { return };
        // The call counts at once, so that others cannot use the same rest of the budget. Its tokens count when they
        // are known.
        self.spend(1, 0);
        request.today = Some(date(now));
        let narrator = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(is_accepted) = narrator.ask(&narratable, &request).await {
                report(is_accepted);
            }
            drop(permit);
        });
    }

    /// Asks the model before midfold makes a summary that a client asked for, and waits, within the same budget.
    /// Returns whether the narration was accepted; `None` if the model was not asked.
    pub async fn before(&self, turn: &MatchedRequest, work: &VendorWork) -> Option<bool> {
        let now = (self.clock)();
        if !self.may(now) {
            return None;
        }
        // A client waits for this summary, so it does not also wait for a place.
        let permit = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        let mut request = turn.wants(work, now)?;
        self.spend(1, 0);
        request.today = Some(date(now));
        let answer = self.narration.client.summarise(&request).await;
        drop(permit);
        self.used(&answer);
        let code = turn.complete(&request, answer, (self.clock)())?;
        Some(code == VerdictCode::ACCEPTED)
    }

    /// Adds the cost of an answer to the budget.
    fn used(&self, answer: &Result<SummaryReply, SummaryFailure>) {
        let usage = answer.as_ref().ok().and_then(|reply| reply.usage);
        self.spend(0, usage.map_or(0, |usage| usage.prompt.saturating_add(usage.output)));
    }

    /// Returns whether the narration was accepted; `None` if the conversation was dropped meanwhile.
    async fn ask(&self, narratable: &NarrationTarget, request: &SummaryRequest) -> Option<bool> {
        let answer = tokio::select! {
            answer = self.narration.client.summarise(request) => answer,
            // Nobody could take the answer any more, so waiting for it would only cost tokens.
            () = until_gone(narratable) => return None,
        };
        self.used(&answer);
        let code = narratable.complete(request, answer, (self.clock)());
        Some(code == Some(VerdictCode::ACCEPTED))
    }

    fn may(&self, now: u64) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_sub(spent.since) >= HOUR {
            *spent = HourlyCost { since: now, ..HourlyCost::default() };
        }
        spent.calls < self.narration.calls_an_hour && spent.tokens < self.narration.tokens_an_hour
    }

    fn spend(&self, calls: u32, tokens: u64) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls += calls;
        spent.tokens += tokens;
    }
}

/// Waits until the conversation is dropped.
async fn until_gone(narratable: &NarrationTarget) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !narratable.is_gone() {
        look.tick().await;
    }
}
