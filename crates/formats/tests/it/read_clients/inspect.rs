//! Logs of Inspect AI.

use bytes::Bytes;
use midfold_formats::read::{ReadError, read};

use super::{codes, fixture, outcome, told};

#[test]
fn inspect_samples_are_conversations() {
    assert_eq!(
        told(&outcome(fixture("inspect.json"))),
        include_str!("../../fixtures/told/inspect.txt")
    );
}

#[test]
fn inspect_logs_without_samples_say_how_to_get_them() {
    let header =
        r#"{"version":2,"status":"success","eval":{"task":"t","model":"m"},"results":null}"#;
    let found = outcome(header);
    assert_eq!(codes(&found), ["no-messages", "no-samples"]);
}

#[test]
fn an_archive_is_refused_with_what_to_do() {
    let archive = Bytes::from_static(b"PK\x03\x04\x14\0\0\0\x08\0");
    let error = read(&archive, None).unwrap_err();
    assert_eq!(error, ReadError::Archive);
    assert!(error.to_string().contains("inspect log dump"));
}
