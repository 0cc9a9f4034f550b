//! A model that narrates in the background, within a budget of calls and tokens an hour. No request waits
//! for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use midfold::core::fold::VerdictCode;
use midfold::core::narrate::SummaryRequest;
use midfold::model::Client;
use midfold::proxy::Narratable;
use midfold::store::worker::date;
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};

use crate::app::App;

/// Narrations under way at a time.
const AT_ONCE: usize = 2;
const HOUR: u64 = 3_600_000;
/// How often it is looked whether the conversation is still there.
const LOOK: Duration = Duration::from_secs(1);

/// A model, and what it may cost.
pub struct Narration {
    /// The model.
    pub client: Client,
    /// Narrations an hour.
    pub calls_an_hour: u32,
    /// Tokens an hour, of prompts and replies, as the model's service reports them.
    pub tokens_an_hour: u64,
}

/// Who asks the model.
pub(crate) struct Narrator {
    narration: Narration,
    spent: Mutex<Spent>,
    at_once: Arc<Semaphore>,
}

/// What this hour has cost.
#[derive(Default)]
struct Spent {
    since: u64,
    calls: u32,
    tokens: u64,
}

impl Narrator {
    pub fn new(narration: Narration) -> Self {
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        Self { narration, spent: Mutex::default(), at_once }
    }

    /// Asks the model, where the conversation has something to narrate and the budget allows it.
    pub fn offer(app: &Arc<App>, narratable: Narratable) {
        let Some(narrator) = &app.narrator else { return };
        let now = app.now();
        if !narrator.may(now) {
            return;
        }
        let Ok(permit) = Arc::clone(&narrator.at_once).try_acquire_owned() else { return };
        let Some(mut request) = narratable.wants(now) else { return };
        narrator.spend(1, 0);
        request.today = Some(date(now));
        let app = Arc::clone(app);
        tokio::spawn(async move {
            if let Some(narrator) = &app.narrator {
                narrator.ask(&app, &narratable, &request).await;
            }
            drop(permit);
        });
    }

    async fn ask(&self, app: &App, narratable: &Narratable, request: &SummaryRequest) {
        let answer = tokio::select! {
            answer = self.narration.client.summarise(request) => answer,
            () = gone(narratable) => return,
        };
        let usage = answer.as_ref().ok().and_then(|reply| reply.usage);
        self.spend(0, usage.map_or(0, |usage| usage.prompt + usage.output));
        let code = narratable.complete(request, answer, app.now());
        app.metrics.narration(code == Some(VerdictCode::ACCEPTED));
        app.keep();
    }

    fn may(&self, now: u64) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_sub(spent.since) >= HOUR {
            *spent = Spent { since: now, ..Spent::default() };
        }
        spent.calls < self.narration.calls_an_hour && spent.tokens < self.narration.tokens_an_hour
    }

    fn spend(&self, calls: u32, tokens: u64) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls += calls;
        spent.tokens += tokens;
    }
}

/// Until nobody has the conversation any more.
async fn gone(narratable: &Narratable) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !narratable.is_gone() {
        look.tick().await;
    }
}
