//! Cuts JSON documents out of chunks of any size: one document, a row of them, or the elements of an array.

use memchr::memchr2;

use super::sse::StreamPiece;

/// How documents follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentRow {
    /// One document; what follows it is skipped.
    One,
    /// One document after the other, as in lines of JSON.
    Many,
    /// The elements of one array. An object in place of the array is one document.
    Array,
}

/// The state of the splitter between two chunks.
#[derive(Clone, Debug)]
pub(super) struct DocumentSplitter {
    row: DocumentRow,
    /// The most bytes of one document.
    limit: usize,
    /// The bytes of the open document so far.
    document: Vec<u8>,
    /// The number of brackets that are open within the document.
    depth: usize,
    in_string: bool,
    /// Whether the last byte was a backslash in a string.
    is_escaped: bool,
    /// Whether the bracket of the outer array was read.
    in_array: bool,
    /// Whether no more documents follow, so that the rest of the stream is skipped.
    is_done: bool,
    /// Whether the open document is larger than the limit.
    too_large: bool,
}

impl DocumentSplitter {
    pub(super) fn new(row: DocumentRow, limit: usize) -> Self {
        Self {
            row,
            limit,
            document: Vec::new(),
            depth: 0,
            in_string: false,
            is_escaped: false,
            in_array: false,
            is_done: false,
            too_large: false,
        }
    }

    pub(super) fn push(&mut self, mut chunk: &[u8], sink: &mut impl FnMut(StreamPiece<'_>)) {
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

    /// Reads a byte between two documents.
    fn between(&mut self, byte: u8) {
        match byte {
            b'[' if self.row == DocumentRow::Array && !self.in_array => self.in_array = true,
            b'{' | b'[' => {
                self.depth = 1;
                self.hold(&[byte]);
            }
            b']' if self.in_array => self.is_done = true,
            // Only whitespace and commas are expected here. Anything else is skipped.
            _ => {}
        }
    }

    fn hold(&mut self, part: &[u8]) {
        self.too_large |= self.document.len() + part.len() > self.limit;
        // The brackets are still counted, because they alone show where the next document starts.
        if self.too_large {
            self.document = Vec::new();
        } else {
            self.document.extend_from_slice(part);
        }
    }

    fn end(&mut self, sink: &mut impl FnMut(StreamPiece<'_>)) {
        if std::mem::take(&mut self.too_large) {
            sink(StreamPiece::TooLarge);
        } else {
            sink(StreamPiece::Event { name: b"", data: &self.document });
        }
        self.document.clear();
        self.is_done = match self.row {
            DocumentRow::One => true,
            DocumentRow::Many => false,
            DocumentRow::Array => !self.in_array,
        };
    }

    /// Ends the stream. A document that was cut off is dropped; one above the limit is reported.
    pub(super) fn finish(self, sink: &mut impl FnMut(StreamPiece<'_>)) {
        if self.too_large {
            sink(StreamPiece::TooLarge);
        }
    }

    /// How many of these bytes belong to the open document. Sets `depth` to 0 at its end.
    fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            // The backslash may have been the last byte of the chunk before.
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
                    // The kinds of brackets are not compared: a broken document fails where it is read.
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

    fn documents(row: DocumentRow, limit: usize, text: &[u8], size: usize) -> Vec<String> {
        let mut texts = Vec::new();
        let mut sink = |piece: StreamPiece<'_>| {
            texts.push(match piece {
                StreamPiece::Event { data, .. } => String::from_utf8_lossy(data).into_owned(),
                StreamPiece::TooLarge => "too large".to_owned(),
            });
        };
        let mut units = DocumentSplitter::new(row, limit);
        text.chunks(size).for_each(|chunk| units.push(chunk, &mut sink));
        units.finish(&mut sink);
        texts
    }

    #[test]
    fn documents_are_cut_at_their_brackets() {
        let cases: [(DocumentRow, &str, &[&str]); 7] = [
            (DocumentRow::One, " \n {\"a\":\"}\\\"{\"} {}", &["{\"a\":\"}\\\"{\"}"]),
            (DocumentRow::One, "[{\"a\":1}]", &["[{\"a\":1}]"]),
            (DocumentRow::Many, "{\"a\":1}\n{\"b\":[{}]}\n", &["{\"a\":1}", "{\"b\":[{}]}"]),
            (DocumentRow::Array, "[{\"a\":1}\n,\r\n{\"b\":[2]}] {}", &["{\"a\":1}", "{\"b\":[2]}"]),
            (DocumentRow::Array, "{\"error\":{}} [{}]", &["{\"error\":{}}"]),
            (DocumentRow::One, "{\"a\":", &[]),
            (DocumentRow::Many, "no }] JSON", &[]),
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
            let texts = documents(DocumentRow::Array, 10, text, size);
            assert_eq!(texts, ["too large", "{\"b\":1}", "too large"], "{size}");
        }
    }
}
