//! The line diff that shows an edit.

use midfold_store::inside::lines;

#[test]
fn lines_that_stay_stay() {
    assert_eq!(lines("a\nb\nc\nd\n", "a\nx\nc\ny\nd"), " a\n-b\n+x\n c\n+y\n d");
    assert_eq!(lines("", "a\nb"), "+a\n+b");
    assert_eq!(lines("a", ""), "-a");
    assert_eq!(lines("a\na", "a"), " a\n-a");
    assert_eq!(lines("", ""), "");
}

#[test]
fn what_is_too_long_to_compare_is_all_out_all_in() {
    let text = |mark: &str| (0..600).map(|n| format!("{mark}{n}\nsame\n")).collect::<String>();
    let shown = lines(&text("a"), &text("b"));
    assert_eq!(shown.lines().filter(|line| line.starts_with('-')).count(), 1_199);
    assert_eq!(shown.lines().filter(|line| line.starts_with('+')).count(), 1_199);
    assert!(shown.ends_with("\n same"));
}
