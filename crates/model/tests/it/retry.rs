//! When a call is tried again, and after how long.

use std::sync::Arc;
use std::time::Duration;

use midfold_core::Hash;
use midfold_core::narrate::FailureClass;
use midfold_model::ModelConfig;
use midfold_model::inside::{pause, retry_after};

fn config() -> ModelConfig {
    let counter = midfold_tokens::CharsCounter::new("3").unwrap();
    ModelConfig::new("http://localhost", "m", Arc::new(counter))
}

#[test]
fn pauses_grow_with_jitter_and_end() {
    let (config, id) = (config(), Hash([255; 32]));
    let pause = |class, tried, asked| pause(&config, id, class, tried, asked);
    assert_eq!(pause(FailureClass::Auth, 1, None), None);
    assert_eq!(pause(FailureClass::Overflow, 1, None), None);
    let first = pause(FailureClass::Server, 1, None).unwrap();
    let second = pause(FailureClass::Server, 2, None).unwrap();
    assert!(first > config.backoff && first < config.backoff * 3 / 2);
    assert!(second > config.backoff * 2 && second < config.backoff * 3);
    assert_eq!(pause(FailureClass::Server, 3, None), None);
    let asked = Some(Duration::from_secs(7));
    assert_eq!(pause(FailureClass::RateLimited, 1, asked), asked);
    assert_eq!(pause(FailureClass::RateLimited, 1, Some(Duration::from_secs(3_600))), None);
}

#[test]
fn retry_after_is_seconds() {
    assert_eq!(retry_after("2"), Some(Duration::from_secs(2)));
    assert_eq!(retry_after("0.5"), Some(Duration::from_millis(500)));
    for bad in ["-1", "Wed, 21 Oct 2015 07:28:00 GMT", "inf", ""] {
        assert_eq!(retry_after(bad), None, "{bad}");
    }
}
