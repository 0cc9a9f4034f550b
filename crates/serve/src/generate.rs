//! The way of a request with a history through the server. [`ProxyRequest::prepare`] lists its steps in order; each of
//! them may end the way with a [`RequestDetour`].

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::Uri;
use midfold::DialectKind;
use midfold::formats::request as wire;
use midfold_proxy::vendor::{
    AnswerInsert, RequestPurpose, VendorOutcome, VendorRequest, VendorWork,
};
use midfold_proxy::{MatchedRequest, RequestFault, RequestSender};

use crate::body::{BodyRead, BodyRoom, content_length};
use crate::compute::{caught, compute};
use crate::headers;
use crate::keys::KeyHolder;
use crate::logged::{log_cut, log_fold, log_unfolded, log_unknown_window, note_model};
use crate::metric_labels::RequestLabels;
use crate::pass_cause::PassCause;
use crate::proxy_request::{ProxyRequest, no_answer, no_key, not_folded};
use crate::reading::{self, UnreadReason, beside};
use crate::route::HistoryRequest;
use crate::unpack::{BodyPacking, PackedBody};
use crate::upstream_call::UpstreamCall;
use crate::vendor;

/// The other ends that the way of a request may have.
enum RequestDetour {
    /// It is forwarded as it came, because midfold cannot read or fold it.
    Open(Body, PassCause),
    /// It is forwarded whole, because it asks for nothing that midfold does.
    Whole(Bytes, Option<PackedBody>),
    /// midfold answers it.
    Answer(Box<Response>),
}

/// A request with a history, as it came from the client.
struct BufferedRequest {
    /// The body's bytes, which may be compressed.
    body: Bytes,
    /// The decompressed body.
    plain: Bytes,
    /// The compressed body with its plain text; `None` if it was not compressed.
    packed: Option<PackedBody>,
    room: BodyRoom,
    /// Whether the client asked for a stream.
    stream: bool,
    purpose: RequestPurpose,
    who: RequestSender,
    /// When the body was complete.
    start: Instant,
}

impl RequestDetour {
    fn answer(response: Response) -> Self {
        Self::Answer(Box::new(response))
    }
}

impl BufferedRequest {
    /// The end for a request that is sent as it came.
    fn open(&self, cause: PassCause) -> RequestDetour {
        RequestDetour::Open(Body::from(self.body.clone()), cause)
    }
}

/// A request that is ready to be sent.
struct PreparedRequest {
    buffered: BufferedRequest,
    turn: MatchedRequest,
    /// A part to insert into the answer.
    insert: Option<AnswerInsert>,
}

impl ProxyRequest {
    /// Handles a request with a history.
    pub async fn generate(
        mut self,
        history: HistoryRequest,
        body: Body,
        purpose: RequestPurpose,
    ) -> Response {
        match self.prepare(history, body, purpose).await {
            Ok(PreparedRequest { buffered, turn, insert }) => {
                let BufferedRequest { room, packed, stream, .. } = buffered;
                let is_answered = purpose == RequestPurpose::Answer;
                let request = self;
                UpstreamCall { request, turn, room, packed, stream, is_answered, insert }.go().await
            }
            Err(RequestDetour::Open(body, cause)) => self.open(body, cause).await,
            Err(RequestDetour::Whole(body, packed)) => self.pass_whole(body, packed).await,
            Err(RequestDetour::Answer(response)) => *response,
        }
    }

    /// The steps of a request until it is sent.
    async fn prepare(
        &mut self,
        history: HistoryRequest,
        body: Body,
        purpose: RequestPurpose,
    ) -> Result<PreparedRequest, RequestDetour> {
        let (mut buffered, request, working) = self.read_body(history, body, purpose).await?;
        let model = request.model.clone().or_else(|| buffered.who.model.clone());
        self.choose_upstream(&mut buffered, model.as_deref())?;
        self.ask_window(&request, &mut buffered.who, model.as_deref()).await;
        let VendorRequest { request, work, is_replay, strips_betas } =
            self.take_compaction(request, &buffered).await?;
        if purpose == RequestPurpose::Compact && work.is_none() {
            return Err(RequestDetour::Whole(request.body().clone(), buffered.packed));
        }
        let mut turn =
            self.match_and_fold(request, is_replay, work.as_ref(), &buffered, working).await?;
        let outcome = self.carry_out(&mut turn, work, &buffered).await?;
        self.note_size(&turn, &mut buffered)?;
        let insert = self.insert_of(outcome, &turn).await?;
        self.refuse_unfolded(&turn)?;
        if strips_betas {
            vendor::strip_betas(&mut self.parts.headers);
        }
        Ok(PreparedRequest { buffered, turn, insert })
    }

    /// Reads the body, and the messages in it. The room in memory that the messages take is held apart, until it is
    /// known what is sent.
    async fn read_body(
        &self,
        history: HistoryRequest,
        body: Body,
        purpose: RequestPurpose,
    ) -> Result<(BufferedRequest, wire::Request, BodyRoom), RequestDetour> {
        let packing = BodyPacking::of(&self.parts.headers);
        if packing == BodyPacking::Other {
            return Err(RequestDetour::Open(body, PassCause::Encoded));
        }
        let (body, mut room) = match self.app.rooms.read(body, content_length(&self.parts)).await {
            BodyRead::Whole(body, room) => (body, room),
            BodyRead::Large(body) => return Err(RequestDetour::Open(body, PassCause::TooLarge)),
            BodyRead::Broken => return Err(RequestDetour::answer(self.broken())),
        };
        let start = Instant::now();
        let longest = KeyHolder::longest_body(&self.parts);
        let read = packing.unpack(&body, &self.app.rooms, &mut room, longest).and_then(|plain| {
            let read = reading::read(&self.app, &self.parts, &history, &plain, purpose)?;
            Ok((plain, read))
        });
        let (plain, (request, working)) = read.map_err(|reason| match reason {
            // The packed body, not `plain`: the headers still name its compression.
            UnreadReason::Open(cause) => RequestDetour::Open(Body::from(body.clone()), cause),
            UnreadReason::Ended(ended) => RequestDetour::answer(ended.response()),
        })?;
        let packed = (packing != BodyPacking::None).then(|| PackedBody::new(&body, plain.clone()));
        // Gemini and Vertex ask for a stream in the path, all others in the body.
        let stream = history.stream || request.stream;
        let who = headers::who(&self.parts.headers, KeyHolder::name(&self.parts), history.model);
        let buffered = BufferedRequest { body, plain, packed, room, stream, purpose, who, start };
        Ok((buffered, request, working))
    }

    /// Chooses the upstream, which may depend on the model, and gives the request the server's key for it.
    fn choose_upstream(
        &mut self,
        buffered: &mut BufferedRequest,
        model: Option<&str>,
    ) -> Result<(), RequestDetour> {
        match self.aim.goal(&self.app, model) {
            Ok(goal) => self.goal = goal,
            Err(error) => return Err(RequestDetour::answer(no_answer(&self.app, &error))),
        }
        // Only now is the upstream certain. `give_key` takes its mark away, so the call in `pass` adds nothing.
        if let Err(no) = self.aim.give_key(&self.app, &self.goal, &mut self.parts) {
            return Err(RequestDetour::answer(no_key(&self.app, no)));
        }
        buffered.who.upstream = self.goal.target.identity();
        buffered.who.is_local = self.goal.target.is_local();
        self.labels = Arc::new(RequestLabels {
            model: self.app.model_names.label(model.unwrap_or_default()),
            upstream: self.goal.target.name.clone(),
            key: self.labels.key.clone(),
        });
        note_model(&self.labels);
        let to = (&self.goal.target, &self.goal.address);
        self.trace.add_request((self.aim.provider, buffered.purpose), to, model);
        Ok(())
    }

    /// Asks the upstream for the model's window, if nothing nearer says it. It is asked with the headers of this request,
    /// so its key has to be among them already.
    async fn ask_window(
        &self,
        request: &wire::Request,
        who: &mut RequestSender,
        model: Option<&str>,
    ) {
        let is_usual = self.goal.target.is_usual;
        if self.app.proxy.wants_window(model, request.window, who, is_usual) {
            let (app, target, request) = (&self.app, &self.goal.target, &self.parts);
            let window = app.windows.window_of(&app.upstream, target, model, request, app.now());
            who.window = window.await;
        }
    }

    /// Takes the vendor's fields for a compaction out of the request.
    async fn take_compaction(
        &self,
        request: wire::Request,
        buffered: &BufferedRequest,
    ) -> Result<VendorRequest, RequestDetour> {
        let BufferedRequest { who, purpose, .. } = buffered;
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_history(&request, who).await;
        }
        match caught(|| self.app.proxy.vendor_request(request, who, *purpose)) {
            Some(Ok(vendor_request)) => Ok(vendor_request),
            Some(Err(refusal)) => Err(RequestDetour::answer(vendor::refused(refusal))),
            None => Err(buffered.open(PassCause::Panic)),
        }
    }

    /// Matches the request to its conversation, and decides what is sent.
    async fn match_and_fold(
        &self,
        request: wire::Request,
        is_replay: bool,
        work: Option<&VendorWork>,
        buffered: &BufferedRequest,
        mut working: BodyRoom,
    ) -> Result<MatchedRequest, RequestDetour> {
        let keep = work.and_then(|work| work.standing().map(str::to_owned));
        // A compaction block belongs into one answer, so midfold's tools, which may join several answers, are left out.
        let is_plain = work.is_none_or(VendorWork::only_reports);
        let recalls = is_plain && can_be_joined(&request, buffered.stream, &self.parts.uri);
        let (proxy, now) = (Arc::clone(&self.app.proxy), self.app.now());
        let request_size = request.body().len() + request.memory();
        let panicked = || buffered.open(PassCause::Panic);
        let begun = caught(|| proxy.begin_wish(request, is_replay, keep, &buffered.who));
        let begun = begun.ok_or_else(panicked)?;
        let offer = KeyHolder::offer(&self.parts, proxy.offer());
        let begun = if recalls { proxy.recalling(begun, offer) } else { begun };
        // A history that was left to the provider was added, and takes memory as well.
        let more = begun.memory().saturating_sub(request_size);
        if !self.app.rooms.take(&mut working, more) || proxy.is_full_for(&begun) {
            return Err(buffered.open(PassCause::TooLarge));
        }
        if let Some(keeper) = &self.app.keeper {
            keeper.bring_back(&begun).await;
        }
        let since = SystemTime::now();
        let turn = compute(|| proxy.finish(begun, now)).ok_or_else(panicked)?;
        self.trace.add_fold(turn.sent(), since);
        self.wait_until_written(&turn).await;
        Ok(turn)
    }

    /// Carries out the compaction that the request asks for, with the narration that is there by then.
    async fn carry_out(
        &self,
        turn: &mut MatchedRequest,
        work: Option<VendorWork>,
        buffered: &BufferedRequest,
    ) -> Result<VendorOutcome, RequestDetour> {
        let Some(work) = work else { return Ok(VendorOutcome::Ask(None)) };
        if let Some(narrator) = &self.app.narrator {
            let verdicts = narrator.before(turn, &work).await;
            verdicts
                .into_iter()
                .for_each(|is_accepted| self.app.metrics.count_narration(is_accepted));
        }
        let now = self.app.now();
        let outcome = compute(|| turn.work(work, buffered.stream, now));
        outcome.ok_or_else(|| buffered.open(PassCause::Panic))
    }

    /// Takes room for what is sent, whose size is known only after the fold, and counts and logs it.
    fn note_size(
        &self,
        turn: &MatchedRequest,
        buffered: &mut BufferedRequest,
    ) -> Result<(), RequestDetour> {
        let app = &self.app;
        if !app.rooms.take(&mut buffered.room, beside(turn, &buffered.plain)) {
            return Err(buffered.open(PassCause::TooLarge));
        }
        app.keep();
        app.metrics.count_sent(turn.sent(), buffered.start.elapsed());
        turn.sent().session.iter().for_each(|id| app.sessions.count(id));
        log_fold(turn.sent());
        log_cut(turn);
        let upstream = &self.goal.target.name;
        app.note_window(turn, upstream);
        if turn.sent().is_window_unknown() && app.windows.is_first_unknown(upstream, turn.model()) {
            log_unknown_window(turn, upstream);
        }
        Ok(())
    }

    /// The part that is inserted into the upstream's answer; or midfold's own answer, where no upstream is asked.
    async fn insert_of(
        &self,
        outcome: VendorOutcome,
        turn: &MatchedRequest,
    ) -> Result<Option<AnswerInsert>, RequestDetour> {
        match outcome {
            VendorOutcome::Ask(insert) => Ok(insert),
            VendorOutcome::Refused(refusal) => Err(RequestDetour::answer(vendor::refused(refusal))),
            VendorOutcome::Answer(answer) => {
                // No provider sees this request, so midfold's own answer counts as the acceptance.
                turn.accept();
                self.wait_until_written(turn).await;
                Err(RequestDetour::answer(vendor::answered(answer, turn.sent())))
            }
        }
    }

    /// Counts a request that should have been folded and could not; with `--strict` it is refused.
    fn refuse_unfolded(&self, turn: &MatchedRequest) -> Result<(), RequestDetour> {
        let Some(fault) = turn.sent().fault else { return Ok(()) };
        let cause = cause(fault);
        self.app.metrics.count_passed_unread(cause);
        log_unfolded(self.parts.uri.path(), turn.sent().session.as_deref(), cause);
        if self.app.is_strict { Err(RequestDetour::answer(not_folded(cause))) } else { Ok(()) }
    }
}

/// Whether several answers to a request can be joined into one. Gemini's streams cannot if they are JSON arrays instead
/// of events, and Bedrock's are binary.
fn can_be_joined(request: &wire::Request, stream: bool, uri: &Uri) -> bool {
    let is_event =
        || uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
    let is_binary = uri.path().ends_with("/invoke-with-response-stream");
    !is_binary && (request.kind() != DialectKind::Gemini || !stream || is_event())
}

fn cause(fault: RequestFault) -> PassCause {
    match fault {
        RequestFault::Floor => PassCause::Floor,
        RequestFault::Fixed => PassCause::Fixed,
        _ => PassCause::Named,
    }
}
