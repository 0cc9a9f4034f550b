//! A line diff, which shows what an edit replaced.

/// Largest table of a comparison, in cells. Above it, all old lines are shown as removed and all new ones as added.
const CELLS: usize = 250_000;

/// The lines of both texts: common lines with a space before them, removed lines with `-`, new lines with `+`. No
/// line is left out.
pub fn lines(old: &str, new: &str) -> String {
    let (old, new) = (split(old), split(new));
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    // The common end must not reach into the common start, or a line of the shorter text would count twice.
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(same).count();
    let mut out = Vec::with_capacity(old.len() + new.len());
    out.extend(old[..head].iter().map(|line| format!(" {line}")));
    middle(&old[head..old.len() - tail], &new[head..new.len() - tail], &mut out);
    out.extend(old[old.len() - tail..].iter().map(|line| format!(" {line}")));
    out.join("\n")
}

fn split(text: &str) -> Vec<&str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}

/// Adds the lines that differ, by the longest common subsequence where the table is small enough.
fn middle(old: &[&str], new: &[&str], out: &mut Vec<String>) {
    let (mut a, mut b) = (0, 0);
    if old.len() * new.len() <= CELLS {
        let common = common(old, new);
        let width = new.len() + 1;
        while a < old.len() && b < new.len() {
            if old[a] == new[b] {
                out.push(format!(" {}", old[a]));
                (a, b) = (a + 1, b + 1);
            } else if common[(a + 1) * width + b] >= common[a * width + b + 1] {
                out.push(format!("-{}", old[a]));
                a += 1;
            } else {
                out.push(format!("+{}", new[b]));
                b += 1;
            }
        }
    }
    out.extend(old[a..].iter().map(|line| format!("-{line}")));
    out.extend(new[b..].iter().map(|line| format!("+{line}")));
}

/// For each pair of positions, how many lines the rests of both texts have in common.
fn common(old: &[&str], new: &[&str]) -> Vec<u32> {
    let width = new.len() + 1;
    let mut table = vec![0; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            table[a * width + b] = match old[a] == new[b] {
                true => table[(a + 1) * width + b + 1] + 1,
                false => table[(a + 1) * width + b].max(table[a * width + b + 1]),
            };
        }
    }
    table
}
