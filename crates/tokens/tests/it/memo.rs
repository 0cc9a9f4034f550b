//! Counts that are remembered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use midfold_core::view::MediaRef;
use midfold_tokens::{Counter, MemoCounter, TextKind};

#[derive(Default)]
struct Spy(AtomicU32);

impl Counter for Spy {
    fn name(&self) -> &str {
        "spy"
    }
    fn count(&self, text: &str, content: TextKind) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed);
        text.len() as u32 + u32::from(content == TextKind::Json)
    }
    fn media(&self, _: &MediaRef) -> u32 {
        7
    }
}

fn text(n: usize) -> String {
    format!("{n:0100}")
}

#[test]
fn counts_once_per_text_and_class() {
    let spy = Arc::new(Spy::default());
    let memo = MemoCounter::new(Arc::clone(&spy) as Arc<dyn Counter>, 8);
    for _ in 0..3 {
        assert_eq!(memo.count(&text(1), TextKind::Prose), 100);
        assert_eq!(memo.count(&text(1), TextKind::Json), 101);
    }
    assert_eq!(spy.0.load(Ordering::Relaxed), 2);
    memo.count("short", TextKind::Prose);
    memo.count("short", TextKind::Prose);
    assert_eq!(spy.0.load(Ordering::Relaxed), 4);
    assert_eq!((memo.len(), memo.name(), memo.is_exact()), (2, "spy", false));
}

#[test]
fn stays_bounded_and_keeps_what_is_used() {
    let spy = Arc::new(Spy::default());
    let memo = MemoCounter::new(Arc::clone(&spy), 10);
    for n in 0..1_000 {
        memo.count(&text(0), TextKind::Prose);
        memo.count(&text(n), TextKind::Prose);
        assert!(memo.len() <= 20);
    }
    assert_eq!(spy.0.load(Ordering::Relaxed), 1_000, "text 0 was never counted again");
}
