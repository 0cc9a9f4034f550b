//! x
#[tokio::test]
async fn x() { let _ = midfold::store::MemoryStore::new(); }
