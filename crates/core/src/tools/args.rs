//! A tolerant reader of call arguments: one pass over the JSON that keeps positions only. A string is decoded
//! when it is asked for, so the content of a written file costs nothing.

use crate::tools::words::file_name;
use std::borrow::Cow;

use crate::jsonstr;

/// Objects and arrays are read down to this depth.
const DEPTH: usize = 4;

/// The members of an object and of the objects inside it, in order. A name may occur several times.
pub(super) struct CallArguments<'a> {
    members: Vec<(Cow<'a, str>, ArgumentValue<'a>)>,
    /// The whole text, where it is not a JSON object.
    plain: Option<&'a str>,
}

/// The value of an argument, as far as it is read.
enum ArgumentValue<'a> {
    /// A string token, with its quotes.
    Text(&'a [u8]),
    /// A text that was decoded before.
    Decoded(String),
    /// A number, as it is written.
    Number(&'a str),
    /// The strings and numbers of an array, as they are written.
    List(Vec<&'a str>),
}

impl ArgumentValue<'_> {
    /// The texts of the value: none for a number, several for an array.
    fn texts(&self) -> Vec<String> {
        match self {
            Self::Text(token) => vec![jsonstr::decode(token).into_owned()],
            Self::Decoded(text) => vec![text.clone()],
            Self::Number(_) => Vec::new(),
            Self::List(items) => items
                .iter()
                .filter(|item| item.starts_with('"'))
                .map(|item| jsonstr::decode(item.as_bytes()).into_owned())
                .collect(),
        }
    }

    /// The number, also where it is written as a text; `None` where there is none.
    fn number(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            Self::Text(_) | Self::Decoded(_) => self.texts().first()?.trim().parse().ok(),
            Self::List(_) => None,
        }
    }
}

impl<'a> CallArguments<'a> {
    /// Reads a JSON object, a JSON string that holds such an object, or else plain text. Broken JSON gives the members
    /// before the break.
    pub(super) fn read(text: &'a str) -> Self {
        let start = text.trim_start();
        let mut members = Vec::new();
        if start.starts_with('{') {
            ArgumentReader { text: start, at: 0, out: &mut members }.value("", 0);
            return Self { members, plain: None };
        }
        if start.len() > 1 && start.starts_with('"') && start.trim_end().ends_with('"') {
            let inner = jsonstr::decode(start.trim_end().as_bytes()).into_owned();
            if inner.trim_start().starts_with('{') {
                members = CallArguments::read(&inner).owned();
                return Self { members, plain: None };
            }
        }
        Self { members, plain: Some(text) }
    }

    /// The members with decoded values, which do not borrow from the text.
    fn owned<'b>(self) -> Vec<(Cow<'b, str>, ArgumentValue<'b>)> {
        let one = |(key, value): (Cow<'a, str>, ArgumentValue<'a>)| {
            let key = key.into_owned();
            let number = value.number().map(|number| number.to_string());
            let texts = number.map_or_else(|| value.texts(), |number| vec![number]);
            texts
                .into_iter()
                .map(move |text| (Cow::Owned(key.clone()), ArgumentValue::Decoded(text)))
        };
        self.members.into_iter().flat_map(one).collect()
    }

    /// The whole text, where it is not a JSON object and not blank.
    pub(super) fn plain(&self) -> Option<&'a str> {
        self.plain.filter(|text| !text.trim().is_empty())
    }

    fn named<'s>(&'s self, names: &'s [String]) -> impl Iterator<Item = &'s ArgumentValue<'a>> {
        names.iter().flat_map(move |name| {
            self.members.iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
        })
    }

    /// All texts of the arguments with these names.
    pub(super) fn all(&self, names: &[String]) -> Vec<String> {
        self.named(names).flat_map(ArgumentValue::texts).collect()
    }

    /// Whether there is an argument with one of these names.
    pub(super) fn has(&self, names: &[String]) -> bool {
        self.named(names).next().is_some()
    }

    /// The first non-empty text. A name that comes first in `names` wins.
    pub(super) fn first(&self, names: &[String]) -> Option<String> {
        self.named(names).find_map(|value| value.texts().into_iter().find(|text| !text.is_empty()))
    }

    /// The first number. A name that comes first in `names` wins.
    pub(super) fn number(&self, names: &[String]) -> Option<u64> {
        self.named(names).find_map(ArgumentValue::number)
    }

    /// The first pair of numbers. The second one may be -1.
    pub(super) fn pair(&self, names: &[String]) -> Option<(u64, i64)> {
        self.named(names).find_map(|value| match value {
            ArgumentValue::List(items) => match items.as_slice() {
                [first, second] => Some((first.parse().ok()?, second.parse().ok()?)),
                _ => None,
            },
            _ => None,
        })
    }

    /// The first command: a string, or an argument vector. `bash -lc SCRIPT` gives SCRIPT.
    pub(super) fn command(&self, names: &[String]) -> Option<String> {
        self.named(names).find_map(|value| {
            let words = value.texts();
            match words.as_slice() {
                [] => None,
                [shell, flag, script] if is_shell(shell) && matches!(&**flag, "-lc" | "-c") => {
                    Some(script.clone())
                }
                _ => Some(words.join(" ")),
            }
        })
    }
}

fn is_shell(program: &str) -> bool {
    matches!(file_name(program), "bash" | "sh" | "zsh" | "dash")
}

/// Reads the members of a JSON object, and records them under their names.
struct ArgumentReader<'a, 'o> {
    text: &'a str,
    /// Byte offset of the cursor.
    at: usize,
    out: &'o mut Vec<(Cow<'a, str>, ArgumentValue<'a>)>,
}

impl<'a> ArgumentReader<'a, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Reads the value at the cursor and records it under `key`. `None` where the JSON is broken.
    fn value(&mut self, key: &str, depth: usize) -> Option<()> {
        self.space();
        match self.peek()? {
            b'{' if depth < DEPTH => self.object(depth),
            b'[' if depth < DEPTH => self.array(key, depth),
            b'{' | b'[' => self.skip(),
            b'"' => {
                let token = self.string()?;
                self.out.push((Cow::Owned(key.to_owned()), ArgumentValue::Text(token.as_bytes())));
                Some(())
            }
            _ => {
                let scalar = self.scalar()?;
                self.out.push((Cow::Owned(key.to_owned()), ArgumentValue::Number(scalar)));
                Some(())
            }
        }
    }

    /// Reads the rest of an object. `None` where the JSON is broken.
    fn object(&mut self, depth: usize) -> Option<()> {
        self.at += 1;
        loop {
            self.space();
            match self.peek()? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                b'"' => {
                    let key = jsonstr::decode(self.string()?.as_bytes()).into_owned();
                    self.space();
                    if self.peek()? != b':' {
                        return None;
                    }
                    self.at += 1;
                    self.value(&key, depth + 1)?;
                }
                _ => return None,
            }
        }
    }

    /// Reads the rest of an array, and records its strings and numbers under `key`. `None` where the JSON is broken.
    fn array(&mut self, key: &str, depth: usize) -> Option<()> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek()? {
                b']' => {
                    self.at += 1;
                    self.out.push((Cow::Owned(key.to_owned()), ArgumentValue::List(items)));
                    return Some(());
                }
                b',' => self.at += 1,
                b'{' | b'[' => self.value(key, depth + 1)?,
                b'"' => items.push(self.string()?),
                _ => items.push(self.scalar()?),
            }
        }
    }

    /// The string token at the cursor, with its quotes. `None` where it does not end.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
            if bytes[at] == b'"' {
                self.at = at + 1;
                return self.text.get(start..self.at);
            }
            at += 2;
        }
    }

    /// The number or word at the cursor; `None` where there is none.
    fn scalar(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// Skips a value that is nested too deeply. `None` where the JSON is broken.
    fn skip(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Some(());
            }
        }
    }
}
