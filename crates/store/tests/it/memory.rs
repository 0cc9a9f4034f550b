//! The conformance suite on the store in memory.

use std::sync::Arc;

use midfold_store::{MemoryStore, Store, conformance};

#[tokio::test]
async fn memory_passes_the_conformance_suite() {
    let made = || async { Ok(Arc::new(MemoryStore::new()) as Arc<dyn Store>) };
    if let Err(failed) = conformance::run(made).await {
        panic!("{failed}");
    }
}
