//! The kind of name that an identifier is, for figures by class.

use midfold_core::ids::{IdClass, class_of};

/// The kinds of names that an agent cannot guess again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameClass {
    /// A path or a file name.
    Path,
    /// A name in code.
    Symbol,
    /// A ticket, a call id or an address: letters and digits in a fixed form.
    Id,
    /// A number.
    Number,
    /// A host, with or without a port, or a URL.
    Host,
    /// A hash, or the start of one.
    Hash,
    /// A string in quotes.
    Quote,
}

impl NameClass {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Self; 7] =
        [Self::Path, Self::Symbol, Self::Id, Self::Number, Self::Host, Self::Hash, Self::Quote];

    /// The name of the class.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Symbol => "symbol",
            Self::Id => "id",
            Self::Number => "number",
            Self::Host => "host",
            Self::Hash => "hash",
            Self::Quote => "quote",
        }
    }

    /// The class of an identifier. It is never [`NameClass::Quote`], which depends on the text around it.
    ///
    /// ```
    /// use midfold_eval::replay::NameClass;
    /// assert_eq!(NameClass::of("db-prod-1:5432"), NameClass::Host);
    /// assert_eq!(NameClass::of("src/main.rs:12"), NameClass::Path);
    /// assert_eq!(NameClass::of("FRE-512"), NameClass::Id);
    /// assert_eq!(NameClass::of("a9f83c2"), NameClass::Hash);
    /// ```
    #[must_use]
    pub fn of(id: &str) -> Self {
        let bytes = id.as_bytes();
        let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
        if digits > 0 && bytes.iter().all(|b| b.is_ascii_digit() || b".:-/_#".contains(b)) {
            return if is_address(id) { Self::Host } else { Self::Number };
        }
        if is_hash(bytes, digits) {
            return Self::Hash;
        }
        if is_host(id) {
            return Self::Host;
        }
        match class_of(id) {
            IdClass::Path => Self::Path,
            IdClass::Value => Self::Id,
            // The engine's own classes have no tickets, so `FRE-512` is a symbol there.
            IdClass::Symbol if is_ticket(id) => Self::Id,
            IdClass::Symbol => Self::Symbol,
        }
    }
}

fn is_hash(bytes: &[u8], digits: usize) -> bool {
    // Digits alone are a number, letters alone a word.
    (7..=64).contains(&bytes.len())
        && digits > 0
        && digits < bytes.len()
        && bytes.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
}

/// Whether it is an address: `10.0.0.7`, with or without a port.
fn is_address(id: &str) -> bool {
    let host = id.split_once(':').map_or(id, |(host, _)| host);
    let parts: Vec<&str> = host.split('.').collect();
    parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

fn is_host(id: &str) -> bool {
    const ENDINGS: [&str; 13] = [
        "com", "org", "net", "io", "dev", "edu", "gov", "local", "internal", "example", "test",
        "ai", "app",
    ];
    if id.contains("://") || id.starts_with("localhost") {
        return true;
    }
    let name = id.split(['/', ':']).next().unwrap_or(id);
    if name.contains('@') {
        return false;
    }
    let known = name.rsplit_once('.').is_some_and(|(_, end)| ENDINGS.contains(&end));
    let port = id.split_once(':').is_some_and(|(host, port)| {
        (2..=5).contains(&port.len())
            && port.bytes().all(|b| b.is_ascii_digit())
            && !host.contains(['/', '_'])
            && class_of(host) != IdClass::Path
            && host.contains('-')
    });
    known || port
}

/// Whether it is a ticket: `FRE-512`.
fn is_ticket(id: &str) -> bool {
    id.split_once('-').is_some_and(|(key, number)| {
        (1..=10).contains(&key.len())
            && key.bytes().all(|b| b.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
    })
}
