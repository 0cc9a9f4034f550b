//! What a context says, in passages.

use midfold_eval::exam::passages::passages;

#[test]
fn a_message_is_read_as_its_writer_meant_it() {
    let message = br#"{"role":"assistant","content":"One.\n Two.","tool_calls":[{"function":
        {"arguments":"{\"z\":{\"a\":[\"x\\ny\",1]},\"b\":true}"}}]}"#;
    assert_eq!(
        passages([&message[..]].into_iter()),
        ["One.", "Two.", "z: a: x", "y", "z: a: 1", "b: True"]
    );
}

#[test]
fn a_long_line_is_cut_at_sentences() {
    let sentence = format!("{}. ", "a".repeat(150));
    let message = format!(r#"{{"content":"{}"}}"#, sentence.repeat(4));
    let found = passages([message.as_bytes()].into_iter());
    assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), [303, 303]);
}
