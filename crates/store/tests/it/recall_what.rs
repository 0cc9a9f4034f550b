//! How people and models name the messages that they ask for.

use std::ops::Range;

use midfold_store::recall::{ExpandTarget, RecallError};

/// As a list: `[12..13]` in brackets looks like one of numbers.
fn one(run: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(run).collect()
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let runs = |text| match ExpandTarget::parse(text) {
        Ok(ExpandTarget::Events(runs)) => runs,
        other => panic!("{text}: {other:?}"),
    };
    for text in ["12", "@12", "#12", " event 12", "message @12", "[12]", "@12,", "12, 12"] {
        assert_eq!(runs(text), one(12..13), "{text}");
    }
    for text in ["12-20", "@12-20", "@12-@20", "12..20", "12..=20", "12 to 20", "12–20", "12 - 20"]
    {
        assert_eq!(runs(text), one(12..21), "{text}");
    }
    assert_eq!(runs("20,12,15"), [12..13, 15..16, 20..21]);
    assert_eq!(runs("[4, 7-9, 8]"), [4..5, 7..10]);
    assert_eq!(runs("1-3,4-5"), one(1..6));
    assert_eq!((runs("12-"), runs("@12..")), (one(12..u64::MAX), one(12..u64::MAX)));
    for text in ["20-12", "0-18446744073709551615", "-", "", ",", "-12", "a,12"] {
        assert!(matches!(ExpandTarget::parse(text), Err(RecallError::What(_))), "{text}");
    }
    assert_eq!(
        ExpandTarget::parse("fold:DEADbeef").ok(),
        Some(ExpandTarget::Fold("deadbeef".into()))
    );
}
