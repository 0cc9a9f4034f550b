//! The tables that are made when the crate is built, and where texts are split: held against the `tiktoken` crate,
//! which runs the expressions themselves.

#![expect(clippy::expect_used, reason = "a test that fails should fail loudly")]

use std::fmt::Write;

use midfold_tokens::inside::{CL100K, O200K};
use proptest::prelude::*;
use tiktoken::CoreBpe;

fn theirs() -> [&'static CoreBpe; 2] {
    ["o200k_base", "cl100k_base"].map(|name| tiktoken::get_encoding(name).expect("a feature"))
}

fn agree(text: &str) -> Result<(), String> {
    for (ours, theirs) in [&O200K, &CL100K].into_iter().zip(theirs()) {
        let (ours, theirs) = (ours.count(text), theirs.count(text) as u64);
        if ours != theirs {
            return Err(format!("{ours} for {theirs} of {text:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_token_is_where_it_was() {
    for (ours, theirs) in [&O200K, &CL100K].into_iter().zip(theirs()) {
        assert_eq!(ours.size(), theirs.vocab_size());
        for rank in 0..ours.size() as u32 {
            let token = theirs.decode(&[rank]);
            assert_eq!(ours.token(rank), token);
            if token.len() > 1 {
                assert_eq!(ours.rank(&token), Some(rank));
            }
        }
    }
}

#[test]
fn what_is_no_token_is_not_found() {
    for absent in [&b"\xFF\xFE"[..], b"\0\0\x01", b"qxzqxzqx", b"no token has all of these words"] {
        assert_eq!((O200K.rank(absent), CL100K.rank(absent)), (None, None), "{absent:?}");
    }
}

/// A character alone, and between what may take it: letters, marks, spaces, digits. All that are common, and of the
/// large blocks every fifth or hundredth one: all of them take a minute.
#[test]
fn characters_are_of_their_class() {
    let common = '\0'..='\u{3000}';
    let scripts = ('\u{3000}'..='\u{33fff}').step_by(5);
    let rare = ('\u{34000}'..=char::MAX).step_by(101);
    let mut text = String::new();
    for character in common.chain(scripts).chain(rare) {
        let _ = writeln!(text, "{character}a {character}A{character} 1{character}");
        if text.len() > 8_000 {
            assert_eq!(agree(&text), Ok(()));
            text.clear();
        }
    }
    assert_eq!(agree(&text), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..<_>::default() })]

    /// What the expressions tell apart, in any order: case, marks, endings, spaces, line ends, digits.
    #[test]
    fn texts_of_what_the_expressions_tell_apart(
        text in "(a|B|ǅ|ʰ|語|\u{301}|\u{93e}|'|s|S|ſ|t|re|VE|ll|d|m| |  |\t|\u{a0}|\u{2028}|\r|\n|/|-|1|²|٣|Ⅷ|😀|\u{200d}|_|\\.){0,24}"
    ) {
        prop_assert_eq!(agree(&text), Ok(()));
    }

    /// Long pieces are merged in another way than short ones.
    #[test]
    fn long_pieces(text in "[a-d]{30,400}|[ab語é]{20,90}|[=\\-*#]{40,200}|\\PC{40,200}") {
        prop_assert_eq!(agree(&text), Ok(()));
    }
}
