//! Remembers which pieces of tool results first showed a name. A piece gains weight when later messages use its
//! names, because most of a result is never needed again, and used names are what the agent looked for.

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ids::identifiers;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};

/// At most this many pieces of one result are kept.
const PIECES: usize = 48;
/// At most this many lines of one result are looked at for pieces. Some lines, such as bare numbers, are none.
pub(super) const LINES: usize = 2 * PIECES;
/// Longest piece, in characters.
const PIECE_CHARS: usize = 180;
/// A name that occurs in more pieces than this says nothing about any of them.
const PLACES: usize = 4;
/// The weight of a piece does not grow beyond this by uses.
const MOST: u32 = 160;

/// For each name, the pieces that showed it: indices of the statement and of its part.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstShown {
    places: FxHashMap<CompactString, SmallVec<[(u32, u16); 1]>>,
}

impl FirstShown {
    /// Weight that a piece gains when the agent's own words use one of its names.
    pub const IN_TEXT: u32 = 60;
    /// Weight that a piece gains when a call's arguments use one of its names.
    pub const IN_CALL: u32 = 12;

    /// Notes the names in the pieces of a statement, which is given by its index.
    pub fn add(&mut self, statement: usize, parts: &[StatementSentence]) {
        let Ok(number) = u32::try_from(statement) else { return };
        for (at, part) in parts.iter().enumerate() {
            let Ok(at) = u16::try_from(at) else { return };
            for id in identifiers(&part.text).filter(|id| !id.contains('/')) {
                let places = self.places.entry(id.into()).or_default();
                // One place above the limit is kept: it marks a name that occurs too often.
                if places.len() <= PLACES && !places.contains(&(number, at)) {
                    places.push((number, at));
                }
            }
        }
    }

    /// Raises the weight of the pieces whose names a text uses.
    pub fn note_use(&mut self, text: &str, weight: u32, statements: &mut [Statement]) {
        if self.places.is_empty() {
            return;
        }
        for id in identifiers(text) {
            let Some(places) = self.places.get(id).filter(|places| places.len() <= PLACES) else {
                continue;
            };
            for (statement, part) in places {
                let shown = match statements.get_mut(*statement as usize) {
                    Some(found) if found.kind == StatementKind::Found => &mut found.parts,
                    Some(other) => &mut other.seen,
                    None => continue,
                };
                if let Some(part) = shown.get_mut(usize::from(*part)) {
                    part.weight = (part.weight + weight).min(MOST);
                }
            }
        }
    }
}

/// The pieces of a result: its lines. A long line is cut at separators such as commas.
pub(super) fn pieces(lines: &[String], weight: u32) -> Vec<StatementSentence> {
    let mut parts = Vec::new();
    for line in lines {
        let mut rest = without_number(line.trim());
        while !rest.is_empty() && parts.len() < PIECES {
            let (piece, left) = rest.split_at(end_of_piece(rest));
            parts.push(StatementSentence::new(piece.trim(), weight));
            rest = left.trim_start();
        }
    }
    parts
}

/// Removes the number that file readers put in front of a line: `  47→let x`.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    match rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')) {
        Some(text) if digits > 0 => text.trim_start(),
        _ => line,
    }
}

/// Byte offset at which the first piece of a line ends: behind the last separator that fits, or at the limit where
/// that would leave a very short piece.
fn end_of_piece(line: &str) -> usize {
    let Some((limit, _)) = line.char_indices().nth(PIECE_CHARS) else { return line.len() };
    let cut = ["}, ", "},", ". ", "; ", ", ", ",", " "]
        .iter()
        .find_map(|mark| line[..limit].rfind(mark).map(|at| at + mark.len()));
    cut.filter(|at| *at > limit / 3).unwrap_or(limit)
}
