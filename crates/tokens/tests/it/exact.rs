//! Exact counts against a second implementation, and hostile input.

#![expect(clippy::expect_used, reason = "a test that fails should fail loudly")]

use std::sync::Arc;

use midfold_tokens::{Counter, TextKind, by_name};
use proptest::prelude::*;

fn counter(name: &str) -> Arc<dyn Counter> {
    by_name(name).expect("a default feature")
}

fn ours(name: &str, text: &str) -> usize {
    counter(name).count(text, TextKind::Prose) as usize
}

const TRICKY: &[&str] = &[
    "",
    " ",
    "\n",
    "  \n\n \t x",
    "<|endoftext|> and <|im_start|>user<|im_end|>",
    "don't DON'T we'll I'VE 'tis ''s",
    "👩‍👩‍👧‍👦 🇩🇪 ☠️ é é ﷽",
    "Z͑ͫ̓a̴l͔g̪o͖",
    "日本語のテキスト、そして中文，한국어 и русский عربى",
    "0123456789 3.14159 1,000,000 0xDEADBEEF",
    "fn main() { println!(\"{:?}\", x.iter().map(|&y| y + 1)); }\r\n\r\n",
    "\u{FEFF}bom \u{200b}zero \u{a0}nbsp \u{2028}ls",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "==========----------##########",
    "camelCaseAndHTTPServer2XX_snake-kebab",
];

#[test]
fn tricky_strings_agree_with_a_second_implementation() {
    for text in TRICKY {
        assert_eq!(ours("o200k", text), bpe_openai::o200k_base().count(*text), "{text:?}");
        assert_eq!(ours("cl100k", text), bpe_openai::cl100k_base().count(*text), "{text:?}");
        for repeat in [2, 17, 300] {
            let many = text.repeat(repeat);
            assert_eq!(ours("o200k", &many), bpe_openai::o200k_base().count(&*many), "{text:?}");
        }
    }
}

#[test]
fn special_tokens_are_ordinary_text() {
    assert_eq!(ours("o200k", "<|endoftext|>"), 7);
    assert_eq!(ours("cl100k", "<|endoftext|>"), 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn any_text_agrees_with_a_second_implementation(text in "(\\PC|[ \\n\\r\\t]|[a-zA-Z]{1,9}| ){0,80}") {
        prop_assert_eq!(ours("o200k", &text), bpe_openai::o200k_base().count(&*text));
        prop_assert_eq!(ours("cl100k", &text), bpe_openai::cl100k_base().count(&*text));
    }
}

fn base64_like(len: usize) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7_u64;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            alphabet[(state >> 58) as usize] as char
        })
        .collect()
}

/// Cut pieces may differ by a token at each cut; nothing may panic or be left out.
#[test]
fn hostile_megabytes_are_counted() {
    const MB: usize = 1 << 20;
    let inputs = [
        ("spaces", " ".repeat(MB)),
        ("a", "a".repeat(MB)),
        ("newlines", "\n".repeat(MB)),
        ("=", "=".repeat(MB)),
        ("base64", base64_like(MB)),
        ("one word between", format!("{} mid {}", "=".repeat(MB / 2), " ".repeat(MB / 2))),
        ("random letters", base64_like(2 * MB).replace(|c: char| !c.is_ascii_lowercase(), "")),
        ("CJK", "語".repeat(MB / 3)),
        ("8 MB of a", "a".repeat(8 * MB)),
    ];
    for (what, text) in &inputs {
        let start = std::time::Instant::now();
        let got = ours("o200k", text);
        let took = start.elapsed();
        let want = bpe_openai::o200k_base().count(text.as_str());
        let per_mb = took.as_secs_f64() * MB as f64 / text.len() as f64;
        println!("{what}: {got} tokens (bpe-openai {want}), {per_mb:.3} s a MB");
        let allowed = text.len() / 8_192 + 8;
        assert!(got.abs_diff(want) <= allowed, "{what}: {got} against {want}");
    }
}
