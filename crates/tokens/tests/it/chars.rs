//! Characters for each token.

use midfold_tokens::{CharsCounter, Counter, TextKind};

#[test]
fn divides_without_drift() {
    let counter = CharsCounter::new("3.2").unwrap();
    assert_eq!(counter.name(), "chars:3.2");
    for (chars, tokens) in [(0, 0), (1, 1), (3, 1), (4, 2), (16, 5), (17, 6), (10_000, 3125)] {
        assert_eq!(counter.count(&"é".repeat(chars), TextKind::Result), tokens, "{chars}");
    }
    assert_eq!(CharsCounter::new("4").unwrap().count("12345", TextKind::Prose), 2);
    assert_eq!(CharsCounter::new("0.5").unwrap().count("😀b", TextKind::Prose), 4);
    assert_eq!(counter.per_message(), 4);
}

#[test]
fn refuses_what_is_not_a_positive_decimal() {
    for wrong in [
        "",
        "0",
        "0.0",
        "-1",
        "+4",
        "4.",
        ".5",
        "1e3",
        "NaN",
        "3,2",
        "1.2.3",
        " 4",
        "1234567890",
        "٣",
    ] {
        assert!(CharsCounter::new(wrong).is_err(), "{wrong:?}");
    }
}
