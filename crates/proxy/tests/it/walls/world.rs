//! Some conversations, a proxy with a store, and what happens to them.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::audit::audit;
use midfold::core::event::Usage;
use midfold::formats::answer::AnswerFacts;
use midfold::formats::request::Request;
use midfold::store::{MemoryStore, Store, StoredSession};
use midfold::{DialectKind, Policy, Setup, tokens};
use midfold_proxy::{MatchedRequest, Proxy, ProxyRules, RequestSender};
use midfold_testkit::Rng;
use serde_json::{Value, json};

use super::talk::{Call, Talk, reply, result, user, without_hidden};
use crate::simulation::now;

/// The id of each hidden call, in all conversations.
const HIDDEN_ID: &str = "h0";
const COMMANDS: [&str; 3] = [r#"{"command":"ls"}"#, r#"{"command":"cat a"}"#, r#"{"command":""}"#];

/// What happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub exchanges: u32,
    /// How often an exchange was in a later request.
    pub seen: u32,
    pub recalled: u32,
    pub folds: u32,
    pub dropped: u32,
    pub edited: u32,
    pub crashes: u32,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.exchanges += other.exchanges;
        self.seen += other.seen;
        self.recalled += other.recalled;
        self.folds += other.folds;
        self.dropped += other.dropped;
        self.edited += other.edited;
        self.crashes += other.crashes;
    }
}

/// An exchange, named by a word that nothing else has.
struct Secret {
    word: String,
    owner: u64,
    /// What its client had when it took place, and the reply that it got.
    asked: Vec<String>,
    got: Vec<String>,
    is_taken: bool,
}

pub struct World {
    kind: DialectKind,
    window: u64,
    rng: Rng,
    time: u64,
    store: Arc<dyn Store>,
    proxy: Arc<Proxy>,
    talks: Vec<Talk>,
    secrets: Vec<Secret>,
    names: u64,
    /// No process dies in it. So it is also known of two histories with the same contents which of them has an exchange.
    is_calm: bool,
    pub counts: Counts,
}

/// An answer of the model.
struct Answer {
    text: &'static str,
    calls: Vec<Call>,
}

impl World {
    pub fn new(kind: DialectKind, window: u64, seed: u64) -> Self {
        let mut world = Self {
            kind,
            window,
            rng: Rng::new(seed),
            time: 1_000_000,
            store: Arc::new(MemoryStore::new()),
            proxy: proxy(window),
            talks: Vec::new(),
            secrets: Vec::new(),
            names: 0,
            is_calm: seed.is_multiple_of(2),
            counts: Counts::default(),
        };
        (0..5).for_each(|_| world.enter());
        world
    }

    fn is_folding(&self) -> bool {
        self.window < 100_000
    }

    /// A conversation begins, as others did.
    fn enter(&mut self) {
        self.names += 1;
        let who = RequestSender {
            scope: (*self.rng.pick(&["ann", "ann", "bob"])).to_owned(),
            hint: self.rng.chance(20).then(|| format!("session {}", self.names)),
            ..RequestSender::default()
        };
        let talk = Talk {
            name: self.names,
            lineage: vec![self.names],
            kind: self.kind,
            who,
            system: (*self.rng.pick(&["ALPHA", "ALPHA", "BETA"])).to_owned(),
            messages: vec![user(self.kind, "Mend the retry.")],
        };
        if self.talks.len() < 6 {
            self.talks.push(talk);
        } else {
            let place = self.rng.below(6);
            self.talks[place] = talk;
        }
    }

    pub fn step(&mut self) {
        self.time += 1_000;
        let at = self.rng.below(self.talks.len());
        match self.rng.below(100) {
            0..84 => self.request(at),
            84..88 => self.edit(at),
            88..91 => self.fork(at),
            91..95 => self.save(),
            95 | 96 if !self.is_calm => {
                self.counts.crashes += 1;
                self.proxy = proxy(self.window);
            }
            _ => self.enter(),
        }
    }

    /// A message that is not the model's is changed, and what followed stays.
    fn edit(&mut self, at: usize) {
        let (time, talk) = (self.time, &mut self.talks[at]);
        let says = |at: &usize| talk.messages[*at].contains("Next");
        let own: Vec<usize> = (0..talk.messages.len()).filter(says).collect();
        if !own.is_empty() {
            let place = *self.rng.pick(&own);
            self.counts.edited += 1;
            talk.messages[place] = user(self.kind, &format!("Next, and changed at {time}."));
        }
    }

    /// A client goes on from an earlier place in two ways.
    fn fork(&mut self, at: usize) {
        self.names += 1;
        let mut fork = self.talks[at].clone();
        fork.name = self.names;
        fork.lineage.push(self.names);
        let is_users = |message: &&String| message.contains(r#""role":"user""#);
        let back = 1 + self.rng.below(fork.messages.len());
        let end = back + fork.messages[back..].iter().take_while(|it| !is_users(it)).count();
        fork.messages.truncate(end + 1);
        if fork.messages.last().is_some_and(|last| is_users(&last)) {
            let place = self.rng.below(self.talks.len());
            self.talks[place] = fork;
        }
    }

    fn save(&mut self) {
        while now(self.proxy.save(&*self.store, self.time))
            .unwrap_or_else(|it| unreachable!("{it}"))
        {}
    }

    fn request(&mut self, at: usize) {
        let (talk, time) = (self.talks[at].clone(), self.time);
        let begun = self.proxy.begin(talk.request(time), &talk.who);
        assert!(now(self.proxy.bring_back(&begun, &self.store, time)).is_ok());
        let begun = self.proxy.recalling(begun, self.proxy.offer());
        let mut turn = self.proxy.finish(begun, time);
        self.counts.folds += u32::from(turn.sent().is_new_fold);
        self.check(&talk, &turn);
        turn.accept();
        let first = self.secrets.len();
        let (answer, facts) = self.answered(&talk, &mut turn);
        turn.into_pending().take_facts(&facts, time);
        let got = self.kept(&answer);
        let is_taken = self.rng.chance(80);
        for secret in &mut self.secrets[first..] {
            secret.got.clone_from(&got);
            secret.is_taken = is_taken;
        }
        if !is_taken {
            self.counts.dropped += 1;
            return;
        }
        let next = self.results(&talk, &answer);
        self.talks[at].messages.extend(got.into_iter().chain(next));
    }

    /// The model answers, some rounds later.
    fn answered(&mut self, talk: &Talk, turn: &mut MatchedRequest) -> (Answer, AnswerFacts) {
        let offers = turn.recalls();
        for _ in 0..if offers { self.rng.below(3) } else { 0 } {
            let calls = vec![self.hidden_call(talk)];
            let mut facts = self.facts("", &calls);
            let heard = turn.hear(&mut facts, self.time);
            self.counts.recalled += u32::try_from(heard.calls).unwrap_or(0);
            assert!(heard.asks_again, "{heard:?}");
        }
        let text = *self.rng.pick(&["Done.", "Done.", ""]);
        let mut calls = Vec::new();
        if text.is_empty() || self.rng.chance(40) {
            let id = ["call_0".to_owned(), format!("functions.bash:{}", talk.messages.len())];
            let (id, arguments) =
                (self.rng.pick(&id).clone(), self.rng.pick(&COMMANDS).to_string());
            calls.push(Call { name: "bash".to_owned(), arguments, id });
            if offers && self.rng.chance(40) {
                let place = self.rng.below(2);
                calls.insert(place, self.hidden_call(talk));
            }
        }
        let mut facts = self.facts(text, &calls);
        assert!(!turn.hear(&mut facts, self.time).asks_again);
        (Answer { text, calls }, facts)
    }

    fn facts(&self, text: &str, calls: &[Call]) -> AnswerFacts {
        let output = reply(self.kind, text, calls).into_iter().map(Bytes::from).collect();
        let usage = Some(Usage { prompt: 100, output: 10, ..Usage::default() });
        AnswerFacts { is_complete: true, output, usage, ..AnswerFacts::default() }
    }

    /// A call of one of midfold's tools, with a word of its own.
    fn hidden_call(&mut self, talk: &Talk) -> Call {
        self.counts.exchanges += 1;
        let word = format!("secret-{}-{}.", talk.name, self.secrets.len());
        let (name, key) = *self.rng.pick(&[
            ("midfold_note", "text"),
            ("midfold_recall", "query"),
            ("midfold_compact", "keep"),
        ]);
        let arguments = json!({key: format!("retry {word}")}).to_string();
        let (asked, owner) = (talk.messages.clone(), talk.name);
        self.secrets.push(Secret { word, owner, asked, got: Vec::new(), is_taken: false });
        Call { name: name.to_owned(), arguments, id: HIDDEN_ID.to_owned() }
    }

    /// What the client keeps of an answer: nothing hidden, and with white space of its own in arguments.
    fn kept(&mut self, answer: &Answer) -> Vec<String> {
        let own = answer.calls.iter().filter(|call| !call.is_hidden()).cloned();
        let mut own: Vec<Call> = own.collect();
        for call in &mut own {
            if self.rng.chance(30) {
                call.arguments = call.arguments.replace(':', " : ");
            }
        }
        reply(self.kind, answer.text, &own)
    }

    fn results(&mut self, talk: &Talk, answer: &Answer) -> Vec<String> {
        let own = answer.calls.iter().filter(|call| !call.is_hidden());
        // Where nothing is folded, conversations may have the same results, too.
        let text = match self.is_folding() {
            true => format!("retry of {} at {}: ", talk.name, self.time).repeat(40),
            false => (*self.rng.pick(&["ok", "one file", "no such file"])).to_owned(),
        };
        let results: Vec<String> = own.map(|call| result(self.kind, call, &text)).collect();
        if results.is_empty() { vec![user(self.kind, &format!("Next: {text}"))] } else { results }
    }

    /// What was sent is what the client has, and exchanges that took place behind this very history.
    fn check(&mut self, talk: &Talk, turn: &MatchedRequest) {
        let sent = String::from_utf8_lossy(&turn.sent().body);
        let plain = |all: &[String]| -> Vec<String> {
            all.iter().map(|message| message.replace(" : ", ":")).collect()
        };
        for secret in self.secrets.iter().filter(|secret| sent.contains(&secret.word)) {
            let is_behind = plain(&talk.messages).starts_with(&plain(&secret.asked));
            let is_here = plain(&talk.messages[secret.asked.len().min(talk.messages.len())..])
                .starts_with(&plain(&secret.got));
            let is_own = talk.lineage.contains(&secret.owner) && secret.is_taken;
            // A recap also says what was wished for in an answer that its client dropped.
            assert!(
                is_behind && (self.is_folding() || is_here && (is_own || !self.is_calm)),
                "{} of {} is in conversation {:?}, {} {is_here} {:#?}\n{:#?}\n{sent}",
                secret.word,
                secret.owner,
                talk.lineage,
                secret.is_taken,
                secret.got,
                talk.messages
            );
            self.counts.seen += 1;
        }
        if !self.is_folding() {
            self.check_own(talk, turn);
        }
    }

    /// The client's own messages leave as they came.
    fn check_own(&self, talk: &Talk, turn: &MatchedRequest) {
        let read = |body: &Bytes| -> Vec<Value> {
            let request = Request::read(self.kind, body.clone());
            let request = request.unwrap_or_else(|error| unreachable!("{error}"));
            let value = |it: Bytes| serde_json::from_slice(&it).unwrap_or(Value::Null);
            request.messages().map(value).collect()
        };
        let client = talk.request(self.time);
        let (own, sent) = (client.body(), &turn.sent().body);
        let found = without_hidden(self.kind, &read(sent), &[HIDDEN_ID.to_owned()]);
        let wanted = without_hidden(self.kind, &read(own), &[]);
        assert_eq!(found, wanted, "{}", String::from_utf8_lossy(sent));
        let quoted = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
        for command in COMMANDS {
            let spaced = command.replace(':', " : ");
            for spelled in [command.to_owned(), spaced.clone(), quoted(command), quoted(&spaced)] {
                let count = |body: &Bytes| String::from_utf8_lossy(body).matches(&spelled).count();
                assert_eq!(count(sent), count(own), "{spelled}\n{}", String::from_utf8_lossy(sent));
            }
        }
    }

    /// All that was stored is true.
    pub fn end(&mut self) {
        self.save();
        let rows = now(self.store.sessions(None, 10_000)).unwrap_or_default();
        assert!(!rows.is_empty());
        for row in rows {
            let opened = now(StoredSession::open(Arc::clone(&self.store), &row.new.id));
            let mut stored = opened.unwrap_or_else(|error| unreachable!("{error}"));
            let calls = now(stored.calls()).unwrap_or_else(|error| unreachable!("{error}"));
            let calls: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
            assert!(calls.iter().all(|call| call.client.is_some()), "{}", row.new.id);
            let whole = now(stored.whole()).unwrap_or_else(|error| unreachable!("{error}"));
            let active = whole.active().map(|fold| fold.id);
            let audit = audit(whole.log(), whole.folds(), active, &calls);
            assert!(audit.is_clean(), "{}: {:#?}", row.new.id, audit.findings);
        }
    }
}

fn proxy(window: u64) -> Arc<Proxy> {
    let counter = tokens::by_name("chars:4").unwrap_or_else(|error| unreachable!("{error}"));
    let setup = Setup::new().counter(counter).window(window);
    let policy = Policy::preset("default").unwrap_or_else(|error| unreachable!("{error}"));
    let rules = ProxyRules::new(policy).setup(setup).recall(true).agent_tools(true).stored();
    Arc::new(Proxy::new(rules))
}
