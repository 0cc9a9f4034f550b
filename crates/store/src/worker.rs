//! Workers, which take narration jobs from the queue, have a model narrate the span, and store the resulting fold.
//! A crash at any point costs only a repeated call of the model.

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
use crate::types::{JobClaim, JobEnd, JobOutcome, Millis, NewFold, StoreJob};

/// A clock, which returns milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Takes jobs from a queue, one at a time.
#[derive(Clone)]
pub struct JobWorker {
    store: Arc<dyn Store>,
    clock: Clock,
    /// The name under which it claims jobs.
    pub name: String,
    /// How long a claim holds without a heartbeat, in milliseconds. After that, another worker may take the job.
    pub lease: Millis,
    /// How many failures of the model give a job up. A worker that died does not count.
    pub attempts: u32,
}

/// The result of a job, as the worker reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCode {
    /// The verdict on the reply, or the class of a failure.
    Verdict(VerdictCode),
    /// The lease was lost: another worker has the job, or its session was deleted.
    Lost,
    /// The worker was stopped, and gave the job back. It is due at once, and no failure is counted.
    Stopped,
}

/// The end of waiting for a model.
enum ModelWait<T> {
    Answer(T),
    /// The lease was lost: another worker has to give the answer.
    Lost,
    Stopped,
}

impl JobCode {
    /// The code as text: a verdict, a failure class, `stale`, `lost` or `stopped`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict(code) => code.as_str(),
            Self::Lost => "lost",
            Self::Stopped => "stopped",
        }
    }

    /// Whether the reply was accepted.
    #[must_use]
    pub fn is_accepted(self) -> bool {
        self == Self::Verdict(VerdictCode::ACCEPTED)
    }

    /// The class of the failure, where the model gave no reply; `None` otherwise.
    #[must_use]
    pub fn failure(self) -> Option<FailureClass> {
        match self {
            Self::Verdict(code) => code.failure(),
            Self::Lost | Self::Stopped => None,
        }
    }
}

impl std::fmt::Display for JobCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A report of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerReport {
    /// The job's id.
    pub job: u64,
    /// The session's id.
    pub session: String,
    /// The events of the span.
    pub span: std::ops::Range<u64>,
    /// The number of the attempt.
    pub attempt: u32,
    /// The result of the job.
    pub code: JobCode,
    /// A detail for people.
    pub detail: String,
    /// Whether a fold was stored.
    pub folded: bool,
}

impl JobWorker {
    /// A worker with the defaults: leases of 60 seconds, and three attempts for a job.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, name: &str, clock: Clock) -> Self {
        Self { store, clock, name: name.to_owned(), lease: 60_000, attempts: 3 }
    }

    /// Claims one job and finishes it; `None` where no job is due.
    ///
    /// # Errors
    /// Fails where the store fails. A failing model is no error; the report says so.
    pub async fn step<F, Fut>(&self, summarise: F) -> Result<Option<WorkerReport>, StoredError>
    where
        F: Fn(SummaryRequest) -> Fut,
        Fut: Future<Output = Result<SummaryReply, SummaryFailure>>,
    {
        self.step_until(summarise, std::future::pending()).await
    }

    /// As [`Self::step`]. Once `stop` is ready, the worker no longer waits for the model, and gives the job back.
    ///
    /// # Errors
    /// Fails where the store fails.
    pub async fn step_until<F, Fut>(
        &self,
        summarise: F,
        stop: impl Future<Output = ()>,
    ) -> Result<Option<WorkerReport>, StoredError>
    where
        F: Fn(SummaryRequest) -> Fut,
        Fut: Future<Output = Result<SummaryReply, SummaryFailure>>,
    {
        let now = (self.clock)();
        // Only the job that runs gets heartbeats: the lease of a second one would run out meanwhile.
        let claim = JobClaim { worker: self.name.clone(), now, until: now + self.lease, limit: 1 };
        let Some(job) = self.store.claim(&claim).await?.pop() else { return Ok(None) };
        tracing::debug!(job = job.id, session = %job.job.session, attempt = job.attempt, "claimed");
        let report = self.run(&job, summarise, stop).await?;
        tracing::info!(job = job.id, session = %report.session, code = %report.code, "job ended");
        Ok(Some(report))
    }

    /// Has a model narrate the span of a job, judges the reply, and ends the job.
    async fn run<F, Fut>(
        &self,
        job: &StoreJob,
        summarise: F,
        stop: impl Future<Output = ()>,
    ) -> Result<WorkerReport, StoredError>
    where
        F: Fn(SummaryRequest) -> Fut,
        Fut: Future<Output = Result<SummaryReply, SummaryFailure>>,
    {
        let (mut stored, request) = match self.request(job).await? {
            Ok(ready) => ready,
            // Such a job cannot succeed at a later attempt.
            Err(reason) => return self.end(job, VerdictCode::Stale, &reason, None).await,
        };
        let answer = match self.with_heartbeat(job, summarise(request.clone()), stop).await? {
            ModelWait::Answer(answer) => answer,
            ModelWait::Lost => {
                let detail =
                    "the lease ran out: another worker has the job, or its session was deleted";
                return Ok(report(job, JobCode::Lost, detail, false));
            }
            ModelWait::Stopped => {
                // The lease ends now, so the next worker gets the job at once. A job that another worker has stays with
                // that one.
                self.store.heartbeat(&job.lease(), (self.clock)()).await?;
                let detail = "the worker was told to stop; the job was given back";
                return Ok(report(job, JobCode::Stopped, detail, false));
            }
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

    /// The verdict on a reply, and the fold that is prepared with it. An accepted narration may find no fold: another
    /// fold was made in the meantime, or no recap has room for it. Then it is saved with the session for the next
    /// fold.
    async fn judge(
        &self,
        mut stored: StoredSession,
        request: &SummaryRequest,
        answer: &Result<SummaryReply, SummaryFailure>,
    ) -> Result<Result<(VerdictRecord, Option<Fold>), CompleteError>, StoredError> {
        let budget = stored.meta().budget.clone();
        let mut rounds = 0;
        // Where another node saved the session first, its state is read, and the reply is judged against that state.
        loop {
            let session = stored.whole().await?;
            let verdict = match session.complete(request, answer.clone(), (self.clock)()) {
                Ok(verdict) => verdict,
                Err(changed) => return Ok(Err(changed)),
            };
            let fold = session.prepare(&budget);
            // Nothing is saved here: who uses the session next learns the verdict and the fold from the job.
            if fold.is_some() || verdict.code != VerdictCode::ACCEPTED {
                return Ok(Ok((verdict, fold)));
            }
            rounds += 1;
            match stored.keep().await {
                Err(StoredError::Store(StoreError::StaleState { .. })) if rounds < ROUNDS => {}
                other => return other.map(|()| Ok((verdict, None))),
            }
        }
    }

    /// The session and the request for the model, or the reason why the job is useless now.
    async fn request(
        &self,
        job: &StoreJob,
    ) -> Result<Result<(StoredSession, SummaryRequest), String>, StoredError> {
        let Ok(wanted) = serde_json::from_str::<WantedNarration>(&job.job.body) else {
            return Ok(Err("the job is not one that this version knows".to_owned()));
        };
        let open = async {
            let mut stored = StoredSession::open(self.store.clone(), &job.job.session).await?;
            stored.whole().await?;
            Ok(stored)
        };
        let mut stored = match open.await {
            Ok(stored) => stored,
            // Nothing mends a session that is gone or damaged, and the jobs behind this one wait. In other cases the lease
            // runs out, and the job is tried again: a store that is away says nothing about the job.
            Err(StoredError::Store(error))
                if !matches!(error, StoreError::NoSession(_) | StoreError::Damaged(_)) =>
            {
                return Err(error.into());
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut request = match stored.whole().await?.request_of(&wanted) {
            Ok(request) => request,
            Err(error) => return Ok(Err(error.to_string())),
        };
        request.today = Some(date((self.clock)()));
        Ok(Ok((stored, request)))
    }

    /// Waits for the call or for `stop`, and extends the lease meanwhile.
    async fn with_heartbeat<T>(
        &self,
        job: &StoreJob,
        call: impl Future<Output = T>,
        stop: impl Future<Output = ()>,
    ) -> Result<ModelWait<T>, StoreError> {
        // A third, so that one late heartbeat does not lose the lease.
        let beat = Duration::from_millis((self.lease / 3).max(1));
        tokio::pin!(call, stop);
        loop {
            tokio::select! {
                // An answer that is there is not thrown away.
                biased;
                answer = &mut call => return Ok(ModelWait::Answer(answer)),
                () = &mut stop => return Ok(ModelWait::Stopped),
                () = tokio::time::sleep(beat) => {
                    let until = (self.clock)() + self.lease;
                    if !self.store.heartbeat(&job.lease(), until).await? {
                        return Ok(ModelWait::Lost);
                    }
                }
            }
        }
    }

    /// Gives a job back after the model failed.
    async fn failed(
        &self,
        job: &StoreJob,
        failure: &SummaryFailure,
        pause: Millis,
    ) -> Result<WorkerReport, StoredError> {
        let reason = failure.to_string();
        // Waiting brings no key and no permission, and a refused request will be refused again.
        let hopeless = matches!(failure.class, FailureClass::Auth | FailureClass::Rejected);
        let again = !hopeless && job.failures + 1 < self.attempts;
        let retry = again.then(|| (self.clock)() + pause);
        // False means that the lease was lost. The worker that has the job now reports its result.
        let end = JobEnd::Failed { reason, retry_at: retry };
        self.store.end(&job.lease(), &end).await?;
        Ok(report(job, JobCode::Verdict(failure.class.into()), &failure.detail, false))
    }

    /// Ends a job with a verdict, and stores its fold.
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
        let end = JobEnd::Done(Box::new(JobOutcome { verdict, fold }));
        if !self.store.end(&job.lease(), &end).await? {
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
