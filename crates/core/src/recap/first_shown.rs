//! What results showed, and what of it later messages use. Most of a result is never needed again;
//! what the agent goes on to name is what it was looked up for.

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ids::identifiers;
use crate::recap::statement::{Statement, StatementKind, StatementSentence};

/// Pieces of one result that are kept.
const PIECES: usize = 48;
/// Longest piece, in characters.
const PIECE_CHARS: usize = 180;
/// A name that is in more pieces than this says nothing of any of them.
const PLACES: usize = 4;
/// The most that use adds to the weight of a piece.
const MOST: u32 = 160;

/// Which piece showed a name first.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstShown {
    places: FxHashMap<CompactString, SmallVec<[(u32, u16); 1]>>,
}

impl FirstShown {
    /// What a use in the agent's own words adds to the weight of the piece.
    pub const IN_TEXT: u32 = 60;
    /// The same for the arguments of a call.
    pub const IN_CALL: u32 = 12;

    /// Notes the names of a statement's pieces.
    pub fn add(&mut self, statement: usize, parts: &[StatementSentence]) {
        let Ok(number) = u32::try_from(statement) else { return };
        for (at, part) in parts.iter().enumerate() {
            let Ok(at) = u16::try_from(at) else { return };
            for id in identifiers(&part.text).filter(|id| !id.contains('/')) {
                let places = self.places.entry(id.into()).or_default();
                if places.len() <= PLACES && !places.contains(&(number, at)) {
                    places.push((number, at));
                }
            }
        }
    }

    /// Raises the weight of the pieces whose names a text uses.
    pub fn used(&mut self, text: &str, weight: u32, statements: &mut [Statement]) {
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

/// The pieces of a result: its lines, long ones cut at what separates their members.
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

/// A line without the number that a reader of files puts in front of it: `  47→let x`.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    match rest.strip_prefix('→').or_else(|| rest.strip_prefix('\t')) {
        Some(text) if digits > 0 => text.trim_start(),
        _ => line,
    }
}

/// Where a piece of a long line ends: behind the last separator that fits.
fn end_of_piece(line: &str) -> usize {
    let Some((limit, _)) = line.char_indices().nth(PIECE_CHARS) else { return line.len() };
    let cut = ["}, ", "},", ". ", "; ", ", ", ",", " "]
        .iter()
        .find_map(|mark| line[..limit].rfind(mark).map(|at| at + mark.len()));
    cut.filter(|at| *at > limit / 3).unwrap_or(limit)
}
