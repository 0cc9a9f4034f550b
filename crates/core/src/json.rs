//! Reads JSON: whether a text is JSON, and its normal form. Clients write JSON anew and change white space, escapes, the
//! order of members, the spelling of numbers and the marks for the cache.

use crate::jsonstr;

/// Members by which clients mark what is to be cached.
const MARKS: [&[u8]; 2] = [br#""cache_control""#, br#""prompt_cache_breakpoint""#];

/// No client nests deeper. A deeper text is written as it is, so that the stack does not grow with the input.
const DEEPEST: usize = 64;

/// How a normal form writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberForm {
    /// By value: `1.0` and `1` are the same.
    Value,
    /// As they are spelled. Records from before 30 November 2026 have hashes over such forms.
    Spelled,
}

/// Writes the normal form of a JSON text. A text that is no JSON is written as it is.
pub(crate) fn write_normal(text: &[u8], numbers: NumberForm, out: &mut Vec<u8>) {
    write_without(text, &[], numbers, out);
}

/// As [`write_normal`], without the members `left_out` of an object; the names are JSON strings.
pub(crate) fn write_without(
    text: &[u8],
    left_out: &[&[u8]],
    numbers: NumberForm,
    out: &mut Vec<u8>,
) {
    let from = out.len();
    let mut reader = JsonReader { text, at: 0, left_out, numbers, is_strict: false };
    if !reader.takes_all(out) {
        out.truncate(from);
        out.extend_from_slice(text);
    }
}

/// Whether a text is one JSON value, as strict readers take it.
pub(crate) fn is_json(text: &str) -> bool {
    let text = text.as_bytes();
    let numbers = NumberForm::Spelled;
    JsonReader { text, at: 0, left_out: &[], numbers, is_strict: true }.takes_all(&mut Vec::new())
}

struct JsonReader<'a> {
    text: &'a [u8],
    at: usize,
    left_out: &'a [&'a [u8]],
    numbers: NumberForm,
    /// Whether words other than JSON's own, and what no string may hold, end the reading. Clients write such texts too,
    /// and their normal form was the same in earlier versions.
    is_strict: bool,
}

impl JsonReader<'_> {
    /// Writes the value that the text is. False where it is none, or more than one.
    fn takes_all(&mut self, out: &mut Vec<u8>) -> bool {
        self.value(0, out).is_some() && self.peek().is_none()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    /// Reads this byte, if it is the next one.
    fn takes(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Writes the next value. `None` where the text is no JSON.
    fn value(&mut self, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            b'{' => self.object(depth, out),
            b'[' => self.array(depth, out),
            b'"' => self.string(out),
            _ => {
                let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let length = self.text[self.at..].iter().take_while(is_plain).count();
                let word = &self.text[self.at..self.at + length];
                let number = number_in(word).filter(|_| self.numbers == NumberForm::Value);
                match number {
                    Some(number) => out.extend_from_slice(normal_number(number).as_bytes()),
                    None => out.extend_from_slice(word),
                }
                self.at += length;
                (length > 0 && (!self.is_strict || is_word(word))).then_some(())
            }
        }
    }

    fn array(&mut self, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        self.takes(b'[')?;
        out.push(b'[');
        if self.takes(b']').is_none() {
            loop {
                self.value(depth + 1, out)?;
                out.push(b',');
                if self.takes(b',').is_none() {
                    self.takes(b']')?;
                    break;
                }
            }
        }
        out.push(b']');
        Some(())
    }

    fn object(&mut self, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        self.takes(b'{')?;
        let mut members: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        if self.takes(b'}').is_none() {
            loop {
                let (mut name, mut value) = (Vec::new(), Vec::new());
                (self.peek()? == b'"').then(|| self.string(&mut name))??;
                self.takes(b':')?;
                self.value(depth + 1, &mut value)?;
                members.push((name, value));
                if self.takes(b',').is_none() {
                    self.takes(b'}')?;
                    break;
                }
            }
        }
        let left_out = if depth == 0 { self.left_out } else { &[] };
        members.retain(|(name, _)| !MARKS.contains(&&name[..]) && !left_out.contains(&&name[..]));
        // Stable, so that of two members with one name the last one stays the last.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        out.push(b'{');
        for (name, value) in members {
            out.extend_from_slice(&name);
            out.push(b':');
            out.extend_from_slice(&value);
            out.push(b',');
        }
        out.push(b'}');
        Some(())
    }

    fn string(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.text.get(end)? {
                b'"' => break,
                b'\\' if self.is_strict && !is_escape(&self.text[end + 1..]) => return None,
                b'\\' => end += 2,
                control if self.is_strict && *control < b' ' => return None,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let text = jsonstr::decode(&self.text[start..self.at]);
        out.extend_from_slice(jsonstr::encode(&text).as_bytes());
        Some(())
    }
}

/// Whether these bytes are a number or a word of JSON.
fn is_word(bytes: &[u8]) -> bool {
    matches!(bytes, b"true" | b"false" | b"null") || number_in(bytes).is_some()
}

/// The number of JSON that these bytes are.
fn number_in(bytes: &[u8]) -> Option<f64> {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let starts = match digits {
        [b'0', next, ..] => !next.is_ascii_digit(),
        [first, ..] => first.is_ascii_digit(),
        [] => false,
    };
    let point = digits.iter().position(|byte| *byte == b'.').map(|at| at + 1);
    let is_fraction = point.is_none_or(|at| digits.get(at).is_some_and(u8::is_ascii_digit));
    let text = std::str::from_utf8(bytes).ok().filter(|_| starts && is_fraction)?;
    text.parse().ok()
}

/// A number in its one spelling. Clients read numbers as 64-bit floats and write these anew.
fn normal_number(number: f64) -> String {
    match number.abs() {
        // Also minus zero.
        0.0 => "0".to_owned(),
        // All digits of such a number would be a long text.
        ..1e-6 | 1e21.. => format!("{number:e}"),
        _ => number.to_string(),
    }
}

/// Whether an escape of a JSON string goes on so behind its backslash.
fn is_escape(rest: &[u8]) -> bool {
    match rest {
        [b'u', digits @ ..] => digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit),
        [first, ..] => b"\"\\/bfnrt".contains(first),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberForm, is_json, write_normal, write_without};

    #[test]
    fn a_strict_reader_takes_no_other_words() {
        for text in ["{}", "[1,-0.5e+3,0]", r#" {"a":[true,null,"\u00e9\n"]} "#, "1E9"] {
            assert!(is_json(text) && serde_json::from_str::<serde_json::Value>(text).is_ok());
        }
        for text in [
            "",
            "nan",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "{\"a\":nope}",
            "{\"a\":1,}",
            "[1",
            "{} {}",
            "\"\n\"",
            r#""\x""#,
            r#""\u12""#,
            "{'a':1}",
            "1.e3",
            "infinity",
        ] {
            assert!(
                !is_json(text) && serde_json::from_str::<serde_json::Value>(text).is_err(),
                "{text}"
            );
        }
    }

    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        write_normal(text.as_bytes(), NumberForm::Value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_clients_rewrite_does_not_count() {
        let plain = normal(r#"{"a":[1,"x"],"b":{"c":null}}"#);
        assert_eq!(plain, normal(r#" { "b" : {"c":null}, "a":[1, "\u0078"] }"#));
        assert_eq!(plain, normal(r#"{"a":[1,"x"],"b":{"c":null,"cache_control":{"type":"e"}}}"#));
        for other in [r#"{"a":[1,"y"],"b":{"c":null}}"#, r#"{"a":[2,"x"],"b":{"c":null}}"#, "{}"] {
            assert_ne!(plain, normal(other));
        }
        for broken in
            ["ls -la", "{", r#"{"a"}"#, r#"{"a":1} {"b":2}"#, r#""a"#, r#"{"a":"\"#, "[1,"]
        {
            assert_eq!(normal(broken), broken);
        }
        let deep = "[".repeat(100_000);
        assert_eq!(normal(&deep), deep);
        let mut out = Vec::new();
        write_without(br#"{"id":"a","x":{"id":1}}"#, &[br#""id""#], NumberForm::Value, &mut out);
        assert_eq!(out, br#"{"x":{"id":1,},}"#);
    }

    #[test]
    fn a_number_counts_by_its_value() {
        for (one, other) in [
            (r#"{"n":1.0}"#, r#"{"n":1}"#),
            ("[1e3]", "[1000]"),
            ("[-0]", "[0]"),
            ("[-0.0]", "[0]"),
            ("[0.10]", "[0.1]"),
            ("[1E+30]", "[1e30]"),
            ("[12345678901234567890]", "[12345678901234567000]"),
        ] {
            assert_eq!(normal(one), normal(other));
        }
        assert_eq!(normal("[1,-2.5,900719925474099]"), "[1,-2.5,900719925474099,]");
        assert_ne!(normal("[1]"), normal("[1.5]"));
        // No numbers of JSON.
        assert_eq!(normal("[nan,infinity,01,+1]"), "[nan,infinity,01,+1,]");
        let mut out = Vec::new();
        write_normal(b"[1.0]", NumberForm::Spelled, &mut out);
        assert_eq!(out, b"[1.0,]");
    }
}
