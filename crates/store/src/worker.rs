//! Workers: they take spans from the queue, have a model narrate them, and store the fold that
//! comes of it. A crash at any point costs a repeated call and nothing else.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use midfold_core::calendar::date;
use midfold_core::engine::{CompleteError, WantedNarration};
use midfold_core::fold::{Fold, VerdictCode, VerdictRecord};
use midfold_core::narrate::{FailureClass, SummaryFailure, SummaryReply, SummaryRequest};

use crate::error::StoreError;
use crate::live::{ROUNDS, StoredError, StoredSession};
use crate::store::Store;
use crate::types::{JobClaim, JobOutcome, Millis, NewFold, StoreJob};

/// A clock: milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Takes jobs from a queue, one at a time.
#[derive(Clone)]
pub struct JobWorker {
    store: Arc<dyn Store>,
    clock: Clock,
    /// Who claims.
    pub name: String,
    /// How long a claim holds without a heartbeat. A worker that dies is replaced after it.
    pub lease: Millis,
    /// Attempts before a job is given up.
    pub attempts: u32,
}

/// What came of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCode {
    /// What became of the request.
    Verdict(VerdictCode),
    /// The lease is gone: another worker has the job, or its session was deleted.
    Lost,
}

impl JobCode {
    /// The code as it is told: a verdict, a failure class, `stale` or `lost`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict(code) => code.as_str(),
            Self::Lost => "lost",
        }
    }

    /// Whether a reply was accepted.
    #[must_use]
    pub fn is_accepted(self) -> bool {
        self == Self::Verdict(VerdictCode::ACCEPTED)
    }

    /// Why there is no reply, where there is none.
    #[must_use]
    pub fn failure(self) -> Option<FailureClass> {
        match self {
            Self::Verdict(code) => code.failure(),
            Self::Lost => None,
        }
    }
}

impl std::fmt::Display for JobCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a worker did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerReport {
    /// The job.
    pub job: u64,
    /// The session.
    pub session: String,
    /// The span's events.
    pub span: std::ops::Range<u64>,
    /// The attempt.
    pub attempt: u32,
    /// What came of it.
    pub code: JobCode,
    /// For people.
    pub detail: String,
    /// Whether a fold was stored.
    pub folded: bool,
}

impl JobWorker {
    /// A worker with the defaults: leases of 60 s, three attempts.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, name: &str, clock: Clock) -> Self {
        Self { store, clock, name: name.to_owned(), lease: 60_000, attempts: 3 }
    }

    /// Takes one job and sees it through; `None` when nothing is due.
    ///
    /// # Errors
    /// When the store fails. A failing model is not an error: it is in the report.
    pub async fn step<F, Fut>(&self, summarise: F) -> Result<Option<WorkerReport>, StoredError>
    where
        F: Fn(SummaryRequest) -> Fut,
        Fut: Future<Output = Result<SummaryReply, SummaryFailure>>,
    {
        let now = (self.clock)();
        let claim = JobClaim { worker: self.name.clone(), now, until: now + self.lease, limit: 1 };
        let Some(job) = self.store.claim(&claim).await?.pop() else { return Ok(None) };
        tracing::debug!(job = job.id, session = %job.job.session, attempt = job.attempt, "claimed");
        let report = self.run(&job, summarise).await?;
        tracing::info!(job = job.id, session = %report.session, code = %report.code, "job ended");
        Ok(Some(report))
    }

    async fn run<F, Fut>(&self, job: &StoreJob, summarise: F) -> Result<WorkerReport, StoredError>
    where
        F: Fn(SummaryRequest) -> Fut,
        Fut: Future<Output = Result<SummaryReply, SummaryFailure>>,
    {
        let (mut stored, request) = match self.request(job).await {
            Ok(ready) => ready,
            // It cannot become right by trying again.
            Err(reason) => return self.end(job, VerdictCode::Stale, &reason, None).await,
        };
        let answer = self.with_heartbeat(job, summarise(request.clone())).await;
        let Some(answer) = answer? else {
            return Ok(report(
                job,
                JobCode::Lost,
                "the lease ran out: another worker has the job, or its session was deleted",
                false,
            ));
        };
        if let Err(failure) = &answer {
            let pause = stored.whole().await?.pause_after(request.id, job.attempt);
            return self.failed(job, failure, pause).await;
        }
        let (verdict, fold) = match self.judge(stored, &request, &answer).await? {
            Ok(judged) => judged,
            Err(changed) => {
                return self.end(job, VerdictCode::Stale, &changed.to_string(), None).await;
            }
        };
        self.end(job, verdict.code, &verdict.detail, fold.as_ref()).await
    }

    /// The verdict on an answer, and the fold that is made with it. A narration that finds no fold
    /// yet, because one was made meanwhile or no recap has room for it, is saved with the session
    /// and serves the next fold.
    async fn judge(
        &self,
        mut stored: StoredSession,
        request: &SummaryRequest,
        answer: &Result<SummaryReply, SummaryFailure>,
    ) -> Result<Result<(VerdictRecord, Option<Fold>), CompleteError>, StoredError> {
        let budget = stored.meta().budget.clone();
        let mut rounds = 0;
        loop {
            let session = stored.whole().await?;
            let verdict = match session.complete(request, answer.clone(), (self.clock)()) {
                Ok(verdict) => verdict,
                Err(changed) => return Ok(Err(changed)),
            };
            let fold = session.prepare(&budget);
            if fold.is_some() || verdict.code != VerdictCode::ACCEPTED {
                return Ok(Ok((verdict, fold)));
            }
            rounds += 1;
            match stored.keep().await {
                Err(StoredError::Store(StoreError::StaleState { .. })) if rounds < ROUNDS => {
                    stored.reload().await?;
                }
                other => return other.map(|()| Ok((verdict, None))),
            }
        }
    }

    /// The session and the request; or why the job is of no use any more.
    async fn request(&self, job: &StoreJob) -> Result<(StoredSession, SummaryRequest), String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let wanted: WantedNarration = serde_json::from_str(&job.job.body).map_err(|e| text(&e))?;
        let mut stored = StoredSession::open(self.store.clone(), &job.job.session)
            .await
            .map_err(|e| text(&e))?;
        let session = stored.whole().await.map_err(|e| text(&e))?;
        let mut request = session.request(&wanted).map_err(|e| text(&e))?;
        request.today = Some(date((self.clock)()));
        Ok((stored, request))
    }

    /// Runs the call and keeps the lease. `None` when the lease was lost: then the answer is
    /// another worker's to give.
    async fn with_heartbeat<T>(
        &self,
        job: &StoreJob,
        call: impl Future<Output = T>,
    ) -> Result<Option<T>, StoreError> {
        let beat = Duration::from_millis((self.lease / 3).max(1));
        tokio::pin!(call);
        loop {
            tokio::select! {
                answer = &mut call => return Ok(Some(answer)),
                () = tokio::time::sleep(beat) => {
                    let until = (self.clock)() + self.lease;
                    if !self.store.heartbeat(&job.lease(), until).await? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    async fn failed(
        &self,
        job: &StoreJob,
        failure: &SummaryFailure,
        pause: Millis,
    ) -> Result<WorkerReport, StoredError> {
        let reason = failure.to_string();
        // No key and no permission come by waiting, and a refused request stays refused.
        let hopeless = matches!(failure.class, FailureClass::Auth | FailureClass::Rejected);
        let again = !hopeless && job.attempt < self.attempts;
        let retry = again.then(|| (self.clock)() + pause);
        self.store.fail(&job.lease(), &reason, retry).await?;
        Ok(report(job, JobCode::Verdict(failure.class.into()), &failure.detail, false))
    }

    async fn end(
        &self,
        job: &StoreJob,
        code: VerdictCode,
        detail: &str,
        fold: Option<&Fold>,
    ) -> Result<WorkerReport, StoredError> {
        let verdict =
            if detail.is_empty() { code.to_string() } else { format!("{code}: {detail}") };
        let fold = fold.map(|fold| NewFold::of(fold, (self.clock)())).transpose()?;
        let folded = fold.is_some();
        let kept = self.store.finish(&job.lease(), &JobOutcome { verdict, fold }).await?;
        if !kept {
            let detail = "another worker has the job, or its session was deleted";
            return Ok(report(job, JobCode::Lost, detail, false));
        }
        Ok(report(job, JobCode::Verdict(code), detail, folded))
    }
}

fn report(job: &StoreJob, code: JobCode, detail: &str, folded: bool) -> WorkerReport {
    WorkerReport {
        job: job.id,
        session: job.job.session.clone(),
        span: job.job.start..job.job.end,
        attempt: job.attempt,
        code,
        detail: detail.to_owned(),
        folded,
    }
}
