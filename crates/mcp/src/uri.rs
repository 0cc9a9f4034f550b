//! Addresses of resources: `midfold://session/ID/recap`.

const BEFORE: &str = "midfold://session/";
const AFTER: &str = "/recap";

/// The template by which clients make the address of a session's recap.
pub(crate) const TEMPLATE: &str = "midfold://session/{id}/recap";

/// The address of a session's recap. Bytes that are special in addresses are escaped.
pub fn of_recap(id: &str) -> String {
    let mut uri = BEFORE.to_owned();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri + AFTER
}

/// The id of the session whose recap has this address; `None` if it is no such address.
pub fn session(uri: &str) -> Option<String> {
    let mut rest = uri.strip_prefix(BEFORE)?.strip_suffix(AFTER)?.bytes();
    let mut id = Vec::new();
    while let Some(byte) = rest.next() {
        id.push(if byte == b'%' { digit(rest.next()?)? << 4 | digit(rest.next()?)? } else { byte });
    }
    String::from_utf8(id).ok().filter(|id| !id.is_empty())
}

fn digit(byte: u8) -> Option<u8> {
    u8::try_from(char::from(byte).to_digit(16)?).ok()
}
