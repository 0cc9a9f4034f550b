//! The texts in the arguments of a call, each with the name of its argument.

use crate::jsonstr;

/// Deeper arguments are not read.
const DEEPEST: usize = 32;

/// A text in the arguments of a call.
pub(super) struct ArgumentText {
    /// `content`, `edits[0].new_text`; empty where the arguments are one text.
    pub name: String,
    pub text: String,
}

/// The texts in the arguments: the strings of JSON, or the whole of a text that is no JSON. Of broken JSON, those before
/// the break.
pub(super) fn texts(arguments: &str) -> Vec<ArgumentText> {
    let mut reader = ArgumentReader { bytes: arguments.as_bytes(), at: 0, texts: Vec::new() };
    let is_json = matches!(reader.peek(), Some(b'{' | b'['));
    if is_json {
        let _ = reader.value("", 0);
        return reader.texts;
    }
    let text = match reader.peek() {
        Some(b'"') => jsonstr::decode(arguments.trim().as_bytes()).into_owned(),
        _ => arguments.to_owned(),
    };
    vec![ArgumentText { name: String::new(), text }]
}

struct ArgumentReader<'a> {
    bytes: &'a [u8],
    at: usize,
    texts: Vec<ArgumentText>,
}

impl<'a> ArgumentReader<'a> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let space = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace());
        self.at += space.count();
        self.bytes.get(self.at).copied()
    }

    /// Reads the value of the argument `name`. `None` where the text breaks off or is no JSON.
    fn value(&mut self, name: &str, depth: usize) -> Option<()> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            b'{' => self.members(b'}', |reader| {
                let key = jsonstr::decode(reader.string()?);
                (reader.peek()? == b':').then(|| reader.at += 1)?;
                let name = if name.is_empty() { key.into_owned() } else { format!("{name}.{key}") };
                reader.value(&name, depth + 1)
            }),
            b'[' => {
                let mut index = 0;
                self.members(b']', |reader| {
                    index += 1;
                    reader.value(&format!("{name}[{}]", index - 1), depth + 1)
                })
            }
            b'"' => {
                let text = jsonstr::decode(self.string()?).into_owned();
                self.texts.push(ArgumentText { name: name.to_owned(), text });
                Some(())
            }
            _ => {
                let rest = self.bytes[self.at..].iter();
                let length = rest.take_while(|byte| !b",]} \t\r\n".contains(byte)).count();
                self.at += length;
                (length > 0).then_some(())
            }
        }
    }

    /// Reads the members of an object or array up to `end`.
    fn members(&mut self, end: u8, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        while self.peek()? != end {
            read(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == end => {}
                _ => return None,
            }
        }
        self.at += 1;
        Some(())
    }

    /// Reads a string token, quotes included.
    fn string(&mut self) -> Option<&'a [u8]> {
        (self.peek()? == b'"').then_some(())?;
        let (start, bytes) = (self.at, self.bytes);
        let mut at = start + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            match bytes[at] {
                b'"' => break,
                _ => at += 2,
            }
        }
        self.at = at + 1;
        Some(&bytes[start..=at])
    }
}
