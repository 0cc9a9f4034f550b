//! Judges whether a captured text is a secret, or a placeholder, a name, a path or an expression.

use super::base64;
use super::forms::FormCertainty;
use super::names::SecretNameKind;

/// The test that a match has to pass to count as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchJudge {
    /// The format itself is proof: any value counts, except obvious placeholders.
    Certain,
    /// The value also has to look random, because ordinary words may start with the same prefix.
    Dense,
    /// The value is in the place of a password. People choose passwords, so it may look less random.
    Password,
    /// The value is the password in a URL: any value counts, except templates.
    UrlPassword,
    /// The value is a private key block, which is always a secret.
    Block,
    /// The value is where a file holds only passwords: any value counts, except placeholders and ordinary words.
    Told,
    /// The value is where a command or a statement takes a password: any value counts, except placeholders.
    Given,
    /// The value is base64 of a user's name with a password, or looks random.
    Coded,
    /// The value is base64 of a text that holds a secret.
    Wrapped,
}

impl MatchJudge {
    /// Whether the value is a secret. `holds_secret` searches a decoded base64 text.
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

/// Whether the value of a name is a secret, by the kind of the name and the certainty of the form.
pub(super) fn of_name(
    kind: SecretNameKind,
    value: &str,
    quoted: bool,
    sure: FormCertainty,
    alone: bool,
) -> bool {
    let is_generated =
        |least: usize| value.len() >= least && is_random(value) && is_opaque(value, quoted);
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
        (
            SecretNameKind::Bare,
            FormCertainty::Assigned | FormCertainty::Given | FormCertainty::Told,
        ) => is_generated(24) && is_base62(value),
        (SecretNameKind::Bare, _) => false,
        (SecretNameKind::Made, FormCertainty::Far) => {
            is_generated(20) && is_strong(value) && !is_id(value)
        }
        (SecretNameKind::Made, FormCertainty::Loose) => is_generated(16),
        (SecretNameKind::Made, _) => is_generated(12),
        (SecretNameKind::Vague, _) => {
            !matches!(sure, FormCertainty::Loose | FormCertainty::Far)
                && is_generated(20)
                && !is_id(value)
        }
    }
}

/// Whether a value is a word in the place of a password, such as `password` or `none`.
fn is_stand_in(value: &str) -> bool {
    const NAMES: [&str; 14] = [
        "password", "passwd", "pass", "token", "secret", "string", "stdin", "none", "null", "true",
        "false", "yes", "prompt", "env",
    ];
    NAMES.iter().any(|name| value.eq_ignore_ascii_case(name))
}

/// Whether a value may be a password where only passwords are.
fn is_told(value: &str, quoted: bool) -> bool {
    let plain = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'_');
    // A word of prose, or the name of something.
    let word = plain && !quoted;
    !(word || value.contains(' ') || is_location(value) || (!quoted && is_expression(value)))
        && value.len() >= 4
        && is_given(value)
}

/// Whether a value may be a password that was given to a command.
fn is_given(value: &str) -> bool {
    !(value.len() < 3
        || value.starts_with('-')
        || is_stand_in(value)
        || is_placeholder(value)
        || is_address(value))
}

/// Whether a value is an address without a secret in it. A command may have one where another one takes a password.
fn is_address(value: &str) -> bool {
    let scheme = value.split_once("://").map(|(scheme, _)| scheme);
    let is_named = scheme.is_some_and(|scheme| scheme.bytes().all(|b| b.is_ascii_alphabetic()));
    // The scheme was cut off where a program takes `USER:PASSWORD`.
    let host = value.strip_prefix("//").and_then(|rest| rest.split(['/', ':', '?']).next());
    let is_host = host.is_some_and(|host| host == "localhost" || host.contains('.'));
    (is_named || is_host) && !value.contains('@')
}

/// Whether a value is a phrase of 12 to 24 words from which a key is made, such as a recovery phrase.
fn is_phrase(value: &str) -> bool {
    let word =
        |word: &str| (3..=8).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase());
    let count = value.split(' ').count();
    (12..=24).contains(&count) && value.split(' ').all(word)
}

/// Whether a value consists of words and a number, such as `TestLogin4` or `step2`.
fn is_named(value: &str) -> bool {
    let letters = value.trim_end_matches(|c: char| c.is_ascii_digit());
    value.len() - letters.len() <= 3 && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Whether a value cannot be a word that a person writes: it has digits, and letters of both cases or marks.
fn is_strong(value: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letters = has(u8::is_ascii_alphabetic);
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let mark = has(|b| b"!#$%^&*+?~=".contains(b));
    let code = value.contains(['(', ')', '<', '>', '/', '\\', '|']);
    // Identifiers such as `Sha256Hasher` and `X509` are words with digits.
    let runs = value.split(|c: char| c.is_ascii_digit()).filter(|run| !run.is_empty());
    // In a word, each capital begins at least three letters: `OAuth`, but not `eGczx`.
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

/// Whether a value is an id or a digest: a UUID, or hex digits of a usual length.
fn is_id(value: &str) -> bool {
    let hex = |b: u8| b.is_ascii_hexdigit();
    let digest = matches!(value.len(), 40 | 64) && value.bytes().all(hex);
    digest || value.len() == 36 && value.bytes().all(|b| hex(b) || b == b'-')
}

/// Whether a value is one run of capitals, small letters and digits. Digests and most ids have letters of one case.
fn is_base62(value: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    value.bytes().all(|b| b.is_ascii_alphanumeric())
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

/// Whether a value is base64 of a text such as `name:password`.
fn is_pair(value: &str) -> bool {
    let Some(text) = base64::text(value) else { return false };
    text.split_once(':').is_some_and(|(name, password)| {
        !name.is_empty() && !password.is_empty() && !text.contains(['\n', ' '])
    })
}

/// Whether a value is more than a word that names or refers to a secret.
fn is_opaque(value: &str, quoted: bool) -> bool {
    !(value.contains(' ')
        || is_placeholder(value)
        || is_wordy(value)
        || is_location(value)
        || (!quoted && is_expression(value)))
}

/// Whether a value may be a password that a person chose: letters together with digits or marks. Outside quotes, it
/// has at least six bytes.
fn is_chosen(value: &str, quoted: bool) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letter = has(u8::is_ascii_alphabetic);
    let digit = has(u8::is_ascii_digit);
    let mark = has(|b| b"!@#$%^&*+?~=".contains(b));
    letter && (digit || mark) && (quoted || value.len() >= 6)
}

/// Whether a value looks random: letters with digits, or long and of mixed case, with enough different characters.
fn is_random(value: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    let letters = has(u8::is_ascii_alphabetic);
    let digits = has(u8::is_ascii_digit);
    let cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let needed = if digits { 3.0 } else { 3.8 };
    letters && (digits || (cases && value.len() >= 24)) && entropy(value) >= needed
}

/// Shannon entropy, in bits for each byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|b| counts[usize::from(b)] += 1);
    // Values have at most a few thousand bytes.
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

/// Whether a value repeats one character: `xxxxxxxx`, `********`.
fn is_monotone(value: &str) -> bool {
    let tail = value.rsplit(['-', '_', '.', '/']).next().unwrap_or(value);
    let first = tail.bytes().next();
    tail.len() >= 3 && tail.bytes().all(|b| Some(b) == first)
}

/// Whether a value is a template that a program fills in: `$NAME`, `${…}`, `%NAME%`, `{name}`, `<name>`, `@name`.
fn is_template(value: &str) -> bool {
    let name = |name: &str| {
        let digits = name.bytes().filter(u8::is_ascii_digit).count();
        let capitals = !name.bytes().any(|b| b.is_ascii_lowercase());
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-:.".contains(&b))
            && (digits <= 2 || capitals)
    };
    let is_within = |open: char, close: char| value.starts_with(open) && value[1..].contains(close);
    let called = |mark: char| value.strip_prefix(mark).is_some_and(name);
    value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
        || value.starts_with("#{")
        || value.starts_with('\\')
        || value.starts_with('<')
        || is_within('%', '%')
        || value.starts_with("%(")
        || value == "%s"
        || is_within('{', '}')
        || is_within('[', ']')
        || called('$')
        || called('@')
}

/// Whether a value only holds the place of a secret, such as `changeme` or `your-key`.
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

/// Whether a value consists of words joined by marks: `prod-db-credentials-v2`, `user_password`, `scikit-learn-1.5`.
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

/// Whether a value is a path or an address.
fn is_location(value: &str) -> bool {
    // Base64 may start with a slash, too.
    let coded = value.len() >= 32 && !value.contains(['.', '-']) && is_random(value);
    let starts =
        ["/", "./", "../", "~/", "C:\\", "http://", "https://", "file:", "arn:", "vault:", "op://"]
            .iter()
            .any(|start| value.starts_with(start));
    starts && !(coded && value.starts_with('/') && value.matches('/').count() <= 3)
}

/// Whether a value is the name of a called function, as in `tokenizer.next_token2(text)`.
pub(super) fn is_call(value: &str, rest: &str) -> bool {
    let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':');
    rest.starts_with('(') && value.bytes().all(name)
}

/// Whether a value is code: `self.token`, `config::SECRET_2`, `hash!`, `a->b`, `$x`, `0x10 + n`.
fn is_expression(value: &str) -> bool {
    let mut parts = value.split(['.', ':', '-', '>', '!', '&', '*', '?']).filter(|p| !p.is_empty());
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && part.bytes().filter(u8::is_ascii_digit).count() <= 2
    };
    value.contains(['.', ':', '>', '&']) && parts.all(name)
}
