//! The wordings of errors about images: too many of them, or one that is too large.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::diagnosis::PictureLimit;
use super::wording::{compile, number};

/// Wordings of too many images, the most specific first. `<l>` is the limit, as in the wordings of an overflow.
const COUNTS: &[&str] = &[
    // Anthropic, Bedrock: images and documents, pages and images
    r"too many images and documents: \d+ \+ \d+ > <l>",
    r"too much media: .{0,60}> ?<l>",
    // Azure, Copilot, Groq, gateways
    r"too many (?:\w+ )?images.{0,80}?(?:max(?:imum)?\D{1,20}|up to |at most |limit\D{1,12}|> ?)<l>",
    r"\d+ images, exceeding the maximum of <l>",
    r"image count \d+ exceeds limit <l>",
    r"maximum <l> images per request exceeded",
    // vLLM
    r"at most <l> image(?:s|\(s\))? may be provided",
    r"you set .?image.?=<l>.{0,60}but passed \d+ image",
    r"too many images|too much media",
];

/// Wordings of an image with a side that is too long.
const SIDES: &[&str] = &[
    r"image(?: dimensions)? exceeds? (?:the )?max(?:imum)? allowed size(?P<many> for many-image requests)?(?:: <l> pixels)?",
];

/// Wordings of an image with too many bytes.
const BYTES: &[&str] =
    &[r"image exceeds .{0,20}maximum: \d+ bytes > <l> bytes", r"image exceeds \d+ ?mb maximum"];

static COUNT: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(COUNTS));
static SIDE: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(SIDES));
static BYTE: LazyLock<Vec<Regex>> = LazyLock::new(|| compile(BYTES));

/// The limit for images that an error's text names. `None` where it names none.
pub(super) fn pictures(text: &str) -> Option<PictureLimit> {
    if let Some(found) = first(&SIDE, text) {
        let among_many = found.name("many").is_some();
        return Some(PictureLimit::Side { most: number(&found, "l"), among_many });
    }
    if let Some(found) = first(&BYTE, text) {
        return Some(PictureLimit::Bytes { most: number(&found, "l") });
    }
    first(&COUNT, text).map(|found| PictureLimit::Count { most: number(&found, "l") })
}

fn first<'a>(wordings: &[Regex], text: &'a str) -> Option<Captures<'a>> {
    wordings.iter().find_map(|wording| wording.captures(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for all in [COUNTS, SIDES, BYTES] {
            assert_eq!(compile(all).len(), all.len());
        }
    }
}
