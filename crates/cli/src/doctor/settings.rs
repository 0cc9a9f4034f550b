//! The check of the settings files.

use midfold::Settings;

use super::check::DoctorCheck;
use crate::config;
use crate::serve::recalls;
use crate::serving;

const NAME: &str = "settings";

/// Names the settings files in use, and the policy of `midfold run` and `serve`. Fails where a file, the policy or the
/// keys cannot be read.
pub fn files() -> DoctorCheck {
    let paths = match config::paths() {
        Ok(paths) => paths,
        Err(error) => return DoctorCheck::of_error(NAME, error),
    };
    let served = |looks_up| config::policy(Settings { looks_up, ..Settings::default() });
    let policy = match serving::below().and_then(|below| served(recalls(&below))) {
        Ok(policy) => policy.name,
        Err(error) => return DoctorCheck::of_error(NAME, error),
    };
    let keys = serving::below().ok().and_then(|below| below.keys);
    if let Some(Err(error)) = keys.as_deref().map(crate::key::read) {
        return DoctorCheck::of_error(NAME, error);
    }
    let files = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    match files.is_empty() {
        true => DoctorCheck::good(NAME, format!("no file, so defaults hold; folds by `{policy}`")),
        false => DoctorCheck::good(NAME, format!("{}; folds by `{policy}`", files.join(", then "))),
    }
}
