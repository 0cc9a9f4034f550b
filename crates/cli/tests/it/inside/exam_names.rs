//! Names of the strategies of an exam.

use std::collections::BTreeSet;

use midfold_cli::inside::exam::free_name;

#[test]
fn no_two_strategies_get_one_name() {
    let mut names = BTreeSet::new();
    for (name, free) in [("a", "a"), ("a", "a-2"), ("a-2", "a-2-2"), ("a", "a-3")] {
        assert_eq!(free_name(&names, name), free);
        names.insert(free.to_owned());
    }
}
