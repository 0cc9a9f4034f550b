//! What may be shown of a store's URL.

use midfold_store::mask;

#[test]
fn no_password_is_shown() {
    assert_eq!(mask("postgres://me:pa:s@s@host/db"), "postgres://me:***@host/db");
    assert_eq!(mask("x://h/d?password=abc&a=b"), "x://h/d?password=***&a=b");
    assert_eq!(mask("sqlite:/a/b"), "sqlite:/a/b");
}
