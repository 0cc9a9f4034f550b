//! Ids of sessions.

use midfold_cli::inside::{new_id, random};

#[test]
fn ids_sort_by_time_and_differ() {
    let ids: Vec<_> = [(1, [9, 9]), (1_000, [0, 0]), (1_795_305_600_000, [1, 2])]
        .map(|(now, random)| new_id(now, random))
        .into();
    assert!(ids.is_sorted() && ids.iter().all(|id| id.len() == 26), "{ids:?}");
    assert_ne!(new_id(5, [random(), random()]), new_id(5, [random(), random()]));
}
