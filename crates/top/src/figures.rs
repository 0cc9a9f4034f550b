//! Numbers and words in few columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A number in few characters: `950`, `13.6k`, `128k`, `1.2M`.
pub fn short(n: u64) -> String {
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
        // From 999,500 on, rounding would give `1000k`.
        999_500..=999_499_999 => tenths(1_000_000, "M"),
        _ => tenths(1_000_000_000, "G"),
    }
}

/// A share as a percentage, cut down as everywhere: `65 %`. Only a full one has 100 %.
pub fn percent(share: f64) -> String {
    // A share of 0.29 is a little less than 29 hundredths.
    format!("{:.0} %", (share * 100.0 + 1e-9).floor())
}

/// The time between two points in milliseconds, as an age: `3 s`, `2 m`, `5 h`, `12 d`.
pub fn age(then: u64, now: u64) -> String {
    let seconds = now.saturating_sub(then) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} m", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Cuts a text to at most `width` columns, with `…` at the end.
pub fn fit(text: &str, width: usize) -> String {
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

/// Cuts or fills a text to exactly `width` columns; `right` puts it at the right.
pub fn pad(text: &str, width: usize, right: bool) -> String {
    let text = fit(text, width);
    let space = " ".repeat(width.saturating_sub(text.width()));
    if right { space + &text } else { text + &space }
}

/// Breaks a text into lines of at most `width` columns. A word that is longer is broken, too.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
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

/// Puts facts on lines with dots between them. A fact is only cut if it is longer than a line.
pub fn facts(all: &[String], width: usize) -> Vec<String> {
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
