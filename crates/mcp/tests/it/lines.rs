//! Lines that are no requests: each is answered, and the server goes on.

use midfold_mcp::{SessionScope, serve_over};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::kit::{Plan, add, store};

fn initialize() -> String {
    let client = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

/// What is answered to these lines, as far as it is answered.
async fn answers(lines: &[Vec<u8>]) -> Vec<Value> {
    answered(lines, true).await
}

/// As [`answers`]. The last line has no break unless it `ends`.
async fn answered(lines: &[Vec<u8>], ends: bool) -> Vec<Value> {
    let store = store();
    add(&store, &Plan::default()).await;
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    let serving = tokio::spawn(serve_over(store, SessionScope::default(), read, write));
    let (read, mut write) = tokio::io::split(near);
    let lines = lines.join(&b'\n');
    let writing = tokio::spawn(async move {
        write.write_all(&lines).await.unwrap();
        if ends {
            write.write_all(b"\n").await.unwrap();
        }
        write.shutdown().await.unwrap();
    });
    let mut said = BufReader::new(read).lines();
    let mut answers = Vec::new();
    while let Some(line) = said.next_line().await.unwrap() {
        answers.push(serde_json::from_str(&line).unwrap());
    }
    writing.await.unwrap();
    serving.await.unwrap().unwrap();
    answers
}

fn error(answer: &Value) -> (Option<&Value>, i64) {
    (answer.get("id"), answer["error"]["code"].as_i64().unwrap_or_default())
}

#[tokio::test]
async fn what_is_no_json_and_what_is_no_request_is_answered_with_an_error() {
    let bad: [(&[u8], i64, Value); 10] = [
        (b"hello", -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,", -32700, Value::Null),
        (b"\xff\xfe{}", -32700, Value::Null),
        (b"{}", -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"7", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"{\"jsonrpc\":\"1.0\",\"method\":\"ping\",\"id\":{}}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9}", -32600, json!(9)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":5}", -32600, json!("x")),
    ];
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    for (line, code, id) in bad {
        let name = String::from_utf8_lossy(line);
        // Before the protocol begins, and after.
        let lines = [line.to_vec(), initialize().into(), line.to_vec(), list.clone().into()];
        let answers = answers(&lines).await;
        let errors: Vec<_> = answers.iter().filter(|it| it.get("error").is_some()).collect();
        assert_eq!(errors.len(), 2, "{name}: {answers:?}");
        for answer in errors {
            assert_eq!(error(answer), (Some(&id), code), "{name}: {answer}");
            assert_eq!(answer["jsonrpc"], "2.0", "{name}");
        }
        let listed = answers.iter().find(|it| it["id"] == 2);
        assert!(listed.is_some_and(|it| it["result"]["tools"].is_array()), "{name}: {answers:?}");
    }
}

#[tokio::test]
async fn a_line_without_an_end_takes_no_memory_and_the_next_one_is_read() {
    let mut long = br#"{"jsonrpc":"2.0","id":5,"method":""#.to_vec();
    long.resize(17 << 20, b'x');
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let answers = answers(&[initialize().into(), long, list.into()]).await;
    assert!(answers.iter().any(|it| error(it) == (Some(&Value::Null), -32600)), "{answers:?}");
    assert!(answers.iter().any(|it| it["id"] == 2 && it.get("result").is_some()), "{answers:?}");
}

#[tokio::test]
async fn blank_lines_and_notifications_are_no_errors() {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/odd", "params": 5}).to_string();
    let early = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let lines = [
        b" ".to_vec(),
        early.clone().into(),
        initialize().into(),
        early.into(),
        note.into(),
        b"\r".to_vec(),
    ];
    let answers = answers(&lines).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].get("result").is_some());
}

#[tokio::test]
async fn errors_are_answered_to_a_client_that_says_nothing_else() {
    let answers = answers(&[b"hello".to_vec()]).await;
    assert_eq!(answers.iter().map(error).collect::<Vec<_>>(), [(Some(&Value::Null), -32700)]);
}

#[tokio::test]
async fn a_last_line_without_a_break_is_answered() {
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    for (last, id) in [(list.into_bytes(), json!(2)), (b"hello".to_vec(), Value::Null)] {
        let lines = [initialize().into(), last];
        let answers = answered(&lines, false).await;
        assert_eq!(answers.last().unwrap()["id"], id, "{answers:?}");
        assert_eq!(answers, self::answers(&lines).await);
    }
}
