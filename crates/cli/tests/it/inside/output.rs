//! The line that says how far a command is.

use midfold_cli::inside::cut;

#[test]
fn a_line_is_cut_to_its_columns() {
    assert_eq!((cut("abc", 3), cut("abc", 2), cut("", 0)), ("abc", "ab", ""));
    assert_eq!((cut("a漢b", 2), cut("a漢b", 3)), ("a", "a漢"), "wide letters take two");
}
