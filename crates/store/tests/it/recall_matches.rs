//! Which lines of a message a query finds.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use midfold_store::SearchMode;
use midfold_store::inside::{LINE, LineQuery, MessageLines};

fn lines(query: &str, mode: SearchMode, text: &str, context: usize) -> MessageLines {
    LineQuery::new(query, mode).unwrap().lines(text, text, context)
}

#[test]
fn the_line_with_the_most_of_the_query_is_shown() {
    let text = "the start\nthe budget of retries\nthe retry budget\nend";
    let found = lines("what is the retry budget", SearchMode::Text, text, 0);
    assert_eq!((found.best.as_str(), found.number), ("the retry budget", Some(3)));
    assert_eq!(found.shown.len(), 1);
    let wide = lines("retry budget", SearchMode::Text, text, 1);
    let shown: Vec<_> = wide.shown.iter().map(|line| (line.number, line.hit)).collect();
    assert_eq!(shown, [(2, false), (3, true), (4, false)]);
    // A word inside another is no match of it.
    for (word, text) in [
        ("led", "called\nled"),
        ("caf", "café\ncaf"),
        ("ports", "report\nport"),
        ("query", "requery\nqueries"),
        ("план", "планы\nплан"),
        ("ärger", "verärgert, ÄRGERLICH\nÄRGER"),
        ("東", "x\n京東a"),
    ] {
        assert_eq!(lines(word, SearchMode::Text, text, 0).number, Some(2), "{word}");
    }
}

#[test]
fn every_line_that_matches_counts_and_few_are_shown() {
    let text = "x1\ny\nx2\nx3\nx4";
    let found = lines("x[0-9]", SearchMode::Regex, text, 0);
    let shown: Vec<_> = found.shown.iter().map(|line| line.number).collect();
    assert_eq!((shown.as_slice(), found.more), (&[1, 3, 4][..], 1));
    let ends = lines("^x[0-9]$", SearchMode::Regex, text, 0);
    assert_eq!((ends.number, ends.more), (Some(1), 1));
    let over = lines("y\nx2", SearchMode::Literal, text, 0);
    assert_eq!((over.best.as_str(), over.number), ("y", Some(2)));
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let text = format!("{} needle {}", "ä".repeat(1_000), "ö".repeat(1_000));
    let found = lines("needle", SearchMode::Literal, &text, 0);
    assert!(found.best.contains("needle") && found.best.chars().count() <= LINE + 2);
    assert_eq!(found.number, None);
}
