//! Records of calls.

use midfold_core::Hash;
use midfold_core::event::Usage;
use midfold_core::ledger::{CallRecord, Ledger, ReportedCost, SharedPrefix};

use super::talk::Talk;

fn three_calls() -> Talk {
    let mut talk = Talk::new(
        "base = \"default\"\nname = \"c\"\n[tail]\nratio = 0.02\nmin_messages = 2\n",
        4_000,
    );
    talk.say("system", "You keep birds.");
    talk.say("user", "Count them.");
    talk.filler(2_500);
    talk.send();
    talk.say("assistant", "Nine.");
    talk.send();
    talk.say("user", "And now?");
    talk.fold();
    talk.send();
    talk
}

#[test]
fn records_are_numbered_and_chained() {
    let talk = three_calls();
    let mut prev = Hash::ROOT;
    for (number, call) in (1..).zip(&talk.calls) {
        assert_eq!((call.number, call.prev), (number, prev));
        assert_eq!(call.hash, call.compute_hash());
        prev = call.hash;
    }
    assert_eq!(talk.ledger.hash(), prev);
    assert_eq!(talk.calls[1].fold, None);
    assert_eq!(talk.calls[2].fold, talk.session.folds().last().map(|fold| fold.id));
}

/// Between folds the whole call before is shared; a fold breaks it once, at the head.
#[test]
fn the_prefix_is_what_a_cache_can_serve() {
    let talk = three_calls();
    let [first, second, third] = &talk.calls[..] else { unreachable!() };
    assert_eq!(first.prefix, SharedPrefix::default());
    assert_eq!(second.prefix.messages, first.messages);
    assert_eq!(second.prefix.tokens, first.tokens_counted);
    assert_eq!(second.prefix.bytes + 1 + u64::from(first.messages), first.bytes);
    assert_eq!(third.prefix.messages, 2, "the head");
    assert_eq!(third.bytes, talk.session.view().bytes().len() as u64);
    assert_eq!(third.tokens_estimated, third.tokens_counted * 135 / 100);
}

#[test]
fn every_field_is_in_the_hash() {
    let record = three_calls().calls.remove(2);
    let json = serde_json::to_value(&record).unwrap();
    for (key, value) in json.as_object().unwrap() {
        if key == "hash" {
            continue;
        }
        let mut changed = json.clone();
        changed[key] = match value {
            serde_json::Value::Number(n) => (n.as_u64().unwrap() + 1).into(),
            serde_json::Value::String(_) => Hash::ROOT.chain(b"other").to_hex().into(),
            serde_json::Value::Array(_) if key == "pins" => serde_json::json!([7]),
            serde_json::Value::Array(_) => {
                serde_json::json!([{ "hook": "h", "tokens": 1, "hash": Hash::ROOT }])
            }
            serde_json::Value::Object(_) if key == "prefix" => {
                serde_json::json!({ "messages": 9, "bytes": 9, "tokens": 9 })
            }
            _ => serde_json::json!({ "session": "s2", "turn": 1, "request": 1 }),
        };
        let changed: CallRecord = serde_json::from_value(changed).unwrap();
        assert_ne!(changed.compute_hash(), record.hash, "{key}");
    }
}

#[test]
fn records_survive_json() {
    let record = three_calls().calls.remove(2);
    let back: CallRecord = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(back, record);
    let settled =
        ReportedCost { usage: Usage { prompt: 900, output: 3, cache_read: 600, cache_write: 0 } };
    let back: ReportedCost =
        serde_json::from_str(&serde_json::to_string(&settled).unwrap()).unwrap();
    assert_eq!((back, back.uncached()), (settled, 300));
}

/// A restarted process goes on as if nothing had been.
#[test]
fn a_resumed_ledger_writes_the_same_record() {
    let mut talk = three_calls();
    let mut resumed = Ledger::after(&talk.calls[2]);
    resumed.resume(&talk.session.view());
    talk.say("assistant", "Still nine.");
    let mut other = talk.ledger.clone();
    std::mem::swap(&mut talk.ledger, &mut resumed);
    talk.send();
    std::mem::swap(&mut talk.ledger, &mut other);
    talk.send();
    assert_eq!(talk.calls[3], talk.calls[4]);
    assert_eq!(talk.calls[3].prefix.messages, talk.calls[2].messages);
}
