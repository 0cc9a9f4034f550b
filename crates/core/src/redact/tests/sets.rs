//! The sets of secrets and of innocent values. Files hold one on each line, and every random part is made in the
//! test, so that no key is in the source.

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A secret, with the text around it in a log.
pub(super) struct SecretSample {
    pub kind: &'static str,
    pub text: String,
    pub secret: String,
}

/// One secret of each kind. Another `seed` gives other secrets.
pub(super) fn secrets(seed: usize) -> Vec<SecretSample> {
    let rows = lines(include_str!("kinds.txt")).map(|line| {
        let (kind, form) = line.split_once(": ").unwrap();
        let text = filled(form, seed);
        let (before, rest) = text.split_once('«').unwrap();
        let (secret, after) = rest.split_once('»').unwrap();
        let text = format!("{before}{secret}{}", after.replace(['«', '»'], ""));
        SecretSample { kind, text, secret: secret.to_owned() }
    });
    rows.collect()
}

/// This many innocent values.
pub(super) fn innocent(count: usize) -> Vec<String> {
    let forms: Vec<_> = lines(include_str!("innocent.txt")).collect();
    (0..count).map(|at| filled(forms[at % forms.len()], at / forms.len() * 1_000 + at)).collect()
}

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// A form with all random parts filled in.
fn filled(form: &str, seed: usize) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some((before, (part, after))) = rest
        .split_once('{')
        .map(|(before, rest)| (before, rest.split_once('}').unwrap_or((rest, ""))))
    {
        out.push_str(before);
        match random(part, seed * 131 + out.len()) {
            Some(value) => {
                out.push_str(&value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[before.len() + 1..];
            }
        }
    }
    out.push_str(rest);
    out.replace("\\n", "\n").replace("\\t", "\t").replace("\\q", "\\")
}

/// The random part with this name; `None` where there is no such name.
fn random(name: &str, seed: usize) -> Option<String> {
    let many = |prefix: &str| name.strip_prefix(prefix).and_then(|len| len.parse::<usize>().ok());
    let of = |alphabet, len| seeded(alphabet, len, seed);
    let mixed = |alphabet, len| {
        let mut out = of(alphabet, len);
        if len >= 4 {
            out.replace_range(1..4, "7a4");
        }
        out
    };
    Some(match name {
        "pw" => {
            let mark = ["", "!", "+", "*", "=="][seed % 5];
            mixed(ALNUM, 9 + seed % 4) + mark + &of("xyz", 1)
        }
        "word" => of("bcdfghjklmnprstvwxz", 4) + "o" + &of("abcdefghijklm", 4),
        "words12" => (0..12)
            .map(|at| seeded("abcdefghijklmnoprstuvwy", 4 + at % 4, seed + at))
            .collect::<Vec<_>>()
            .join(" "),
        "uuid" => {
            let hex = mixed(HEX, 32);
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            parts.join("-")
        }
        "b64pair" => base64(&format!("ci:{}", mixed(ALNUM, 14))),
        "b64of" => base64(&mixed(ALNUM, 14)),
        _ => {
            let (alphabet, len) = [
                ("b64x", BASE64),
                ("lo", "abcdefghijklmnopqrstuvwxyz234567"),
                ("an", ALNUM),
                ("hex", HEX),
                ("up", UPPER),
                ("dig", DIGITS),
            ]
            .into_iter()
            .find_map(|(prefix, alphabet)| Some((alphabet, many(prefix)?)))?;
            match alphabet {
                DIGITS | UPPER => of(alphabet, len),
                HEX if len < 12 => of(alphabet, len),
                _ => mixed(alphabet, len),
            }
        }
    })
}

fn seeded(alphabet: &str, len: usize, seed: usize) -> String {
    random_text(alphabet, len + seed % 97 + 3)[seed % 97 + 3..].to_owned()
}

/// The text in base64.
fn base64(text: &str) -> String {
    let letters = BASE64.as_bytes();
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for at in 0..4 {
            let letter = letters[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

/// Random characters, the same in each run. Secrets are made here, so that none is in the source.
pub(super) fn random_text(alphabet: &str, len: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (len as u64);
    (0..len)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            letters[(state >> 33) as usize % letters.len()]
        })
        .collect()
}
