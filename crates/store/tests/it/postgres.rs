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
