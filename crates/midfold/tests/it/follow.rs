//! Whatever a host does with its list, a session that follows it sends what is in it.
#![expect(clippy::unwrap_used, reason = "test helpers may fail loudly")]

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use midfold::blocking::{HandedContext, Session, Sessions, Start};
use midfold::core::inject::Injections;
use midfold::{Door, DoorHost, Policy, RawEvent, RefusedRequest, Settings};
use midfold_testkit::coding_session;
use proptest::prelude::*;

const WINDOW: u64 = 12_000;
const HOST: DoorHost = DoorHost { door: Door::Command, read: |path| unreachable!("{path:?}") };

/// What a host does before the next request.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// It appends messages.
    Grow(usize),
    /// It keeps what it was given, in place of its own list.
    Keep,
    /// It takes the last messages back.
    Rewind(usize),
    /// It changes a message.
    Edit(usize),
    /// It asks once more.
    Again,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        6 => (1..9usize).prop_map(Deed::Grow),
        2 => Just(Deed::Keep),
        1 => (1..12usize).prop_map(Deed::Rewind),
        1 => (0..64usize).prop_map(Deed::Edit),
        1 => Just(Deed::Again),
    ];
    proptest::collection::vec(deed, 1..24)
}

fn start() -> Start {
    let settings = Settings { window: Some(WINDOW), ..Settings::default() };
    Start { settings, ..Start::new(Policy::preset("default").unwrap(), HOST, || 0) }
}

/// A host's list, and the conversation that it grows by.
struct Kept {
    list: Vec<Bytes>,
    rest: std::vec::IntoIter<String>,
    changes: usize,
}

impl Kept {
    fn new(seed: u64) -> Self {
        let mut rest = coding_session(seed, 60).into_iter();
        let list = rest.by_ref().take(2).map(Bytes::from).collect();
        Self { list, rest, changes: 0 }
    }

    fn events(&self) -> Vec<RawEvent> {
        self.list.iter().map(|bytes| RawEvent::new(bytes.clone())).collect()
    }

    /// Does it; whether the list is another one than what was sent before goes on to.
    fn act(&mut self, deed: Deed, sent: Option<&HandedContext>) {
        match deed {
            Deed::Grow(messages) => {
                self.list.extend(self.rest.by_ref().take(messages).map(Bytes::from));
            }
            Deed::Keep => {
                if let Some(sent) = sent {
                    self.list = sent.context.pieces().map(|piece| piece.bytes.clone()).collect();
                }
            }
            Deed::Rewind(messages) => {
                let left = self.list.len().saturating_sub(messages).max(2);
                self.list.truncate(left);
            }
            Deed::Edit(place) => {
                self.changes += 1;
                let place = place % self.list.len();
                let text = format!(r#"{{"role":"user","content":"Changed, {}."}}"#, self.changes);
                self.list[place] = text.into();
            }
            Deed::Again => {}
        }
    }
}

/// What was sent for a list is made of it, in its order, up to its end.
fn check(kept: &Kept, sent: &HandedContext) {
    let origins = sent.origins.as_ref().unwrap();
    assert_eq!(origins.len(), sent.context.len());
    let places: Vec<_> = origins.iter().filter_map(|origin| origin.place).collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    for (piece, origin) in sent.context.pieces().zip(origins) {
        if origin.is_same {
            assert_eq!(piece.bytes, kept.list[origin.place.unwrap()]);
        }
    }
    assert!(sent.context.tokens() <= WINDOW, "{} tokens", sent.context.tokens());
}

/// Folds aside, what midfold adds for calls without results is in the list that a host takes over. Changed
/// in between, one of them is an event, and another is added before it with the same words.
#[test]
fn what_is_added_is_no_message_of_the_list_that_says_the_same() {
    use Deed::{Edit, Grow, Keep};
    let deeds = [Grow(3), Grow(1), Edit(47), Grow(8), Keep, Edit(14), Grow(11), Edit(32)];
    let mut kept = Kept::new(11);
    let mut session = start().open("one".to_owned()).unwrap();
    let mut sent = None;
    for deed in deeds {
        kept.act(deed, sent.as_ref());
        let now = session.project(&kept.events(), None).unwrap();
        check(&kept, &now);
        sent = Some(now);
    }
}

/// A host may go on from any context that it was given since its list: after a refusal, from the one before or from the
/// smaller one; and from one that it asked for without its list.
#[test]
fn a_host_goes_on_from_whichever_context_it_was_given() {
    const TOO_LONG: &[u8] = br#"{"error":{"message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    let refused = RefusedRequest { status: Some(400), body: TOO_LONG, reply: 0 };
    for (asks, keeps) in [("recover", true), ("recover", false), ("context", true)] {
        let mut kept = Kept::new(5);
        let mut session = start().open("one".to_owned()).unwrap();
        kept.act(Deed::Grow(16), None);
        let mut first = session.project(&kept.events(), None).unwrap();
        while asks == "recover" && first.context.len() == kept.list.len() {
            kept.act(Deed::Grow(4), None);
            first = session.project(&kept.events(), None).unwrap();
        }
        let second = match asks {
            "recover" => session.recover(&refused).unwrap().unwrap(),
            _ => {
                session.compact(None, false).unwrap();
                session.context(Injections::default(), &[]).unwrap()
            }
        };
        let messages = |sent: &HandedContext| -> Vec<Bytes> {
            sent.context.pieces().map(|piece| piece.bytes.clone()).collect()
        };
        assert!(messages(&first) != messages(&second), "{asks}: the same context");
        kept.act(Deed::Keep, Some(if keeps { &second } else { &first }));
        kept.act(Deed::Grow(2), None);
        let (id, events) = (session.id().to_owned(), session.len());
        let sent = session.project(&kept.events(), None).unwrap();
        assert_eq!((session.id(), sent.went_back), (&*id, None), "{asks} {keeps}");
        assert_eq!(session.len(), events + 2, "{asks} {keeps}");
        check(&kept, &sent);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_session_sends_what_is_in_the_list_of_its_host(seed in 0..1_000u64, deeds in deeds()) {
        let mut kept = Kept::new(seed);
        let mut session = start().open("one".to_owned()).unwrap();
        let mut sent = None;
        let mut keeps = false;
        for deed in deeds {
            kept.act(deed, sent.as_ref());
            keeps |= matches!(deed, Deed::Keep);
            let now = session.project(&kept.events(), None).unwrap();
            check(&kept, &now);
            if !keeps {
                prop_assert_eq!(session.len(), kept.list.len());
            }
            let again = session.project(&kept.events(), None).unwrap();
            prop_assert!(!again.folded);
            let fates = |sent: &HandedContext| -> Vec<_> {
                sent.context.pieces().map(|piece| (piece.fate, piece.bytes.len())).collect()
            };
            prop_assert_eq!(fates(&again), fates(&now));
            prop_assert!(again.context.bytes() == now.context.bytes());
            sent = Some(now);
        }
    }

    #[test]
    fn conversations_of_a_host_stay_apart(seeds in (0..500u64, 500..1_000u64), turns in 2..30usize) {
        let hold = |session| Arc::new(Mutex::new(session));
        let sessions: Sessions<Arc<Mutex<Session>>> = Sessions::new(start(), 8, hold);
        let mut both = [Kept::new(seeds.0), Kept::new(seeds.1)];
        for (n, kept) in both.iter_mut().enumerate() {
            kept.list[1] = format!(r#"{{"role":"user","content":"Task {n}."}}"#).into();
        }
        let mut alone = [0, 1].map(|n| start().open(n.to_string()).unwrap());
        for _ in 0..turns {
            for (kept, alone) in both.iter_mut().zip(&mut alone) {
                kept.act(Deed::Grow(4), None);
                let (_, sent) = sessions.project(None, &kept.events(), None).unwrap();
                check(kept, &sent);
                let expected = alone.project(&kept.events(), None).unwrap();
                prop_assert_eq!(sent.context.bytes(), expected.context.bytes());
            }
        }
    }
}

/// A host that wants less than its window has the fold made for less, in memory and in a store.
#[test]
fn a_fold_within_less_room_leaves_less() {
    let list: Vec<_> =
        coding_session(7, 30).into_iter().map(|json| RawEvent::new(json.into())).collect();
    for store in [None, Some("memory")] {
        let size = |room| {
            let mut start = start();
            start.settings.window = Some(40_000);
            start.settings.store = store.map(str::to_owned);
            let mut session = start.open("s".to_owned()).unwrap();
            session.append(list.clone(), None, None).unwrap();
            let (outcome, summary) = session.compact_within(room, None).unwrap();
            assert!(outcome.fold().is_some(), "{store:?} {room:?}: {outcome:?}");
            summary.after.tokens
        };
        let (small, large, whole) = (size(Some(8_000)), size(Some(16_000)), size(None));
        assert!(small < large && large <= whole, "{store:?}: {small}, {large}, {whole}");
        assert!(small <= 8_000 && large <= 16_000, "{store:?}: {small}, {large}");
        // There is no more room than the window has.
        assert_eq!(size(Some(1_000_000)), whole, "{store:?}");
    }
}
