//! Whether what a format captured is a secret, or a placeholder, a name, a path, an expression.

use super::base64;

/// What a match has to be, besides matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judge {
    /// The format is proof enough; only obvious placeholders are let through.
    Certain,
    /// Has to look random as well: the prefix also starts ordinary words.
    Dense,
    /// The value of a name like `token`: random and not a name, a path or an expression.
    Assigned,
    /// The value of a name like `password`: people choose these, so less random will do.
    Password,
    /// The password in a URL: anything but a template.
    UrlPassword,
    /// A private key block: everything up to its end.
    Block,
    /// What a command or a file holds as a password, and nothing else: not a placeholder.
    Told,
    /// The base64 of a user's name and a password, or what looks random.
    Coded,
    /// Base64 of a text that holds a secret.
    Wrapped,
}

impl Judge {
    /// Whether it is a secret. `holds_secret` looks into a text that was wrapped.
    pub(super) fn is_secret(
        self,
        value: &str,
        quoted: bool,
        holds_secret: impl Fn(&str) -> bool,
    ) -> bool {
        match self {
            Self::Block => true,
            Self::Told => is_told(value, quoted),
            Self::Coded => {
                is_pair(value) || value.len() >= 16 && is_random(value) && is_opaque(value, quoted)
            }
            Self::Wrapped => base64::text(value).is_some_and(|text| holds_secret(&text)),
            Self::Certain => !is_monotone(value),
            Self::Dense => is_random(value) && !is_wordy(value) && !is_placeholder(value),
            Self::UrlPassword => !is_template(value) && !is_monotone(value),
            Self::Assigned => value.len() >= 12 && is_random(value) && is_opaque(value, quoted),
            Self::Password => is_chosen(value, quoted) && is_opaque(value, quoted),
        }
    }
}

fn is_told(value: &str, quoted: bool) -> bool {
    const NAMES: [&str; 8] =
        ["password", "passwd", "pass", "token", "secret", "string", "stdin", "none"];
    let names = NAMES.iter().any(|name| value.eq_ignore_ascii_case(name));
    let plain = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_');
    !(value.len() < 4
        || value.starts_with('-')
        || value.contains(' ')
        || names
        // A word of prose, or the name of something.
        || (plain && !quoted)
        || is_placeholder(value)
        || is_location(value)
        || (!quoted && is_expression(value)))
}

/// Base64 of `name:password`, with nothing but text in it.
fn is_pair(value: &str) -> bool {
    let Some(text) = base64::text(value) else { return false };
    text.split_once(':').is_some_and(|(name, password)| {
        !name.is_empty() && !password.is_empty() && !text.contains(['\n', ' '])
    })
}

/// Not something that only names, points to or stands for a secret.
fn is_opaque(value: &str, quoted: bool) -> bool {
    !(value.contains(' ')
        || is_placeholder(value)
        || is_wordy(value)
        || is_location(value)
        || (!quoted && is_expression(value)))
}

/// A password: a digit or a mark in it besides letters, or upper and lower case when quoted.
fn is_chosen(value: &str, quoted: bool) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letter = has(u8::is_ascii_alphabetic);
    let digit = has(u8::is_ascii_digit);
    let mark = has(|b| b"!@#$%^&*+?~=".contains(b));
    letter && (digit || mark) && (quoted || value.len() >= 6)
}

/// Letters and digits mixed (or long and of mixed case), with enough different characters.
fn is_random(value: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letters = has(u8::is_ascii_alphabetic);
    let digits = has(u8::is_ascii_digit);
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let needed = if digits { 3.0 } else { 3.8 };
    letters && (digits || (cases && value.len() >= 24)) && entropy(value) >= needed
}

/// Shannon entropy of the bytes, in bits a byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|b| counts[usize::from(b)] += 1);
    // Values are at most some thousand bytes.
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum()
}

/// One character again and again: `xxxxxxxx`, `********`.
fn is_monotone(value: &str) -> bool {
    let tail = value.rsplit(['-', '_', '.', '/']).next().unwrap_or(value);
    let first = tail.bytes().next();
    tail.len() >= 3 && tail.bytes().all(|b| Some(b) == first)
}

/// Something that a program fills in.
fn is_template(value: &str) -> bool {
    let starts = ["$", "%", "{", "<", "[", "@", "#{", "\\"];
    starts.iter().any(|start| value.starts_with(start))
        || value.contains("${")
        || value.contains("{{")
}

fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 15] = [
        "xxxx",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "your-",
        "your_",
        "yourkey",
        "example",
        "redacted",
        "os.environ",
        "process.env",
        "getenv",
        "****",
        "...",
    ];
    let lower = value.to_ascii_lowercase();
    is_template(value)
        || is_monotone(value)
        || WORDS.iter().any(|word| lower.contains(word))
        || "abcdefghijklmnopqrstuvwxyz0123456789".contains(&lower)
}

/// Words joined by marks: `prod-db-credentials-v2`, `user_password`, `scikit-learn-1.5`.
fn is_wordy(value: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        let plain = letters.bytes().all(|b| b.is_ascii_lowercase())
            || letters.bytes().all(|b| b.is_ascii_uppercase())
            || letters.bytes().skip(1).all(|b| b.is_ascii_lowercase());
        plain && letters.len() <= 16 && digits <= if letters.is_empty() { 4 } else { 2 }
    };
    let mut parts = value.split(['-', '_', '.', '/', ':', '+', '@']);
    let many = value.contains(['-', '_', '.', '/', ':', '@']);
    (many || !value.bytes().any(|b| b.is_ascii_digit())) && parts.all(is_word)
}

/// A path or an address.
fn is_location(value: &str) -> bool {
    ["/", "./", "../", "~/", "C:\\", "http://", "https://", "file:", "arn:", "vault:"]
        .iter()
        .any(|start| value.starts_with(start))
}

/// A name, and what it is called with: `tokenizer.next_token2(text)`.
pub(super) fn is_call(value: &str, rest: &str) -> bool {
    let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':');
    rest.starts_with('(') && value.bytes().all(name)
}

/// Code: `self.token`, `config::SECRET_2`, `hash!`, `a->b`, `$x`, `0x10 + n`.
fn is_expression(value: &str) -> bool {
    let mut parts = value.split(['.', ':', '-', '>', '!', '&', '*', '?']).filter(|p| !p.is_empty());
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && part.bytes().filter(u8::is_ascii_digit).count() <= 2
    };
    value.contains(['.', ':', '>', '&']) && parts.all(name)
}
