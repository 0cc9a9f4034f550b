//! Queues spans for narration, in the transaction of the append that crosses the buffer line, and learns the
//! results.

use midfold_core::Hash;
use midfold_core::engine::{RequestState, WantedNarration};
use midfold_core::fold::{Fold, VerdictCode, VerdictRecord};

use super::{LoadedParts, StoredError, StoredSession, rows};
use crate::types::{JobState, Millis, NewJob, StoreJob};

impl StoredSession {
    /// The span that should be narrated now; `None` where there is none.
    async fn wanted_narration(
        &mut self,
        now: Millis,
    ) -> Result<Option<WantedNarration>, StoredError> {
        let budget = self.budget();
        if let LoadedParts::Brief(brief) = &self.inner {
            if !brief.may_want(&budget, now) {
                return Ok(None);
            }
            // Events that were pushed and not stored yet are only in the brief session, so they are carried over.
            let new = brief.events_from(self.row.head);
            self.hydrate().await?;
            if let LoadedParts::Whole(session) = &mut self.inner {
                new.into_iter().for_each(|event| {
                    session.append(event);
                });
            }
        }
        match &self.inner {
            LoadedParts::Whole(session) => Ok(session.wanted_narration(&budget, now)),
            LoadedParts::Brief(_) => Ok(None),
        }
    }

    /// The job for a span.
    fn job(&self, wanted: &WantedNarration, now: Millis) -> Result<NewJob, StoredError> {
        Ok(NewJob {
            key: wanted.id.to_hex(),
            session: self.row.new.id.clone(),
            start: wanted.span.start.into(),
            end: wanted.span.end.into(),
            through: wanted.span.through,
            body: rows::json(wanted)?,
            run_at: now,
        })
    }

    /// The job for the span that should be narrated now, which the state in memory then notes as queued; `None` where
    /// there is none.
    pub(super) async fn ask(&mut self, now: Millis) -> Result<Option<NewJob>, StoredError> {
        let Some(wanted) = self.wanted_narration(now).await? else { return Ok(None) };
        let job = self.job(&wanted, now)?;
        if let LoadedParts::Whole(session) = &mut self.inner {
            session.note_asked(wanted);
        }
        Ok(Some(job))
    }

    /// Notes a job that was queued without being noted, because a process stopped between the two.
    pub(super) async fn note_queued(&mut self) -> Result<(), StoredError> {
        let narrates = match &self.inner {
            LoadedParts::Brief(brief) => brief.narrates(),
            LoadedParts::Whole(session) => session.policy().narration.on,
        };
        if self.narration().open().is_some() || !narrates {
            return Ok(());
        }
        let Some(job) = self.store.job(&self.row.new.id, None).await? else { return Ok(()) };
        let answered = match &self.narration().request {
            RequestState::Answered(request) => Some(request.to_hex()),
            RequestState::Absent | RequestState::Open(_) => None,
        };
        let wanted: Option<WantedNarration> = serde_json::from_str(&job.job.body).ok();
        // The result of an answered job is known. Noted again, it would be waited for without an end.
        if let Some(wanted) = wanted.filter(|_| answered.as_ref() != Some(&job.job.key)) {
            match &mut self.inner {
                LoadedParts::Brief(brief) => brief.note_asked(wanted),
                LoadedParts::Whole(session) => session.note_asked(wanted),
            }
        }
        Ok(())
    }

    /// Takes over the result of the queued narration: failed attempts, a fold to use, or a verdict. Costs one look-up
    /// in the store while a narration is queued, and nothing otherwise.
    pub(super) async fn learn(&mut self, now: Millis) -> Result<(), StoredError> {
        self.mend().await?;
        let Some(open) = self.narration().open() else { return Ok(()) };
        let (wanted, attempts) = (open.wanted.id, open.attempts);
        let Some(job) = self.store.job(&self.row.new.id, Some(&wanted.to_hex())).await? else {
            return Ok(());
        };
        let is_done = job.state == JobState::Done;
        let over = is_done || job.state == JobState::Dead;
        // Only reported failures count: where a worker died, the model did not fail.
        let failed = job.failures;
        if !over && failed <= attempts && !self.narration().is_overdue(now) {
            return Ok(());
        }
        if is_done && job.fold.is_none() && is_accepted(&job) {
            // The narration was accepted without a fold of its own, so it waits for the next fold; the worker saved
            // it.
            self.reload().await?;
            if self.narration().open().is_none_or(|still| still.wanted.id != wanted) {
                return Ok(());
            }
        }
        self.hydrate().await?;
        let prepared = match job.fold {
            Some(id) => self.folds().await?.into_iter().find(|fold| fold.id == id),
            None => None,
        };
        let LoadedParts::Whole(session) = &mut self.inner else { return Ok(()) };
        let verdict = verdict(wanted, &job, prepared.as_ref());
        let code = verdict.code;
        let again = (!over).then_some(job.job.run_at);
        session.note_failed_attempts(wanted, failed, code.failure(), again, now);
        if !over {
            session.note_still_running(now);
            return Ok(());
        }
        // Nobody is to blame for a stale request, but a refused reply counts as a failure of the model.
        if is_done && job.fold.is_none() && !is_accepted(&job) && code != VerdictCode::Stale {
            session.note_failed_attempts(wanted, failed + 1, None, None, now);
        }
        session.note_verdict(verdict);
        if let Some(fold) = prepared
            && let Err(error) = session.offer(fold)
        {
            tracing::warn!(session = %self.row.new.id, %error, "a prepared fold does not apply");
        }
        Ok(())
    }
}

/// The verdict on a job. A prepared fold holds it together with the dropped lines; otherwise it is read from the
/// job's outcome.
fn verdict(request: Hash, job: &StoreJob, prepared: Option<&Fold>) -> VerdictRecord {
    let mut known = prepared.iter().flat_map(|fold| &fold.verdicts);
    if let Some(verdict) = known.find(|verdict| verdict.request == request) {
        return verdict.clone();
    }
    let text = job.outcome.as_deref().unwrap_or_default();
    let (code, detail) = text.split_once(": ").unwrap_or((text, ""));
    // Workers write only known codes. With an unknown one, the result is of no use to this session.
    let known = VerdictCode::from_code(code).map(|code| (code, detail));
    let (code, detail) = known.unwrap_or((VerdictCode::Stale, text));
    VerdictRecord { request, code, detail: detail.to_owned(), dropped: Vec::new() }
}

/// Whether the reply to a job was accepted.
fn is_accepted(job: &StoreJob) -> bool {
    let code = job.outcome.as_deref().unwrap_or_default().split(": ").next();
    code.and_then(VerdictCode::from_code) == Some(VerdictCode::ACCEPTED)
}
