//! Figures and words in few columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `950`, `13.6k`, `128k`, `1.2M`.
pub(crate) fn short(n: u64) -> String {
    let tenths = |unit: u64, name: &str| {
        let tenths = (n + unit / 20) / (unit / 10);
        match (tenths / 10, tenths % 10) {
            (whole, _) if whole >= 100 => format!("{}{name}", (n + unit / 2) / unit),
            (whole, 0) => format!("{whole}{name}"),
            (whole, tenth) => format!("{whole}.{tenth}{name}"),
        }
    };
    match n {
        0..=999 => n.to_string(),
        1_000..=999_499 => tenths(1_000, "k"),
        999_500..=999_499_999 => tenths(1_000_000, "M"),
        _ => tenths(1_000_000_000, "G"),
    }
}

/// `65 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// How long ago: `3 s`, `2 m`, `5 h`, `12 d`.
pub(crate) fn age(then: u64, now: u64) -> String {
    let seconds = now.saturating_sub(then) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// At most so many columns.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Exactly so many columns, at the left or at the right.
pub(crate) fn pad(text: &str, width: usize, right: bool) -> String {
    let text = fit(text, width);
    let space = " ".repeat(width.saturating_sub(text.width()));
    if right { space + &text } else { text + &space }
}

/// Lines of at most so many columns; a word that is longer is broken.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let long = word.width();
        let Some(line) = lines.last_mut() else { break };
        if used > 0 && used + 1 + long <= width {
            line.push(' ');
            line.push_str(word);
            used += 1 + long;
            continue;
        }
        if used > 0 {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used > 0 && used + wide > width {
                lines.push(String::new());
                used = 0;
            }
            used += wide;
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
        }
    }
    lines
}

/// Facts on lines, with dots between them: none is broken where it fits a line.
pub(crate) fn facts(all: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in all.iter().filter(|fact| !fact.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.width() + 3 + fact.width() <= width => {
                line.push_str(" · ");
                line.push_str(fact);
            }
            _ => lines.push(fit(fact, width)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let shown = [0, 999, 1_000, 1_049, 13_599, 99_950, 128_000, 999_499, 999_500, 1_234_567];
        let expected = ["0", "999", "1k", "1k", "13.6k", "100k", "128k", "999k", "1M", "1.2M"];
        assert_eq!(shown.map(short), expected);
        assert_eq!(
            [0, 61_000, 7_200_000, 1 << 40].map(|now| age(0, now)),
            ["0 s", "1 m", "2 h", "12725 d"]
        );
        assert_eq!(age(5, 0), "0 s", "clocks differ");
        assert_eq!(percent(0.6512), "65 %");
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(
            (fit("a漢字b", 6), fit("a漢字b", 4), fit("ab", 0)),
            ("a漢字b".into(), "a漢…".into(), String::new())
        );
        assert_eq!(pad("漢", 4, true), "  漢");
        assert_eq!(wrap("one two 漢字漢", 5), ["one", "two", "漢字", "漢"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(
            facts(&["a b".into(), String::new(), "c".into(), "d".into()], 7),
            ["a b · c", "d"]
        );
    }
}
