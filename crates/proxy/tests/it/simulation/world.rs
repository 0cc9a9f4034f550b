//! The world: who is in it, and what happens next.

use std::collections::VecDeque;
use std::sync::Arc;

use midfold::core::Hash;
use midfold::store::run_in_memory as now;
use midfold::store::{MemoryStore, Store};
use midfold_testkit::Rng;
use midfold_testkit::upstream::{ScriptedProvider, Strictness, UpstreamScript, UpstreamSettings};

use super::client::Client;
use super::forward::Flight;
use super::node::{Node, Setting};
use super::tally::Tally;

/// Lines of the trace that a failure shows.
const SHOWN: usize = 40;

/// Half of the worlds have the default.
const PRESETS: [&str; 6] = ["default", "default", "default", "lean", "hermes", "head-tail"];

/// The world.
pub struct World {
    pub(super) seed: u64,
    pub(super) rng: Rng,
    pub(super) time: u64,
    pub(super) store: Arc<dyn Store>,
    pub(super) nodes: [Node; 2],
    pub(super) provider: ScriptedProvider,
    /// It wants users and models to take turns.
    pub(super) is_strict: bool,
    pub(super) clients: Vec<Client>,
    /// No process dies in it and no store fails: then nothing that thinking is bound to is lost, either.
    pub(super) is_calm: bool,
    pub(super) flights: Vec<Flight>,
    pub(super) tally: Tally,
    pub(super) trace: Hash,
    pub(super) lines: VecDeque<String>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (is_strict, is_calm) = (rng.chance(50), seed.is_multiple_of(3));
        let limit = *rng.pick(&[6_000, 9_000, 14_000]);
        let settings = UpstreamSettings {
            limit: Some(limit),
            script: UpstreamScript::shell_loop(400),
            strict: if is_strict { Strictness::Templates } else { Strictness::Provider },
            bind_thinking: true,
            ..UpstreamSettings::default()
        };
        let setting = Setting {
            preset: PRESETS[rng.below(PRESETS.len())],
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
            provider: ScriptedProvider::new(settings),
            is_strict,
            clients: Vec::new(),
            is_calm,
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
            96 if !self.is_calm => self.crash(),
            96 | 97 => self.jump(),
            98 => self.give_up(),
            _ => self.enter(),
        }
        if self.tally.steps.is_multiple_of(100) {
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

    pub(super) fn note(&mut self, line: &str) {
        self.trace = self.trace.chain(line.as_bytes());
        self.lines.push_back(line.to_owned());
        if self.lines.len() > SHOWN {
            self.lines.pop_front();
        }
    }

    /// What is to be said where something is not as it has to be.
    pub(super) fn story(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(String::as_str).collect();
        format!("seed {}, step {}\n{}", self.seed, self.tally.steps, lines.join("\n"))
    }

    pub(super) fn enter(&mut self) {
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

    /// Whether something goes wrong that does so in so many of 100 cases.
    pub(super) fn fails(&mut self, percent: usize) -> bool {
        self.rng.chance(percent) && !self.is_calm
    }

    pub(super) fn failed(&mut self, is_failed: bool) {
        if is_failed {
            self.tally.failed_writes += 1;
        }
    }

    pub(super) fn any(&mut self) -> usize {
        self.rng.below(self.clients.len())
    }
}
