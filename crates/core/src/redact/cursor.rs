//! A position in a text that moves on as parts of the text are read.

/// A position in a text that moves on.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextCursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl TextCursor<'_> {
    pub(super) fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips this text. Returns whether it was there.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let there = self.rest().starts_with(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    /// Skips the first of these texts that is there. Returns whether there was one.
    pub(super) fn eat_one<'w>(&mut self, of: impl IntoIterator<Item = &'w str>) -> bool {
        of.into_iter().any(|word| self.eat(word))
    }

    /// Skips at most `most` bytes for which `belongs` is true. Returns whether there were any.
    pub(super) fn skip(&mut self, most: usize, belongs: impl Fn(u8) -> bool) -> bool {
        let bytes = self.text.as_bytes()[self.at..].iter().take(most);
        let count = bytes.take_while(|b| belongs(**b)).count();
        // `most` may end inside a character.
        self.at = self.text.floor_char_boundary(self.at + count);
        count > 0
    }

    /// Skips up to 32 spaces and tabs. Returns whether there were any.
    pub(super) fn blank(&mut self) -> bool {
        self.skip(32, |b| b == b' ' || b == b'\t')
    }

    /// Skips up to 64 bytes of white space. Returns whether there were any.
    pub(super) fn space(&mut self) -> bool {
        self.skip(64, |b| b.is_ascii_whitespace())
    }

    /// Skips the quote that closes a name, also an escaped one. Returns whether there was one.
    pub(super) fn closing_quote(&mut self) -> bool {
        let mut ahead = *self;
        ahead.skip(3, |b| b == b'\\');
        let closes = ahead.skip(1, |b| b"\"'`".contains(&b));
        if closes {
            *self = ahead;
        }
        closes
    }
}
