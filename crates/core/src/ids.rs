//! Identifiers: names that an agent may need again later, such as paths, symbols, ids, hosts, ports and hashes.
//!
//! One definition serves extraction, survival figures and the grounding of narrations. An identifier is a run of
//! `[A-Za-z0-9_][A-Za-z0-9_./:@#-]{3,}`, without punctuation at its end. It holds a digit, or one of `/ _ @ # .`, or an
//! upper-case letter after the first character; a run of upper-case letters alone is none.

/// The shortest identifier, in bytes.
const MIN_LEN: usize = 4;
/// The longest identifier, in bytes. A longer run is data (base64, minified code) and no name.
pub const MAX_LEN: usize = 200;

// Classes of a byte, as bits: may begin an identifier, may be inside one, is trimmed from its end, …
const START: u8 = 1;
const INSIDE: u8 = 2;
const TRIM: u8 = 4;
const DIGIT: u8 = 8;
const UPPER: u8 = 16;
const LOWER: u8 = 32;
/// A byte that makes a run an identifier at any place.
const MARK: u8 = 64;

const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = if b.is_ascii_digit() {
            START | INSIDE | DIGIT
        } else if b.is_ascii_uppercase() {
            START | INSIDE | UPPER
        } else if b.is_ascii_lowercase() {
            START | INSIDE | LOWER
        } else if b == b'_' {
            START | INSIDE | MARK
        } else if matches!(b, b'/' | b'@' | b'#' | b'.') {
            INSIDE | TRIM | MARK
        } else if matches!(b, b':' | b'-') {
            INSIDE | TRIM
        } else {
            0
        };
        byte += 1;
    }
    table
};

/// The identifiers of `text`, in order, repetitions included.
///
/// ```
/// let found: Vec<_> = midfold_core::ids::identifiers("see src/main.rs:12, FooBar and the DOCS.").collect();
/// assert_eq!(found, ["src/main.rs:12", "FooBar"]);
/// ```
pub fn identifiers(text: &str) -> Identifiers<'_> {
    Identifiers { text, at: 0 }
}

/// The iterator that [`identifiers`] returns.
pub struct Identifiers<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Identifiers<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            while at < bytes.len() && CLASS[bytes[at] as usize] & START == 0 {
                at += 1;
            }
            if at >= bytes.len() {
                self.at = at;
                return None;
            }
            let start = at;
            // An upper-case first letter begins a sentence as often as a name, so it is no evidence.
            let mut seen = CLASS[bytes[at] as usize] & !UPPER;
            at += 1;
            while at < bytes.len() {
                let class = CLASS[bytes[at] as usize];
                if class & INSIDE == 0 {
                    break;
                }
                seen |= class;
                at += 1;
            }
            // A cheap check first: a run without digit, inner upper case or mark is an ordinary word.
            if at - start < MIN_LEN || seen & (DIGIT | UPPER | MARK) == 0 {
                continue;
            }
            if let Some(end) = accept(bytes, start, at) {
                self.at = at;
                return Some(&self.text[start..end]);
            }
        }
    }
}

/// Trims the run and returns its end if it is an identifier. A run is ASCII, so any cut is a character boundary.
fn accept(bytes: &[u8], start: usize, mut end: usize) -> Option<usize> {
    while end > start && CLASS[bytes[end - 1] as usize] & TRIM != 0 {
        end -= 1;
    }
    let run = &bytes[start..end];
    if run.len() < MIN_LEN || run.len() > MAX_LEN {
        return None;
    }
    // Read again without the trimmed end, which may have held the only mark.
    let seen = run[1..].iter().fold(0u8, |seen, b| seen | CLASS[*b as usize]);
    let first = CLASS[run[0] as usize];
    let marked = (seen | first) & (DIGIT | MARK) != 0;
    let mixed = seen & UPPER != 0 && (seen | first) & LOWER != 0;
    (marked || mixed).then_some(end)
}

/// The class of an identifier, by its letters alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdClass {
    /// A path or a file name.
    Path,
    /// A name in code, and any other name that is mostly letters: a host, a ticket id, a hash with few digits.
    Symbol,
    /// A value: a number, a name of at least as many digits as other characters, or an address with `@`.
    Value,
}

/// The class of an identifier.
#[must_use]
pub fn class_of(id: &str) -> IdClass {
    let bytes = id.as_bytes();
    let seen = bytes.iter().fold(0u8, |seen, b| seen | CLASS[*b as usize]);
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    if id.contains('/') || has_extension(id) {
        IdClass::Path
    } else if seen & (UPPER | LOWER | MARK) == 0 || digits * 2 >= bytes.len() || id.contains('@') {
        IdClass::Value
    } else {
        IdClass::Symbol
    }
}

/// Whether the name ends in a known file extension, before any `:line` or `#anchor`.
fn has_extension(id: &str) -> bool {
    let name = id.split([':', '#']).next().unwrap_or(id);
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    // `self.value` is a name and `value.py` a file, so only well-known endings count.
    const KNOWN: &[&str] = &[
        "py", "rs", "js", "ts", "tsx", "jsx", "md", "json", "jsonl", "toml", "yaml", "yml", "txt",
        "html", "css", "c", "h", "cc", "cpp", "hpp", "go", "java", "kt", "rb", "php", "sh", "sql",
        "xml", "csv", "lock", "cfg", "ini", "rst", "log", "ipynb", "swift", "scala", "vue",
        "svelte", "proto", "pyi",
    ];
    !stem.is_empty() && KNOWN.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition as a regular expression, slowly: the scanner has to agree with it.
    fn slow(text: &str) -> Vec<&str> {
        let runs = regex::Regex::new(r"[A-Za-z0-9_][A-Za-z0-9_./:@#\-]{3,}").unwrap();
        runs.find_iter(text)
            .map(|hit| hit.as_str().trim_matches(|c| ".:/-#@".contains(c)))
            .filter(|id| id.len() >= 4 && id.len() <= MAX_LEN)
            .filter(|id| {
                id.contains(|c: char| c.is_ascii_digit() || "/_@#.".contains(c))
                    || (id[1..].contains(|c: char| c.is_ascii_uppercase())
                        && id.contains(|c: char| c.is_ascii_lowercase()))
            })
            .collect()
    }

    proptest::proptest! {
        #[test]
        fn scanner_is_the_regular_expression(text in r"[A-Za-z0-9_./:@# \-é,]{0,60}") {
            proptest::prop_assert_eq!(identifiers(&text).collect::<Vec<_>>(), slow(&text));
        }
    }

    #[test]
    fn seed_examples() {
        let text = "host db-prod-1:5432, ticket FRE-512; id 5432 and db-prod-1.";
        let names: Vec<_> = identifiers(text).collect();
        assert_eq!(names, ["db-prod-1:5432", "FRE-512", "5432", "db-prod-1"]);
    }

    #[test]
    fn classes() {
        assert_eq!(class_of("src/main.rs:12"), IdClass::Path);
        assert_eq!(class_of("main.rs"), IdClass::Path);
        assert_eq!(class_of("self.value"), IdClass::Symbol);
        assert_eq!(class_of("getName"), IdClass::Symbol);
        assert_eq!(class_of("20240515"), IdClass::Value);
        assert_eq!(class_of("a1b2c3d4e5f6"), IdClass::Value);
    }
}
