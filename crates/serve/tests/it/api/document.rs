//! The document that describes the interface.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::Asking;

/// The document as it is in the repository.
fn committed() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_in_the_repository_is_the_one_that_is_served() {
    let asking = Asking::new().await;
    let served = asking.get("/v1/openapi.json").await.done();
    // Not shown: it is long.
    assert!(served == midfold_serve::openapi());
    assert!(served == committed(), "midfold print schema openapi > docs/openapi.json");
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_its_own_name() {
    let document = midfold_serve::openapi();
    let text = document.to_string();
    let named: BTreeSet<&str> =
        text.split("\"#/components/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for name in named {
        let (kind, name) = name.split_once('/').unwrap();
        assert!(document["components"][kind][name].is_object(), "{kind}/{name}");
    }
    let mut ids = BTreeSet::new();
    let paths = document["paths"].as_object().unwrap();
    for operation in paths.values().flat_map(|path| path.as_object().unwrap().values()) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{operation}");
        assert!(!operation["summary"].as_str().unwrap().is_empty());
    }
    assert!(ids.len() > 30, "{ids:?}");
}
