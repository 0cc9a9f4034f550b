//! A request on its way through a node, as the server brings it, and its answer.

use bytes::Bytes;
use midfold::formats::answer::{AnswerFacts, AnswerFraming, AnswerTee};
use midfold::formats::overflow::Diagnosis;
use midfold::formats::request::Request;
use midfold_proxy::PendingAnswer;

use super::world::World;

/// How often a client may be refused in a row: by a provider whose window nobody knew, and once more.
const PATIENCE: u32 = 3;

/// An answer on its way.
pub struct Flight {
    number: u64,
    client: u64,
    node: usize,
    life: u64,
    awaited: PendingAnswer,
    seen: AnswerFacts,
    text: String,
}

impl World {
    /// A client asks one of the nodes, if it waits for nothing.
    pub(super) fn request(&mut self) {
        let at = self.any();
        if self.clients[at].waits.is_some() {
            return self.land();
        }
        if self.clients[at].is_done() {
            self.clients.remove(at);
            return self.enter();
        }
        // Most have one node that they go to.
        let home = usize::try_from(self.clients[at].name % 2).unwrap_or(0);
        let node = if self.rng.chance(85) { home } else { 1 - home };
        self.forward(at, node);
    }

    /// What a node does with a request, as the server does it.
    pub(super) fn forward(&mut self, at: usize, node: usize) {
        self.tally.requests += 1;
        self.clients[at].asks();
        let client = &mut self.clients[at];
        let letter = client.session.request();
        let (kind, who, name) = (client.kind, client.who.clone(), client.name);
        let body = Bytes::from(letter.body.clone());
        let request = Request::read(kind, body.clone()).unwrap_or_else(|e| unreachable!("{e}"));
        let is_overlooked = self.fails(3);
        let (time, place) = (self.time, &self.nodes[node]);
        let begun = place.proxy.begin(request, &who);
        if !is_overlooked {
            place.bring_back(&begun, time);
        }
        let mut turn = place.proxy.finish(begun, time);
        if turn.sent().is_new_fold {
            self.tally.folds += 1;
        }
        if self.fails(1) {
            self.nodes[node].crash();
            self.tally.crashes += 1;
            return self.note(&format!("{name}@{node}: dies before anything is written"));
        }
        if !turn.is_written() {
            let failing = self.fails(8).then(|| self.rng.bits() % 5);
            let is_written = self.nodes[node].write(Some(&turn), failing, &mut self.rng, time);
            self.failed(!is_written);
            if self.fails(if is_written { 3 } else { 30 }) {
                self.nodes[node].crash();
                self.tally.between += 1;
                self.tally.crashes += 1;
                return self.note(&format!("{name}@{node}: dies before what it wrote is used"));
            }
        }
        let (mut status, mut text) =
            self.provider.answer(&letter.target, &letter.headers, &turn.sent().body);
        while status != 200 {
            let found = turn.diagnose(Some(status), text.as_bytes());
            let is_again = turn.answer_refusal(found, time).is_some();
            self.tally.again += u64::from(is_again);
            self.note(&format!("{name}@{node}: {status} {found:?}, again: {is_again}"));
            if found == Diagnosis::BoundReasoning {
                self.tally.voided += 1;
                self.tally.unexpected +=
                    u64::from(self.clients[at].is_known_to_bind && self.is_calm);
            }
            if !is_again {
                break;
            }
            (status, text) =
                self.provider.answer(&letter.target, &letter.headers, &turn.sent().body);
        }
        let sent = turn.sent().clone();
        self.note(&format!(
            "{name}@{node}: {} messages, {status}, {:?} {:?} {} {:?}",
            self.clients[at].session.history.len(),
            sent.session,
            sent.fold.map(|fold| fold.to_hex()[..6].to_owned()),
            sent.tokens_after,
            sent.fault,
        ));
        if status != 200 {
            self.tally.refused += 1;
            let client = &mut self.clients[at];
            client.refused += 1;
            let is_stuck = client.refused >= PATIENCE;
            assert!(!is_stuck, "client {name} is stuck: {text}\n{}", self.story());
            return;
        }
        self.check_sent(at, &body, &sent);
        turn.accept();
        if !turn.is_written() {
            let failing = self.fails(4).then(|| self.rng.bits() % 5);
            let is_written = self.nodes[node].write(Some(&turn), failing, &mut self.rng, time);
            self.failed(!is_written);
        }
        let mut tee = AnswerTee::new(kind, AnswerFraming::Json);
        tee.push(text.as_bytes());
        let number = self.tally.requests;
        let (client, life) = (&mut self.clients[at], self.nodes[node].life);
        client.waits = Some(number);
        client.refused = 0;
        let (awaited, seen) = (turn.into_pending(), tee.finish());
        self.flights.push(Flight { number, client: name, node, life, awaited, seen, text });
        if let Some(session) = &sent.session {
            self.check_session(session);
        }
        if self.rng.chance(80) {
            let last = self.flights.len() - 1;
            self.arrive(last);
        } else {
            self.tally.late += 1;
        }
    }

    /// An answer arrives, late or in another order than it was asked for.
    pub(super) fn land(&mut self) {
        if !self.flights.is_empty() {
            let at = self.rng.below(self.flights.len());
            self.arrive(at);
        }
    }

    pub(super) fn arrive(&mut self, at: usize) {
        let Flight { number, client, node, life, awaited, seen, text } = self.flights.remove(at);
        let is_lost = self.rng.chance(4);
        let lives = self.nodes[node].life == life;
        let time = self.time;
        if lives {
            // What breaks off has told nothing.
            let seen = if is_lost && self.rng.chance(50) { AnswerFacts::default() } else { seen };
            awaited.take_facts(&seen, time);
        }
        let waiting = self.clients.iter_mut().find(|it| it.name == client);
        let Some(waiting) = waiting.filter(|it| it.waits == Some(number)) else { return };
        waiting.waits = None;
        if is_lost || !lives {
            self.tally.lost += 1;
            return self.note(&format!("{client}: answer {number} is lost"));
        }
        if let Err(error) = waiting.session.hear(200, &text) {
            unreachable!("{error}\n{}", self.story());
        }
    }
}
