//! Compresses the record of a fold. Its recap is in it twice, once as text and once as a message, and most of its lines
//! are in the record of the fold before. Deflate alone sees neither, because they are further apart than its window.
//!
//! A text is cut at its escapes, so that a line is the same piece in JSON and in JSON within JSON. A piece that came
//! before, in this text or in the text of the base, is written as its distance from the piece that was repeated last.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rustc_hash::FxHashMap;

use crate::error::StoreError;

/// Compresses a text beside the text of its base, which is empty where there is none.
pub fn pack(text: &str, base: &str) -> Result<Vec<u8>, StoreError> {
    let mut places: FxHashMap<&str, i64> = pieces(base).zip(0..).collect();
    let count = pieces(base).count() as i64;
    // Escapes and the texts between them have a distance of their own: in a repeated list both are then the same each
    // time.
    let (mut out, mut last) = (Vec::new(), [0; 2]);
    for (piece, here) in pieces(text).zip(count..) {
        let kind = usize::from(is_escape(piece));
        match places.insert(piece, here) {
            Some(place) => {
                let distance = zigzag(place - last[kind]) * 2 + kind as u64;
                write_number(&mut out, distance + 1);
                last[kind] = place;
            }
            None => {
                write_number(&mut out, 0);
                write_number(&mut out, piece.len() as u64);
                out.extend(piece.as_bytes());
            }
        }
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&out).and_then(|()| packed.finish()).map_err(|error| damaged(&error))
}

/// Reads what [`pack`] wrote with the same base.
///
/// # Errors
/// Fails with [`StoreError::Damaged`] where the bytes are something else.
pub fn unpack(packed: &[u8], base: &str) -> Result<String, StoreError> {
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
    let mut input = &bytes[..];
    let mut known: Vec<&str> = pieces(base).collect();
    let (mut text, mut last) = (String::new(), [0; 2]);
    while !input.is_empty() {
        let piece = match read_number(&mut input)?.checked_sub(1) {
            None => read_literal(&mut input)?,
            Some(distance) => {
                let last = &mut last[usize::from(distance % 2 == 1)];
                *last += unzigzag(distance / 2);
                let place = usize::try_from(*last).ok();
                place.and_then(|place| known.get(place)).ok_or_else(|| damaged(&"no such piece"))?
            }
        };
        text.push_str(piece);
        known.push(piece);
    }
    Ok(text)
}

/// Cuts a text before and behind each escape: a run of backslashes with the character that follows it.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = match is_escape(text) {
            true => {
                let slashes = text.len() - text.trim_start_matches('\\').len();
                slashes + text[slashes..].chars().next().map_or(0, char::len_utf8)
            }
            false => text.find('\\').unwrap_or(text.len()),
        };
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn is_escape(piece: &str) -> bool {
    piece.starts_with('\\')
}

/// A small number for a small distance in either direction.
fn zigzag(distance: i64) -> u64 {
    ((distance << 1) ^ (distance >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// Seven bits a byte; the highest bit says that another one follows.
fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(input: &mut &[u8]) -> Result<u64, StoreError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first().ok_or_else(|| damaged(&"it breaks off"))?;
        *input = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(damaged(&"a number has no end"))
}

fn read_literal<'a>(input: &mut &'a [u8]) -> Result<&'a str, StoreError> {
    let length = usize::try_from(read_number(input)?).unwrap_or(usize::MAX);
    let (bytes, rest) = input.split_at_checked(length).ok_or_else(|| damaged(&"it breaks off"))?;
    *input = rest;
    std::str::from_utf8(bytes).map_err(|error| damaged(&error))
}

fn damaged(why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Damaged(format!("the record of a fold: {why}"))
}
