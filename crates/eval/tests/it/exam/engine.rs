//! Answers of engines outside.

use bytes::Bytes;
use midfold::DialectKind;
use midfold_eval::exam::engine::answered;

#[test]
fn messages_that_say_the_same_are_those_that_were_sent() {
    let sent = [r#"{"role":"user","content":"a"}"#, r#"{"content":"b","role":"assistant"}"#];
    let sent = sent.map(|text| Bytes::from_static(text.as_bytes()));
    let line =
        br#"{"messages":[{"content":"new","role":"user"},{"role":"assistant","content":"b"}]}"#;
    let found = answered(&Bytes::from_static(line), &sent, DialectKind::OpenAiChat).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[1], sent[1]);
    let error = answered(&Bytes::from_static(b"oops\n"), &sent, DialectKind::OpenAiChat);
    assert!(error.unwrap_err().contains("not JSON"));
}
