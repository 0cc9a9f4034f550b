//! A `tokenizer.json` of a user.

use midfold_tokens::{Counter, TextKind, hf_from_bytes};

const TINY: &str = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],
    "normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,
    "decoder":null,"model":{"type":"WordLevel","vocab":{"[UNK]":0,"hello":1,"world":2},
    "unk_token":"[UNK]"}}"#;

#[test]
fn loads_from_bytes() {
    let counter = hf_from_bytes("tiny.json", TINY.as_bytes()).unwrap();
    assert_eq!(counter.name(), "tiny.json");
    assert!(counter.is_exact());
    assert_eq!(counter.count("hello world hello", Content::Prose), 3);
    assert_eq!(counter.count("", Content::Prose), 0);
}

#[test]
fn says_what_is_wrong() {
    for wrong in [&b"\xff"[..], b"{}", b"not json"] {
        let error = hf_from_bytes("bad.json", wrong).err().unwrap();
        assert!(error.to_string().contains("bad.json"), "{error}");
    }
}
