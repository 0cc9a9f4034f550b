//! Times in the metrics of a run.

use midfold_cli::inside::report::time;

#[test]
fn times_are_those_of_the_calendar() {
    assert_eq!(time(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(time(951_782_400_000), "2000-02-29T00:00:00.000Z");
    assert_eq!(time(1_795_333_554_120), "2026-11-22T07:45:54.120Z");
}
