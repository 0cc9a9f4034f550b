//! After a provider refused a request: was it too long, and what should be sent instead?

use midfold_core::engine::{ReportedOverflow, SessionStatus};
use midfold_formats::overflow::{Diagnosis, diagnose};
#[cfg(feature = "store")]
use midfold_store::{Millis, NumberedContext, StoredError, StoredSession};

use crate::failure::{Failure, FailureArea, number};

/// The least room for an answer, in tokens, if the session reserves less. A shorter answer is of no use.
const REPLY: u64 = 1_024;

/// A request that a provider refused, with the provider's answer.
#[derive(Clone, Copy, Debug)]
pub struct RefusedRequest<'a> {
    /// The HTTP status; `None` if the connection broke before one was received.
    pub status: Option<u16>,
    /// The body of the answer.
    pub body: &'a [u8],
    /// The least room that the answer needs, in tokens; 0 if the caller does not know.
    pub reply: u64,
}

/// The meaning of a refusal for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalJudgement {
    /// What the provider objected to.
    pub diagnosis: Diagnosis,
    /// The overflow to compact for; `None` if compacting is not what the request needs.
    pub overflow: Option<ReportedOverflow>,
}

impl RefusedRequest<'_> {
    /// Judges the refusal for a session with this status. `reserve` is the room for an answer in tokens.
    ///
    /// ```
    /// use midfold::core::engine::SessionStatus;
    /// use midfold::{RefusedRequest, Session};
    /// use midfold::formats::overflow::Diagnosis;
    /// # use midfold::{Budget, Policy, Setup};
    /// # let input = bytes::Bytes::from(midfold_testkit::coding_session(7, 12).join("\n"));
    /// # let conversation = midfold::formats::read::read(&input, None)?.conversations.remove(0);
    /// # let prepared = Setup::new().prepare(conversation)?;
    /// # let session = Session::over("a", prepared.log, Policy::preset("default")?, prepared.meter);
    /// # let budget = Budget::new(session.view().tokens() + 10);
    /// let status: SessionStatus = session.status(&budget, 0); // a context that nearly fills its window
    /// let refused = RefusedRequest { status: Some(400), body: b"", reply: 0 };
    /// assert_eq!(refused.judge(&status, 0).diagnosis, Diagnosis::Probable);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn judge(&self, status: &SessionStatus, reserve: u64) -> RefusalJudgement {
        let (prompt, window) = (status.context_tokens, status.context_length);
        let diagnosis = diagnose(self.status, self.body, prompt, window);
        let overflow = diagnosis.recovery(self.reply.max(reserve).max(REPLY));
        RefusalJudgement { diagnosis, overflow }
    }
}

impl RefusalJudgement {
    /// Explains that nothing is compacted, and what the request needs instead.
    #[must_use]
    pub fn no_overflow(&self) -> Failure {
        let diagnosis = &self.diagnosis;
        let (reason, advice) = match diagnosis {
            Diagnosis::SharedCap { .. } | Diagnosis::ReplyCap { .. } => {
                ("the room asked for the reply is too large", None)
            }
            Diagnosis::RateLimit => (
                "a limit of requests or tokens in a time, or a busy server",
                Some("wait, then send the same request again"),
            ),
            Diagnosis::Unsupported => {
                ("a parameter that the model does not know", Some("leave that parameter out"))
            }
            Diagnosis::BoundReasoning => (
                "reasoning that belongs to another model or was changed",
                Some("send the messages without their reasoning"),
            ),
            Diagnosis::ContentPolicy => ("the provider refused what the request says", None),
            Diagnosis::RoleOrder => (
                "the model's chat template wants user and assistant to take turns",
                Some("use the profile `strict`, whose contexts such templates take"),
            ),
            Diagnosis::MissingReasoning => (
                "the model wants the reasoning of its messages back",
                Some("send `reasoning_content` in each of them, as the model gave it"),
            ),
            Diagnosis::Malformed => (
                "the request breaks a rule of the wire format",
                Some("read the provider's message: a smaller context would be refused as well"),
            ),
            _ => (
                "nothing in it says that the request was too long",
                Some("show the provider's error to whoever asked"),
            ),
        };
        let room = diagnosis.room_for_reply().map(|room| {
            format!("send it again with at most {} tokens for the reply (max_tokens)", number(room))
        });
        let text = format!("this is not an overflow: {reason}; nothing was compacted");
        Failure::new(FailureArea::Input, text)
            .maybe_hint(room)
            .maybe_hint(advice.map(str::to_owned))
    }
}

/// The result of handling a refusal.
#[cfg(feature = "store")]
#[derive(Debug)]
pub struct RecoveryOutcome {
    /// How the refusal was judged.
    pub judged: RefusalJudgement,
    /// Tokens of the context that was refused.
    pub tokens: u64,
    /// The context to send once instead; `None` if compacting is not what the request needs.
    pub retry: Option<NumberedContext>,
}

/// Compacts a stored session if the refused request was too long, and records the call that is sent instead.
///
/// # Errors
/// If there is nothing smaller to send, or if the store fails.
#[cfg(feature = "store")]
pub async fn recover(
    stored: &mut StoredSession,
    refused: &RefusedRequest<'_>,
    now: Millis,
) -> Result<RecoveryOutcome, StoredError> {
    let status = stored.status(now).await?;
    let judged = refused.judge(&status, stored.meta().budget.output_reserve);
    let tokens = status.context_tokens;
    let Some(overflow) = judged.overflow else {
        return Ok(RecoveryOutcome { judged, tokens, retry: None });
    };
    let before = stored.row().active;
    stored.recover(overflow, now).await?;
    let numbered = stored.context(true, now).await?;
    let folded = stored.row().active.filter(|fold| Some(*fold) != before);
    // The fold is active before `context` runs, which therefore does not report it as new.
    Ok(RecoveryOutcome { judged, tokens, retry: Some(NumberedContext { folded, ..numbered }) })
}
