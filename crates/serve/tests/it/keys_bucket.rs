//! How often somebody may ask.

use midfold_serve::inside::Bucket;

#[test]
fn a_minutes_worth_at_once_then_as_time_goes() {
    let mut bucket = Bucket::full(Some(3));
    let start = 1_700_000_000_000;
    for _ in 0..3 {
        assert_eq!(bucket.take(start), Ok(()));
    }
    assert_eq!(bucket.take(start), Err(20));
    assert_eq!(bucket.take(start + 19_001), Err(1));
    assert_eq!(bucket.take(start + 20_000), Ok(()));
    assert_eq!(bucket.take(start), Err(20), "the clock was set back");
    for _ in 0..3 {
        assert_eq!(bucket.take(start + 3_600_000), Ok(()), "never more than a minute's worth");
    }
    assert!(bucket.take(start + 3_600_000).is_err());
    let mut free = Bucket::full(None);
    assert!((0..1_000).all(|_| free.take(0).is_ok()));
}
