//! A realistic coding session: tasks, repeated reads, failing tests, patches and rules of the user.

use std::collections::BTreeMap;

use crate::emit;
use crate::message::{TestCall, TestMessage, quoted};
use crate::rng::Rng;
use crate::world::{self, FILES};

/// Rules that the user states in the middle of the session. A compaction must not lose them.
pub const CONSTRAINT: &str = "Two rules from now on, whatever else I ask: never touch \
    migrations/, and always run `ruff check .` before you tell me that something is done.";

const SYSTEM: &str = "You are a coding agent working in the repository /srv/build. Use the tools \
    to read and change files and to run commands. Read before you write, keep changes small, and \
    say plainly what you did and what is still open.";

const REQUESTS: [&str; 14] = [
    "The nightly settlement books some refunds twice since the deploy of 9 March. Find out why.",
    "Now make the retry policy back off: 3 attempts, 250 ms, 1 s, 4 s, with jitter.",
    "A customer in Denmark sees amounts that are off by one øre. Please look at the rounding.",
    "Add a timeout of 30 s to everything that talks to the bank, and a test for it.",
    "CI is red on main. Can you look at what the last merge broke?",
    "The pool runs dry on settle-3 around 02:15. Check what holds the connections.",
    "Please rename the window cursor everywhere, it confuses everybody. Keep the old name in the API.",
    "Metrics from the outbox stopped at 04:40 today. The exporter listens on 9187, start there.",
    "Please make the event bus drop duplicates by receipt id, but only inside one window.",
    "The tax table for Norway changes on 1 July: food goes from 15 % to 12 %. Prepare it.",
    "Our bank moves to a new host, bank-gw-2.example:8443. Make the host a setting, not a constant.",
    "The reviewer wants the retry test to be faster than a second. Can you do that without sleep?",
    "Explain in two sentences why the refund was booked twice, for the incident report.",
    "What is left of the list that we made at the start? Do the next item.",
];

/// The messages of a session with `turns` turns. Each turn has about two dozen messages.
#[must_use]
pub fn session(seed: u64, turns: usize) -> Vec<TestMessage> {
    let mut scribe = Scribe::new(seed);
    scribe.messages.push(TestMessage::System(SYSTEM.to_owned()));
    for turn in 0..turns {
        scribe.turn(turn, turns);
    }
    scribe.messages
}

struct Scribe {
    rng: Rng,
    messages: Vec<TestMessage>,
    /// The number of patches to each file.
    versions: BTreeMap<&'static str, usize>,
    calls: usize,
}

/// The tool and the arguments of a call, and its result.
type ScribedAction = (&'static str, String, String);

impl Scribe {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), messages: Vec::new(), versions: BTreeMap::new(), calls: 0 }
    }

    fn turn(&mut self, turn: usize, turns: usize) {
        let request = self.request(turn, turns);
        self.messages.push(TestMessage::User(request));
        let focus = *self.rng.pick(&FILES);
        let name = world::function(&mut self.rng);
        let matches = world::grep(&mut self.rng, &name);
        let grep = ("grep", format!(r#"{{"pattern":{},"path":"."}}"#, quoted(&name)), matches);
        self.act("Let me find where this happens first.", vec![grep]);
        let (one, two) = (self.read(focus), self.read(*self.rng.clone().pick(&FILES)));
        self.act("", vec![one, two]);
        if self.rng.chance(40) {
            let log = world::service_log(&mut self.rng);
            let host = self.rng.between(1, 4);
            let command = format!("ssh settle-{host} journalctl -u settle --since 02:00");
            self.act("The service's own log should tell more.", vec![run(&command, log)]);
        }
        for _ in 0..self.rng.between(1, 2) {
            self.fix(focus, &name);
        }
        self.finish(turn, focus.0, &name);
    }

    fn request(&mut self, turn: usize, turns: usize) -> String {
        let ticket = 4100 + turn;
        let text = REQUESTS[turn % REQUESTS.len()];
        let mut request = format!("LED-{ticket}: {text}");
        if turn == turns / 3 {
            request = format!("{request}\n\n{CONSTRAINT}");
        }
        request
    }

    /// Adds a failing test run, a patch, another read of the file, and a passing run.
    fn fix(&mut self, focus: (&'static str, &'static str), name: &str) {
        let failed = world::failing_run(&mut self.rng, name);
        let test = format!("pytest -x -q -k test_{name}");
        self.act("I can reproduce it with a test.", vec![run(&test, failed)]);
        let hunks = if self.rng.chance(30) { self.rng.between(6, 12) } else { 2 };
        let patch = world::patch(&mut self.rng, focus.0, hunks);
        let arguments = format!(r#"{{"path":{},"patch":{}}}"#, quoted(focus.0), quoted(&patch));
        let output = format!("Applied {hunks} hunks to {}", focus.0);
        *self.versions.entry(focus.0).or_default() += 1;
        self.act(
            "The limit is checked too late; moving the check up.",
            vec![("apply_patch", arguments, output)],
        );
        let again = self.read(focus);
        self.act("", vec![again]);
        if self.rng.chance(25) {
            let text = world::install(&mut self.rng);
            self.act("The test data is missing here.", vec![run("pip install -e '.[test]'", text)]);
        }
        let passed = world::passing_run(&mut self.rng);
        self.act("", vec![run("pytest -q", passed)]);
    }

    fn finish(&mut self, turn: usize, path: &str, name: &str) {
        let mut checks = vec![run("git diff --stat", world::git(&mut self.rng, "diff"))];
        checks.push(run("ruff check .", "All checks passed!\n".to_owned()));
        if turn % 4 == 3 {
            checks.push(run("git log --oneline", world::git(&mut self.rng, "log")));
        }
        self.act("Checking before I report.", checks);
        let (commit, line) = (self.rng.hex(9), self.rng.between(20, 380));
        let text = format!(
            "Done: `{name}` in `{path}:{line}` now checks the limit before it takes the lock. \
             All tests pass; committed as {commit}. Still open: the dashboards on \
             grafana-2.ledgerline.example:3000 show the old name."
        );
        self.messages.push(TestMessage::Assistant { thought: None, text, calls: Vec::new() });
    }

    fn read(&mut self, (path, class): (&'static str, &'static str)) -> ScribedAction {
        let version = self.versions.get(path).copied().unwrap_or(0);
        let text = world::numbered(&world::source(path, class, version));
        ("read_file", format!(r#"{{"path":{}}}"#, quoted(path)), text)
    }

    /// Adds one message of the assistant with its calls, and their results.
    fn act(&mut self, text: &str, actions: Vec<ScribedAction>) {
        let mut calls = Vec::with_capacity(actions.len());
        let mut results = Vec::with_capacity(actions.len());
        for (name, arguments, content) in actions {
            self.calls += 1;
            let id = format!("call_{}{:04}", self.rng.hex(12), self.calls);
            calls.push(TestCall { id: id.clone(), name: name.to_owned(), arguments });
            results.push(TestMessage::Tool { id, name: name.to_owned(), content });
        }
        let thought = self.rng.chance(20).then(|| {
            format!("The cause may lie in {} or in its caller.", world::function(&mut self.rng))
        });
        self.messages.push(TestMessage::Assistant { thought, text: text.to_owned(), calls });
        self.messages.append(&mut results);
    }
}

fn run(command: &str, output: String) -> ScribedAction {
    ("run", format!(r#"{{"command":{}}}"#, quoted(command)), output)
}

/// A realistic coding session as Chat Completions messages, about two dozen for each turn.
#[must_use]
pub fn coding_session(seed: u64, turns: usize) -> Vec<String> {
    emit::openai_chat(&session(seed, turns))
}
