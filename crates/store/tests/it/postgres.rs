//! The conformance suite on PostgreSQL: a throw-away server, a schema for each case.
#![cfg(feature = "postgres")]

use midfold_store::conformance;
use midfold_testkit::postgres::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn postgres_passes_the_conformance_suite() {
    let cluster = match Cluster::start() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut failed = Vec::new();
    for case in conformance::cases() {
        let url = cluster.schema().unwrap();
        let store = midfold_store::open(&url).await.unwrap();
        failed.extend(case.run(store).await.err());
        cluster.drop_schema(&url);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A restart closes the connections that the pool keeps. None of them is used for a call afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_server_costs_no_call() {
    let cluster = match Cluster::start_own() {
        Ok(cluster) => cluster,
        Err(why) => return println!("skipped: {why}"),
    };
    let store = midfold_store::open(&cluster.schema().unwrap()).await.unwrap();
    let calls = || {
        let calls: tokio::task::JoinSet<_> = (0..32)
            .map(|_| {
                let store = std::sync::Arc::clone(&store);
                async move { store.sessions(None, 1).await.map(drop) }
            })
            .collect();
        calls.join_all()
    };
    assert!(calls().await.iter().all(Result::is_ok));
    cluster.crash().unwrap();
    let after = calls().await;
    assert!(after.iter().all(Result::is_ok), "{after:?}");
}
