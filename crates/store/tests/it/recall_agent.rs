//! Recall as an agent uses it: the same questions about the same conversation, in every dialect.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use midfold_core::Hash;
use midfold_formats::DialectKind;
use midfold_store::recall::{
    ExpandTarget, GrepQuery, HitPage, OriginalPage, RecallError, WantedOutcome, expand, grep,
    hits_text, outline, outline_text, page_text, show,
};
use midfold_store::single::SingleChange as _;
use midfold_store::{AppendRequest, MemoryStore, NewEvent, NewSession, SearchMode, Store};
use serde_json::{Value, json};

/// Who says what, as no dialect writes it.
enum Said {
    User(&'static str),
    Assistant(&'static str),
    Call(&'static str, Value),
    Result(String),
}
use Said::{Assistant, Call, Result, User};

const BROKEN: &str = "Compiling heron\nerror[E0432]: unresolved import `crate::gone`\n --> src/lib.rs:1:5\nerror: could not compile `heron`\nExit code 101";

fn conversation() -> Vec<Said> {
    let build = || Call("Bash", json!({ "command": "cd /w/heron && cargo build" }));
    let read = || Call("Read", json!({ "file_path": "src/lib.rs" }));
    vec![
        User("Fix the build of heron"),
        build(),
        Result(BROKEN.into()),
        read(),
        Result("1\tuse crate::gone;\n2\tfn main() {}".into()),
        Call(
            "Edit",
            json!({
                "file_path": "src/lib.rs",
                "old_string": "use crate::gone;\nfn main() {}",
                "new_string": "use crate::here;\nfn main() {}",
            }),
        ),
        Result("The file src/lib.rs has been updated.".into()),
        build(),
        Result("Finished `dev` profile".into()),
        read(),
        Result("1\tuse crate::here;\n2\tfn main() {}".into()),
        Assistant("The import was stale; it builds now."),
        User("Never touch docs/old, and add \"quotes\" to the notes"),
    ]
}

/// The conversation as messages of a dialect.
fn messages(dialect: &str, said: &[Said]) -> Vec<Value> {
    let mut call = 0;
    let mut one = |said: &Said| {
        call += usize::from(matches!(said, Call(..)));
        let id = format!("c{call}");
        match (dialect, said) {
            ("openai-responses", User(text)) => {
                json!({ "type": "message", "role": "user", "content": text })
            }
            ("openai-responses", Assistant(text)) => {
                json!({ "type": "message", "role": "assistant",
                "content": [{ "type": "output_text", "text": text }] })
            }
            ("openai-responses", Call(name, args)) => {
                json!({ "type": "function_call", "call_id": id,
                "name": name, "arguments": args.to_string() })
            }
            ("openai-responses", Result(text)) => {
                json!({ "type": "function_call_output", "call_id": id,
                "output": text })
            }
            ("anthropic", Call(name, args)) => json!({ "role": "assistant", "content": [
                { "type": "tool_use", "id": id, "name": name, "input": args }] }),
            ("anthropic", Result(text)) => json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": text }] }),
            ("sharegpt", User(text)) => json!({ "from": "human", "value": text }),
            ("sharegpt", Assistant(text)) => json!({ "from": "gpt", "value": text }),
            ("sharegpt", Call(name, args)) => json!({ "from": "gpt", "value": format!(
                "<tool_call>\n{}\n</tool_call>", json!({ "name": name, "arguments": args })) }),
            ("sharegpt", Result(text)) => json!({ "from": "tool", "value": format!(
                "<tool_response>\n{text}\n</tool_response>") }),
            (_, User(text)) => json!({ "role": "user", "content": text }),
            (_, Assistant(text)) => json!({ "role": "assistant", "content": text }),
            (_, Call(name, args)) => json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function",
                  "function": { "name": name, "arguments": args.to_string() } }] }),
            (_, Result(text)) => json!({ "role": "tool", "tool_call_id": id, "content": text }),
        }
    };
    said.iter().map(&mut one).collect()
}

async fn stored(dialect: &str, said: &[Said]) -> MemoryStore {
    stored_messages(dialect, messages(dialect, said)).await
}

async fn stored_messages(dialect: &str, messages: Vec<Value>) -> MemoryStore {
    let store = MemoryStore::new();
    let new = NewSession { id: "s".into(), dialect: dialect.into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let (mut hash, mut turn) = (Hash::ROOT, 0);
    let kind = DialectKind::from_name(dialect).unwrap();
    let mut events = Vec::new();
    for message in messages {
        let bytes = Bytes::from(message.to_string());
        turn += u32::from(kind.dialect().view(&bytes).is_real_user());
        hash = hash.chain(&bytes);
        events.push(NewEvent { bytes, hash, turn, tokens: 1, usage: None, origin: None });
    }
    store.append("s", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    store
}

async fn hits(store: &dyn Store, ask: GrepQuery) -> HitPage {
    grep(store, "s", &ask).await.unwrap()
}

fn seqs(hits: &HitPage) -> Vec<u64> {
    hits.found.iter().map(|found| found.event).collect()
}

async fn page(store: &dyn Store, what: &str, max_chars: usize) -> OriginalPage {
    expand(store, "s", &ExpandTarget::parse(what).unwrap(), None, max_chars).await.unwrap()
}

fn numbers(page: &OriginalPage) -> Vec<u64> {
    page.originals.iter().map(|original| original.event).collect()
}

const DIALECTS: [&str; 4] = ["openai-chat", "anthropic", "openai-responses", "sharegpt"];

#[tokio::test]
async fn an_outline_reads_alike_in_every_dialect() {
    for dialect in DIALECTS {
        let store = stored(dialect, &conversation()).await;
        let text = outline_text(&outline(&store, "s", 0, 50, false).await.unwrap());
        assert_eq!(
            text,
            "\
13 messages; nothing is folded
@0 user, turn 1, 22 chars: Fix the build of heron
@1 assistant, 45 chars → Bash cargo build
@2 tool, failed (exit 101), 128 chars: error[E0432]: unresolved import `crate::gone`
@3 assistant, 31 chars → Read src/lib.rs
@4 tool, 33 chars: 1 use crate::gone;
@5 assistant, 74 chars → Edit src/lib.rs
@6 tool, ok, 37 chars: The file src/lib.rs has been updated.
@7 assistant, 45 chars → Bash cargo build
@8 tool, ok, 22 chars: Finished `dev` profile
@9 assistant, 31 chars → Read src/lib.rs
@10 tool, 33 chars: 1 use crate::here;
@11 assistant, 36 chars: The import was stale; it builds now.
@12 user, turn 2, 51 chars: Never touch docs/old, and add \"quotes\" to the notes
",
            "{dialect}"
        );
    }
}

#[tokio::test]
async fn a_call_and_its_result_come_together() {
    for dialect in DIALECTS {
        let store = stored(dialect, &conversation()).await;
        for what in ["5", "5-6"] {
            let text = page_text(&page(&store, what, 8_000).await);
            assert_eq!(
                text,
                "\
── @5 assistant, turn 1
call Edit
--- src/lib.rs
-use crate::gone;
+use crate::here;
 fn main() {}
── @6 tool, ok
The file src/lib.rs has been updated.
",
                "{dialect} {what}"
            );
        }
        // A call may be long, so its result comes with its name alone.
        let result = page_text(&page(&store, "@6", 8_000).await);
        assert!(result.starts_with("── @6 tool: Edit src/lib.rs, ok, turn 1\n"), "{result}");
        assert_eq!(numbers(&page(&store, "12, 2, 0", 8_000).await), [0, 2, 12], "{dialect}");
        // A repeat of an identical call is told once; its other result is there.
        let builds = page_text(&page(&store, "1,7", 8_000).await);
        assert!(builds.contains("\nExit code 101\n── @7 assistant\ncall Bash\n"), "{builds}");
    }
}

#[tokio::test]
async fn filters_narrow_a_search() {
    for dialect in DIALECTS {
        let store = stored(dialect, &conversation()).await;
        let all = GrepQuery::default();
        let ask = |ask: GrepQuery| hits(&store, ask);
        let errors = ask(GrepQuery { outcome: Some(WantedOutcome::Failed), ..all.clone() }).await;
        assert_eq!(seqs(&errors), [2], "{dialect}");
        assert_eq!(errors.found[0].outcome.as_deref(), Some("failed (exit 101)"));
        assert_eq!(errors.found[0].action.as_deref(), Some("Bash cargo build"));
        let tool = |name: &str| GrepQuery { tool: Some(name.into()), ..all.clone() };
        assert_eq!(seqs(&ask(tool("read")).await), [3, 4, 9, 10], "{dialect}");
        assert_eq!(seqs(&ask(tool("SHELL")).await), [1, 2, 7, 8], "{dialect}");
        let role = |name: &str| GrepQuery { role: Some(name.into()), ..all.clone() };
        assert_eq!(seqs(&ask(role("user")).await), [0, 12], "{dialect}");
        assert_eq!(seqs(&ask(role("tool")).await), [2, 4, 6, 8, 10], "{dialect}");
        let within = Some(GrepQuery::range("3-5,12").unwrap());
        assert_eq!(
            seqs(&ask(GrepQuery { within, ..all.clone() }).await),
            [3, 4, 5, 12],
            "{dialect}"
        );
        // Both at once, with a query: words, best first; a text, newest first.
        let words = GrepQuery { query: "crate here".into(), ..tool("edit") };
        assert_eq!(seqs(&ask(words).await), [5], "{dialect}");
        let text = GrepQuery { query: "lib.rs".into(), mode: SearchMode::Literal, ..tool("edit") };
        assert_eq!(seqs(&ask(text).await), [6, 5], "{dialect}");
        let none = grep(&store, "s", &GrepQuery { folded: true, ..all.clone() }).await;
        assert!(matches!(none, Err(RecallError::Unfolded)), "{dialect}");
        let unknown = grep(&store, "s", &tool("sed")).await.unwrap_err().to_string();
        assert!(
            unknown.ends_with("`sed`; the tools of this session are: Bash, Edit, Read"),
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn calls_are_found_by_the_tool_and_by_what_they_say() {
    for dialect in DIALECTS {
        let store = stored(dialect, &conversation()).await;
        for (mode, query, wanted) in [
            (SearchMode::Text, "edit", &[5][..]),
            (SearchMode::Literal, "call Edit", &[5]),
            (SearchMode::Literal, "+use crate::here", &[5]),
            (SearchMode::Regex, "^command: cd /w/heron", &[7, 1]),
            (SearchMode::Literal, "add \"quotes\"", &[12]),
        ] {
            let found = hits(&store, GrepQuery::new(query, mode)).await;
            assert_eq!(seqs(&found), wanted, "{dialect} {query}");
        }
    }
}

#[tokio::test]
async fn a_message_with_two_reads_of_a_file_is_older_than_a_later_write_of_it() {
    let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let read = |id: &str, offset: u64| {
        call(id, "Read", json!({ "file_path": "src/lib.rs", "offset": offset, "limit": 50 }))
    };
    let result =
        |id: &str, text: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": text });
    let edit = json!({ "file_path": "src/lib.rs", "old_string": "a", "new_string": "b" });
    let store = stored_messages(
        "anthropic",
        vec![
            json!({ "role": "user", "content": "Read it" }),
            json!({ "role": "assistant", "content": [read("c1", 1), read("c2", 51)] }),
            json!({ "role": "user", "content": [result("c1", "1\tmarmalade"), result("c2", "51\tend")] }),
            json!({ "role": "assistant", "content": [call("c3", "Edit", edit)] }),
            json!({ "role": "user", "content": [result("c3", "updated")] }),
        ],
    )
    .await;
    let found = hits(&store, GrepQuery::new("marmalade", SearchMode::Literal)).await;
    let version = found.found[0].version.as_ref().map(|it| (it.path.as_str(), it.newest, it.see));
    assert_eq!(version, Some(("src/lib.rs", false, 3)));
}

#[tokio::test]
async fn a_hit_says_what_is_the_newest() {
    let store = stored("anthropic", &conversation()).await;
    let found = hits(&store, GrepQuery::new("fn main() {}", SearchMode::Literal)).await;
    let shown = hits_text(&found);
    assert_eq!(
        shown,
        "\
@10 tool: Read src/lib.rs, turn 1; newest of this file; same line before in @4
  2: 2\tfn main() {}
@5 assistant: Edit src/lib.rs, turn 1; older: newest is @10
  5:  fn main() {}
"
    );
    // Calls that share a line are calls of their own.
    let calls =
        GrepQuery { role: Some("assistant".into()), ..GrepQuery::new("read", SearchMode::Text) };
    assert_eq!(seqs(&hits(&store, calls).await), [9, 3]);
    let old = hits(&store, GrepQuery::new("crate::gone", SearchMode::Literal)).await;
    let read = old.found.iter().find(|found| found.event == 4).unwrap();
    let version = read.version.as_ref().unwrap();
    assert_eq!((version.path.as_str(), version.newest, version.see), ("src/lib.rs", false, 10));
    // The same line of another file is a finding of its own.
    let mut said = conversation();
    said.push(Call("Read", json!({ "file_path": "src/main.rs" })));
    said.push(Result("1\tuse std::fmt;\n2\tfn main() {}".into()));
    let both = stored("anthropic", &said).await;
    let ask =
        GrepQuery { role: Some("tool".into()), ..GrepQuery::new("fn main", SearchMode::Literal) };
    let found = hits(&both, ask).await;
    assert_eq!((seqs(&found), &found.found[1].also), (vec![14, 10], &vec![4]));
    let wide = GrepQuery { context: 1, ..GrepQuery::new("unresolved import", SearchMode::Literal) };
    assert_eq!(
        hits_text(&hits(&store, wide).await),
        "\
@2 tool: Bash cargo build, failed (exit 101), turn 1
  1- Compiling heron
  2: error[E0432]: unresolved import `crate::gone`
  3-  --> src/lib.rs:1:5
"
    );
}

/// Eighty times the same step, then something else.
#[tokio::test]
async fn repeats_are_counted_and_not_told_again() {
    for dialect in DIALECTS {
        let mut said = vec![User("Wait for it")];
        for _ in 0..80 {
            said.push(Call("Bash", json!({ "command": "cat status" })));
            said.push(Result("not yet".into()));
        }
        said.push(Assistant("It takes long."));
        let store = stored(dialect, &said).await;
        assert_eq!(
            page_text(&page(&store, "0-161", 1_000).await),
            "\
── @0 user, turn 1
Wait for it
── @1 assistant
call Bash
command: cat status
── @2 tool
not yet
── @3-@160: same as @1-@2, 79 times
── @161 assistant
It takes long.
",
            "{dialect}"
        );
        let alone = page(&store, "100", 1_000).await;
        assert_eq!(numbers(&alone), [100]);
        assert_eq!(alone.originals[0].text, "not yet");
    }
}

#[tokio::test]
async fn pages_end_between_messages_and_lines() {
    let long: String = (0..400).map(|n| format!("line {n} of the log ä\n")).collect();
    let mut said = conversation();
    said.extend([Call("Read", json!({ "path": "a.log" })), Result(long.clone())]);
    let store = stored("anthropic", &said).await;
    let all = ExpandTarget::parse("0-14").unwrap();
    let (mut cursor, mut pages, mut texts) = (None::<String>, 0, String::new());
    loop {
        let page = expand(&store, "s", &all, cursor.as_deref(), 600).await.unwrap();
        let chars: usize = page.originals.iter().map(|one| one.text.chars().count()).sum();
        assert!(chars <= 600, "{chars}");
        for one in &page.originals {
            assert!(!one.cut || one.text.ends_with('\n'), "{one:?}");
            assert!(!one.cut || one.event == 14, "only what fits no page is cut: {one:?}");
            if one.event == 14 {
                texts += &one.text;
            }
        }
        pages += 1;
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }
    assert_eq!(texts, long);
    assert!(pages > 10, "{pages}");
    let line = expand(&store, "s", &ExpandTarget::event(14), Some("14:L300"), 40).await.unwrap();
    let last = line.originals.last().unwrap();
    assert!(last.text.starts_with("line 299 of"), "{last:?}");
    let before: usize = long.split_inclusive('\n').take(299).map(|l| l.chars().count()).sum();
    assert_eq!(last.offset, before);
}

/// Three calls in one message, answered in one (anthropic) or three (openai).
#[tokio::test]
async fn parallel_calls_find_their_results() {
    let call = |id: &str, path: &str| json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": path } });
    let result = |id: &str, text: &str, error: bool| json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": error });
    let messages = [
        json!({ "role": "user", "content": "Look" }),
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "Both." }, call("a", "x.rs"), call("b", "y.rs")] }),
        json!({ "role": "user", "content": [result("a", "of x", false), result("b", "no such file", true)] }),
    ];
    let store = MemoryStore::new();
    let new = NewSession { id: "s".into(), dialect: "anthropic".into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let mut hash = Hash::ROOT;
    let event = |message: &Value| {
        let bytes = Bytes::from(message.to_string());
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None }
    };
    let events = messages.iter().map(event).collect();
    store.append("s", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    assert_eq!(
        page_text(&page(&store, "1", 8_000).await),
        "\
── @1 assistant, turn 1
Both.
call Read
file_path: x.rs
call Read
file_path: y.rs
── @2 tool, 1 failed
result of Read x.rs
of x
result of Read y.rs: failed
no such file
"
    );
    let failed =
        hits(&store, GrepQuery { outcome: Some(WantedOutcome::Failed), ..GrepQuery::default() })
            .await;
    assert_eq!(
        hits_text(&failed),
        "@2 tool: Read x.rs; Read y.rs, 1 failed, turn 1\n  no such file\n"
    );
}

/// A step of hundreds of calls, asked for at one end.
#[tokio::test]
async fn long_steps_are_whole() {
    let mut said = vec![User("Read all")];
    let calls = (0..200).map(|n| Call("Read", json!({ "path": format!("f{n}") })));
    said.extend(calls);
    said.push(Assistant("Done"));
    let store = MemoryStore::new();
    let new =
        NewSession { id: "s".into(), dialect: "openai-responses".into(), ..NewSession::default() };
    store.create(new).await.unwrap();
    let mut values = messages("openai-responses", &said);
    let outputs = (1..=200).map(|n| json!({ "type": "function_call_output", "call_id": format!("c{n}"), "output": format!("text {n}") }));
    let end = values.len() - 1;
    values.splice(end..end, outputs);
    let mut hash = Hash::ROOT;
    let event = |message: &Value| {
        let bytes = Bytes::from(message.to_string());
        hash = hash.chain(&bytes);
        NewEvent { bytes, hash, turn: 1, tokens: 1, usage: None, origin: None }
    };
    let events = values.iter().map(event).collect();
    store.append("s", AppendRequest { events, ..AppendRequest::default() }).await.unwrap();
    let last = page(&store, "400", 8_000).await;
    assert_eq!(numbers(&last), [400]);
    assert_eq!(last.originals[0].action.as_deref(), Some("Read f199"));
    assert_eq!(numbers(&page(&store, "1", 8_000).await), [1, 201]);
    let rows = outline(&store, "s", 380, 5, false).await.unwrap().rows;
    assert_eq!(rows[0].action.as_deref(), Some("Read f179"));
}

/// An agent asks for lines by the numbers that a search gave, for several places at once, and gets nothing twice.
#[tokio::test]
async fn places_are_shown_once_and_no_longer_than_asked_for() {
    let lines = |count: usize, end: &str| {
        (1..=count).map(|at| format!("line {at} of the log")).collect::<Vec<_>>().join("\n") + end
    };
    let run = |command: &str| Call("Bash", json!({ "command": command }));
    let said = [
        User("Read the logs"),
        run("cat long.log"),
        Result(lines(500, "\nthe end")),
        run("cat short.log"),
        // A little more than a message of a list may have.
        Result(lines(130, "\nthe end")),
    ];
    let store = stored("openai-chat", &said).await;
    let shown = async |what: &str| show(&store, "s", what, 8_000).await.unwrap().text;

    let page = shown("2:L31-L33,2:L498-500").await;
    let found: Vec<&str> = page.lines().filter(|line| line.starts_with("line ")).collect();
    let wanted = [31, 32, 33, 498, 499, 500].map(|at| format!("line {at} of the log"));
    assert_eq!(found, wanted, "{page}");
    let page = shown("2:0-17").await;
    assert!(page.ends_with("\nline 1 of the log\n"), "{page}");
    // From a line on, a message takes no whole page.
    let page = shown("2:L31").await;
    assert!(page.contains("\nline 31 of the log\n") && !page.contains("the end"), "{page}");
    let mut whole = page;
    while let Some(at) = whole.find("… (it goes on at ") {
        let place = whole.split_off(at);
        let place = place.trim_start_matches("… (it goes on at ").trim_end_matches(")\n");
        assert!(place.starts_with("2:L"), "{place}");
        whole += &shown(place).await;
    }
    let found: Vec<&str> = whole.lines().filter(|line| line.starts_with("line ")).collect();
    let wanted: Vec<_> = (31..=500).map(|at| format!("line {at} of the log")).collect();
    assert_eq!(found, wanted);
    assert!(whole.ends_with("\nthe end\n"), "{whole}");
    // A place in a call brings no result.
    let page = shown("1:0").await;
    assert!(!page.contains("── @2 "), "{page}");

    // The result comes with its call, and so it does not come again. A rest of some lines is shown at once.
    let page = shown("3,4").await;
    assert_eq!(page.matches("── @4 ").count(), 1, "{page}");
    assert!(page.contains("line 1 of the log\n") && page.ends_with("\nthe end\n"), "{page}");

    for wrong in ["2:L9-x", "2:Lx", "2:5-L"] {
        let refused = show(&store, "s", wrong, 8_000).await;
        assert!(matches!(refused, Err(RecallError::Cursor(_))), "{wrong}");
    }
}

/// A command that writes a file shows the newest state of it as much as an edit does.
#[tokio::test]
async fn a_command_that_writes_a_file_is_its_newest() {
    let said = [
        Call("Write", json!({ "file_path": "panel.py", "content": "SIZE = 400\n" })),
        Result("File created successfully at: panel.py".into()),
        Call("Bash", json!({ "command": "sed -i 's/SIZE = 400/SIZE = 150/' panel.py" })),
        Result(String::new()),
    ];
    let store = stored("openai-chat", &said).await;
    let found = hits(&store, GrepQuery::new("SIZE", SearchMode::Text)).await;
    let newest: Vec<_> = found
        .found
        .iter()
        .map(|hit| (hit.event, hit.version.as_ref().map(|version| (version.newest, version.see))))
        .collect();
    assert!(newest.contains(&(0, Some((false, 2)))), "{newest:?}");
    assert!(newest.contains(&(2, Some((true, 2)))), "{newest:?}");
}

/// A name of several words is looked for as a whole: a message with one of its words is worth little.
#[tokio::test]
async fn a_name_is_more_than_its_words() {
    let run = |command: &'static str| Call("Bash", json!({ "command": command }));
    let said = [
        User("The status of each code, and the code of each status: which status code is it?"),
        run("cat schema.sql"),
        Result("create table tickets (\n  code text,\n  referral_code text\n);".into()),
        run("ls"),
        Result("Exit code: 0\ncode status\nreferral\nlayout.tsx app".into()),
        Assistant("The patch of app/layout.tsx did not apply."),
    ];
    let store = stored("openai-chat", &said).await;
    for (query, event, line) in [
        ("status referral_code", 2, "referral_code text"),
        ("app/layout.tsx code", 5, "The patch of app/layout.tsx did not apply."),
    ] {
        let found = hits(&store, GrepQuery::new(query, SearchMode::Text)).await;
        assert_eq!(found.found[0].event, event, "{query}");
        assert!(hits_text(&found).contains(line), "{query}");
    }
    // A word that the query also has alone counts as one.
    let found = hits(&store, GrepQuery::new("status code status_code", SearchMode::Text)).await;
    assert_eq!(found.found[0].event, 0);
}
