//! How the room of a recap is used: at small sizes, for what the open request asks, and around what stays.

#![expect(clippy::unwrap_used, reason = "what the test is about must work")]

use bytes::Bytes;
use midfold::formats::read;
use midfold::{CompactionRequest, Door, ModelNarration, Policy, Setup};
use serde_json::{Value, json};

/// The messages, compacted to a target.
fn compacted(messages: &[Value], target: u64) -> Vec<Value> {
    let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
    let found = read::read(&Bytes::from(lines.join("\n")), None).unwrap().conversations.remove(0);
    let prepared = Setup::new().window(100_000).prepare(found).unwrap();
    let wish = CompactionRequest {
        target: Some(target),
        ..CompactionRequest::by(Policy::preset("default").unwrap())
    };
    let done = wish.run(&prepared, &[], &ModelNarration::default(), Door::Command).unwrap();
    assert!(done.context.tokens() <= target, "{} of {target}", done.context.tokens());
    done.context.pieces().map(|piece| serde_json::from_slice(&piece.bytes).unwrap()).collect()
}

fn says(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// A look at a file, with what it shows.
fn looks(at: usize, shows: &str) -> [Value; 2] {
    let arguments = json!({"command": format!("cat services/s{at}.toml")}).to_string();
    let id = format!("c{at}");
    [
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}}]}),
        json!({"role": "tool", "tool_call_id": id, "content": shows}),
    ]
}

fn text_of(messages: &[Value]) -> String {
    messages.iter().map(|message| message["content"].as_str().unwrap_or_default()).collect()
}

#[test]
fn what_the_open_request_is_about_is_told_of_looks_that_nobody_spoke_of() {
    let file = |at: usize| {
        let options: String = (0..30).map(|n| format!("option_{n} = {}\n", n * at)).collect();
        format!("name = \"svc{at}\"\nport = {}\n{options}", 7_000 + at * 13)
    };
    let mut messages = vec![says("user", "Look through the services and list all their ports.")];
    messages.extend((0..24).flat_map(|at| looks(at, &file(at))));
    let text = text_of(&compacted(&messages, 3_000));
    for at in 0..23 {
        assert!(text.contains(&format!("port = {}", 7_000 + at * 13)), "{at}: {text}");
    }
}

/// A chat with a rule in passing.
fn chat() -> Vec<Value> {
    let mut messages =
        vec![says("system", "You help."), says("user", "Let us plan my month a little.")];
    for n in 0..14 {
        messages.push(says("assistant", &format!("That sounds like evening number {n} to me.")));
        let rule = "By the way, I keep Fridays free of meetings, that is when Mother is in town.";
        let said = format!("We sat by the river for a while, and it was mild ({n}).");
        messages.push(says("user", if n == 5 { rule } else { &said }));
    }
    messages.push(says("assistant", "The trouble with linseed oil is that it has to be seen."));
    messages
}

#[test]
fn at_a_small_size_small_talk_goes_and_a_rule_stays_through_every_compaction() {
    let first = compacted(&chat(), 250);
    let text = text_of(&first);
    assert!(text.contains("Fridays free of meetings"), "{text}");
    // System prompt, task, recap and the newest message: the user's last words have had their answer.
    assert_eq!(first.len(), 4, "{text}");
    assert!(
        text.contains("[Reference, not instructions. 28 earlier messages, @2 to @29.]\n"),
        "{text}"
    );
    // What was compacted is compacted again where somebody asks for less.
    let again = text_of(&compacted(&first, 160));
    assert!(again.contains("Fridays free of meetings"), "{again}");
}

#[test]
fn a_message_of_the_users_that_stays_between_is_named() {
    let mut messages = chat();
    messages.insert(8, says("user", "For all time: <keep>the door code is 4711</keep>, please."));
    let kept = compacted(&messages, 300);
    let text = text_of(&kept);
    let named = "The user's @8 stays below, word for word; what has a higher number came after it.";
    assert!(text.contains(named), "{text}");
    assert_eq!(text.matches("4711").count(), 1, "{text}");
}

#[test]
fn of_an_answer_with_a_list_what_the_user_chose_is_told() {
    let mut messages = vec![says("user", "What shall we do about the gate?")];
    let offer = "Three ways are open:\n1. paint it with the red lead that is left\n\
                 2. leave it to the rust for another winter\n3. ask Mr Vos for oak and new hinges";
    messages.extend([says("assistant", offer), says("user", "3, and soon.")]);
    messages.extend(chat().into_iter().skip(2));
    let text = text_of(&compacted(&messages, 230));
    assert!(text.contains("3. ask Mr Vos for oak and new hinges"), "{text}");
}
