//! Where a page of originals starts.

use midfold_store::inside::PageCursor;
use midfold_store::recall::RecallError;

#[test]
fn cursors_are_places_in_a_text() {
    let at = |cursor: &str| PageCursor::parse(cursor).unwrap().offset("ä1\nb\nc\n");
    assert_eq!([at("12"), at("@12:3"), at("12:99"), at("12:L2"), at("12:L1")], [0, 3, 7, 3, 0]);
    for bad in ["", "x", "12:", "12:x", "12:Lx", ":3", "12:-1"] {
        assert!(matches!(PageCursor::parse(bad), Err(RecallError::Cursor(_))), "{bad}");
    }
}
