//! The settings for rows of training data, as a caller gives them.

use midfold::RowSettings;
use midfold::core::trajectory::TrajectoryLimits;

/// A library that takes the limits' defaults makes the rows that the command makes without a flag.
#[test]
fn what_nobody_sets_is_the_default_of_the_limits() {
    let settings = RowSettings::default().settings().unwrap();
    assert_eq!(settings.limits, TrajectoryLimits::default());
}
