//! Figures and words in few columns.

use midfold_top::age;
use midfold_top::inside::{facts, fit, pad, percent, short, wrap};

#[test]
fn figures_are_short() {
    let shown = [0, 999, 1_000, 1_049, 13_599, 99_950, 128_000, 999_499, 999_500, 1_234_567];
    let expected = ["0", "999", "1k", "1k", "13.6k", "100k", "128k", "999k", "1M", "1.2M"];
    assert_eq!(shown.map(short), expected);
    assert_eq!(
        [0, 61_000, 7_200_000, 1 << 40].map(|now| age(0, now)),
        ["0 s", "1 m", "2 h", "12725 d"]
    );
    assert_eq!(age(5, 0), "0 s", "clocks differ");
    assert_eq!(percent(0.6512), "65 %");
}

#[test]
fn wide_letters_take_two_columns() {
    assert_eq!(
        (fit("a漢字b", 6), fit("a漢字b", 4), fit("ab", 0)),
        ("a漢字b".into(), "a漢…".into(), String::new())
    );
    assert_eq!(pad("漢", 4, true), "  漢");
    assert_eq!(wrap("one two 漢字漢", 5), ["one", "two", "漢字", "漢"]);
    assert_eq!(wrap("", 5), [""]);
    assert_eq!(facts(&["a b".into(), String::new(), "c".into(), "d".into()], 7), ["a b · c", "d"]);
}
