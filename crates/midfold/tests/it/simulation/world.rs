//! The world: what happens in it, and what is true of it always.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use midfold::core::audit::audit;
use midfold::core::{Hash, Role};
use midfold::formats::answer::{Framing, Seen, Tee};
use midfold::formats::request::Request;
use midfold::proxy::{Awaited, Sent};
use midfold::store::fsck::fsck;
use midfold::store::{MemoryStore, Store, Stored, StoredError};
use midfold_testkit::Rng;
use midfold_testkit::upstream::{Provider, Script, Settings, Strictness};

use super::client::Client;
use super::node::{Node, Setting, now};

/// Lines of the trace that a failure shows.
const SHOWN: usize = 40;
/// How often a client may be refused in a row: by a provider whose window nobody knew, and once more.
const PATIENCE: u32 = 3;

/// What happened how often.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub steps: u64,
    pub requests: u64,
    pub folds: u64,
    pub refused: u64,
    pub again: u64,
    pub crashes: u64,
    pub between: u64,
    pub failed_writes: u64,
    pub late: u64,
    pub lost: u64,
    pub others: u64,
    pub voided: u64,
    pub sessions: u64,
    pub clients: u64,
    pub branches: u64,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        let pairs = [
            (&mut self.steps, other.steps),
            (&mut self.requests, other.requests),
            (&mut self.folds, other.folds),
            (&mut self.refused, other.refused),
            (&mut self.again, other.again),
            (&mut self.crashes, other.crashes),
            (&mut self.between, other.between),
            (&mut self.failed_writes, other.failed_writes),
            (&mut self.late, other.late),
            (&mut self.lost, other.lost),
            (&mut self.others, other.others),
            (&mut self.voided, other.voided),
            (&mut self.sessions, other.sessions),
            (&mut self.clients, other.clients),
            (&mut self.branches, other.branches),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
    }
}

/// An answer on its way.
struct Flight {
    number: u64,
    client: u64,
    node: usize,
    life: u64,
    awaited: Awaited,
    seen: Seen,
    text: String,
}

/// The world.
pub struct World {
    seed: u64,
    rng: Rng,
    time: u64,
    store: Arc<dyn Store>,
    nodes: [Node; 2],
    provider: Provider,
    /// It wants users and models to take turns.
    is_strict: bool,
    clients: Vec<Client>,
    flights: Vec<Flight>,
    tally: Tally,
    trace: Hash,
    lines: VecDeque<String>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let is_strict = rng.chance(50);
        let limit = *rng.pick(&[6_000, 9_000, 14_000]);
        let settings = Settings {
            limit: Some(limit),
            script: Script::shell_loop(400),
            strict: if is_strict { Strictness::Templates } else { Strictness::Provider },
            bind_thinking: true,
            ..Settings::default()
        };
        let setting = Setting {
            preset: *rng.pick(&["default", "default", "default", "lean", "hermes", "head-tail"]),
            // Half of them have to learn it.
            window: if rng.chance(50) { limit } else { 4 * limit },
            memory: if rng.chance(25) { 400 << 10 } else { 64 << 20 },
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let nodes = [0, 1].map(|_| Node::new(setting.clone(), Arc::clone(&store)));
        let mut world = Self {
            seed,
            rng,
            time: 1_000_000,
            store,
            nodes,
            provider: Provider::new(settings),
            is_strict,
            clients: Vec::new(),
            flights: Vec::new(),
            tally: Tally::default(),
            trace: Hash::ROOT,
            lines: VecDeque::new(),
        };
        world.note(&format!("limit {limit}, window {}, {}", setting.window, setting.preset));
        (0..4).for_each(|_| world.enter());
        world
    }

    pub fn tally(&self) -> Tally {
        let sessions = now(self.store.sessions(None, 10_000)).map_or(0, |rows| rows.len());
        Tally { sessions: sessions as u64, ..self.tally }
    }

    pub fn trace(&self) -> Hash {
        self.trace
    }

    /// One thing happens.
    pub fn step(&mut self) {
        self.tally.steps += 1;
        self.time += 200 + self.rng.bits() % 20_000;
        match self.rng.below(100) {
            0..70 => self.request(),
            70..78 => self.land(),
            78..84 => self.save(),
            84..87 => self.other(),
            87..89 => self.branch(),
            89..91 => self.rewind(),
            91..93 => self.edit(),
            93..95 => self.say(),
            95 => self.restart(),
            96 => self.crash(),
            97 => self.jump(),
            98 => self.give_up(),
            _ => self.enter(),
        }
        if self.tally.steps % 100 == 0 {
            self.check_all();
        }
    }

    /// All that is on its way arrives, all is written, and everything is checked.
    pub fn end(&mut self) {
        while !self.flights.is_empty() {
            self.land();
        }
        self.time += 60_000;
        for node in &mut self.nodes {
            node.away = 0;
            assert!(node.write(None, None, &mut self.rng, self.time));
        }
        self.check_all();
    }

    fn note(&mut self, line: &str) {
        self.trace = self.trace.chain(line.as_bytes());
        self.lines.push_back(line.to_owned());
        if self.lines.len() > SHOWN {
            self.lines.pop_front();
        }
    }

    /// What is to be said where something is not as it has to be.
    fn story(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(String::as_str).collect();
        format!("seed {}, step {}\n{}", self.seed, self.tally.steps, lines.join("\n"))
    }

    fn enter(&mut self) {
        self.tally.clients += 1;
        let client = Client::new(self.tally.clients, self.is_strict, &mut self.rng);
        self.note(&format!("client {} enters: {} {:?}", client.name, client.kind, client.who));
        if self.clients.len() < 6 {
            self.clients.push(client);
        } else {
            let place = self.rng.below(self.clients.len());
            self.clients[place] = client;
        }
    }

    fn any(&mut self) -> usize {
        self.rng.below(self.clients.len())
    }

    /// A client asks one of the nodes, if it waits for nothing.
    fn request(&mut self) {
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
    fn forward(&mut self, at: usize, node: usize) {
        self.tally.requests += 1;
        self.clients[at].asks();
        let client = &mut self.clients[at];
        let letter = client.session.request();
        let (kind, who, name) = (client.kind, client.who.clone(), client.name);
        let body = Bytes::from(letter.body.clone());
        let request = Request::read(kind, body.clone()).unwrap_or_else(|e| unreachable!("{e}"));
        let (time, place) = (self.time, &mut self.nodes[node]);
        let begun = place.proxy.begin(request, &who);
        if self.rng.chance(97) {
            place.bring_back(&begun, time);
        }
        let mut turn = place.proxy.finish(begun, time);
        if turn.sent().is_new_fold {
            self.tally.folds += 1;
        }
        if self.rng.chance(1) {
            place.crash();
            self.tally.crashes += 1;
            return self.note(&format!("{name}@{node}: dies before anything is written"));
        }
        if !turn.is_written() {
            let failing = self.rng.chance(8).then(|| self.rng.bits() % 5);
            let is_written = place.write(Some(&turn), failing, &mut self.rng, time);
            self.tally.failed_writes += u64::from(!is_written);
            if self.rng.chance(if is_written { 3 } else { 30 }) {
                place.crash();
                (self.tally.crashes, self.tally.between) =
                    (self.tally.crashes + 1, self.tally.between + 1);
                return self.note(&format!("{name}@{node}: dies before what it wrote is used"));
            }
        }
        let (mut status, mut text) =
            self.provider.answer(&letter.target, &letter.headers, &turn.sent().body);
        if status != 200 {
            let found = turn.diagnose(Some(status), text.as_bytes());
            let is_again = turn.refused(found, time).is_some();
            self.tally.again += u64::from(is_again);
            self.tally.voided +=
                u64::from(found == midfold::formats::overflow::Diagnosis::BoundReasoning);
            self.note(&format!("{name}@{node}: {status} {found:?}, again: {is_again}"));
            if is_again {
                let again =
                    self.provider.answer(&letter.target, &letter.headers, &turn.sent().body);
                (status, text) = again;
            }
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
            let failing = self.rng.chance(4).then(|| self.rng.bits() % 5);
            self.nodes[node].write(Some(&turn), failing, &mut self.rng, time);
        }
        let mut tee = Tee::new(kind, Framing::Json);
        tee.push(text.as_bytes());
        let number = self.tally.requests;
        let (client, life) = (&mut self.clients[at], self.nodes[node].life);
        client.waits = Some(number);
        client.refused = 0;
        let (awaited, seen) = (turn.taken(), tee.finish());
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

    /// What was sent is made of what the client has, and of nothing that is another key's.
    fn check_sent(&mut self, at: usize, raw: &Bytes, sent: &Sent) {
        let client = &self.clients[at];
        let other = if client.who.scope == "ann" { "[of bob]" } else { "[of ann]" };
        let text = String::from_utf8_lossy(&sent.body);
        assert!(!text.contains(other), "another key's words\n{}", self.story());
        let read = |body: &Bytes| -> Vec<Bytes> {
            let request = Request::read(client.kind, body.clone());
            let request = request.unwrap_or_else(|error| unreachable!("{error}\n{}", self.story()));
            request.messages().collect()
        };
        let (raw, messages) = (read(raw), read(&sent.body));
        let is_model =
            |message: &Bytes| client.kind.dialect().view(message).role == Role::Assistant;
        let suffix = raw.iter().rev().take_while(|message| !is_model(message)).count();
        if !client.thinks {
            let ends = |messages: &[Bytes]| messages[messages.len() - suffix..].to_vec();
            assert_eq!(ends(&raw), ends(&messages), "the newest messages\n{}", self.story());
        }
        let history = messages[..messages.len() - suffix].to_vec();
        if let Some((fold, before)) = client.sent.as_ref().filter(|_| !client.thinks)
            && *fold == sent.fold
        {
            let plain = |messages: &[Bytes]| -> Vec<Bytes> {
                messages.iter().map(midfold::formats::request::without_marks).collect()
            };
            assert!(
                plain(&history).starts_with(&plain(before)),
                "client {}: what was sent before is not the start of it\n{}",
                client.name,
                self.story()
            );
        }
        self.clients[at].sent = Some((sent.fold, history));
    }

    /// An answer arrives, late or in another order than it was asked for.
    fn land(&mut self) {
        if !self.flights.is_empty() {
            let at = self.rng.below(self.flights.len());
            self.arrive(at);
        }
    }

    fn arrive(&mut self, at: usize) {
        let Flight { number, client, node, life, awaited, seen, text } = self.flights.remove(at);
        let is_lost = self.rng.chance(4);
        let lives = self.nodes[node].life == life;
        let time = self.time;
        if lives {
            // What breaks off has told nothing.
            let seen = if is_lost && self.rng.chance(50) { Seen::default() } else { seen };
            awaited.answered(&seen, time);
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

    /// A node writes what waits.
    fn save(&mut self) {
        let node = self.rng.below(2);
        let failing = self.rng.chance(20).then(|| self.rng.bits() % 9);
        let is_done = self.nodes[node].write(None, failing, &mut self.rng, self.time);
        self.tally.failed_writes += u64::from(!is_done);
        self.note(&format!("node {node} writes: {is_done}"));
        if !is_done && self.rng.chance(40) {
            self.nodes[node].crash();
            self.tally.crashes += 1;
            self.note(&format!("node {node} dies of it"));
        }
    }

    /// Another process works on a session: a person at the command line, or through the API.
    fn other(&mut self) {
        let rows = now(self.store.sessions(None, 10_000)).unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        self.tally.others += 1;
        let id = self.rng.pick(&rows).new.id.clone();
        let mut stored = self.opened(&id);
        let deed = self.rng.below(5);
        let seq = self.rng.bits() % stored.row().head.max(1);
        let done = match deed {
            0 => now(stored.compact(None, self.time)).map(|_| ()),
            1 => now(stored.undo(None)),
            2 => now(stored.pin(seq, self.rng.chance(50))),
            3 => now(stored.context(true, self.time)).map(|_| ()),
            _ => {
                let fork = format!("fork-{}", self.tally.others);
                now(stored.fork(&fork, Some(seq), self.time)).map(|_| ())
            }
        };
        self.note(&format!("another process: {id}, {deed}, {seq}: {done:?}"));
        let allowed = matches!(done, Ok(()) | Err(StoredError::Plan(_) | StoredError::Undo(_)));
        assert!(allowed, "{done:?}\n{}", self.story());
        self.check_session(&id);
    }

    /// A client is copied, and both go on.
    fn branch(&mut self) {
        let at = self.any();
        self.tally.clients += 1;
        self.tally.branches += 1;
        let name = self.tally.clients;
        let mut branch = self.clients[at].clone();
        branch.name = name;
        branch.waits = None;
        branch.rewind(&mut self.rng);
        if !self.is_strict {
            branch.say(name);
        }
        self.note(&format!("client {} branches: {name}", self.clients[at].name));
        let place = self.any();
        if self.clients.len() < 6 {
            self.clients.push(branch);
        } else {
            self.clients[place] = branch;
        }
    }

    fn rewind(&mut self) {
        let at = self.any();
        self.clients[at].rewind(&mut self.rng);
        self.note(&format!("client {} goes back", self.clients[at].name));
    }

    fn edit(&mut self) {
        let (at, number) = (self.any(), self.tally.steps);
        self.clients[at].edit(&mut self.rng, number);
        self.note(&format!("client {} changes a message", self.clients[at].name));
    }

    fn say(&mut self) {
        let (at, number) = (self.any(), self.tally.steps);
        if self.clients[at].waits.is_none() && !self.is_strict {
            self.clients[at].say(number);
            self.note(&format!("client {} says more", self.clients[at].name));
        }
    }

    /// A client waits no longer, and asks again.
    fn give_up(&mut self) {
        let at = self.any();
        self.clients[at].waits = None;
        self.note(&format!("client {} gives up", self.clients[at].name));
    }

    /// A node is stopped in order.
    fn restart(&mut self) {
        let node = self.rng.below(2);
        let is_done = self.nodes[node].write(None, None, &mut self.rng, self.time);
        self.nodes[node].crash();
        self.note(&format!("node {node} is started again: {is_done}"));
    }

    fn crash(&mut self) {
        let node = self.rng.below(2);
        self.nodes[node].crash();
        self.tally.crashes += 1;
        self.note(&format!("node {node} dies"));
    }

    /// The clock is set: forth by days, or back.
    fn jump(&mut self) {
        if self.rng.chance(50) {
            self.time += self.rng.bits() % (30 * 24 * 3_600_000);
        } else {
            self.time = self.time.saturating_sub(self.rng.bits() % 7_200_000);
        }
        self.note(&format!("it is {}", self.time));
    }

    fn opened(&self, id: &str) -> Stored {
        let opened = now(Stored::open(Arc::clone(&self.store), id));
        opened.unwrap_or_else(|error| unreachable!("{error}\n{}", self.story()))
    }

    /// The log, the folds and the calls of a session agree.
    fn check_session(&self, id: &str) {
        let Ok(_) = now(self.store.session(id)) else { return };
        let mut stored = self.opened(id);
        let calls = now(stored.calls()).unwrap_or_else(|error| unreachable!("{error}"));
        let calls: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
        let whole = now(stored.whole()).unwrap_or_else(|error| unreachable!("{error}"));
        let audit = audit(whole.log(), whole.folds(), &calls);
        assert!(audit.is_clean(), "{id}: {:#?}\n{}", audit.findings, self.story());
    }

    fn check_all(&mut self) {
        self.provider.forget();
        let report = now(fsck(&*self.store)).unwrap_or_else(|error| unreachable!("{error}"));
        assert!(report.is_clean(), "{:#?}\n{}", report.findings, self.story());
        self.note(&format!("{} sessions, {} folds", report.sessions, report.folds));
    }
}
