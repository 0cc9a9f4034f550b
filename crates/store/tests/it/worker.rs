//! Dates without a calendar.

use midfold_core::calendar::date;

#[test]
fn dates() {
    assert_eq!(date(0), "1970-01-01");
    assert_eq!(date(951_782_400_000), "2000-02-29");
    assert_eq!(date(1_795_305_600_000), "2026-11-22");
}
