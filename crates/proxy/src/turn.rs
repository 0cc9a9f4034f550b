//! One request: what is sent for it, and what its answer teaches.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold_core::Hash;
use midfold_core::budget::Budget;
use midfold_core::engine::{ReportedOverflow, Session};
use midfold_core::meter::Meter;
use midfold_core::project::{Context, ContextPiece, PieceFate};
use midfold_core::repair::RepairReason;
use midfold_core::trigger::FoldCause;
use midfold_formats::DialectKind;
use midfold_formats::overflow::{Diagnosis, diagnose, is_echo};
use midfold_formats::request::{Request, is_summary_request};
use midfold_store::Millis;

use super::conversation::ProxyConversation;
use super::history::RequestHistory;
use super::learned_windows::{WindowOwner, WindowReport};
use super::lock::lock;
use super::newest::{NewestMessages, tokens};
use super::recall::RecallOffer;
use super::rules::{LEAST_REPLY, RequestReading, reserved};
use super::sender::RequestSender;
use super::shared::Proxy;
use super::shown_rules::ShownRules;
use super::slot::ConversationSlot;
use midfold::RequestFault;
use midfold::WindowSource;

/// The share of the window above which a stream that ends without a word counts as a refusal for length. A shorter
/// prompt is taken to fit, even if the estimate and the window are both wrong by a factor of two.
const SILENT_PERCENT: u64 = 20;

/// The request that is sent instead of the client's.
#[derive(Clone, Debug)]
pub struct OutgoingRequest {
    /// The body; the client's own bytes if nothing is folded.
    pub body: Bytes,
    /// The id of the session; `None` if it is not stored. For a request without a history it is the id that the
    /// conversation will get at its second request.
    pub session: Option<String>,
    /// The fold that the request is read through; `None` without a fold.
    pub fold: Option<Hash>,
    /// Whether the fold was made for this request.
    pub is_new_fold: bool,
    /// The reason for that fold.
    pub cause: Option<FoldCause>,
    /// The estimated tokens of the client's request, in the provider's count.
    pub tokens_before: u64,
    /// The estimated tokens of the request that is sent, in the provider's count.
    pub tokens_after: u64,
    /// The tokens of the request that is sent, in midfold's own count, uncorrected.
    pub counted: u64,
    /// The same of the client's request.
    pub whole: u64,
    /// The window that it has to fit in tokens, with its source; `None` if the request passes without being read.
    pub window: Option<(u64, WindowSource)>,
    /// The tokens that are left out of results, because with them the request would not fit; 0 if all are whole.
    pub cut: u64,
    /// The tokens that the answer may have, if the request asked for more than fits beside its prompt.
    pub reply: Option<u64>,
    /// Why a request is sent unchanged although a fold was due.
    pub fault: Option<RequestFault>,
    /// Whether it is written by rules that a refusal has shown, so that messages of the client's are changed or added to.
    pub is_mended: bool,
}

impl OutgoingRequest {
    /// Whether the request is read through a fold.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.fold.is_some()
    }

    /// Whether each message of the client's is sent as it came.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.is_folded() && self.cut == 0 && !self.is_mended
    }

    /// Whether it has to fit a window that is only the default, because nothing is known about the model.
    #[must_use]
    pub fn is_window_unknown(&self) -> bool {
        let from = self.window.as_ref().map(|(_, from)| from);
        matches!(from, Some(WindowSource::UnknownModel(_) | WindowSource::NoModel))
    }

    /// Replaces the body with the messages of a context. A message that the context has unchanged is taken from this
    /// request: its cache marks may differ from those in the log.
    pub(super) fn read(
        &mut self,
        request: &Request,
        session: &Session,
        context: &Context,
        before: Option<Hash>,
        newest: &NewestMessages,
    ) {
        let fold = session.active().map(|fold| fold.id);
        if fold.is_none() && session.void().is_none() && !newest.is_cut() && !self.is_mended {
            return;
        }
        // The results of a call that got another id are renamed as well.
        let is_renamed = |piece: &ContextPiece| {
            matches!(piece.fate, PieceFate::Repaired(_, RepairReason::DuplicateId))
        };
        let is_mended = self.is_mended || context.pieces().any(is_renamed);
        let piece = |piece: &ContextPiece| match piece.fate {
            PieceFate::Verbatim(seq) => newest.message(request, seq as usize),
            _ => piece.bytes.clone(),
        };
        let history = context.pieces().map(piece);
        let rest = (newest.history_len()..request.len()).map(|at| newest.message(request, at));
        self.body = if session.tells_newest_round() || is_mended {
            let rest = session.behind(rest);
            request.with_messages(history.chain(rest.pieces().map(piece)))
        } else {
            request.with_messages(history.chain(rest))
        };
        self.fold = fold;
        self.cause = session.active().map(|fold| fold.cause);
        self.is_new_fold = fold.is_some() && before != fold;
        self.tokens_after = session.meter().calibrated(context.tokens()) + newest.tokens;
        self.counted = context.tokens() + newest.counted;
        self.cut = newest.left_out;
    }
}

/// A request that is matched to its conversation, before and while it is sent.
pub struct MatchedRequest {
    pub(super) proxy: Arc<Proxy>,
    pub(super) request: Request,
    pub(super) model: String,
    pub(super) place: Option<ConversationSlot>,
    /// The key of the conversation that it opens, if there is no history yet.
    pub(super) opening: Option<Hash>,
    pub(super) sent: OutgoingRequest,
    pub(super) history: RequestHistory,
    /// The owner of the window that it has to fit.
    pub(super) source: Option<WindowOwner>,
    pub(super) recall: RecallOffer,
    pub(super) tried: TriedRemedies,
}

/// The remedies for a refusal that a request has had. Each is tried once: a fold makes the request shorter, and where
/// that fold made reasoning void which the provider binds, it is refused once more and sent without reasoning.
#[derive(Clone, Copy, Default)]
pub(super) struct TriedRemedies {
    pub shorter: bool,
    pub without_reasoning: bool,
    pub mended: ShownRules,
}

impl MatchedRequest {
    /// A request that is sent unchanged.
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
            whole: 0,
            cut: 0,
            window: None,
            reply: None,
            fault,
            is_mended: false,
        };
        Self {
            proxy: Arc::clone(proxy),
            request,
            model,
            place: None,
            opening: None,
            sent,
            history: RequestHistory::default(),
            source: None,
            recall: RecallOffer::default(),
            tried: TriedRemedies::default(),
        }
    }

    /// Sets the conversation that the request opens: its key, and the id of its session.
    pub(super) fn with_opening(mut self, opening: Option<(Hash, String)>) -> Self {
        (self.opening, self.sent.session) = opening.unzip();
        if let Some(opened) = self.opening
            && let Some(opened) = lock(&self.proxy.promised).get_mut(&opened)
        {
            opened.before = opened.before.max(self.sent.tokens_before);
            self.sent.tokens_before = opened.before;
        }
        self
    }

    /// Sets the state of midfold's tools, and adds the tools to the body.
    pub(super) fn with(mut self, recall: RecallOffer) -> Self {
        self.recall = recall;
        self.offer();
        self
    }

    /// Adds midfold's tools to the body that is sent, if the request may have them.
    pub(super) fn offer(&mut self) {
        let is_folded = self.sent.is_folded();
        self.sent.body = self.recall.offer(&self.request, &self.sent.body, is_folded);
    }

    /// Matches the request to its conversation. The first `stable` of its messages are history.
    pub(super) fn match_to(
        mut self,
        reading: &RequestReading,
        conversation: Arc<Mutex<ProxyConversation>>,
        stable: usize,
        report: WindowReport,
        is_aside: bool,
        now: Millis,
    ) -> Self {
        // A question about a conversation belongs to no session, so it gets no session id.
        let is_nobodys = is_aside;
        let is_aside = is_aside || is_summary_request(&self.request);
        let mut locked = lock(&conversation);
        let (meter, dense) = (locked.session.meter(), locked.dense);
        let mut newest = NewestMessages::of(&self.request, stable, reading, meter, dense);
        let newest_tokens = newest.counted;
        let fixed = locked.fixed_tokens();
        let policy = reading.policy_in(report.window.saturating_sub(fixed));
        let injections = policy.trigger.injection_reserve;
        let mut budget = budget(&self.request, injections + newest.tokens, report, fixed);
        locked.follow(reading, &self.request, report, &budget);
        locked.budget = Budget { injection_reserve: injections, ..budget.clone() };
        self.sent.is_mended = locked.shown.any();
        locked.session.heed(reading.keep.as_deref());
        let before = locked.session.active().map(|fold| fold.id);
        let (mut context, mut fault) = locked.context(&budget, report, is_aside, now);
        if fault == Some(RequestFault::Floor) {
            let (meter, room) = (locked.session.meter(), &locked.budget);
            if newest.cut(&self.request, reading, meter, room, fixed) {
                budget.injection_reserve = injections + newest.tokens;
                (context, fault) = locked.context(&budget, report, is_aside, now);
                // The messages have to be written anew, even if no fold is needed any more.
                context = context.or_else(|| Some(locked.session.view()));
            }
        }
        let before_tokens = locked.tokens_before(newest_tokens);
        let session = &mut locked.session;
        let whole = session.meter().calibrated(session.log().tokens()) + newest.tokens;
        self.sent.window = Some((report.window, reading.window_source(report)));
        self.sent.whole = session.log().tokens() + newest_tokens;
        self.sent.tokens_before = before_tokens;
        self.sent.tokens_after = whole;
        self.sent.counted = session.log().tokens() + newest.counted;
        self.sent.fault = fault;
        fault.into_iter().for_each(|fault| session.note_fault(fault.name()));
        if let Some(context) = context {
            self.sent.read(&self.request, session, &context, before, &newest);
        }
        let events = session.log().len();
        // After the fold, which may be the reason to store the conversation. Without a store, the id is a mere name.
        let is_stored = !self.proxy.is_stored() || locked.is_announced();
        self.sent.session = (is_stored && !is_nobodys).then(|| locked.session.id().to_owned());
        drop(locked);
        self.offer();
        // `queue` locks the conversation itself, so the lock has to be free here.
        self.proxy.queue(&conversation);
        let reading = reading.clone();
        self.place =
            Some(ConversationSlot { conversation, reading, newest, budget, events, is_aside });
        self.shorten_reply(report, None);
        self
    }

    /// The request to send.
    #[must_use]
    pub fn sent(&self) -> &OutgoingRequest {
        &self.sent
    }

    /// The client's request.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The model that it asks for; empty if it names none.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The window that it has to fit, in tokens; `None` if it has no history.
    #[must_use]
    pub fn window(&self) -> Option<u64> {
        self.place.as_ref().map(|place| place.budget.window)
    }

    /// Whether the answer's items have to be kept, and not only its usage, because a later request may name it.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.request.kind() == DialectKind::OpenAiResponses && !self.request.is_unstored
    }

    /// Moves the conversation to the front of those that wait to be written.
    pub fn hurry(&self) {
        if let Some(place) = &self.place {
            lock(&self.proxy.unsaved).hurry(&place.conversation);
        }
    }

    /// Whether the store has all that another process needs to continue: the session and the active fold. Also true if
    /// this process will not write the conversation.
    #[must_use]
    pub fn is_written(&self) -> bool {
        let Some(place) = &self.place else { return true };
        let conversation = lock(&place.conversation);
        let active = conversation.session.active().map(|fold| fold.id);
        let is_made = conversation.saved.is_made && conversation.saved.parts.active == active;
        !conversation.is_kept() || conversation.saved.is_foreign || is_made
    }

    /// Whether the provider accepted this request, or an earlier one of its conversation.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.place.as_ref().is_some_and(|place| lock(&place.conversation).is_accepted)
    }

    /// Notes that the provider accepted the request. A conversation is only stored from then on: a refused request may
    /// come from anybody, even without a valid key for the provider.
    pub fn accept(&self) {
        let Some(place) = &self.place else { return };
        lock(&place.conversation).is_accepted = true;
        self.proxy.queue(&place.conversation);
    }

    /// Judges a stream that ended before it said anything. `None` if the prompt is too short to be the reason.
    #[must_use]
    pub fn diagnose_silence(&self) -> Option<Diagnosis> {
        let window = self.place.as_ref()?.budget.window;
        let is_long =
            self.sent.tokens_after.saturating_mul(100) > window.saturating_mul(SILENT_PERCENT);
        is_long.then_some(Diagnosis::Probable)
    }

    /// Judges why the provider refused the request.
    #[must_use]
    pub fn diagnose(&self, status: Option<u16>, body: &[u8]) -> Diagnosis {
        let window = self.place.as_ref().map_or(u64::MAX, |place| place.budget.window);
        self.unless_echo(diagnose(status, body, self.sent.tokens_after, window), body)
    }

    /// The diagnosis of an error with this text, unless the text repeats what the request says.
    #[must_use]
    pub fn unless_echo(&self, diagnosis: Diagnosis, body: &[u8]) -> Diagnosis {
        if diagnosis.exceeds_window() && is_echo(body, &self.sent.body) {
            // The error text repeats text of the request, so its numbers may not be the provider's. The request may
            // still be too long.
            return Diagnosis::Probable;
        }
        diagnosis
    }

    /// Handles a refusal: returns what to send instead, once for its length, once for reasoning that is bound, and once
    /// for each rule that a refusal can show. `None` if the reason is another one, or if nothing else is possible; the client then gets the
    /// provider's error.
    pub fn answer_refusal(
        &mut self,
        diagnosis: Diagnosis,
        now: Millis,
    ) -> Option<&OutgoingRequest> {
        match diagnosis {
            Diagnosis::BoundReasoning => return self.drop_reasoning(),
            Diagnosis::RoleOrder => return self.mend(ShownRules::TURNS),
            Diagnosis::MissingReasoning => return self.mend(ShownRules::REASONING),
            _ => {}
        }
        if std::mem::replace(&mut self.tried.shorter, true) {
            return None;
        }
        let Some((report, have)) = self.learn(diagnosis) else {
            return self.only_shortens_reply(diagnosis).then_some(&self.sent);
        };
        let place = self.place.as_mut()?;
        have.into_iter()
            .for_each(|have| place.note_refused(&self.request, self.sent.counted, have));
        let reserve = place.budget.injection_reserve.saturating_sub(place.newest.tokens);
        let mut conversation = lock(&place.conversation);
        let fixed = conversation.fixed_tokens();
        place.budget = budget(&self.request, reserve + place.newest.tokens, report, fixed);
        conversation.follow(&place.reading, &self.request, report, &place.budget);
        self.sent.window = Some((report.window, place.reading.window_source(report)));
        let session = &mut conversation.session;
        let before = session.active().map(|fold| fold.id);
        // The provider counted the whole prompt, but the session only knows the history.
        let have = have.map(|have| have.saturating_sub(place.newest.tokens).max(1));
        let overflow = ReportedOverflow { have, limit: Some(report.window) };
        // Budget with the window that was assumed, so that the session notices the difference.
        let thought = Budget { window: place.reading.window, ..place.budget.clone() };
        let mut context = session.recover(&thought, overflow, now).ok();
        if context.is_none() {
            let room = Budget { injection_reserve: reserve, ..place.budget.clone() };
            let (meter, reading) = (session.meter(), &place.reading);
            if place.newest.cut(&self.request, reading, meter, &room, fixed) {
                place.budget.injection_reserve = reserve + place.newest.tokens;
                context = session.context(&place.budget, now).ok();
            }
        }
        let Some(context) = context else {
            drop(conversation);
            return self.only_shortens_reply(diagnosis).then_some(&self.sent);
        };
        self.sent.fault = None;
        self.sent.read(&self.request, session, &context, before, &place.newest);
        drop(conversation);
        self.proxy.queue(&place.conversation);
        self.shorten_reply(report, None);
        self.offer();
        (self.sent.is_folded() || self.sent.cut > 0).then_some(&self.sent)
    }

    /// The window that a refusal reveals, and the provider's count of the prompt. `None` if the request was not too
    /// long.
    fn learn(&self, diagnosis: Diagnosis) -> Option<(WindowReport, Option<u64>)> {
        let place = self.place.as_ref()?;
        let (known, have, report) = match diagnosis {
            Diagnosis::SharedCap { input, limit, .. } => {
                let report = WindowReport { window: limit, counts_reply: true };
                // Lowering the requested answer is enough if the rest of the window has room for it. If the answer is
                // most of the window, the prompt has to shrink.
                let fits = input + reserved(&self.request, report, 0).max(LEAST_REPLY) <= limit;
                (!fits).then_some((true, Some(input), report))?
            }
            other => {
                let recovery = other.recovery(LEAST_REPLY)?;
                let window = recovery.window_or_guess(place.budget.window, self.sent.tokens_after);
                let is_told = matches!(other, Diagnosis::Overflow { .. });
                (is_told, recovery.have, WindowReport { window, counts_reply: false })
            }
        };
        if let Some(source) = self.source.as_ref().filter(|_| known) {
            lock(&self.proxy.learned).note_refused(source, report);
        }
        Some((report, have))
    }
}

impl Proxy {
    /// Handles a request without a history: nothing of it can be folded.
    pub(super) fn first(
        self: &Arc<Self>,
        reading: &RequestReading,
        request: Request,
        who: &RequestSender,
        model: String,
    ) -> MatchedRequest {
        let source = reading.window_owner(who, request.kind(), &model);
        let learned = lock(&self.learned).of(&source);
        let report =
            learned.unwrap_or(WindowReport { window: reading.window, counts_reply: false });
        let messages = request.messages().map(|message| tokens(&message, reading));
        let counted = messages.sum::<u64>() + reading.beside(&request);
        let tokens = Meter::first(reading.counter.name()).calibrated(counted);
        let mut turn = MatchedRequest::passing(self, request, model, None);
        (turn.sent.tokens_before, turn.sent.tokens_after) = (tokens, tokens);
        (turn.sent.counted, turn.sent.whole) = (counted, counted);
        turn.sent.window = Some((report.window.min(reading.window), reading.window_source(report)));
        turn.source = Some(source);
        turn.shorten_reply(report, None);
        turn
    }
}

/// The budget of a history. `fixed` of its tokens cannot be folded, and `beside` more tokens are sent with it.
fn budget(request: &Request, beside: u64, report: WindowReport, fixed: u64) -> Budget {
    Budget {
        output_reserve: reserved(request, report, fixed),
        injection_reserve: beside,
        ..Budget::new(report.window)
    }
}
