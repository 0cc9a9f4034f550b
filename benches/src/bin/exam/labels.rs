//! Names beside points, so that none stands on another.

/// A point with a name.
pub struct Spot {
    pub x: f64,
    pub y: f64,
    pub text: String,
}

/// Where a name goes.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    /// `start`, `middle` or `end`.
    pub anchor: &'static str,
    /// It stands so far off that a line has to lead to it.
    pub is_far: bool,
    area: Area,
}

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Label {
    /// Where a line from the point meets the name.
    pub fn near(&self) -> f64 {
        match self.anchor {
            "start" => self.area.left,
            "end" => self.area.right,
            _ => self.x,
        }
    }
}

impl Area {
    fn around(x: f64, y: f64, half: f64) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    fn shared(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }
}

/// Width of a character and height of a line, at 12 px.
const CHARACTER: f64 = 7.0;
const LINE: f64 = 15.0;
/// Beside the point: right, left, above, below and between.
const PLACES: [(f64, f64, &str); 8] = [
    (9.0, 0.0, "start"),
    (-9.0, 0.0, "end"),
    (0.0, -14.0, "middle"),
    (0.0, 14.0, "middle"),
    (7.0, -11.0, "start"),
    (7.0, 11.0, "start"),
    (-7.0, -11.0, "end"),
    (-7.0, 11.0, "end"),
];

/// Greedy: each name takes the first place within the frame that is free of points, of other names
/// and of what is `taken` already.
pub fn place(spots: &[Spot], mut taken: Vec<Area>, frame: &Area) -> Vec<Label> {
    taken.extend(spots.iter().map(|spot| Area::around(spot.x, spot.y, 6.0)));
    let mut order: Vec<usize> = (0..spots.len()).collect();
    order.sort_by(|a, b| {
        spots[*a].y.total_cmp(&spots[*b].y).then(spots[*a].x.total_cmp(&spots[*b].x))
    });
    let mut labels: Vec<Option<Label>> = vec![None; spots.len()];
    for at in order {
        let bad = |label: &Label| {
            let area = label.area;
            let out = (frame.left - area.left).max(0.0)
                + (area.right - frame.right).max(0.0)
                + (frame.top - area.top).max(0.0)
                + (area.bottom - frame.bottom).max(0.0);
            let shared: f64 = taken.iter().map(|other| area.shared(other)).sum();
            shared * 4.0 + out * 40.0 + (label.y - spots[at].y).abs() * 0.3
        };
        let best = candidates(&spots[at]).min_by(|a, b| bad(a).total_cmp(&bad(b)));
        taken.extend(best.map(|label| label.area));
        labels[at] = best;
    }
    labels.into_iter().flatten().collect()
}

fn candidates(spot: &Spot) -> impl Iterator<Item = Label> {
    let width = spot.text.chars().count() as f64 * CHARACTER + 2.0;
    let far = [0.0, 12.0, 24.0, 38.0, 54.0, 72.0];
    far.into_iter().flat_map(move |far| {
        PLACES.into_iter().map(move |(dx, dy, anchor)| {
            let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
            let (x, y) = (spot.x + dx + sign(dx) * far * 0.5, spot.y + dy + sign(dy) * far);
            let left = match anchor {
                "start" => x,
                "end" => x - width,
                _ => x - width / 2.0,
            };
            let area =
                Area { left, top: y - LINE / 2.0, right: left + width, bottom: y + LINE / 2.0 };
            Label { x, y, anchor, is_far: far > 0.0, area }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_crowd_stand_on_no_other_and_in_the_frame() {
        // Twelve points within 60 by 60 pixels.
        let spot = |at: u32| Spot {
            x: 180.0 + f64::from(at % 4) * 20.0,
            y: 140.0 + f64::from(at / 4) * 25.0,
            text: format!("strategy-{at}"),
        };
        let spots: Vec<Spot> = (0..12).map(spot).collect();
        let labels =
            place(&spots, vec![], &Area { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 });
        assert_eq!(labels.len(), spots.len());
        for (at, label) in labels.iter().enumerate() {
            assert!(label.area.left >= 0.0 && label.area.right <= 400.0, "{at}");
            for (other, there) in labels.iter().enumerate().skip(at + 1) {
                assert!(label.area.shared(&there.area) < 1.0, "{at} on {other}");
            }
        }
    }
}
