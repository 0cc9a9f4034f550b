//! Answers of models on disk.

use std::fs;

use midfold::core::Hash;
use midfold::core::narrate::{FinishReason, SummaryReply};
use midfold_cli::inside::AnswerCache;

#[test]
fn an_answer_is_found_under_what_was_asked_and_nowhere_else() {
    let folder = std::env::temp_dir().join(format!("midfold-cache-{}", std::process::id()));
    let cache = AnswerCache::open(&folder).unwrap();
    let (one, two) = (Hash::ROOT.chain(b"one"), Hash::ROOT.chain(b"two"));
    let reply = SummaryReply {
        text: "Done.".to_owned(),
        finish: FinishReason::Stop,
        model: "m".to_owned(),
        usage: None,
        calls: 2,
    };
    assert!(!cache.has(&one));
    cache.put(&one, &reply).unwrap();
    assert!(cache.has(&one) && !cache.has(&two));
    assert_eq!(cache.get(&one), Some(reply));
    // Copied to another name, or broken: not an answer.
    fs::create_dir_all(cache.place(&two).parent().unwrap()).unwrap();
    fs::copy(cache.place(&one), cache.place(&two)).unwrap();
    assert!(!cache.has(&two));
    assert_eq!(cache.get(&two), None);
    fs::write(cache.place(&one), "{").unwrap();
    assert!(!cache.has(&one), "the request is made again");
    assert_eq!(cache.get(&one), None);
    fs::remove_dir_all(folder).unwrap();
}
