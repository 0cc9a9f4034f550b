//! Draws bars of block characters. Each kind of block has its own shape, so that bars can be read without colour.

use midfold::PieceFate;
use unicode_width::UnicodeWidthStr;

use crate::compacted_conversation::CompactedConversation;
use crate::output::{OutputColor, OutputStyle};
use crate::words::number;

/// The kind of a part of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarFill {
    /// Sent byte for byte.
    Verbatim,
    /// Folded: these messages leave the context.
    Folded,
    /// A recap or a marker.
    Recap,
    /// Edited, repaired or added.
    Edited,
}

impl BarFill {
    fn glyph(self) -> (&'static str, OutputColor) {
        match self {
            Self::Verbatim => ("█", OutputColor::Green),
            Self::Folded => ("░", OutputColor::Yellow),
            Self::Recap => ("▓", OutputColor::Magenta),
            Self::Edited => ("▒", OutputColor::Cyan),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Verbatim => "verbatim",
            Self::Folded => "folded",
            Self::Recap => "recap or marker",
            Self::Edited => "edited",
        }
    }
}

/// A bar with `columns` columns for `whole` tokens, and the number of columns that it fills. Each part gets at least
/// one column, unless there are more than a few.
pub fn bar(
    style: &OutputStyle,
    parts: &[(BarFill, u64)],
    whole: u64,
    columns: usize,
) -> (String, usize) {
    let whole = whole.max(1);
    let parts: Vec<_> = parts.iter().filter(|(_, tokens)| *tokens > 0).copied().collect();
    if parts.len() > FEW {
        return fine_bar(style, &parts, whole, columns);
    }
    let mut out = String::new();
    let (mut sum, mut drawn) = (0u64, 0usize);
    for (fill, tokens) in parts {
        // The end of each part is computed from the sum so far, so that rounding errors do not add up.
        sum += tokens;
        let end = u128::from(sum) * columns as u128 + u128::from(whole) / 2;
        let end = usize::try_from(end / u128::from(whole)).unwrap_or(columns);
        let cells = end.saturating_sub(drawn).max(1);
        drawn += cells;
        let (glyph, color) = fill.glyph();
        out += &style.paint(color, &glyph.repeat(cells));
    }
    (out, drawn)
}

/// With more parts than this, the parts share columns.
const FEW: usize = 8;

/// A bar of many small parts. Each column shows the kind that fills most of it.
fn fine_bar(
    style: &OutputStyle,
    parts: &[(BarFill, u64)],
    whole: u64,
    columns: usize,
) -> (String, usize) {
    let scale = |tokens: u64| tokens as f64 * columns as f64 / whole as f64;
    let total: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let cells = (scale(total).round() as usize).clamp(1, columns);
    let mut shares: Vec<Vec<(BarFill, f64)>> = vec![Vec::new(); cells];
    let mut from = 0.0;
    for (fill, tokens) in parts {
        let to = from + scale(*tokens);
        for (at, share) in shares.iter_mut().enumerate().skip(from as usize) {
            let part = to.min(at as f64 + 1.0) - f64::max(from, at as f64);
            if part <= 0.0 {
                break;
            }
            match share.iter_mut().find(|(known, _)| known == fill) {
                Some((_, sum)) => *sum += part,
                None => share.push((*fill, part)),
            }
        }
        from = to;
    }
    let most = |share: &Vec<(BarFill, f64)>| {
        share.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(BarFill::Verbatim, |(fill, _)| *fill)
    };
    let paint = |share| {
        let (glyph, color) = most(share).glyph();
        style.paint(color, glyph)
    };
    (shares.iter().map(paint).collect(), cells)
}

/// The meaning of the block characters, for the kinds that occur.
pub fn legend(style: &OutputStyle, fills: impl IntoIterator<Item = BarFill>) -> String {
    let mut seen: Vec<BarFill> = Vec::new();
    for fill in fills {
        if !seen.contains(&fill) {
            seen.push(fill);
        }
    }
    let text = |fill: &BarFill| {
        let (glyph, color) = fill.glyph();
        format!("{} {}", style.paint(color, glyph), fill.name())
    };
    seen.iter().map(text).collect::<Vec<_>>().join("   ")
}

/// Two bars on one scale: the tokens before and after a fold. Empty where nothing was folded.
pub fn folded(style: &OutputStyle, compacted: &CompactedConversation) -> String {
    let Some(fold) = compacted.fold() else { return String::new() };
    let before = [
        (BarFill::Verbatim, fold.head_tokens),
        (BarFill::Folded, fold.middle_tokens),
        (BarFill::Verbatim, fold.tail_tokens),
    ];
    let mut after = vec![(BarFill::Verbatim, compacted.prepared.log.envelope_tokens())];
    for piece in compacted.outcome.context.pieces() {
        let fill = match piece.fate {
            PieceFate::Verbatim(_) => BarFill::Verbatim,
            PieceFate::Recap | PieceFate::Marker => BarFill::Recap,
            PieceFate::Edited(_) | PieceFate::Repaired(..) | PieceFate::Added(_) => BarFill::Edited,
        };
        match after.last_mut() {
            Some((last, tokens)) if *last == fill => *tokens += u64::from(piece.tokens),
            _ => after.push((fill, u64::from(piece.tokens))),
        }
    }
    let labels = [number(fold.tokens_before), number(fold.tokens_after)];
    let room = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let columns = style.width.saturating_sub(room + 13).max(10);
    let line = |name: &str, parts: &[(BarFill, u64)], label: &str| {
        let (bar, _) = bar(style, parts, fold.tokens_before, columns);
        format!("  {} {bar} {label}\n", style.paint(OutputColor::Dim, &format!("{name:8}")))
    };
    let fills =
        before.iter().chain(&after).filter(|(_, tokens)| *tokens > 0).map(|(fill, _)| *fill);
    let legend = legend(style, fills);
    format!(
        "\n{}{}           {legend}\n\n",
        line("before", &before, &labels[0]),
        line("after", &after, &labels[1])
    )
}
