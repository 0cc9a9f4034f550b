//! Addresses of resources: `midfold://session/ID/recap`.

const BEFORE: &str = "midfold://session/";
const AFTER: &str = "/recap";

/// How clients make an address of a session's id.
pub(crate) const TEMPLATE: &str = "midfold://session/{id}/recap";

/// The address of a session's recap.
pub(crate) fn of_recap(id: &str) -> String {
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

/// The id of the session whose recap has this address.
pub(crate) fn session(uri: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_whatever_they_are_made_of() {
        for id in ["01jdq", "a b", "a/recap", "100%", "naïve", "%2F", "a%2fb"] {
            assert_eq!(session(&of_recap(id)).as_deref(), Some(id), "{}", of_recap(id));
        }
        assert_eq!(of_recap("a/b c"), "midfold://session/a%2Fb%20c/recap");
    }

    #[test]
    fn other_addresses_name_no_session() {
        for uri in [
            "",
            "midfold://session//recap",
            "midfold://session/a",
            "midfold://session/%2/recap",
            "midfold://session/%zz/recap",
            "midfold://session/%ff/recap",
            "https://session/a/recap",
        ] {
            assert_eq!(session(uri), None, "{uri}");
        }
    }
}
