//! Whether what a format captured is a secret, or a placeholder, a name, a path, an expression.

use super::base64;
use super::forms::FormCertainty;
use super::names::SecretNameKind;

/// What a match has to be, besides matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchJudge {
    /// The format is proof enough; only obvious placeholders are let through.
    Certain,
    /// Has to look random as well: the prefix also starts ordinary words.
    Dense,
    /// What stands where a password does: people choose these, so less random will do.
    Password,
    /// The password in a URL: anything but a template.
    UrlPassword,
    /// A private key block: everything up to its end.
    Block,
    /// What a file holds as a password, and nothing else: not a placeholder, not a word.
    Told,
    /// What a command or a statement is given as a password: not a placeholder.
    Given,
    /// The base64 of a user's name and a password, or what looks random.
    Coded,
    /// Base64 of a text that holds a secret.
    Wrapped,
}

impl MatchJudge {
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
            Self::Given => is_given(value),
            Self::Coded => {
                is_pair(value) || value.len() >= 16 && is_random(value) && is_opaque(value, quoted)
            }
            Self::Wrapped => base64::text(value).is_some_and(|text| holds_secret(&text)),
            Self::Certain => !is_monotone(value),
            Self::Dense => is_random(value) && !is_wordy(value) && !is_placeholder(value),
            Self::UrlPassword => !is_template(value) && !is_monotone(value) && !is_stand_in(value),
            Self::Password => is_chosen(value, quoted) && is_opaque(value, quoted),
        }
    }
}

/// Whether the value of a name of this kind is a secret, as sure as its form is.
pub(super) fn of_name(
    kind: SecretNameKind,
    value: &str,
    quoted: bool,
    sure: FormCertainty,
    alone: bool,
) -> bool {
    let made = |least: usize| value.len() >= least && is_random(value) && is_opaque(value, quoted);
    match (kind, sure) {
        (SecretNameKind::Words, _) => is_phrase(value),
        (SecretNameKind::Chosen, FormCertainty::Given) => is_given(value),
        (SecretNameKind::Chosen, FormCertainty::Told) => is_told(value, quoted),
        (SecretNameKind::Chosen, FormCertainty::Assigned) => {
            let digits = value.len() >= 6 && value.bytes().all(|b| b.is_ascii_digit());
            (is_chosen(value, quoted) && !(alone && is_named(value)) || digits && !alone)
                && is_opaque(value, quoted)
        }
        (SecretNameKind::Chosen, FormCertainty::Listed) => {
            is_chosen(value, quoted) && is_opaque(value, quoted) && !is_named(value)
        }
        (SecretNameKind::Chosen, FormCertainty::Loose) => {
            let long = value.len() >= if quoted { 6 } else { 8 };
            long && is_chosen(value, quoted)
                && is_opaque(value, false)
                && (quoted || !is_named(value))
        }
        (SecretNameKind::Chosen, FormCertainty::Far) => is_strong(value) && is_opaque(value, false),
        (SecretNameKind::Made, FormCertainty::Far) => made(20) && is_strong(value) && !is_id(value),
        (SecretNameKind::Made, FormCertainty::Loose) => made(16),
        (SecretNameKind::Made, _) => made(12),
        (SecretNameKind::Vague, _) => {
            !matches!(sure, FormCertainty::Loose | FormCertainty::Far) && made(20) && !is_id(value)
        }
    }
}

/// Words that stand for a password.
fn is_stand_in(value: &str) -> bool {
    const NAMES: [&str; 14] = [
        "password", "passwd", "pass", "token", "secret", "string", "stdin", "none", "null", "true",
        "false", "yes", "prompt", "env",
    ];
    NAMES.iter().any(|name| value.eq_ignore_ascii_case(name))
}

fn is_told(value: &str, quoted: bool) -> bool {
    let plain = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_');
    // A word of prose, or the name of something.
    let word = plain && !quoted;
    !(word || value.contains(' ') || is_location(value) || (!quoted && is_expression(value)))
        && value.len() >= 4
        && is_given(value)
}

fn is_given(value: &str) -> bool {
    !(value.len() < 3 || value.starts_with('-') || is_stand_in(value) || is_placeholder(value))
}

/// Words of a list, from which a key is made: twelve of them or more.
fn is_phrase(value: &str) -> bool {
    let word =
        |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    let count = value.split(' ').count();
    (12..=24).contains(&count) && value.split(' ').all(word)
}

/// Words and a number: `TestLogin4`, `step2`.
fn is_named(value: &str) -> bool {
    let letters = value.trim_end_matches(|c: char| c.is_ascii_digit());
    value.len() - letters.len() <= 3 && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Nothing that a person writes as a word: letters of both cases or marks, and digits among them.
fn is_strong(value: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letters = has(u8::is_ascii_alphabetic);
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let mark = has(|b| b"!#$%^&*+?~=".contains(b));
    let code = value.contains(['(', ')', '<', '>', '/', '\\', '|']);
    // `Sha256Hasher`, `X509`
    let runs = value.split(|c: char| c.is_ascii_digit()).filter(|run| !run.is_empty());
    // Each capital starts three letters at least: `OAuth` but not `eGczx`.
    let piece = |run: &str| {
        let capitals: Vec<usize> = run
            .bytes()
            .enumerate()
            .filter(|(_, b)| b.is_ascii_uppercase())
            .map(|(at, _)| at)
            .collect();
        let ends = capitals.iter().skip(1).copied().chain([run.len()]);
        let whole = capitals.len() == run.len() || capitals.is_empty();
        let humps = capitals.first() == Some(&0)
            && capitals.iter().zip(ends).all(|(at, end)| end - at >= 3);
        run.len() >= 3 && (whole || humps)
    };
    let words = runs.enumerate().all(|(at, run)| at == 0 && run.len() == 1 || piece(run));
    (8..=128).contains(&value.len())
        && letters
        && has(u8::is_ascii_digit)
        && (mark || cases)
        && !(code || words && !mark)
}

/// An id or a digest: a UUID, or hex as long as one.
fn is_id(value: &str) -> bool {
    let hex = |b: u8| b.is_ascii_hexdigit();
    let digest = matches!(value.len(), 40 | 64) && value.bytes().all(hex);
    digest || value.len() == 36 && value.bytes().all(|b| hex(b) || b == b'-')
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

/// Something that a program fills in: `$NAME`, `${…}`, `%NAME%`, `{name}`, `<name>`, `@name`.
fn is_template(value: &str) -> bool {
    let name = |name: &str| {
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        let capitals = !name.bytes().any(|b| b.is_ascii_lowercase());
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:.".contains(&b))
            && (digits <= 2 || capitals)
    };
    let held = |open: char, close: char| value.starts_with(open) && value[1..].contains(close);
    let called = |mark: char| value.strip_prefix(mark).is_some_and(name);
    value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || value.starts_with("#{")
        || value.starts_with('\\')
        || value.starts_with('<')
        || held('%', '%')
        || value.starts_with("%(")
        || value == "%s"
        || held('{', '}')
        || held('[', ']')
        || called('$')
        || called('@')
}

fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 19] = [
        "xxxx",
        "dummy",
        "replace",
        "insert",
        "secrets.",
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
    let mut parts = value.split(['-', '_', '.', '/', ':', '+', '@', '|']);
    let many = value.contains(['-', '_', '.', '/', ':', '@', '|']);
    (many || !value.bytes().any(|b| b.is_ascii_digit())) && parts.all(is_word)
}

/// A path or an address.
fn is_location(value: &str) -> bool {
    // Base64 may start with a slash as well.
    let coded = value.len() >= 32 && !value.contains(['.', '-']) && is_random(value);
    let starts =
        ["/", "./", "../", "~/", "C:\\", "http://", "https://", "file:", "arn:", "vault:", "op://"]
            .iter()
            .any(|start| value.starts_with(start));
    starts && !(coded && value.starts_with('/') && value.matches('/').count() <= 3)
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
