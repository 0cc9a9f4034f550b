//! The data export of ChatGPT.

use super::{events, fixture, outcome, told};

#[test]
fn chatgpt_sends_the_path_to_the_current_node() {
    assert_eq!(
        told(&outcome(fixture("chatgpt.json"))),
        include_str!("../../fixtures/told/chatgpt.txt")
    );
}

#[test]
fn chatgpt_trees_without_an_end_or_with_a_circle_are_read() {
    let node = |id: &str, parent: &str| {
        format!(
            r#""{id}":{{"id":"{id}","parent":"{parent}","children":[],"message":{{"id":"{id}","author":{{"role":"user"}},"content":{{"content_type":"text","parts":["{id}"]}}}}}}"#
        )
    };
    let text = format!(r#"{{"mapping":{{{},{}}}}}"#, node("a", "b"), node("b", "a"));
    let found = outcome(&text);
    assert_eq!(events(&found.conversations[0]).len(), 2);
    assert_eq!(super::codes(&found), ["no-current-node"]);
}
