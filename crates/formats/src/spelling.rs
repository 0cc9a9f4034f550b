//! The two spellings of a name that Google's API takes: `cachedContent` and `cached_content`. Requests and messages of
//! Gemini are read in both and written in the first.

use std::borrow::Cow;

/// The first spelling of a name in either spelling. A name without `_` is returned as it is.
pub(crate) fn camel(name: &str) -> Cow<'_, str> {
    if !name.contains('_') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut is_start = false;
    for c in name.chars() {
        match c {
            '_' => is_start = true,
            c if std::mem::take(&mut is_start) => out.push(c.to_ascii_uppercase()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::camel;

    #[test]
    fn either_spelling_has_the_same_first_one() {
        for (name, wanted) in [
            ("contents", "contents"),
            ("cached_content", "cachedContent"),
            ("cachedContent", "cachedContent"),
            ("response_mime_type", "responseMimeType"),
            ("größe_über", "größeüber"),
            ("_", ""),
        ] {
            assert_eq!(camel(name), wanted);
        }
    }
}
