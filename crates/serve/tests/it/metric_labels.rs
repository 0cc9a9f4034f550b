//! The names of models in metrics are the clients' text.

use std::collections::HashSet;

use midfold_serve::inside::{MOST_MODELS, ModelNames};

#[test]
fn a_client_that_invents_models_makes_no_more_labels_than_the_limit() {
    let names = ModelNames::default();
    let labels: HashSet<String> =
        (0..10 * MOST_MODELS).map(|n| names.label(&format!("model-{n}"))).collect();
    assert_eq!(labels.len(), MOST_MODELS + 1);
    assert_eq!(names.label("model-7"), "model-7", "a known one stays");
    assert_eq!(names.label(&"m".repeat(1_000)), "other");
}
