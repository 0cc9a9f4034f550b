//! What known clients write around the words of people, for all formats.

use midfold_core::{ClientReminder, ClientWords, Passage};

use crate::{reminders, steers, voices};

/// The clients that [`crate::voices`], [`crate::reminders`] and `steers` know.
pub(crate) struct KnownClients;

impl ClientWords for KnownClients {
    fn passages(&self, texts: &[&str]) -> Vec<Passage> {
        voices::passages(texts)
    }

    fn steered(&self, last: &str, is_own: bool) -> Option<(usize, Vec<Passage>)> {
        voices::steered(last, is_own)
    }

    fn may_be_steered(&self, end: &[u8]) -> bool {
        steers::may_end(end)
    }

    fn reminders(&self, texts: &[&str]) -> Vec<ClientReminder> {
        reminders::reminders(texts)
    }

    fn reminder_at_end(&self, result: &str) -> Option<ClientReminder> {
        reminders::at_end(result)
    }

    fn may_remind(&self, recorded: &[u8], has_results: bool) -> bool {
        reminders::may_hold(recorded, has_results)
    }
}
