//! The check of the settings files.

use midfold::Settings;
use midfold_serve::UpstreamTable;

use super::check::DoctorCheck;
use crate::config;
use crate::error::CommandError;
use crate::serve;
use crate::serving;
use crate::tls;

const NAME: &str = "settings";

/// Names the settings files in use, and the policy of `midfold run` and `serve`. Fails where a file, the policy,
/// the keys or a certificate cannot be read, or an upstream is none.
pub fn files() -> DoctorCheck {
    match read() {
        Ok(says) => DoctorCheck::good(NAME, says),
        Err(error) => DoctorCheck::of_error(NAME, error),
    }
}

fn read() -> Result<String, CommandError> {
    let files: Vec<_> = config::paths()?.iter().map(|path| path.display().to_string()).collect();
    let below = serving::below()?;
    let looks_up = serve::recalls(&below);
    let policy = config::policy(Settings { looks_up, ..Settings::default() })?.name;
    below.keys.as_deref().map(crate::key::read).transpose()?;
    serve::upstreams(&below, UpstreamTable::default())?;
    tls::outgoing(&below)?;
    tls::of(&below)?;
    let named = if files.is_empty() {
        "no file, so defaults hold".to_owned()
    } else {
        files.join(", then ")
    };
    Ok(format!("{named}; folds by `{policy}`"))
}
