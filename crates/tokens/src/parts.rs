//! Cuts long unbroken runs of a text, because tokenizers need very long for them.
//!
//! A tokenizer first splits a text into pieces (words, numbers, runs of marks, white space) and merges inside each.
//! For a piece of a megabyte, that takes half a second or more. Pieces of up to [`CAP`] bytes are not cut, so the
//! count of any ordinary text is exact. A longer one is counted in parts of [`PART`] bytes, which may be off by one
//! token at each cut (0.02 %).

/// Longest run of one kind of byte that is counted as a whole, in bytes.
pub const CAP: usize = 64 * 1024;

/// Size of the parts of a longer run, in bytes.
pub const PART: usize = 8 * 1024;

/// Kinds of bytes. Inside a run of one kind there is no border between pieces, or only one that does not matter here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunKind {
    Word,
    Digit,
    White,
    Mark,
}

/// The kind of each byte. All bytes of characters outside ASCII count as parts of words.
const KINDS: [RunKind; 256] = {
    let mut kinds = [RunKind::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphabetic() || b >= 0x80 {
            kinds[byte] = RunKind::Word;
        } else if b.is_ascii_digit() {
            kinds[byte] = RunKind::Digit;
        } else if b.is_ascii_whitespace() || b == 0x0B {
            kinds[byte] = RunKind::White;
        }
        byte += 1;
    }
    kinds
};

fn kind(byte: u8) -> RunKind {
    KINDS[usize::from(byte)]
}

/// Sums `count` over the parts of `text`. A text of at most [`CAP`] bytes is one part.
pub fn sum(text: &str, count: impl Fn(&str) -> u64) -> u64 {
    if text.len() <= CAP {
        return count(text);
    }
    let (mut total, mut from, mut searched) = (0, 0, 0);
    while let Some(run) = long_run(text.as_bytes(), searched) {
        let mut cut = run.start + PART;
        while cut < run.end {
            let border = text.floor_char_boundary(cut);
            total += count(&text[from..border]);
            from = border;
            cut += PART;
        }
        searched = run.end;
    }
    total + count(&text[from..])
}

/// The first run of one kind of byte, from `from` on, that is longer than [`CAP`]. It looks at one byte in every
/// 65,536 and goes back to the last change of kind, which is a few bytes away in ordinary text.
fn long_run(bytes: &[u8], from: usize) -> Option<std::ops::Range<usize>> {
    let mut start = from;
    loop {
        let probe = start + CAP;
        let here = kind(*bytes.get(probe)?);
        let change = bytes[start..probe].iter().rposition(|&b| kind(b) != here);
        match change {
            Some(at) => start += at + 1,
            None => {
                let rest = bytes[probe..].iter().position(|&b| kind(b) != here);
                return Some(start..rest.map_or(bytes.len(), |more| probe + more));
            }
        }
    }
}
