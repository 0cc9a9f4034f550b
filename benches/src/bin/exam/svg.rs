//! The score against what it takes, as a picture: one panel by mean context, one by cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::labels::{Area, Label, Spot, place};

/// A strategy's figures, as `--json` prints them.
#[derive(Deserialize)]
pub struct Figure {
    strategy: String,
    score: f64,
    context: f64,
    cost: f64,
    #[serde(default)]
    exams: BTreeMap<String, Faults>,
}

#[derive(Deserialize)]
struct Faults {
    #[serde(default)]
    over: u64,
    #[serde(default)]
    invalid: u64,
}

impl Figure {
    /// Whether every context of it could really be sent.
    fn is_sendable(&self) -> bool {
        self.exams.values().all(|exam| exam.over + exam.invalid == 0)
    }
}

/// What a panel is by.
struct Panel<'a> {
    title: &'a str,
    x: fn(&Figure) -> f64,
    /// Points right of this are named below, not drawn.
    most: f64,
    left: f64,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 424.0;
/// The plot of a panel.
const PLOT: (f64, f64) = (350.0, 270.0);
const TOP: f64 = 58.0;
/// The strategies that are recommended.
const OURS: [&str; 3] = ["default", "generous", "lean"];

const STYLE: &str = "\
.ground{fill:#fff}text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#59636e}\
.title{font-size:14px;font-weight:600;fill:#15191e}.grid{stroke:#e0e4e9}.front{stroke:#0a5fbf;fill:none;opacity:.6}\
.lead{stroke:#c3cad2}.point{fill:#79828d;stroke:#fff}.ours{fill:#0a5fbf}.hollow{fill:#fff;stroke:#b3261e;stroke-width:1.75}\
.name{fill:#15191e;stroke:#fff;stroke-width:3;paint-order:stroke;stroke-linejoin:round}.bold{font-weight:700}\
@media(prefers-color-scheme:dark){.ground{fill:#0f1216}text{fill:#a0aab5}.title{fill:#e7eaee}.grid{stroke:#272d35}\
.front{stroke:#74b3ff}.lead{stroke:#3d4650}.point{fill:#8b95a0;stroke:#0f1216}.ours{fill:#74b3ff}\
.hollow{fill:#0f1216;stroke:#ff8f85}.name{fill:#e7eaee;stroke:#0f1216}}";

/// The picture of figures that `--json` printed.
pub fn picture(json: &str) -> Result<String> {
    let figures: Vec<Figure> =
        serde_json::from_str(json).context("the figures are not what --json prints")?;
    let panels = [
        Panel { title: "by mean context, in windows", x: |f| f.context, most: 1.05, left: 46.0 },
        Panel { title: "by cost, times the raw history", x: |f| f.cost, most: 3.0, left: 486.0 },
    ];
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" role=\"img\" aria-labelledby=\"t d\">\n<title id=\"t\">Exam score of each \
         strategy</title>\n<desc id=\"d\">{}</desc>\n<style>{STYLE}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
        said(&figures)
    );
    for panel in &panels {
        draw(&mut out, panel, &figures);
    }
    key(&mut out, &figures);
    out.push_str("</svg>\n");
    Ok(out)
}

/// The figures in words, for those who do not see the picture.
fn said(figures: &[Figure]) -> String {
    let one = |f: &Figure| {
        format!(
            "{}: {:.3} at {:.2} windows, cost {:.2}",
            escaped(&f.strategy),
            f.score,
            f.context,
            f.cost
        )
    };
    figures.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn draw(out: &mut String, panel: &Panel<'_>, figures: &[Figure]) {
    let (shown, outside): (Vec<&Figure>, Vec<&Figure>) =
        figures.iter().partition(|figure| (panel.x)(figure) <= panel.most);
    let low = shown.iter().map(|figure| figure.score).fold(0.9, f64::min);
    let low = ((low - 0.03) * 10.0).floor() / 10.0;
    let right = shown.iter().map(|figure| (panel.x)(figure)).fold(0.2, f64::max) * 1.12;
    let x = |value: f64| panel.left + value / right * PLOT.0;
    let y = |score: f64| TOP + (1.0 - score) / (1.0 - low) * PLOT.1;
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{:.0}\" y=\"24\">Score {}</text>",
        panel.left, panel.title
    );
    grid(out, panel.left, (low, &y), (right, &x));
    let front: Vec<(f64, f64)> =
        front(&shown, panel.x).iter().map(|f| (x((panel.x)(f)), y(f.score))).collect();
    let end = panel.left + PLOT.0;
    let lines = stairs(out, &front, end);
    let spot = |figure: &&Figure| Spot {
        x: x((panel.x)(figure)),
        y: y(figure.score),
        text: figure.strategy.clone(),
    };
    let spots: Vec<Spot> = shown.iter().map(spot).collect();
    let frame = Area {
        left: panel.left + 2.0,
        top: TOP - 8.0,
        right: end + 20.0,
        bottom: TOP + PLOT.1 - 2.0,
    };
    let labels = place(&spots, lines, &frame);
    points(out, &shown, &spots, &labels);
    let note =
        |f: &&Figure| format!("{}: {:.3} at {:.2}", escaped(&f.strategy), f.score, (panel.x)(f));
    if !outside.is_empty() {
        let text = outside.iter().map(note).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\">further right, {text}</text>",
            panel.left,
            TOP + PLOT.1 + 38.0
        );
    }
}

fn points(out: &mut String, figures: &[&Figure], spots: &[Spot], labels: &[Label]) {
    // Lines below all points, names above them.
    for (spot, label) in spots.iter().zip(labels).filter(|(_, label)| label.is_far) {
        let (x, y) = (label.near(), label.y);
        let _ = writeln!(
            out,
            "<path class=\"lead\" d=\"M{:.1} {:.1}L{x:.1} {y:.1}\"/>",
            spot.x, spot.y
        );
    }
    for (figure, spot) in figures.iter().zip(spots) {
        let ours = OURS.contains(&figure.strategy.as_str());
        let class = match (figure.is_sendable(), ours) {
            (false, _) => "point hollow",
            (true, true) => "point ours",
            (true, false) => "point",
        };
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\"/>",
            spot.x, spot.y
        );
    }
    for (spot, label) in spots.iter().zip(labels) {
        name(out, spot, label);
    }
}

/// Draws the line through the best, and tells where it runs.
fn stairs(out: &mut String, front: &[(f64, f64)], end: f64) -> Vec<Area> {
    let Some((x, y)) = front.first() else { return Vec::new() };
    let mut path = format!("M{x:.1} {y:.1}");
    let mut lines = Vec::new();
    for (at, (x, y)) in front.iter().enumerate() {
        let next = front.get(at + 1).copied();
        let right = next.map_or(end, |(x, _)| x);
        let _ = write!(path, "H{right:.1}");
        lines.push(Area { left: *x, top: y - 2.0, right, bottom: y + 2.0 });
        if let Some((x, above)) = next {
            let _ = write!(path, "V{above:.1}");
            lines.push(Area { left: x - 2.0, top: above, right: x + 2.0, bottom: *y });
        }
    }
    let _ = writeln!(out, "<path class=\"front\" d=\"{path}\"/>");
    lines
}

fn name(out: &mut String, spot: &Spot, label: &Label) {
    let bold = if OURS.contains(&spot.text.as_str()) { " bold" } else { "" };
    let _ = writeln!(
        out,
        "<text class=\"name{bold}\" x=\"{:.1}\" y=\"{:.1}\" dy=\".35em\" text-anchor=\"{}\">{}</text>",
        label.x,
        label.y,
        label.anchor,
        escaped(&spot.text)
    );
}

fn grid(
    out: &mut String,
    left: f64,
    (low, y): (f64, &dyn Fn(f64) -> f64),
    (right, x): (f64, &dyn Fn(f64) -> f64),
) {
    let (bottom, end) = (y(low), left + PLOT.0);
    for at in 0..=((1.0 - low) * 10.0).round() as u32 {
        let score = 1.0 - f64::from(at) / 10.0;
        let y = y(score);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{left} {y:.1}H{end}\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{y:.1}\" dy=\".35em\" text-anchor=\"end\">{score:.1}</text>",
            left - 8.0
        );
    }
    let step = if right > 1.3 { 0.5 } else { 0.2 };
    for at in 0..=(right / step).floor() as u32 {
        let value = f64::from(at) * step;
        let x = x(value);
        let _ = writeln!(out, "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.1}\"/>");
        let _ = writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.1}</text>",
            bottom + 18.0
        );
    }
}

/// Those that nothing beats on one axis without being worse on the other, from the left.
fn front<'a>(figures: &[&'a Figure], x: fn(&Figure) -> f64) -> Vec<&'a Figure> {
    let mut able: Vec<&Figure> = figures.iter().copied().filter(|f| f.is_sendable()).collect();
    able.sort_by(|a, b| x(a).total_cmp(&x(b)).then(b.score.total_cmp(&a.score)));
    let mut best = f64::MIN;
    able.retain(|figure| {
        let better = figure.score > best;
        best = best.max(figure.score);
        better
    });
    able
}

fn key(out: &mut String, figures: &[Figure]) {
    let mut lines = vec![
        "Up: more of the exam is answered from the context. Left: smaller, or cheaper. \
         The line joins what nothing beats at both.",
    ];
    if figures.iter().any(|figure| !figure.is_sendable()) {
        lines.push("Red ring: some contexts were larger than the window, or invalid.");
    }
    for (at, line) in lines.iter().enumerate() {
        let y = HEIGHT - 32.0 + 18.0 * at as f64;
        let _ = writeln!(out, "<text x=\"46\" y=\"{y:.0}\">{line}</text>");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"[
        {"strategy":"raw","score":0.99,"context":1.9,"cost":1.0,"exams":{"a":{"over":3}}},
        {"strategy":"default","score":0.9,"context":0.6,"cost":0.7},
        {"strategy":"lean","score":0.85,"context":0.4,"cost":0.68},
        {"strategy":"<b>&","score":0.5,"context":0.62,"cost":0.69}
    ]"#;

    #[test]
    fn every_strategy_is_a_point_in_both_panels_or_is_named_below() {
        let svg = picture(JSON).unwrap();
        assert_eq!(svg.matches("<circle").count(), 7, "raw is right of the first panel");
        assert!(svg.contains("further right, raw: 0.990 at 1.90"));
        assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains("<b>"));
        assert_eq!(svg.matches("point hollow").count(), 1);
        assert_eq!(svg.matches("point ours").count(), 4);
    }

    #[test]
    fn the_line_joins_what_nothing_beats() {
        let figures: Vec<Figure> = serde_json::from_str(JSON).unwrap();
        let all: Vec<&Figure> = figures.iter().collect();
        let names: Vec<&str> =
            front(&all, |f| f.context).iter().map(|f| f.strategy.as_str()).collect();
        assert_eq!(names, ["lean", "default"]);
    }

    #[test]
    fn other_json_is_refused() {
        assert!(picture("{}").is_err());
    }
}
