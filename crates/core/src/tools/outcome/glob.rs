//! Patterns for single lines, as `data/outcomes.toml` has them. They are not regular expressions, because a few
//! hundred of those take long to compile.

/// A pattern for a whole line.
#[derive(Clone, Debug)]
pub(super) struct LineGlob {
    parts: Vec<GlobPart>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPart {
    /// Exactly this text.
    Text(String),
    /// `*`: any text.
    Any,
    /// `#`: a number above 0, such as `3`, `1,204` or `0.5`.
    AboveZero,
    /// `@`: any number. Of this and of `#`, one full stop or comma at the end may be no part of the number.
    Number,
    /// `~`: a word, or a part of one that the rest of the pattern continues.
    Word,
}

impl LineGlob {
    /// Reads a pattern. A backslash makes the next character plain text.
    pub(super) fn new(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let part = match c {
                '*' => GlobPart::Any,
                '#' => GlobPart::AboveZero,
                '@' => GlobPart::Number,
                '~' => GlobPart::Word,
                '\\' => {
                    text.extend(chars.next());
                    continue;
                }
                _ => {
                    text.push(c);
                    continue;
                }
            };
            if !text.is_empty() {
                parts.push(GlobPart::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
        }
        if !text.is_empty() {
            parts.push(GlobPart::Text(text));
        }
        Self { parts }
    }

    /// The longest text that every matching line has to hold. A search for it finds the lines that are worth matching.
    pub(super) fn needs(&self) -> &str {
        let texts = self.parts.iter().filter_map(|part| match part {
            GlobPart::Text(text) => Some(&**text),
            _ => None,
        });
        texts.max_by_key(|text| text.len()).unwrap_or_default()
    }

    pub(super) fn matches(&self, line: &str) -> bool {
        // Cheap tests first: most lines have not even the ends of most patterns.
        let begins = |part: &GlobPart| match part {
            GlobPart::Text(text) => line.starts_with(&**text),
            _ => true,
        };
        let ends = |part: &GlobPart| match part {
            GlobPart::Text(text) => line.ends_with(&**text),
            _ => true,
        };
        self.parts.first().is_none_or(begins)
            && self.parts.last().is_none_or(ends)
            && here(&self.parts, line.as_bytes(), 0)
    }
}

/// Whether the parts match the whole line from byte `at` on. Backtracking is cheap here, because lines are short and
/// literal texts are found by search.
fn here(parts: &[GlobPart], line: &[u8], at: usize) -> bool {
    let rest = line.get(at..).unwrap_or_default();
    let Some((part, parts)) = parts.split_first() else { return rest.is_empty() };
    match part {
        GlobPart::Text(text) => {
            rest.starts_with(text.as_bytes()) && here(parts, line, at + text.len())
        }
        GlobPart::Any => match parts.first() {
            None => true,
            Some(GlobPart::Text(text)) => {
                // Each search is over the rest of one line: preparing a search for many places costs more.
                let place_of = |from: &usize| memchr::memmem::find(&line[*from..], text.as_bytes());
                let next = |from: &usize| place_of(from).map(|offset| from + offset);
                let places = std::iter::successors(next(&at), |place| next(&(place + 1)));
                places.into_iter().any(|place| here(parts, line, place))
            }
            Some(_) => (at..=line.len()).any(|at| here(parts, line, at)),
        },
        GlobPart::AboveZero | GlobPart::Number => {
            let inside = at.checked_sub(1).and_then(|at| line.get(at)).is_some_and(|b| digit(*b));
            let length = rest.iter().take_while(|b| digit(**b)).count();
            let number = &rest[..length];
            let wanted = match part {
                GlobPart::AboveZero => number.iter().any(|b| (b'1'..=b'9').contains(b)),
                _ => number.first().is_some_and(u8::is_ascii_digit),
            };
            // In `1.` at the end of a sentence, the full stop is not part of the number.
            let shorter =
                matches!(number.last(), Some(b'.' | b',')) && here(parts, line, at + length - 1);
            wanted && !inside && (shorter || here(parts, line, at + length))
        }
        GlobPart::Word => {
            let length = rest.iter().take_while(|b| word(**b)).count();
            (1..=length).rev().any(|length| here(parts, line, at + length))
        }
    }
}

fn digit(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b',')
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::LineGlob;

    #[test]
    fn patterns_match_whole_lines() {
        for (pattern, line, wanted) in [
            ("=*# failed*", "=== 1 failed, 2 passed ===", true),
            ("=*# failed*", "=== 10 failed ===", true),
            ("=*# failed*", "=== 0 failed, 2 passed ===", false),
            ("=*# failed*", "=== 2 xfailed ===", false),
            ("Found # error*", "Found 1,204 errors.", true),
            ("Found # error*", "Found 0 errors.", false),
            ("# failed*in @s*", "1 failed in 0.02s", true),
            ("make: \\*\\*\\* *", "make: *** [all] Error 2", true),
            ("OK", "OK", true),
            ("OK", "OK then", false),
            ("~Error: *", "a.b.ValueError: x", true),
            ("~Error: *", "an Error: x", false),
            ("*timed out after @*", "it timed out after 30.", true),
            ("\\# fail #", "# fail 3", true),
            ("", "", true),
        ] {
            assert_eq!(LineGlob::new(pattern).matches(line), wanted, "{pattern} {line}");
        }
        assert_eq!(LineGlob::new("=*# failed*in @s").needs(), " failed");
    }
}
