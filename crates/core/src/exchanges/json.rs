//! The normal form of JSON that clients write anew: they change white space, escapes, the order of members and the marks
//! for the cache.

use crate::jsonstr;

/// Members by which clients mark what is to be cached.
const MARKS: [&[u8]; 2] = [br#""cache_control""#, br#""prompt_cache_breakpoint""#];

/// No client nests deeper. A deeper text is written as it is, so that the stack does not grow with the input.
const DEEPEST: usize = 64;

/// Writes the normal form of a JSON text. A text that is no JSON is written as it is.
pub(super) fn write_normal(text: &[u8], out: &mut Vec<u8>) {
    write_without(text, &[], out);
}

/// As [`write_normal`], without the members `left_out` of an object; the names are JSON strings.
pub(super) fn write_without(text: &[u8], left_out: &[&[u8]], out: &mut Vec<u8>) {
    let from = out.len();
    let mut reader = JsonReader { text, at: 0, left_out };
    let is_whole = reader.value(0, out).is_some() && {
        reader.skip_space();
        reader.at == text.len()
    };
    if !is_whole {
        out.truncate(from);
        out.extend_from_slice(text);
    }
}

struct JsonReader<'a> {
    text: &'a [u8],
    at: usize,
    left_out: &'a [&'a [u8]],
}

impl JsonReader<'_> {
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
                out.extend_from_slice(&self.text[self.at..self.at + length]);
                self.at += length;
                (length > 0).then_some(())
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
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let text = jsonstr::decode(&self.text[start..self.at]);
        out.extend_from_slice(jsonstr::encode(&text).as_bytes());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{write_normal, write_without};

    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        write_normal(text.as_bytes(), &mut out);
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
        write_without(br#"{"id":"a","x":{"id":1}}"#, &[br#""id""#], &mut out);
        assert_eq!(out, br#"{"x":{"id":1,},}"#);
    }
}
