//! Hostile conversations, at least as broken as real ones: all are valid JSON, and none is a valid conversation.

use crate::message::quoted;
use crate::rng::Rng;

/// Chat Completions messages in the order in which a careless client sends them. `largest` is the size in bytes of the
/// one huge message.
#[must_use]
pub fn hostile(seed: u64, largest: usize) -> Vec<String> {
    let rng = &mut Rng::new(seed);
    let mut out = Vec::new();
    for _ in 0..rng.between(4, 14) {
        let kind = rng.below(KINDS.len());
        KINDS[kind](rng, &mut out);
    }
    let text = "unbroken".repeat(largest / 8);
    let at = rng.below(out.len() + 1);
    out.insert(at, format!(r#"{{"role":"user","content":{}}}"#, quoted(&text)));
    out
}

type HostileKind = fn(&mut Rng, &mut Vec<String>);

const KINDS: [HostileKind; 12] = [
    orphans, twins, zero_ids, wide, empties, deep, surrogates, odd_roles, twice, backwards,
    unanswered, scripts,
];

fn call(id: &str, name: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{{}}"}}}}"#
    )
}

fn calling(ids: &[String]) -> String {
    let calls: Vec<_> = ids.iter().map(|id| call(id, "run")).collect();
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn answer(id: &str, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{}}}"#, quoted(text))
}

/// Results of calls that nobody made.
fn orphans(rng: &mut Rng, out: &mut Vec<String>) {
    out.push(answer(&format!("call_{}", rng.hex(8)), "whose am I?"));
    out.push(r#"{"role":"tool","content":"no id at all"}"#.to_owned());
}

/// The same id twice in one message, and three results for it.
fn twins(rng: &mut Rng, out: &mut Vec<String>) {
    let id = format!("call_{}", rng.hex(4));
    out.push(calling(&[id.clone(), id.clone()]));
    out.extend([answer(&id, "first"), answer(&id, "second"), answer(&id, "third")]);
}

/// The same id again at every step.
fn zero_ids(rng: &mut Rng, out: &mut Vec<String>) {
    for step in 0..rng.between(2, 4) {
        out.push(calling(&["call_0".to_owned()]));
        out.push(answer("call_0", &format!("step {step}")));
    }
}

/// Fifty calls in one message. They are answered in random order, and some not at all.
fn wide(rng: &mut Rng, out: &mut Vec<String>) {
    let mut ids: Vec<_> = (0..50).map(|n| format!("wide_{n}_{}", rng.hex(4))).collect();
    out.push(calling(&ids));
    while !ids.is_empty() {
        let id = ids.swap_remove(rng.below(ids.len()));
        if rng.chance(90) {
            out.push(answer(&id, "ok"));
        }
    }
}

fn empties(_: &mut Rng, out: &mut Vec<String>) {
    for message in [
        r#"{"role":"user","content":""}"#,
        r#"{"role":"assistant","content":null}"#,
        r#"{"role":"assistant","content":[]}"#,
        r#"{"role":"user"}"#,
        r#"{"role":"assistant","content":"","tool_calls":[]}"#,
        r#"{"role":"tool","tool_call_id":"","content":""}"#,
        r#"{"role":"user","content":[{"type":"text","text":""}]}"#,
        "{}",
    ] {
        out.push(message.to_owned());
    }
}

/// Deeply nested lists as content, and deeply nested objects in an unknown field.
fn deep(rng: &mut Rng, out: &mut Vec<String>) {
    let depth = rng.between(200, 4000);
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    out.push(format!(r#"{{"role":"user","content":{nested}}}"#));
    let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    out.push(format!(r#"{{"role":"user","content":"x","extra":{objects}}}"#));
}

/// Halves of surrogate pairs, zero bytes and huge numbers.
fn surrogates(_: &mut Rng, out: &mut Vec<String>) {
    out.push(r#"{"role":"user","content":"\ud800 and \udc00\ud800"}"#.to_owned());
    out.push(r#"{"role":"user","content":"a\u0000b\u001b[0m","\ud800":1}"#.to_owned());
    out.push(
        r#"{"role":"user","content":"x","n":123456789012345678901234567890.5e999}"#.to_owned(),
    );
}

fn odd_roles(rng: &mut Rng, out: &mut Vec<String>) {
    let role = *rng.pick(&["exit", "critic", "SYSTEM", "", "function", "developer", "ipython"]);
    out.push(format!(r#"{{"role":"{role}","content":"who speaks?"}}"#));
    out.push(r#"{"role":7,"content":"a number"}"#.to_owned());
    out.push(r#"{"role":"system","content":"a second system message"}"#.to_owned());
}

/// The same key twice in an object, of which the last one counts; and an escaped key.
fn twice(_: &mut Rng, out: &mut Vec<String>) {
    out.push(r#"{"role":"assistant","content":"a","role":"user","content":"b"}"#.to_owned());
    out.push(r#"{"\u0072ole":"user","content":"an escaped key", "x" : [ 1 , 2 ]}"#.to_owned());
}

/// A result before its call.
fn backwards(rng: &mut Rng, out: &mut Vec<String>) {
    let id = format!("call_{}", rng.hex(8));
    out.push(answer(&id, "too early"));
    out.push(calling(&[id]));
}

fn unanswered(rng: &mut Rng, out: &mut Vec<String>) {
    out.push(calling(&[format!("call_{}", rng.hex(8))]));
    out.push(r#"{"role":"user","content":"never mind"}"#.to_owned());
}

fn scripts(_: &mut Rng, out: &mut Vec<String>) {
    let text = "שלום 你好 👩‍👩‍👧‍👦 e\u{301} \u{202e}right to left\u{202c} \u{feff}";
    out.push(format!(r#"{{"role":"user","content":{}}}"#, quoted(text)));
}
