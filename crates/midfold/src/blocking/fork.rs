//! The ids of forks, which go on from an earlier message of another session: `ID~` and twelve hexadecimal digits.

/// How many forks of one session are read from the store when its newest fork is looked for.
pub(super) const MOST: u32 = 1_000;
const DIGITS: usize = 12;

/// The prefix that the ids of all forks of a session share.
pub(super) fn prefix(id: &str) -> String {
    format!("{id}~")
}

/// The id of a fork of the session `of`. A fork of a fork counts as a fork of the first session.
pub fn id(of: &str, hex: &str) -> String {
    format!("{}{}", prefix(base(of)), &hex[..DIGITS])
}

/// Whether `fork` is the id of a fork of the session `id`.
pub fn is_of(fork: &str, id: &str) -> bool {
    fork != id && base(fork) == id
}

/// The id of the session that was forked; the same id if it is not the id of a fork.
fn base(id: &str) -> &str {
    let is_hex =
        |digits: &str| digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    id.rsplit_once('~').filter(|(_, digits)| is_hex(digits)).map_or(id, |(base, _)| base)
}
