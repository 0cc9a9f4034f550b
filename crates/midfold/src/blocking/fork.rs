//! What a session is called that goes on from an earlier message of another one: `ID~` and twelve digits.

/// How many forks of one session are looked at.
pub(super) const MOST: u32 = 1_000;
const DIGITS: usize = 12;

/// What the ids of all forks of a session begin with.
pub(super) fn prefix(id: &str) -> String {
    format!("{id}~")
}

/// An id of a fork. The fork of a fork is one of the same session.
pub fn id(of: &str, hex: &str) -> String {
    format!("{}{}", prefix(base(of)), &hex[..DIGITS])
}

/// Whether this is the id of a fork of that session.
pub fn is_of(fork: &str, id: &str) -> bool {
    fork != id && base(fork) == id
}

/// The session that a fork is of; of another id that id.
fn base(id: &str) -> &str {
    let is_hex =
        |digits: &str| digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    id.rsplit_once('~').filter(|(_, digits)| is_hex(digits)).map_or(id, |(base, _)| base)
}
