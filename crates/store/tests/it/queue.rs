//! Four workers on one queue, some of which die: each span is folded exactly once. `MIDFOLD_SPANS`
//! says how many spans.

use midfold_store::conformance::workers_share_a_queue;

fn spans() -> u32 {
    std::env::var("MIDFOLD_SPANS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_folds_each_span_once() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("queue.db").display());
    let store = midfold_store::open(&url).await.unwrap();
    assert_eq!(workers_share_a_queue(store, spans(), 4).await, Ok(()));
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgres_folds_each_span_once() {
    let cluster = match midfold_testkit::postgres::Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let url = cluster.schema().unwrap();
    let store = midfold_store::open(&url).await.unwrap();
    assert_eq!(workers_share_a_queue(store, spans(), 4).await, Ok(()));
    cluster.drop_schema(&url);
}
