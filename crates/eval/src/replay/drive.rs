//! Runs an engine through a recording, and returns what it would send in each request.

use bytes::Bytes;
use midfold_core::budget::Budget;
use midfold_core::calendar::Millis;
use midfold_core::counter::TextKind;
use midfold_core::engine::Session;
use midfold_core::event::RawEvent;
use midfold_core::fold::{Fold, FoldEntry, VerdictCode};
use midfold_core::log::{Event, EventLog};
use midfold_core::meter::Meter;
use midfold_core::plan::{PlanOutcome, PlanRequest, plan_over};
use midfold_core::policy::{Policy, ReducerName};
use midfold_core::project::{Context, ContextPiece, ContextProjection, PieceFate};
use midfold_core::trigger::FoldCause;
use midfold_core::view::Role;

use crate::replay::host::{OutsideEngine, ReplayError, ReplayNarrator, ReplaySettings};
use crate::replay::recording::Recording;

/// One message that is sent, and the recorded event that it comes from.
#[derive(Clone, Debug)]
pub(super) struct SentMessage {
    pub bytes: Bytes,
    pub tokens: u32,
    /// The recorded event that it is, or was made from. `None` for a message of the engine.
    pub event: Option<u32>,
    /// Whether it is that event, byte for byte.
    pub verbatim: bool,
    /// Whether it is a recap or a marker in the place of other events.
    pub stands_in: bool,
}

impl SentMessage {
    /// Whether `other` is the same message of the same event.
    pub fn is(&self, other: &Self) -> bool {
        self.event == other.event
            && (self.verbatim, self.stands_in) == (other.verbatim, other.stands_in)
            && same_bytes(&self.bytes, &other.bytes)
    }
}

/// The messages of one request.
pub(super) struct SentRequest {
    /// The tokens of the whole context and the envelope.
    pub tokens: u64,
    /// The number of messages that are known to be the same as in the request before.
    pub same: usize,
    /// The messages after those.
    pub items: Vec<SentMessage>,
    /// The fold that was made for this request.
    pub folded: Option<ReplayFold>,
    /// Whether the engine's messages had to be repaired, because no provider would take them.
    pub faulty: bool,
}

/// A fold, in terms of the recording.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplayFold {
    /// The tokens of the context before the fold.
    pub before: u64,
    /// The tokens of the context after the fold.
    pub after: u64,
    /// The text in place of folded events, and its tokens.
    pub recap: Option<(String, u64)>,
    /// The first event that is behind a marker; 0 where there is no recap.
    pub marker_from: Option<u32>,
    /// The pinned events.
    pub pinned: Vec<u32>,
    /// The edits of events that stay: `(event, reducer, reason)`.
    pub edits: Vec<(u32, ReducerName, String)>,
    /// The reason for the fold; `None` for an engine outside of midfold.
    pub cause: Option<FoldCause>,
}

/// The request to a model for a narration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NarrationRequest {
    /// The tokens of the prompts.
    pub prompt: u64,
    /// The tokens of the replies.
    pub output: u64,
    /// Whether the narration was accepted.
    pub accepted: bool,
}

/// The assumed time in milliseconds between two requests where the recording has no times. A session rests for some
/// time after a model has failed.
const PACE: Millis = 60_000;

/// The next request, as far as it is the same for every engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestMoment {
    /// The number of events of the recording that are its history.
    pub upto: usize,
    /// The time when it was sent. `None` where the recording has no time.
    pub when: Option<Millis>,
}

/// The engine that is replayed.
pub(super) enum EngineDriver<'a> {
    /// Sends the history as it is.
    Raw(Box<RawHistory>),
    /// Compacts its own last output and the messages that followed.
    Stateless(Box<StatelessDriver<'a>>),
    /// Holds the whole history.
    Session(Box<HeldSession<'a>>),
}

impl<'a> EngineDriver<'a> {
    pub fn raw(recording: &Recording) -> Self {
        let log = recording.log.prefix(0);
        Self::Raw(Box::new(RawHistory {
            projection: ContextProjection::new(&log, None),
            log,
            sent_count: 0,
        }))
    }

    pub fn stateless(recording: &Recording, engine: DrivenEngine<'a>, window: u64) -> Self {
        let log = recording.log.prefix(0);
        let projection = ContextProjection::new(&log, None);
        Self::Stateless(Box::new(StatelessDriver {
            engine,
            window,
            log,
            projection,
            origins: Vec::new(),
            fed: 0,
            sent_count: 0,
            read: 0,
            faulty: false,
        }))
    }

    pub fn session(
        recording: &Recording,
        policy: &Policy,
        settings: &ReplaySettings<'_>,
        narrator: Option<&'a dyn ReplayNarrator>,
    ) -> Self {
        let log = recording.log.prefix(0);
        let mut session = Session::over("replay", log, policy.clone(), Meter::exact());
        // As in the proxy: after a pause that is longer than the cache's lifetime, a fold breaks no cache.
        let lifetime = settings.prices.lifetime_seconds;
        session.set_cache_lifetime(lifetime.map(|seconds| seconds.saturating_mul(1_000)));
        Self::Session(Box::new(HeldSession {
            session,
            narrator,
            budget: Budget::new(settings.window),
            now: 0,
            sent_count: 0,
            folds: 0,
        }))
    }

    /// The messages of this request.
    pub fn send(
        &mut self,
        recording: &Recording,
        moment: RequestMoment,
    ) -> Result<SentRequest, ReplayError> {
        match self {
            Self::Raw(raw) => Ok(raw.send(recording, moment.upto)),
            Self::Stateless(run) => run.send(recording, moment.upto),
            Self::Session(session) => session.send(recording, moment),
        }
    }

    /// Asks the model for the narration that the session wants. `None` where there is no model or nothing is wanted.
    pub fn ask(&mut self) -> Option<NarrationRequest> {
        match self {
            Self::Session(session) => session.ask(),
            Self::Raw(_) | Self::Stateless(_) => None,
        }
    }
}

/// A session that holds the whole history.
pub(super) struct HeldSession<'a> {
    session: Session,
    narrator: Option<&'a dyn ReplayNarrator>,
    budget: Budget,
    now: Millis,
    /// The number of pieces of the context that were sent before.
    sent_count: usize,
    folds: usize,
}

impl HeldSession<'_> {
    fn send(
        &mut self,
        recording: &Recording,
        moment: RequestMoment,
    ) -> Result<SentRequest, ReplayError> {
        // Recorded times may go back, and the clock of a session must not.
        self.now = moment.when.map_or(self.now, |when| when.max(self.now));
        let Self { session, budget, .. } = self;
        session.grow_to(moment.upto, &recording.log);
        let before = session.view().tokens();
        let context = session.context(budget, self.now)?;
        let new = session.folds().len() > self.folds;
        self.folds = session.folds().len();
        // Only a fold changes messages that were sent already.
        let from = if new { 0 } else { self.sent_count };
        self.sent_count = context.len();
        let folded = session.active().filter(|_| new);
        let folded = folded.map(|fold| describe(fold, before, &context, &|seq| Some(seq)));
        let items = items(&context, from, &|seq| (Some(seq), true));
        if moment.when.is_none() {
            self.now += PACE;
        }
        Ok(SentRequest { tokens: context.tokens(), same: from, items, folded, faulty: false })
    }

    /// Asks for a narration, which is complete before the next request, as it is with a quick worker.
    fn ask(&mut self) -> Option<NarrationRequest> {
        let narrator = self.narrator?;
        let request = self.session.take_request(&self.budget, self.now)?;
        let answer = narrator.narrate(&request);
        let counter = self.session.log().counter();
        let count = |text: &str| u64::from(counter.count(text, TextKind::Prose));
        let prompt = request.sources.iter().map(|source| count(&source.text)).sum();
        let output = answer.as_ref().map_or(0, |reply| count(&reply.text));
        let usage = answer.as_ref().ok().and_then(|reply| reply.usage);
        let (prompt, output) = usage.map_or((prompt, output), |u| (u.prompt, u.output));
        let verdict = self.session.complete(&request, answer, self.now);
        let accepted = verdict.is_ok_and(|verdict| verdict.code == VerdictCode::ACCEPTED);
        Some(NarrationRequest { prompt, output, accepted })
    }
}

/// The history as it is, with the repairs that its profile needs.
pub(super) struct RawHistory {
    log: EventLog,
    projection: ContextProjection,
    /// The number of messages that were sent before.
    sent_count: usize,
}

impl RawHistory {
    fn send(&mut self, recording: &Recording, upto: usize) -> SentRequest {
        self.log.grow_to(upto, &recording.log);
        self.projection.extend(&self.log);
        let context = self.projection.context();
        let items = items(&context, self.sent_count, &|seq| (Some(seq), true));
        let same = std::mem::replace(&mut self.sent_count, context.len());
        SentRequest { tokens: context.tokens(), same, items, folded: None, faulty: false }
    }
}

/// The engine of a stateless replay.
pub(super) enum DrivenEngine<'a> {
    Policy(&'a Policy),
    Outside(&'a mut dyn OutsideEngine),
}

/// The recorded event from which a message of the engine comes.
#[derive(Clone, Copy, Debug)]
struct MessageOrigin {
    /// The recorded event. `None` for a message of the engine.
    event: Option<u32>,
    /// Whether it is that event, byte for byte.
    verbatim: bool,
    /// Whether it is a recap or a marker in the place of other events.
    stands_in: bool,
}

/// The normative form: the engine gets its own last output and the messages that followed, and compacts them when they
/// are too long, as repeated calls of `midfold compact` would.
pub(super) struct StatelessDriver<'a> {
    engine: DrivenEngine<'a>,
    window: u64,
    /// The engine's last output and the messages that followed.
    log: EventLog,
    projection: ContextProjection,
    /// For each event of `log`, where it comes from.
    origins: Vec<MessageOrigin>,
    /// The number of events of the recording that it got.
    fed: usize,
    /// The number of messages in `log` that were sent before.
    sent_count: usize,
    /// The number of events in `log` that were read anew when it was made.
    read: usize,
    /// Whether the last answer of an engine outside had to be repaired before it could be sent.
    faulty: bool,
}

impl StatelessDriver<'_> {
    fn send(&mut self, recording: &Recording, upto: usize) -> Result<SentRequest, ReplayError> {
        for event in &recording.log.events()[self.fed..upto] {
            self.log.adopt(event);
            self.origins.push(MessageOrigin {
                event: Some(event.seq),
                verbatim: true,
                stands_in: false,
            });
        }
        self.fed = upto;
        self.projection.extend(&self.log);
        let context = self.projection.context();
        if let Some((after, folded)) = self.compact(&context)? {
            let (same, items) = self.take_up(&after);
            let (tokens, faulty) = (after.tokens(), self.faulty);
            return Ok(SentRequest { tokens, same, items, folded: Some(folded), faulty });
        }
        let same = std::mem::replace(&mut self.sent_count, context.len());
        let items = items_of(&context, same, &self.origins);
        let (tokens, faulty) = (context.tokens(), self.faulty);
        Ok(SentRequest { tokens, same, items, folded: None, faulty })
    }

    /// Compacts the context where that is due. `None` where it is not, or where nothing changed.
    fn compact(&mut self, context: &Context) -> Result<Option<(Context, ReplayFold)>, ReplayError> {
        match &mut self.engine {
            DrivenEngine::Policy(policy) => {
                let budget = Budget::new(self.window);
                let request = PlanRequest {
                    before: Some(context.clone()),
                    ..PlanRequest::new(&self.log, policy, &budget, Meter::exact())
                };
                let planned = plan_over(&request, &self.projection)?;
                let (PlanOutcome::Folded(fold), Some(after)) = planned else { return Ok(None) };
                let origin = |seq: u32| self.origins.get(seq as usize).and_then(|o| o.event);
                let folded = describe(&fold, context.tokens(), &after, &origin);
                Ok(Some((after, folded)))
            }
            DrivenEngine::Outside(engine) => {
                if context.tokens() * 10 <= self.window * 8 {
                    return Ok(None);
                }
                let messages: Vec<Bytes> = context.pieces().map(|p| p.bytes.clone()).collect();
                let answer =
                    engine.compact(&messages, self.window).map_err(ReplayError::Outside)?;
                if answer == messages {
                    return Ok(None);
                }
                Ok(Some(self.take_over(context, answer)))
            }
        }
    }

    /// The answer of an engine outside as a context. Messages of the recording in it are recognised.
    fn take_over(&mut self, before: &Context, answer: Vec<Bytes>) -> (Context, ReplayFold) {
        let mut next = self.log.prefix(0);
        let mut origins = Vec::with_capacity(answer.len());
        let (mut at, mut recap) = (0, None);
        for bytes in answer {
            // An engine keeps the order of messages, so the search goes on behind the last match.
            let position = self.log.events()[at..].iter().position(|event| event.bytes == bytes);
            match position {
                Some(skip) => {
                    let (event, origin) = (&self.log.events()[at + skip], self.origins[at + skip]);
                    if origin.stands_in {
                        recap.get_or_insert_with(|| stands_for(event));
                    }
                    origins.push(origin);
                    next.adopt(event);
                    at += skip + 1;
                }
                None => {
                    let seq = next.append(RawEvent::new(bytes));
                    let event = &next.events()[seq as usize];
                    recap.get_or_insert_with(|| stands_for(event));
                    origins.push(MessageOrigin { event: None, verbatim: false, stands_in: true });
                }
            }
        }
        self.log = next;
        self.origins = origins;
        self.projection = ContextProjection::new(&self.log, None);
        let context = self.projection.context();
        let is_verbatim = |fate: &PieceFate| matches!(fate, PieceFate::Verbatim(_));
        // Where the projection repairs or drops a message, the engine's list breaks a rule of the provider.
        self.faulty =
            context.len() != self.log.len() || !context.pieces().all(|p| is_verbatim(&p.fate));
        let (before, after) = (before.tokens(), context.tokens());
        let marker_from = recap.is_none().then_some(0);
        (context, ReplayFold { before, after, recap, marker_from, ..ReplayFold::default() })
    }

    /// Continues from a context as if it had been read from a file. Returns the number of its messages that were the
    /// same in the request before, and the messages after them.
    fn take_up(&mut self, context: &Context) -> (usize, Vec<SentMessage>) {
        if matches!(self.engine, DrivenEngine::Outside(_)) {
            // The engine may have changed any message, so all of them are compared anew.
            self.sent_count = 0;
            return (0, items_of(context, 0, &self.origins));
        }
        let stays = self.unchanged(context);
        let same = stays.min(self.sent_count);
        let items = items_of(context, same, &self.origins);
        self.origins.truncate(stays);
        let log = self.log.prefix(stays);
        let before = std::mem::replace(&mut self.log, log);
        // The pieces begin at `stays`, the items at `same`.
        for (piece, item) in context.pieces_from(stays).zip(&items[stays - same..]) {
            let known = match piece.fate {
                PieceFate::Verbatim(seq) => before.events().get(seq as usize),
                _ => None,
            };
            // The speaker of a user's message is determined anew, because a file does not say what its reader knew.
            match known.filter(|event| event.view.role != Role::User) {
                Some(event) => self.log.adopt(event),
                None => self.log.append(RawEvent::new(piece.bytes.clone())),
            };
            self.origins.push(MessageOrigin {
                event: item.event,
                verbatim: item.verbatim,
                stands_in: item.stands_in,
            });
        }
        self.read = self.log.len();
        self.projection = self.projection.regrown(stays, &self.log);
        // The messages may need other repairs when they are read anew.
        let reread = self.projection.context();
        let pairs = context.pieces_from(stays).zip(reread.pieces_from(stays));
        self.sent_count =
            stays + pairs.take_while(|(old, other)| same_bytes(&old.bytes, &other.bytes)).count();
        (same, items)
    }

    /// The number of messages of a context that are the first events of `log`, unchanged.
    fn unchanged(&self, context: &Context) -> usize {
        let stays = |(event, piece): &(&Event, &ContextPiece)| {
            let read = event.view.role != Role::User || (event.seq as usize) < self.read;
            read && piece.fate == PieceFate::Verbatim(event.seq)
        };
        self.log.events().iter().zip(context.pieces()).take_while(stays).count()
    }
}

/// Whether two slices are equal. Mostly they are at the same address, which makes the comparison cheap.
pub(super) fn same_bytes(a: &Bytes, b: &Bytes) -> bool {
    a.len() == b.len() && (std::ptr::eq(a.as_ptr(), b.as_ptr()) || a == b)
}

/// The text and the tokens of a message in the place of events.
fn stands_for(event: &Event) -> (String, u64) {
    (event.text().into_owned(), u64::from(event.tokens.total))
}

fn items_of(context: &Context, from: usize, origins: &[MessageOrigin]) -> Vec<SentMessage> {
    let mut items = items(context, from, &|seq| {
        origins.get(seq as usize).map_or((None, false), |origin| (origin.event, origin.verbatim))
    });
    for (item, piece) in items.iter_mut().zip(context.pieces_from(from)) {
        if let PieceFate::Verbatim(seq) | PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) =
            piece.fate
        {
            // The recap of an earlier fold is an ordinary message of the log by now: only its origin says that it is
            // one.
            item.stands_in |= origins.get(seq as usize).is_some_and(|origin| origin.stands_in);
        }
    }
    items
}

fn items(
    context: &Context,
    from: usize,
    origin: &dyn Fn(u32) -> (Option<u32>, bool),
) -> Vec<SentMessage> {
    let item = |piece: &ContextPiece| {
        let (event, verbatim) = match piece.fate {
            PieceFate::Verbatim(seq) => origin(seq),
            PieceFate::Edited(seq) | PieceFate::Repaired(seq, _) => (origin(seq).0, false),
            PieceFate::Recap | PieceFate::Marker | PieceFate::Added(_) => (None, false),
        };
        let stands_in = matches!(piece.fate, PieceFate::Recap | PieceFate::Marker);
        SentMessage { bytes: piece.bytes.clone(), tokens: piece.tokens, event, verbatim, stands_in }
    };
    context.pieces_from(from).map(item).collect()
}

fn describe(
    fold: &Fold,
    before: u64,
    after: &Context,
    origin: &dyn Fn(u32) -> Option<u32>,
) -> ReplayFold {
    let pinned = fold.layout.pinned.iter().chain(&fold.layout.carried_user);
    let edits = fold
        .edits
        .iter()
        .filter_map(|edit| Some((origin(edit.seq)?, edit.reducer, edit.reason.clone())));
    // A marker says nothing about the events that it replaces, so it is no recap.
    let marker = fold.entries.iter().any(|entry| matches!(entry, FoldEntry::Marker { .. }));
    let recap = fold.recap.as_ref().filter(|_| !marker);
    ReplayFold {
        before,
        after: after.tokens(),
        recap: recap.map(|recap| (recap.text.clone(), recap.tokens)),
        marker_from: fold.marker_from().map(|from| origin(from).filter(|_| from > 0).unwrap_or(0)),
        pinned: pinned.filter_map(|seq| origin(*seq)).collect(),
        edits: edits.collect(),
        cause: Some(fold.cause),
    }
}
