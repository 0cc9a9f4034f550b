//! Makes the tables of the embedded vocabularies, so that nothing is unpacked, hashed or compiled when a program
//! starts: they are read in place (`src/bpe`).
//!
//! The tokens come from the `tiktoken` crate, the classes of characters from the tables of `regex-syntax`, which the
//! vocabularies' own expressions are run with elsewhere.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

#[path = "src/bpe/layout.rs"]
mod layout;

use layout::{ABSENT, BLOCK, MOST, RANK_BITS, hash, tag};

/// Entries of the table of two bytes.
const PAIRS: usize = 1 << 16;

/// Name here, name in the `tiktoken` crate, and the feature.
const VOCABULARIES: [(&str, &str, &str); 2] = [
    ("o200k", "o200k_base", "CARGO_FEATURE_O200K"),
    ("cl100k", "cl100k_base", "CARGO_FEATURE_CL100K"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/bpe/layout.rs");
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    for (name, inner, feature) in VOCABULARIES {
        if env::var_os(feature).is_some() {
            vocabulary(&out.join(name), inner)?;
        }
    }
    fs::write(out.join("classes.rs"), classes()?)?;
    Ok(())
}

/// Writes the tokens one behind the other, where each ends, and two tables that find a token's rank.
fn vocabulary(folder: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let inner =
        tiktoken::get_encoding(name).ok_or("the tiktoken crate does not know this vocabulary")?;
    let count = u32::try_from(inner.vocab_size())?;
    let (mut bytes, mut ends, mut singles) = (Vec::new(), Vec::new(), 0);
    let mut pairs = vec![ABSENT; PAIRS];
    // A power of two that a quarter of stays free: searches for what is not there end at a free slot.
    let size = (count as usize * 4 / 3).next_power_of_two();
    let mut slots = vec![ABSENT; size];
    for rank in 0..count {
        let token = inner.decode(&[rank]);
        match token[..] {
            [] => return Err(format!("{name} has no token of rank {rank}").into()),
            // Counting relies on all of them, and asks for no rank of theirs.
            [_] => singles += 1,
            [a, b] => pairs[usize::from(a) << 8 | usize::from(b)] = rank,
            _ => {
                let key = hash(&token);
                let mut at = key as usize % size;
                while slots[at] != ABSENT {
                    at = (at + 1) % size;
                }
                slots[at] = tag(key) << RANK_BITS | rank;
            }
        }
        bytes.extend_from_slice(&token);
        ends.push(u32::try_from(bytes.len())?);
    }
    if singles != 256 || count >= MOST {
        return Err(format!("{name} has {singles} single bytes and {count} tokens").into());
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("bytes"), bytes)?;
    fs::write(folder.join("ends"), words(&ends))?;
    fs::write(folder.join("pairs"), words(&pairs))?;
    fs::write(folder.join("slots"), words(&slots))?;
    Ok(())
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The class of each character as Rust source: blocks of classes, and which block a character is in.
fn classes() -> Result<String, Box<dyn Error>> {
    let mut class = vec![layout::OTHER; 0x11_0000];
    for (pattern, mark) in [
        (r"\s", layout::SPACE),
        (r"\p{N}", layout::NUMBER),
        (r"\p{M}", layout::COMBINING),
        (r"[\p{Lm}\p{Lo}]", layout::UNCASED),
        (r"\p{Ll}", layout::LOWER),
        (r"[\p{Lu}\p{Lt}]", layout::UPPER),
        (r"[\r\n]", layout::LINE_END),
    ] {
        let HirKind::Class(Class::Unicode(found)) = regex_syntax::parse(pattern)?.into_kind()
        else {
            return Err(format!("{pattern} is no class of characters").into());
        };
        for range in found.ranges() {
            class[range.start() as usize..=range.end() as usize].fill(mark);
        }
    }
    let (mut blocks, mut places): (Vec<&[u8]>, Vec<usize>) = (Vec::new(), Vec::new());
    for block in class.chunks(BLOCK) {
        let known = blocks.iter().position(|known| *known == block);
        places.push(known.unwrap_or(blocks.len()));
        if known.is_none() {
            blocks.push(block);
        }
    }
    Ok(format!(
        "pub(super) static PLACES: [u16; {}] = {places:?};\npub(super) static BLOCKS: [[u8; {BLOCK}]; {}] = {blocks:?};\n",
        places.len(),
        blocks.len()
    ))
}
