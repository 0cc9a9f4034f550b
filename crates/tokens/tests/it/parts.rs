//! What is cut before it is counted.

use std::cell::RefCell;

use midfold_tokens::inside::{CAP, PART, sum};

fn cut(text: &str) -> Vec<usize> {
    let lengths = RefCell::new(Vec::new());
    let total = sum(text, |part| {
        lengths.borrow_mut().push(part.len());
        part.len() as u64
    });
    assert_eq!(total, text.len() as u64);
    lengths.into_inner()
}

#[test]
fn ordinary_text_is_one_part() {
    assert_eq!(cut(&"some words, ".repeat(20_000)), [240_000]);
    assert_eq!(cut(&"a".repeat(CAP)), [CAP]);
    assert_eq!(cut(&format!("{} {}", "a".repeat(CAP), "b".repeat(CAP))), [2 * CAP + 1]);
}

#[test]
fn long_runs_are_cut_at_char_borders() {
    let long = cut(&"a".repeat(CAP + 1));
    assert_eq!(long[0], PART);
    assert_eq!(long.len(), 9);
    let text = format!("start {} end {}", "語".repeat(50_000), "=".repeat(100_000));
    assert!(cut(&text).iter().all(|&len| len <= 2 * PART));
}
