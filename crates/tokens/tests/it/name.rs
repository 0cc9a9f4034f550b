//! Counters by name.

use midfold_tokens::{by_name, names};

#[test]
fn every_name_leads_to_its_counter() {
    for name in names().into_iter().filter(|&name| name != "chars:R") {
        assert_eq!(by_name(name).unwrap().name(), name);
    }
    assert_eq!(by_name("chars:3.2").unwrap().name(), "chars:3.2");
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    for wrong in ["gpt9", "estimate:", "estimate:x", "", "o200k "] {
        let error = by_name(wrong).err().unwrap().to_string();
        assert!(error.contains("estimate:claude-old") && error.contains("chars:R"), "{error}");
    }
    assert!(by_name("chars:zero").err().unwrap().to_string().contains("chars:3.2"));
}
