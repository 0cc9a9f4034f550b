//! Finds names whose value is a secret: `db_password`, `apiToken`, `X-Auth-Key`, `contraseña`.

use std::ops::Range;

/// The kind of value that a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretNameKind {
    /// A person chose the value, as for a password.
    Chosen,
    /// A program made the value, as for a token.
    Made,
    /// The value is a secret only if it looks made: `ALGOLIA_KEY` has one, `CACHE_KEY` has none.
    Vague,
    /// The value is a secret only if it can be nothing else: `key` alone names all kinds of things.
    Bare,
    /// The value is a phrase of words from which a key is made.
    Words,
}

/// Where in a name a word has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPosition {
    /// Anywhere in the name, also inside a part: `mypassword2`.
    Anywhere,
    /// At the start of a part of the name: `apiToken`, but not `mytoken`.
    Part,
    /// As the last part of the name: `DB_PASS`.
    Last,
    /// As the last part of the name, behind a part that says which key it is: `api_key`.
    Key,
}

/// A word that makes a name the name of a secret.
pub(super) struct SecretWord {
    pub text: &'static str,
    pub kind: SecretNameKind,
    pub stand: WordPosition,
}

impl SecretWord {
    /// The word in capitals, where it has letters that a search by ASCII letters finds in one case alone.
    pub(super) fn in_capitals(&self) -> Option<String> {
        if self.text.is_ascii() {
            return None;
        }
        let capitals = self.text.to_uppercase();
        (!capitals.eq_ignore_ascii_case(self.text)).then_some(capitals)
    }
}

const fn word(text: &'static str, kind: SecretNameKind, stand: WordPosition) -> SecretWord {
    SecretWord { text, kind, stand }
}

use SecretNameKind::{Bare, Chosen, Made, Vague, Words};
use WordPosition::{Anywhere, Key, Last, Part};

/// The words, in the languages of configurations and notes. The search ignores case for ASCII only, and searches words with
/// other letters in capitals, too. Words whose first letter is outside ASCII therefore either lack it or are listed with
/// a capital, too, as are words that lose an accent in capitals.
#[rustfmt::skip]
pub(super) const WORDS: &[SecretWord] = &[
    word("password", Chosen, Anywhere), word("passwd", Chosen, Anywhere), word("passphrase", Chosen, Anywhere),
    word("pwd", Chosen, Part), word("passcode", Chosen, Part), word("pswd", Chosen, Part),
    word("pass", Chosen, Last), word("pw", Chosen, Last), word("psw", Chosen, Last), word("psk", Chosen, Last),
    word("requirepass", Chosen, Part), word("masterauth", Chosen, Part), word("storepass", Chosen, Part), word("keypass", Chosen, Part),
    word("contraseña", Chosen, Anywhere), word("contrasena", Chosen, Anywhere), word("clave", Chosen, Last),
    word("passwort", Chosen, Anywhere), word("kennwort", Chosen, Anywhere),
    word("mot de passe", Chosen, Anywhere), word("motdepasse", Chosen, Anywhere), word("mot_de_passe", Chosen, Anywhere), word("mdp", Chosen, Last),
    word("senha", Chosen, Part), word("parola", Chosen, Part), word("parola d'ordine", Chosen, Part), word("wachtwoord", Chosen, Anywhere),
    word("lösenord", Chosen, Anywhere), word("losenord", Chosen, Anywhere), word("passord", Chosen, Part), word("adgangskode", Chosen, Anywhere),
    word("hasło", Chosen, Part), word("haslo", Chosen, Part), word("heslo", Chosen, Part), word("lozinka", Chosen, Part),
    word("jelszó", Chosen, Part), word("jelszo", Chosen, Part), word("salasana", Chosen, Part), word("parool", Chosen, Part),
    word("şifre", Chosen, Anywhere), word("Şifre", Chosen, Anywhere), word("ŞİFRE", Chosen, Anywhere), word("sifre", Chosen, Part),
    word("ароль", Chosen, Anywhere), word("ωδικός", Chosen, Anywhere), word("ΩΔΙΚΟΣ", Chosen, Anywhere), word("ωδικός πρόσβασης", Chosen, Anywhere),
    word("סיסמה", Chosen, Anywhere), word("كلمة المرور", Chosen, Anywhere), word("كلمة السر", Chosen, Anywhere),
    word("पासवर्ड", Chosen, Anywhere), word("รหัสผ่าน", Chosen, Anywhere), word("mật khẩu", Chosen, Anywhere), word("kata sandi", Chosen, Anywhere),
    word("密码", Chosen, Anywhere), word("密碼", Chosen, Anywhere), word("口令", Chosen, Anywhere),
    word("パスワード", Chosen, Anywhere), word("비밀번호", Chosen, Anywhere), word("암호", Chosen, Anywhere),
    word("token", Made, Part), word("authtoken", Made, Part), word("identitytoken", Made, Part), word("registrytoken", Made, Part),
    word("secret", Made, Part), word("credential", Made, Part), word("salt", Made, Last), word("pat", Made, Last),
    word("key", Vague, Key), word("密钥", Made, Anywhere), word("密鑰", Made, Anywhere), word("令牌", Made, Anywhere),
    word("トークン", Made, Anywhere), word("キー", Made, Anywhere), word("토큰", Made, Anywhere), word("окен", Made, Anywhere),
    word("clé api", Made, Anywhere), word("chave de api", Made, Part), word("clave de api", Made, Part),
    word("mnemonic", Words, Part), word("seed phrase", Words, Part), word("seed_phrase", Words, Part), word("recovery phrase", Words, Part),
];

/// Words before `key` that make the key a secret.
#[rustfmt::skip]
const QUALIFIERS: &[&str] = &[
    "api", "access", "private", "secret", "encryption", "signing", "signature", "auth", "master", "account",
    "subscription", "storage", "app", "application", "license", "fernet", "admin", "jwt", "service", "shared",
    "preshared", "session", "hmac", "cipher", "crypt", "crypto", "client", "root", "deploy", "webhook", "integration",
    "nonce", "in", "security", "server", "unseal", "recovery", "functions", "host", "sas", "env", "project", "ingest",
    "write",
];

/// Words before `key` that make it a key of data, such as a database key.
#[rustfmt::skip]
const PLAIN_KEYS: &[&str] = &[
    "public", "pub", "primary", "foreign", "cache", "sort", "partition", "row", "object", "routing", "idempotency",
    "unique", "index", "s3", "lookup", "map", "group", "dedupe", "dedup", "hash", "range", "query", "event", "job",
    "candidate", "translation", "message", "restore", "sha", "state", "data", "file", "ssh", "gpg", "pgp", "bucket",
    "shard", "the", "a",
];

/// If one of these parts follows the word, the value is not the secret: `password_file`, `token_count`.
const NOT_SECRET_AFTER: &[&str] = &[
    "file",
    "path",
    "dir",
    "url",
    "uri",
    "endpoint",
    "name",
    "names",
    "id",
    "ids",
    "count",
    "counts",
    "limit",
    "limits",
    "length",
    "len",
    "size",
    "type",
    "types",
    "kind",
    "policy",
    "field",
    "column",
    "expiry",
    "expires",
    "expired",
    "expiration",
    "ttl",
    "at",
    "in",
    "prefix",
    "label",
    "hint",
    "min",
    "max",
    "budget",
    "usage",
    "used",
    "version",
    "provider",
    "manager",
    "store",
    "env",
    "var",
    "ref",
    "arn",
    "reset",
    "changed",
    "required",
    "enabled",
    "index",
    "position",
    "pos",
    "span",
    "rotation",
    "lifetime",
    "timeout",
    "encoder",
    "hasher",
    "validator",
    "regex",
    "pattern",
    "error",
    "errors",
    "placeholder",
    "per",
];

/// If one of these parts comes before the word, the value is a count, or something public: `max_tokens`.
const NOT_SECRET_BEFORE: &[&str] = &[
    "max",
    "min",
    "num",
    "total",
    "public",
    "no",
    "prompt",
    "completion",
    "input",
    "output",
    "eos",
    "bos",
    "pad",
    "js",
];

/// Parts before `pass` that form another word, such as `bypass`.
const OTHER_PASSES: &[&str] = &[
    "by", "com", "encom", "tres", "sur", "under", "over", "multi", "single", "render", "one", "two",
];

/// A name reaches at most this many bytes to either side of the word in it.
const LONGEST: usize = 64;

/// The name of a secret, found in a text.
#[derive(Clone, Debug)]
pub(super) struct SecretName {
    /// Byte range of the name, without quotes and dashes.
    pub at: Range<usize>,
    pub kind: SecretNameKind,
    /// Whether it is a short word by itself, as in `pass: 12`.
    pub alone: bool,
    /// Whether it is in capitals, as environment variables are.
    pub constant: bool,
    /// Whether it is the name of a flag, such as `--db-password`.
    pub flag: bool,
    /// Whether it is the name of an element, such as `<password>`.
    pub element: bool,
}

/// The name around a matched word; `None` where the name is not that of a secret.
pub(super) fn around(text: &str, hit: Range<usize>, word: &SecretWord) -> Option<SecretName> {
    let bytes = text.as_bytes();
    let before = &bytes[..hit.start];
    let starts_camel_part =
        bytes[hit.start].is_ascii_uppercase() && before.last().is_some_and(u8::is_ascii_lowercase);
    let continues_a_word = before.last().is_some_and(u8::is_ascii_alphabetic)
        && !starts_camel_part
        && !after_escape(before);
    // Matches `dbpass`, but not `bypass`.
    let may_follow_letters = word.stand == Last && matches!(word.text, "pass" | "pw");
    if continues_a_word && matches!(word.stand, Part | Last) && !may_follow_letters {
        return None;
    }
    let end = suffix(text, hit.clone(), word.stand)?;
    let start = name_start(bytes, hit.start);
    let front = &text[start..hit.start];
    let kind = kind_of(text, start..end, &hit, word)?;
    let is_public =
        |part: &str| NOT_SECRET_BEFORE.iter().any(|other| part.eq_ignore_ascii_case(other));
    let is_other_word =
        |part: &str| OTHER_PASSES.iter().any(|pass| part.eq_ignore_ascii_case(pass));
    if parts(front).any(is_public)
        || continues_a_word && may_follow_letters && parts(front).last().is_some_and(is_other_word)
    {
        return None;
    }
    let is_joined = starts_camel_part || matches!(before.last(), Some(b'_' | b'-' | b'.'));
    let capital = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b"_-.".contains(b);
    Some(SecretName {
        kind,
        alone: word.stand == Last && !is_joined,
        constant: bytes[start..end].iter().all(capital),
        flag: is_flag(bytes, start, front),
        element: is_element(&text[..start]),
        at: start..end,
    })
}

/// The kind of value that the name promises; `None` where it names a key that is no secret.
fn kind_of(
    text: &str,
    name: Range<usize>,
    hit: &Range<usize>,
    word: &SecretWord,
) -> Option<SecretNameKind> {
    let front = &text[name.start..hit.start];
    match word.stand {
        Key if front.is_empty() && !follows_word(&text[..hit.start]) => Some(Bare),
        Key if front.is_empty() && text[..hit.start].ends_with(' ') => spaced_key(text, hit.start),
        Key => {
            let starts_camel_part = text[hit.start..].starts_with(|c: char| c.is_ascii_uppercase())
                && front.ends_with(|c: char| c.is_ascii_lowercase());
            key(front, starts_camel_part, &text[hit.start..name.end])
        }
        _ => Some(word.kind),
    }
}

/// Whether a word is on the same line before a name, as in `primary key`. The dashes of a flag are none.
fn follows_word(before: &str) -> bool {
    !before.ends_with('-')
        && before
            .trim_end_matches(' ')
            .ends_with(|c: char| c.is_alphanumeric() || "_-.\\/".contains(c))
}

/// Whether the name that begins at `start` is the name of a flag: it has dashes in front, and nothing of a word before
/// them. `front` is the name up to the matched word: `--no-password` takes no value.
fn is_flag(bytes: &[u8], start: usize, front: &str) -> bool {
    let dashes = bytes[..start].iter().rev().take(2).take_while(|b| **b == b'-').count();
    let outer = &bytes[..start - dashes];
    let opens = outer.last().is_none_or(|b| b.is_ascii_whitespace() || b"\"'`[(,=".contains(b));
    dashes > 0 && opens && !front.to_ascii_lowercase().starts_with("no-")
}

/// Whether a name behind this text is the name of an element. It may have a prefix: `<wsse:Password>`.
fn is_element(before: &str) -> bool {
    let prefix = |b: &&u8| b.is_ascii_alphanumeric() || **b == b':';
    // Only so far: names without a break between them would be read again for each.
    let length = match before.ends_with(':') {
        true => before.bytes().rev().take(16).take_while(|b| prefix(&b)).count(),
        false => 0,
    };
    before.as_bytes()[..before.len() - length].ends_with(b"<")
}

/// The kind of secret that a word names; `None` where it names none.
pub(super) fn whole(cell: &str) -> Option<SecretNameKind> {
    head(cell).map(|(kind, _)| kind)
}

/// The kind of secret that a cell in a table's head names, and whether it is a short word by itself. `None` where it
/// names none.
pub(super) fn head(cell: &str) -> Option<(SecretNameKind, bool)> {
    // Other letters may change their length, and no position would fit the cell.
    let lower = cell.to_ascii_lowercase();
    let named = WORDS.iter().filter_map(|word| {
        let range_of = |text: &str| lower.find(text).map(|at| at..at + text.len());
        let capitals = || match cell.is_ascii() {
            true => None,
            false => range_of(&word.in_capitals()?.to_ascii_lowercase()),
        };
        let at = range_of(word.text).or_else(capitals)?;
        let name = around(cell, at, word)?;
        (name.at.end == cell.len()).then_some((name.kind, name.alone))
    });
    // A vague name counts only where no other word fits.
    named.max_by_key(|(kind, _)| !matches!(kind, Vague | Bare))
}

/// Whether a word of a command is the name of a secret: `user.password`, `//registry/:_authToken`.
pub(super) fn tells(word: &str) -> bool {
    let last = word.rsplit(['/', ':']).next().unwrap_or(word);
    !word.starts_with('-') && whole(last).is_some_and(|kind| kind != Bare)
}

/// Whether these bytes end in an escaped line break or tab, or in a terminal's colour sequence.
pub(super) fn after_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't']) || ends_in_colour(before)
}

/// Whether these bytes end in a colour sequence, real or escaped: `ESC[32m`, `\u001b[0m`, `\033[1;31m`.
fn ends_in_colour(before: &[u8]) -> bool {
    let Some(rest) = before.strip_suffix(b"m") else { return false };
    let digits = rest.iter().rev().take_while(|b| b.is_ascii_digit() || **b == b';').count();
    let Some(escape) = rest[..rest.len() - digits].strip_suffix(b"[") else { return false };
    [&b"\x1b"[..], b"1b", b"1B", b"\\033", b"\\e"].iter().any(|end| escape.ends_with(end))
}

/// Byte offset of the start of the name that ends at `at`.
fn name_start(bytes: &[u8], at: usize) -> usize {
    let of = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.".contains(*b);
    let length = bytes[..at].iter().rev().take(LONGEST).take_while(of).count();
    let start = at - length;
    let dashes = bytes[start..at].iter().take_while(|b| b"-.".contains(*b)).count();
    start + dashes
}

/// The end of the name with this word: behind a plural `s` and further parts. `None` where the word goes on as another
/// word, or a further part gives the name another meaning.
fn suffix(text: &str, word: Range<usize>, stand: WordPosition) -> Option<usize> {
    let rest = &text.as_bytes()[word.end..];
    let lower = text.as_bytes()[word.end - 1].is_ascii_lowercase();
    let many = matches!(rest, [b's' | b'S', next, ..] if !next.is_ascii_alphanumeric());
    let plural = usize::from((many || matches!(rest, [b's' | b'S'])) && stand != Last);
    let rest = &rest[plural..];
    let of = |b: &&u8| b.is_ascii_alphanumeric() || b"_-".contains(*b);
    let length = rest.iter().take(LONGEST).take_while(of).count();
    let from = word.end + plural;
    let more = text[from..from + length].trim_end_matches('-');
    let opens = match more.bytes().next() {
        None => true,
        _ if matches!(stand, Last | Key) => false,
        Some(b'_' | b'-') => true,
        Some(b) => {
            b.is_ascii_digit()
                || (lower && b.is_ascii_uppercase())
                || !text[word.clone()].is_ascii()
        }
    };
    let secret = text[word.clone()].eq_ignore_ascii_case("secret");
    let aside = |part: &str| {
        NOT_SECRET_AFTER.iter().any(|other| part.eq_ignore_ascii_case(other))
            && !(secret && part.eq_ignore_ascii_case("id"))
    };
    (opens && !parts(more).any(aside)).then_some(from + more.len())
}

/// The parts of a name: `dbUser_name-2` has `db`, `User`, `name` and `2`.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['_', '-', '.', ' ']).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let bytes = rest.as_bytes();
            let hump =
                |at: &usize| bytes[at - 1].is_ascii_lowercase() && bytes[*at].is_ascii_uppercase();
            let cut = (1..bytes.len()).find(hump).unwrap_or(bytes.len());
            let (piece, behind) = rest.split_at(cut);
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    })
}

/// The kind of a key, by the text before `key`. `None` where it is no secret.
fn key(front: &str, starts_camel_part: bool, key: &str) -> Option<SecretNameKind> {
    let cut = front.trim_end_matches(['_', '-', '.']);
    let last = parts(cut).last().unwrap_or_default();
    let is = |names: &[&str]| names.iter().any(|name| last.eq_ignore_ascii_case(name));
    let continues_a_word = cut.len() == front.len() && !starts_camel_part;
    if is(QUALIFIERS) && !(last.eq_ignore_ascii_case("in") && continues_a_word) {
        return Some(Made);
    }
    if continues_a_word {
        // Matches `SECRETACCESSKEY`.
        let last = last.to_ascii_lowercase();
        let ends = ["api", "access", "secret", "private", "auth", "master", "account", "shared"];
        return ends.iter().any(|end| last.ends_with(end)).then_some(Made);
    }
    let constant = key.bytes().all(|b| b.is_ascii_uppercase()) || front.ends_with('_');
    (!last.is_empty() && constant && !is(PLAIN_KEYS)).then_some(Vague)
}

/// The kind of a key in separate words: `API key`, `secret access key`.
fn spaced_key(text: &str, at: usize) -> Option<SecretNameKind> {
    let before = text[..at].trim_end_matches(' ');
    let last = name_start(before.as_bytes(), before.len());
    QUALIFIERS.iter().any(|name| before[last..].eq_ignore_ascii_case(name)).then_some(Made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_by_its_parts() {
        for (name, wanted) in [
            ("password", Some(Chosen)),
            ("DB_PASSWORD", Some(Chosen)),
            ("dbPassword2", Some(Chosen)),
            ("smtpPass", Some(Chosen)),
            ("apiKey", Some(Made)),
            ("x-api-key", Some(Made)),
            ("Secret access key", Some(Made)),
            ("ALGOLIA_KEY", Some(Vague)),
            ("max_tokens", None),
            ("token_count", None),
            ("password_file", None),
            ("passwordless", None),
            ("tokenizer", None),
            ("mytoken", None),
            ("monkey", None),
            ("cache_key", None),
            ("key", Some(Bare)),
            ("primary_key", None),
            ("bypass", None),
            ("compass", None),
        ] {
            assert_eq!(whole(name), wanted, "{name}");
        }
    }

    #[test]
    fn letters_that_change_their_length_in_lower_case_break_nothing() {
        for name in ["İpasswordẞ", "ẞpasswordİ", "passwordẞ"] {
            assert_eq!(whole(name), None, "{name}");
            assert!(!tells(&format!("user.{name}")), "{name}");
        }
        assert_eq!(whole("İPASSWORD"), Some(Chosen));
        assert_eq!(whole("KONTO_PASSWORD"), Some(Chosen));
        assert_eq!(whole("CONTRASEÑA"), Some(Chosen));
        assert!(is_element("x <wsse:") && is_element("<"));
        assert!(!is_element(&format!("<{}:", "a".repeat(40))) && !is_element("< "));
    }
}
