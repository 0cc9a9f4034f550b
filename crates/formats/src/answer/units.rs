//! JSON documents, cut out of chunks of any size: one, a row of them, or the elements of an array.

use memchr::memchr2;

use super::sse::Piece;

/// How documents follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// One; what follows it is passed over.
    One,
    /// One after the other, as in lines of JSON.
    Many,
    /// Elements of one array. An object instead of the array is one document.
    Array,
}

/// The state between two chunks.
#[derive(Clone, Debug)]
pub(super) struct Units {
    row: Row,
    limit: usize,
    held: Vec<u8>,
    /// Brackets that are open within the document.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    in_array: bool,
    is_done: bool,
    too_large: bool,
}

impl Units {
    pub(super) fn new(row: Row, limit: usize) -> Self {
        Self {
            row,
            limit,
            held: Vec::new(),
            depth: 0,
            in_string: false,
            is_escaped: false,
            in_array: false,
            is_done: false,
            too_large: false,
        }
    }

    pub(super) fn push(&mut self, mut chunk: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        while !self.is_done
            && let Some(&first) = chunk.first()
        {
            if self.depth == 0 {
                self.between(first);
                chunk = &chunk[1..];
                continue;
            }
            let (part, rest) = chunk.split_at(self.advance(chunk));
            self.hold(part);
            chunk = rest;
            if self.depth == 0 {
                self.end(sink);
            }
        }
    }

    /// A byte outside of documents.
    fn between(&mut self, byte: u8) {
        match byte {
            b'[' if self.row == Row::Array && !self.in_array => self.in_array = true,
            b'{' | b'[' => {
                self.depth = 1;
                self.hold(&[byte]);
            }
            b']' if self.in_array => self.is_done = true,
            _ => {}
        }
    }

    fn hold(&mut self, part: &[u8]) {
        self.too_large |= self.held.len() + part.len() > self.limit;
        if self.too_large {
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(part);
        }
    }

    fn end(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        if std::mem::take(&mut self.too_large) {
            sink(Piece::TooLarge);
        } else {
            sink(Piece::Event { name: b"", data: &self.held });
        }
        self.held.clear();
        self.is_done = match self.row {
            Row::One => true,
            Row::Many => false,
            Row::Array => !self.in_array,
        };
    }

    /// What is left of a document that was given up.
    pub(super) fn finish(self, sink: &mut impl FnMut(Piece<'_>)) {
        if self.too_large {
            sink(Piece::TooLarge);
        }
    }

    /// How many bytes belong to the document that is open.
    fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            if std::mem::take(&mut self.is_escaped) {
                at += 1;
            } else if self.in_string {
                let Some(hit) = memchr2(b'"', b'\\', &bytes[at..]) else { break };
                at += hit + 1;
                self.in_string = bytes[at - 1] == b'\\';
                self.is_escaped = self.in_string;
            } else {
                let is_mark = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
                let Some(hit) = bytes[at..].iter().position(is_mark) else { break };
                at += hit + 1;
                match bytes[at - 1] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    _ => self.depth -= 1,
                }
                if self.depth == 0 {
                    return at;
                }
            }
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(row: Row, limit: usize, text: &[u8], size: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut sink = |piece: Piece<'_>| {
            found.push(match piece {
                Piece::Event { data, .. } => String::from_utf8_lossy(data).into_owned(),
                Piece::TooLarge => "too large".to_owned(),
            });
        };
        let mut units = Units::new(row, limit);
        text.chunks(size).for_each(|chunk| units.push(chunk, &mut sink));
        units.finish(&mut sink);
        found
    }

    #[test]
    fn documents_are_cut_at_their_brackets() {
        let cases: [(Row, &str, &[&str]); 7] = [
            (Row::One, " \n {\"a\":\"}\\\"{\"} {}", &["{\"a\":\"}\\\"{\"}"]),
            (Row::One, "[{\"a\":1}]", &["[{\"a\":1}]"]),
            (Row::Many, "{\"a\":1}\n{\"b\":[{}]}\n", &["{\"a\":1}", "{\"b\":[{}]}"]),
            (Row::Array, "[{\"a\":1}\n,\r\n{\"b\":[2]}] {}", &["{\"a\":1}", "{\"b\":[2]}"]),
            (Row::Array, "{\"error\":{}} [{}]", &["{\"error\":{}}"]),
            (Row::One, "{\"a\":", &[]),
            (Row::Many, "no }] JSON", &[]),
        ];
        for (row, text, wanted) in cases {
            for size in 1..=text.len() {
                assert_eq!(documents(row, 100, text.as_bytes(), size), wanted, "{text} {size}");
            }
        }
    }

    #[test]
    fn a_document_above_the_limit_is_passed_over() {
        let text = br#"[{"a":"12345678"},{"b":1},{"c":"12345"#;
        for size in 1..text.len() {
            let found = documents(Row::Array, 10, text, size);
            assert_eq!(found, ["too large", "{\"b\":1}", "too large"], "{size}");
        }
    }
}
