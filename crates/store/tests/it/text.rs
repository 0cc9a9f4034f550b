//! Words, snippets and finding whatever the case: what searches are made of.

use midfold_store::inside::{SNIPPET, WORD, find_folded, snippet, words};

#[test]
fn words_split_at_punctuation_fold_case_and_take_unspaced_scripts_one_by_one() {
    let found: Vec<String> = words("Foo_bar.rs: ÄRGER-42 東京").collect();
    assert_eq!(found, ["foo", "bar", "rs", "ärger", "42", "東", "京"]);
    assert_eq!(words(&"x".repeat(500)).next().map(|word| word.len()), Some(WORD));
}

#[test]
fn snippets_are_bounded_and_cut_between_characters() {
    let text = "ä".repeat(1000);
    let found = snippet(&text, 1000);
    assert!(found.chars().count() <= SNIPPET && found.starts_with('…') && found.ends_with('…'));
    assert_eq!(snippet("short\ntext", 6), "short text");
}

#[test]
fn folded_find_works_on_any_script() {
    assert_eq!(find_folded("The ÄRGER", "ärger"), Some(4));
    assert_eq!(find_folded("Some TEXT", "text"), Some(5));
    assert_eq!(find_folded("abc", "abcd"), None);
}
