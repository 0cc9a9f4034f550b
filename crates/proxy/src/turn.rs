//! One request: what is sent for it, and what its answer teaches.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::budget::Budget;
use midfold_core::engine::{ReportedOverflow, Session};
use midfold_core::log::measure;
use midfold_core::project::{Context, ContextPiece, PieceFate};
use midfold_core::spending::FoldedPrompt;
use midfold_core::trigger::FoldCause;
use midfold_formats::DialectKind;
use midfold_formats::overflow::{Diagnosis, diagnose, is_echo};
use midfold_formats::request::{Request, is_summary_request};
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::history::HistoryKeys;
use super::learned_windows::{WindowOwner, WindowReport};
use super::lock::lock;
use super::pending_answer::PendingAnswer;
use super::recall::RecallOffer;
use super::rules::{LEAST_REPLY, RequestReading, reserved};
use super::sender::RequestSender;
use super::shared::Proxy;
use super::slot::ConversationSlot;
use midfold::RequestFault;
use midfold::WindowSource;

/// Share of the window from which on an answer is watched for an error in its stream. Half of what
/// an estimate may be wrong by.
const WATCHED_PERCENT: u64 = 40;

/// The request that is sent in place of the client's.
#[derive(Clone, Debug)]
pub struct OutgoingRequest {
    /// The body. The client's own bytes where nothing is folded.
    pub body: Bytes,
    /// The session. That of a request without a history is made when the next request goes on with its answer.
    pub session: Option<String>,
    /// The fold that the request is read through.
    pub fold: Option<Hash>,
    /// The fold was made for this request.
    pub is_new_fold: bool,
    /// Why that fold was made.
    pub cause: Option<FoldCause>,
    /// Tokens of the request as it came, as the provider will count them.
    pub tokens_before: u64,
    /// Tokens of what is sent.
    pub tokens_after: u64,
    /// The same by our own count, of which nothing was corrected.
    pub counted: u64,
    /// The window that it has to fit in tokens, and where that is from; none where the request has no history yet.
    pub window: Option<(u64, WindowSource)>,
    /// Tokens that the reply may have, where the request asked for more than fits beside its prompt.
    pub reply: Option<u64>,
    /// Why it is sent as it came, where a fold was due.
    pub fault: Option<RequestFault>,
}

impl OutgoingRequest {
    /// Whether other bytes are sent than those that came.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.fold.is_some()
    }

    /// Whether it has to fit a window that nobody knows.
    #[must_use]
    pub fn is_window_unknown(&self) -> bool {
        let from = self.window.as_ref().map(|(_, from)| from);
        matches!(from, Some(WindowSource::UnknownModel(_) | WindowSource::NoModel))
    }

    /// Sends what a context holds: of each message that it carries as it is, the bytes that this
    /// request has, which may have other marks of the cache than those of the log.
    pub(super) fn read(
        &mut self,
        request: &Request,
        session: &Session,
        context: &Context,
        stable: usize,
        before: Option<Hash>,
        suffix: u64,
    ) {
        let fold = session.active().map(|fold| fold.id);
        if fold.is_none() && session.void().is_none() {
            return;
        }
        let piece = |piece: &ContextPiece| match piece.fate {
            PieceFate::Verbatim(seq) => request.message(seq as usize),
            _ => piece.bytes.clone(),
        };
        let history = context.pieces().map(piece);
        let rest = (stable..request.len()).map(|at| request.message(at));
        self.body = if session.tells_newest_round() {
            let rest = session.behind(rest);
            request.with_messages(history.chain(rest.pieces().map(piece)))
        } else {
            request.with_messages(history.chain(rest))
        };
        self.fold = fold;
        self.cause = session.active().map(|fold| fold.cause);
        self.is_new_fold = fold.is_some() && before != fold;
        self.tokens_before = session.meter().calibrated(session.log().tokens()) + suffix;
        self.tokens_after = session.meter().calibrated(context.tokens()) + suffix;
        self.counted = context.tokens() + suffix;
    }
}

/// One request on its way.
pub struct MatchedRequest {
    pub(super) proxy: Arc<Proxy>,
    pub(super) request: Request,
    pub(super) model: String,
    pub(super) place: Option<ConversationSlot>,
    pub(super) sent: OutgoingRequest,
    pub(super) kept: HistoryKeys,
    /// Whose window it has to fit.
    pub(super) source: Option<WindowOwner>,
    pub(super) recall: RecallOffer,
}

impl MatchedRequest {
    /// A request that passes as it is.
    pub(super) fn passing(
        proxy: &Arc<Proxy>,
        request: Request,
        model: String,
        fault: Option<RequestFault>,
    ) -> Self {
        let sent = OutgoingRequest {
            body: request.body().clone(),
            session: None,
            fold: None,
            is_new_fold: false,
            cause: None,
            tokens_before: 0,
            tokens_after: 0,
            counted: 0,
            window: None,
            reply: None,
            fault,
        };
        Self {
            proxy: Arc::clone(proxy),
            request,
            model,
            place: None,
            sent,
            kept: HistoryKeys::default(),
            source: None,
            recall: RecallOffer::default(),
        }
    }

    /// The same as the begin of this session.
    pub(super) fn begins(mut self, session: Option<String>) -> Self {
        self.sent.session = session;
        self
    }

    /// The same with what its client does not know.
    pub(super) fn with(mut self, recall: RecallOffer) -> Self {
        self.recall = recall;
        self.offer();
        self
    }

    /// Gives what is to be sent the tools of ours, where it may have them.
    pub(super) fn offer(&mut self) {
        let is_folded = self.sent.is_folded();
        self.sent.body = self.recall.offer(&self.request, &self.sent.body, is_folded);
    }

    /// The request as a part of its conversation, of which the first `stable` messages are history.
    pub(super) fn through(
        mut self,
        reading: &RequestReading,
        conversation: Arc<Mutex<ProxyConversation>>,
        stable: usize,
        told: WindowReport,
        is_aside: bool,
        now: Millis,
    ) -> Self {
        let counted = suffix(&self.request, stable, reading);
        // A request about a conversation is no part of a session.
        let is_nobodys = is_aside;
        let is_aside = is_aside || is_summary_request(&self.request);
        let mut held = lock(&conversation);
        // It is in the window beside the history, of which the provider's count is known.
        let suffix = held.session.meter().ratio.of(counted);
        let injections = reading.policy.trigger.injection_reserve;
        let budget = budget(&self.request, injections + suffix, told, held.fixed());
        held.follow(reading, &self.request, told, &budget);
        held.budget = Budget { injection_reserve: injections, ..budget.clone() };
        let session = &mut held.session;
        session.heed(reading.keep.as_deref());
        let before = session.active().map(|fold| fold.id);
        let whole = session.meter().calibrated(session.log().tokens()) + suffix;
        let fits = session.meter().upper(session.log().tokens()) <= budget.tokens();
        let is_fixed = held.is_nearly_fixed(told.window);
        let session = &mut held.session;
        let (context, fault) = if is_fixed && session.active().is_none() {
            (None, (!fits).then_some(RequestFault::Fixed))
        } else if is_aside && fits {
            // The client replaces its history itself, or asks about it: a fold of ours would be in its way.
            (None, None)
        } else {
            match session.context(&budget, now) {
                Ok(context) => (Some(context), None),
                // Nothing smaller that is right can be made: the provider has the last word.
                Err(_) => (Some(session.view()), Some(RequestFault::Floor)),
            }
        };
        self.sent.window = Some((told.window, reading.window_source(told)));
        self.sent.session = (!is_nobodys).then(|| session.id().to_owned());
        self.sent.tokens_before = whole;
        self.sent.tokens_after = whole;
        self.sent.counted = session.log().tokens() + suffix;
        self.sent.fault = fault;
        fault.into_iter().for_each(|fault| session.note_fault(fault.name()));
        if let Some(context) = context {
            self.sent.read(&self.request, session, &context, stable, before, suffix);
        }
        let events = session.log().len();
        drop(held);
        self.offer();
        self.proxy.queue(&conversation);
        let reading = reading.clone();
        self.place = Some(ConversationSlot {
            conversation,
            reading,
            stable,
            suffix,
            budget,
            events,
            is_aside,
        });
        self.shorten_reply(told, None);
        self
    }

    /// The request to send.
    #[must_use]
    pub fn sent(&self) -> &OutgoingRequest {
        &self.sent
    }

    /// The request as it came.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The model that it asks for; empty where it names none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The window that it has to fit, in tokens; none where it has no history.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.place.as_ref().map(|place| place.budget.window)
    }

    /// Whether the reply has to be known, and not only what it cost: a later request may name it.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.request.kind() == DialectKind::OpenAiResponses && !self.request.is_unstored
    }

    /// Asks for the conversation to be written before others.
    pub fn hurry(&self) {
        if let Some(place) = &self.place {
            lock(&self.proxy.unsaved).hurry(&place.conversation);
        }
    }

    /// Whether the store has what another process has to know before it goes on: the session, and the fold that
    /// is read. Or it will not get that from here.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let Some(place) = &self.place else { return true };
        let held = lock(&place.conversation);
        let active = held.session.active().map(|fold| fold.id);
        let is_made = held.saved.is_made && held.saved.active == active;
        !held.is_kept() || held.saved.is_foreign || is_made
    }

    /// The provider takes the request: only from then on its conversation is kept. What it refuses may be
    /// anybody's who has no key for it.
    pub fn accept(&self) {
        let Some(place) = &self.place else { return };
        lock(&place.conversation).is_accepted = true;
        self.proxy.queue(&place.conversation);
    }

    /// The provider has taken the request: it is not sent again, and need not be in memory while the
    /// answer comes.
    #[must_use]
    pub fn taken(self) -> PendingAnswer {
        let named = self.wants_output().then_some((self.request, self.kept));
        let Self { proxy, place, sent, source, .. } = self;
        let carried = FoldedPrompt { sent: sent.tokens_after, whole: sent.tokens_before };
        let counted = sent.counted;
        PendingAnswer { proxy, place, fold: sent.fold, carried, counted, source, named }
    }

    /// Whether what is sent is so much of the window that the provider may find it too long.
    #[must_use]
    pub fn may_overflow(&self) -> bool {
        let window = self.place.as_ref().map_or(0, |place| place.budget.window);
        self.sent.tokens_after.saturating_mul(100) > window.saturating_mul(WATCHED_PERCENT)
    }

    /// What the provider meant when it refused the request.
    #[must_use]
    pub fn diagnose(&self, status: Option<u16>, body: &[u8]) -> Diagnosis {
        let window = self.place.as_ref().map_or(u64::MAX, |place| place.budget.window);
        let found = diagnose(status, body, self.sent.tokens_after, window);
        if found.exceeds_window() && is_echo(body, &self.sent.body) {
            // It may be too long all the same, but no number in it is the provider's.
            return Diagnosis::Probable;
        }
        found
    }

    /// The provider refused the request: what to send instead, once. None where it was not too long,
    /// or nothing else can be sent: then the provider's error is the answer.
    pub fn refused(&mut self, diagnosis: Diagnosis, now: Millis) -> Option<&OutgoingRequest> {
        if diagnosis == Diagnosis::BoundReasoning {
            return self.without_reasoning();
        }
        let Some((told, have)) = self.learn(diagnosis) else {
            return self.only_shortens_reply(diagnosis).then_some(&self.sent);
        };
        let place = self.place.as_mut()?;
        let reserve = place.budget.injection_reserve.saturating_sub(place.suffix);
        let mut held = lock(&place.conversation);
        place.budget = budget(&self.request, reserve + place.suffix, told, held.fixed());
        held.follow(&place.reading, &self.request, told, &place.budget);
        self.sent.window = Some((told.window, place.reading.window_source(told)));
        let session = &mut held.session;
        let before = session.active().map(|fold| fold.id);
        let have = have.map(|have| have.saturating_sub(place.suffix).max(1));
        let overflow = ReportedOverflow { have, limit: Some(told.window) };
        // Of the window that was thought to be: so the session learns that it is another one.
        let thought = Budget { window: place.reading.window, ..place.budget.clone() };
        let Ok(context) = session.recover(&thought, overflow, now) else {
            drop(held);
            return self.only_shortens_reply(diagnosis).then_some(&self.sent);
        };
        self.sent.fault = None;
        self.sent.read(&self.request, session, &context, place.stable, before, place.suffix);
        drop(held);
        self.proxy.queue(&place.conversation);
        self.shorten_reply(told, None);
        self.offer();
        self.sent.is_folded().then_some(&self.sent)
    }

    /// The window that a refusal tells of, and how long the provider found the prompt. Nothing where the
    /// request was not too long.
    fn learn(&self, diagnosis: Diagnosis) -> Option<(WindowReport, Option<u64>)> {
        let place = self.place.as_ref()?;
        let (known, have, told) = match diagnosis {
            Diagnosis::OutputCap { input: Some(input), limit: Some(limit), .. } => {
                let told = WindowReport { window: limit, counts_reply: true };
                // The rest of the window has to suffice for the reply, unless the reply is most of the window.
                let fits = input + reserved(&self.request, told, 0).max(LEAST_REPLY) <= limit;
                (!fits).then_some((true, Some(input), told))?
            }
            other => {
                let said = other.recovery(LEAST_REPLY)?;
                let window = said.window_or_guess(place.budget.window, self.sent.tokens_after);
                let is_told = matches!(other, Diagnosis::Overflow { .. });
                (is_told, said.have, WindowReport { window, counts_reply: false })
            }
        };
        if let Some(source) = self.source.as_ref().filter(|_| known) {
            lock(&self.proxy.learned).refused(source, told);
        }
        Some((told, have))
    }

    /// The provider found reasoning that is bound to something else: the history without any.
    fn without_reasoning(&mut self) -> Option<&OutgoingRequest> {
        let place = self.place.as_ref()?;
        let mut held = lock(&place.conversation);
        let session = &mut held.session;
        let before = session.active().map(|fold| fold.id);
        let context = session.void_reasoning()?;
        self.sent.read(&self.request, session, &context, place.stable, before, place.suffix);
        drop(held);
        self.proxy.queue(&place.conversation);
        self.offer();
        Some(&self.sent)
    }
}

/// Tokens of the messages that are no history yet.
fn suffix(request: &Request, stable: usize, reading: &RequestReading) -> u64 {
    let dialect = reading.kind.dialect();
    let count = |at| {
        let message = request.message(at);
        u64::from(measure(&*reading.counter, &message, &dialect.view(&message)).total)
    };
    (stable..request.len()).map(count).sum()
}

impl Proxy {
    /// A request without a history: nothing of it can be folded.
    pub(super) fn first(
        self: &Arc<Self>,
        reading: &RequestReading,
        request: Request,
        who: &RequestSender,
        model: String,
    ) -> MatchedRequest {
        let source = WindowOwner::new((&who.scope, &who.upstream), request.kind(), &model);
        let learned = lock(&self.learned).of(&source);
        let told = learned.unwrap_or(WindowReport { window: reading.window, counts_reply: false });
        let tokens = suffix(&request, 0, reading) + reading.beside(&request);
        let mut turn = MatchedRequest::passing(self, request, model, None);
        (turn.sent.tokens_before, turn.sent.tokens_after) = (tokens, tokens);
        turn.sent.window = Some((told.window.min(reading.window), reading.window_source(told)));
        turn.source = Some(source);
        turn.shorten_reply(told, None);
        turn
    }
}

/// The budget of a history: `fixed` tokens of it cannot be folded, and `beside` tokens are beside it.
fn budget(request: &Request, beside: u64, told: WindowReport, fixed: u64) -> Budget {
    Budget {
        output_reserve: reserved(request, told, fixed),
        injection_reserve: beside,
        ..Budget::new(told.window)
    }
}
