//! Stateful sessions: bytes are commands, and what always holds is checked after each of them.

use std::sync::Arc;

use bytes::Bytes;
use midfold::core::audit::audit;
use midfold::core::project::{Context, project_with_void};
use midfold::core::{Role, Usage};
use midfold::formats::verify::validator;
use midfold::formats::{convert, profile};
use midfold::store::run_in_memory as now;
use midfold::store::{
    MemoryStore, NewSession, SessionMeta, Store, StoredError, StoredSession, fsck, transfer,
};
use midfold::{Budget, DialectKind, PieceFate, PlanOutcome, Policy, RawEvent};

/// Commands of one input that are run: longer ones teach nothing more.
const COMMANDS: usize = 60;
/// Counts the tokens of all sessions.
const COUNTER: &str = "chars:3.2";
/// The models that a session is switched between: one that binds thinking, and one that does not.
const MODELS: [&str; 2] = ["claude-opus-5-5", "claude-sonnet-4-5"];

/// Runs the commands: the first two bytes choose dialect, preset and window.
pub fn sessions(data: &[u8]) {
    let mut input = Input { data, at: 0 };
    let mut bench = Bench::new(&mut input);
    for _ in 0..COMMANDS {
        let Some(command) = input.next() else { return };
        bench.run(command, &mut input);
        bench.check();
    }
}

struct Input<'a> {
    data: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.data.get(self.at).copied();
        self.at += 1;
        byte
    }

    /// A number below `n`; 0 at the end of the input.
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.next().unwrap_or_default()) % n.max(1)
    }
}

/// A session, and what has to be true of it.
struct Bench {
    store: Arc<dyn Store>,
    stored: StoredSession,
    kind: DialectKind,
    /// All that was appended.
    log: Vec<Bytes>,
    /// Pins that the newest fold was made with, where it is the active one.
    pinned: Vec<u32>,
    clock: u64,
    made: u64,
}

impl Bench {
    fn new(input: &mut Input<'_>) -> Self {
        let kinds = convert::TARGETS;
        let kind = kinds[input.below(kinds.len())];
        let presets = Policy::preset_names();
        let policy = Policy::preset(presets[input.below(presets.len())]).expect("a known preset");
        let window = 600 + 200 * input.below(40) as u64 + policy.trigger.injection_reserve;
        let meta = SessionMeta {
            budget: Budget::new(window),
            envelope: Vec::new(),
            parent: None,
            source: None,
            owner: None,
            model: None,
            client: None,
            cache_lifetime: None,
        };
        let new = NewSession {
            id: "s0".to_owned(),
            dialect: kind.name().to_owned(),
            profile: profile::for_dialect(kind)[0].name.to_owned(),
            counter: COUNTER.to_owned(),
            policy: policy.to_toml(),
            meta: serde_json::to_string(&meta).expect("plain data"),
            created: 0,
        };
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let stored = now(StoredSession::create(store.clone(), new)).expect("a new session");
        let (log, pinned) = (Vec::new(), Vec::new());
        Self { store, stored, kind, log, pinned, clock: 1_000, made: 0 }
    }

    fn run(&mut self, command: u8, input: &mut Input<'_>) {
        self.clock += 1_000;
        let clock = self.clock;
        match command % 16 {
            0..=4 => self.append(input),
            5 => self.compact(),
            6 => {
                let before = self.stored.row().active;
                if let Ok(sent) = allowed(now(self.stored.context(true, clock))) {
                    let budget = self.stored.budget();
                    let policy = now(self.stored.whole()).expect("loads").policy().clone();
                    let tokens = now(self.stored.whole()).expect("loads").load().upper;
                    // A session without a message has nothing to fold, whatever the provider counted of the rest.
                    let due = policy.trigger.on && !self.log.is_empty();
                    assert!(!due || tokens <= budget.tokens(), "{tokens} tokens over the budget");
                    drop(sent);
                }
                self.note_fold(before);
            }
            7 => {
                if allowed(now(self.stored.undo(None))).is_ok() {
                    self.pinned.clear();
                }
            }
            8 | 9 => {
                let seq = input.below(self.log.len().max(1)) as u64;
                let done = now(self.stored.pin(seq, command % 16 == 8));
                assert_eq!(done.is_ok(), seq < self.log.len() as u64, "a pin on event {seq}");
                if command % 16 == 9 {
                    self.pinned.retain(|pin| u64::from(*pin) != seq);
                }
            }
            10 => self.fork(input),
            11 => self.move_house(),
            12 => self.reopen(),
            13 => {
                let counted = now(self.stored.whole()).expect("loads").load().counted;
                let prompt = counted + 7 * input.below(40) as u64;
                let usage = Usage { prompt, output: 5, ..Usage::default() };
                now(self.stored.observe(usage, None, clock)).expect("observes");
            }
            14 => {
                let model = MODELS[input.below(MODELS.len())];
                now(self.stored.update_model(model, None)).expect("switches");
            }
            _ => {
                let _ = allowed(now(self.stored.preview(None)));
            }
        }
    }

    fn append(&mut self, input: &mut Input<'_>) {
        let count = 1 + input.below(6);
        let events: Vec<Bytes> = (0..count).flat_map(|_| self.message(input)).collect();
        let raw = events.iter().cloned().map(RawEvent::new).collect();
        let done = now(self.stored.append(raw, None, self.clock)).expect("appends");
        assert_eq!((done.first, done.count), (self.log.len() as u64, events.len() as u64));
        self.log.extend(events);
    }

    /// One message, or a call with its result; some are what no client should send.
    fn message(&mut self, input: &mut Input<'_>) -> Vec<Bytes> {
        self.made += 1;
        let (n, size) = (self.made, 1 + input.below(60));
        let words = format!("part {n} of src/file{}.rs. ", n % 7).repeat(size);
        let anthropic = self.kind == DialectKind::Anthropic;
        let lines = match (input.below(10), anthropic) {
            (0 | 1, _) => vec![format!(r#"{{"role":"user","content":"{words}"}}"#)],
            (2 | 3, _) => vec![format!(r#"{{"role":"assistant","content":"{words}"}}"#)],
            (4..=6, false) => vec![
                format!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{n}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"src/file{}.rs\"}}"}}}}]}}"#,
                    n % 7
                ),
                format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"{words}"}}"#),
            ],
            (4..=6, true) => vec![
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"t","signature":"s{n}"}},{{"type":"tool_use","id":"c{n}","name":"read_file","input":{{"path":"src/file{}.rs"}}}}]}}"#,
                    n % 7
                ),
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"{words}"}}]}}"#
                ),
            ],
            (7, false) => {
                vec![format!(r#"{{"role":"tool","tool_call_id":"c{}","content":"late"}}"#, n / 2)]
            }
            (7, true) => vec![format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{}","content":"late"}}]}}"#,
                n / 2
            )],
            (8, _) => vec![r#"{"role":"assistant","content":""}"#.to_owned()],
            _ => vec![format!(r#"{{"role":"system","content":"Never touch file{n}.rs."}}"#)],
        };
        let lines: Vec<Bytes> = lines.into_iter().map(Bytes::from).collect();
        if anthropic { lines } else { self.converted(&lines) }
    }

    /// Messages of Chat Completions in the session's dialect.
    fn converted(&self, lines: &[Bytes]) -> Vec<Bytes> {
        let chat = DialectKind::OpenAiChat;
        let views: Vec<_> = lines.iter().map(|line| chat.dialect().view(line)).collect();
        let pairs: Vec<_> = lines.iter().map(|line| &line[..]).zip(&views).collect();
        let messages = convert::convert_all(&pairs, chat, self.kind).messages;
        // What has no words there leaves nothing.
        let nothing = || vec![self.kind.dialect().made_message(Role::User, "")];
        if messages.is_empty() { nothing() } else { messages }
    }

    fn compact(&mut self) {
        let before = self.stored.row().active;
        let folded = matches!(
            allowed(now(self.stored.compact(None, self.clock))),
            Ok(PlanOutcome::Folded(_))
        );
        self.note_fold(before);
        if folded {
            let again = now(self.stored.compact(None, self.clock)).expect("what fits still fits");
            assert!(matches!(again, PlanOutcome::Nothing(_)), "nothing new, and a new fold");
        }
    }

    /// Where there is another fold now, it was made with all pins that there are.
    fn note_fold(&mut self, before: Option<midfold::core::Hash>) {
        if self.stored.row().active != before {
            self.pinned = now(self.stored.whole()).expect("loads").pins().to_vec();
        }
    }

    /// Goes on in a fork; the session before is not touched by it.
    fn fork(&mut self, input: &mut Input<'_>) {
        self.made += 1;
        let at = input.below(self.log.len() + 1);
        let id = format!("s{}", self.made);
        let fork = now(self.stored.fork(&id, Some(at as u64), self.clock)).expect("forks");
        self.stored = fork;
        self.log.truncate(at);
        self.pinned.clear();
    }

    /// Goes on in another store, with all that was exported.
    fn move_house(&mut self) {
        let export = |store: &dyn Store| {
            let mut text = Vec::new();
            now(transfer::export(store, None, &mut text)).expect("exports");
            text
        };
        let text = export(&*self.store);
        let other: Arc<dyn Store> = Arc::new(MemoryStore::new());
        now(transfer::import(&*other, 7, || Ok(text.as_slice()))).expect("imports");
        assert!(export(&*other) == text, "what was imported is not what was exported");
        self.store = other;
        self.reopen();
    }

    fn reopen(&mut self) {
        let id = self.stored.row().new.id.clone();
        self.stored = now(StoredSession::open(self.store.clone(), &id)).expect("opens");
    }

    /// What always holds.
    fn check(&mut self) {
        let report = now(fsck(&*self.store)).expect("reads");
        assert!(report.is_clean(), "{:#?}", report.findings);
        let id = self.stored.row().new.id.clone();
        let calls = now(self.stored.calls()).expect("calls");
        let calls: Vec<_> = calls.into_iter().map(|(record, _)| record).collect();
        let whole = now(self.stored.whole()).expect("loads");
        let kept: Vec<Bytes> = whole.log().events().iter().map(|e| e.bytes.clone()).collect();
        assert_eq!(kept, self.log, "the log is what was appended");
        let view = whole.view();
        let again = project_with_void(whole.log(), whole.active(), whole.void());
        assert_eq!(view.bytes(), again.bytes(), "a projection");
        let audit = audit(whole.log(), whole.folds(), whole.active().map(|fold| fold.id), &calls);
        assert!(audit.is_clean(), "{:#?}", audit.findings);
        let after: Vec<Bytes> = view.pieces().map(|piece| piece.bytes.clone()).collect();
        let wrong = validator(self.kind, *whole.log().profile())(&after);
        assert!(after.is_empty() || wrong.is_empty(), "{wrong:#?}");
        let stands: Vec<u32> = view
            .pieces()
            .filter_map(|piece| match piece.fate {
                PieceFate::Verbatim(seq) | PieceFate::Repaired(seq, _) => Some(seq),
                _ => None,
            })
            .collect();
        for pin in &self.pinned {
            assert!(stands.contains(pin), "event {pin} was pinned, and is not in the context");
        }
        // A process that reads head, fold and tail alone sends the same. Both read the store anew: what
        // was sent here before is on record there, and what is sent may hang on it.
        let budget = self.stored.budget();
        let open = || now(StoredSession::open(self.store.clone(), &id)).expect("opens");
        let (mut part, mut whole) = (open(), open());
        let whole = now(whole.whole()).expect("loads");
        if !whole.due(&budget, self.clock).fires() {
            let wanted = whole.context(&budget, self.clock);
            if let Ok(sent) = allowed(now(part.context(false, self.clock))) {
                let wanted = wanted.expect("what can be sent in part can be sent in full");
                assert_eq!(texts(&sent.context), texts(&wanted), "read in part and in full");
            }
        }
    }
}

/// A context, for a person who reads what a test says.
fn texts(context: &Context) -> Vec<String> {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    context.pieces().map(|piece| text(&piece.bytes)).collect()
}

/// What a session may say no to: a floor that does not fit, an undo of nothing.
fn allowed<T>(done: Result<T, StoredError>) -> Result<T, ()> {
    match done {
        Ok(value) => Ok(value),
        Err(StoredError::Plan(_) | StoredError::Undo(_)) => Err(()),
        Err(error) => panic!("{error}"),
    }
}
