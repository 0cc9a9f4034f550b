//! The policies that a search looks at: knobs with steps, and how two policies differ.

use crate::budget::Ratio;
use crate::policy::{Cover, Policy, ReducerName};

/// A setting of a policy that a search turns. Its value is a number: parts of 10,000 of a ratio, a
/// count, or 0 and 1 for off and on.
pub struct Knob {
    /// Its key, as in TOML; for a reducer `reducers`, a space and its name.
    pub key: &'static str,
    steps: &'static [u64],
    get: fn(&Policy) -> u64,
    set: fn(&mut Policy, u64),
    /// Whether it does anything in a policy.
    live: fn(&Policy) -> bool,
}

impl std::fmt::Debug for Knob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key)
    }
}

/// Whether anything but the recap of the whole middle is seen.
fn edits(policy: &Policy) -> bool {
    policy.recap.cover == Cover::Overflow || !on(policy, ReducerName::Recap)
}

fn on(policy: &Policy, name: ReducerName) -> bool {
    policy.reducers.contains(&name)
}

/// Puts a reducer in or out. One that comes in is before the recap, in the usual order.
fn put(policy: &mut Policy, name: ReducerName, wanted: u64) {
    policy.reducers.retain(|known| *known != name);
    if wanted > 0 {
        let at = policy.reducers.iter().position(|known| *known > name);
        policy.reducers.insert(at.unwrap_or(policy.reducers.len()), name);
    }
}

fn ratio(value: u64) -> Ratio {
    Ratio(u32::try_from(value).unwrap_or(u32::MAX))
}

fn chars(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

macro_rules! share {
    ($key:literal, $steps:expr, $($field:ident).+) => {
        Knob {
            key: $key,
            steps: $steps,
            get: |policy| u64::from(policy.$($field).+.0),
            set: |policy, value| policy.$($field).+ = ratio(value),
            live: |_| true,
        }
    };
}

macro_rules! count {
    ($key:literal, $steps:expr, $($field:ident).+, $live:expr) => {
        Knob {
            key: $key,
            steps: $steps,
            get: |policy| policy.$($field).+ as u64,
            set: |policy, value| policy.$($field).+ = chars(value),
            live: $live,
        }
    };
}

macro_rules! reducer {
    ($key:literal, $name:expr) => {
        Knob {
            key: $key,
            steps: &[0, 1],
            get: |policy| u64::from(on(policy, $name)),
            set: |policy, value| put(policy, $name, value),
            live: edits,
        }
    };
}

/// All knobs, those first that move figures most.
pub const KNOBS: &[Knob] = &[
    share!("recap.cap", &[500, 1_000, 1_500, 2_000, 2_500, 3_000], recap.cap),
    share!("tail.ratio", &[200, 400, 800, 1_200, 2_000, 3_000], tail.ratio),
    share!("fold.target", &[2_000, 3_000, 4_000, 5_000, 6_000], fold.target),
    share!("trigger.threshold", &[6_000, 7_000, 8_000, 8_500, 9_000], trigger.threshold),
    Knob {
        key: "recap.cover",
        steps: &[0, 1],
        get: |policy| u64::from(policy.recap.cover == Cover::Overflow),
        set: |policy, value| {
            policy.recap.cover = if value > 0 { Cover::Overflow } else { Cover::Middle };
        },
        live: |policy| on(policy, ReducerName::Recap),
    },
    count!("tail.min_messages", &[2, 4, 8], tail.min_messages, |_| true),
    reducer!("reducers stub", ReducerName::Stub),
    reducer!("reducers arguments", ReducerName::Arguments),
    reducer!("reducers supersede", ReducerName::Supersede),
    reducer!("reducers dedup", ReducerName::Dedup),
    reducer!("reducers terminal", ReducerName::Terminal),
    reducer!("reducers reasoning", ReducerName::Reasoning),
    count!("stub.min_chars", &[200, 500, 1_000, 2_000], stub.min_chars, |policy| edits(policy)
        && on(policy, ReducerName::Stub)),
    count!("stub.salient_chars", &[0, 300, 600, 1_200], stub.salient_chars, |policy| edits(policy)
        && on(policy, ReducerName::Stub)),
    count!("arguments.max_chars", &[200, 500, 1_000, 2_000], arguments.max_chars, |policy| {
        edits(policy) && on(policy, ReducerName::Arguments)
    }),
];

impl Knob {
    /// The policy with this knob one step up or down; `None` at the end of its range, and where it
    /// does nothing.
    #[must_use]
    pub fn step(&self, policy: &Policy, up: bool) -> Option<Policy> {
        if !(self.live)(policy) {
            return None;
        }
        let now = (self.get)(policy);
        let next = match up {
            true => self.steps.iter().find(|step| **step > now),
            false => self.steps.iter().rev().find(|step| **step < now),
        };
        next.map(|value| self.turned(policy, *value))
    }

    fn turned(&self, policy: &Policy, value: u64) -> Policy {
        let mut turned = policy.clone();
        (self.set)(&mut turned, value);
        turned
    }
}

/// Where a search begins: the base, one that folds into more recap, one into less, and one that
/// edits results and calls and covers only what still overflows.
#[must_use]
pub fn seeds(base: &Policy) -> Vec<Policy> {
    let with = |values: &[(&str, u64)]| {
        values.iter().fold(base.clone(), |policy, (key, value)| {
            let knob = KNOBS.iter().find(|knob| knob.key == *key);
            knob.map_or(policy.clone(), |knob| knob.turned(&policy, *value))
        })
    };
    vec![
        base.clone(),
        with(&[("recap.cap", 3_000), ("fold.target", 4_000)]),
        with(&[("recap.cap", 1_000), ("tail.ratio", 400), ("fold.target", 2_000)]),
        with(&[
            ("recap.cover", 1),
            ("fold.target", 5_000),
            ("reducers stub", 1),
            ("reducers arguments", 1),
            ("reducers supersede", 1),
            ("reducers dedup", 1),
        ]),
    ]
}

/// A key whose value differs between two policies.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The key, dotted.
    pub key: String,
    /// The value in the first.
    pub from: toml::Value,
    /// The value in the second.
    pub to: toml::Value,
}

/// What differs between two policies, in the order of the keys.
#[must_use]
pub fn changes(from: &Policy, to: &Policy) -> Vec<Change> {
    let table = |policy| toml::Table::try_from(policy).unwrap_or_default();
    let mut found = Vec::new();
    compare("", &table(from), &table(to), &mut found);
    found
}

fn compare(path: &str, from: &toml::Table, to: &toml::Table, found: &mut Vec<Change>) {
    for (key, new) in to {
        let key_path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (from.get(key), new) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => {
                compare(&key_path, old, new, found);
            }
            (Some(old), new) if old == new => {}
            (old, new) => {
                let from = old.cloned().unwrap_or_else(|| toml::Value::String(String::new()));
                found.push(Change { key: key_path, from, to: new.clone() });
            }
        }
    }
}

/// A policy as the TOML that [`Policy::from_toml`] reads: a preset to start from, and what differs.
///
/// ```
/// use midfold_core::policy::Policy;
/// use midfold_core::tune::overlay;
/// let base = Policy::preset("default").unwrap();
/// let mut mine = base.clone();
/// mine.tail.min_messages = 7;
/// let text = overlay("default", &base, &mine);
/// assert_eq!(text, "base = \"default\"\n\n[tail]\nmin_messages = 7\n");
/// assert_eq!(Policy::from_toml(&text).unwrap(), mine);
/// ```
#[must_use]
pub fn overlay(preset: &str, base: &Policy, policy: &Policy) -> String {
    let mut table = toml::Table::new();
    table.insert("base".to_owned(), toml::Value::String(preset.to_owned()));
    for change in changes(base, policy) {
        let mut into = &mut table;
        let mut keys = change.key.split('.').peekable();
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                into.insert(key.to_owned(), change.to);
                break;
            }
            let below = into
                .entry(key.to_owned())
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let toml::Value::Table(below) = below else { break };
            into = below;
        }
    }
    toml::to_string(&table).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Policy {
        Policy::preset("default").unwrap()
    }

    #[test]
    fn a_step_up_and_a_step_down_lead_back_and_change_one_key() {
        let seeds = seeds(&base());
        for policy in &seeds {
            for knob in KNOBS {
                for up in [true, false] {
                    let Some(stepped) = knob.step(policy, up) else { continue };
                    let key = knob.key.split(' ').next().unwrap();
                    let changed = changes(policy, &stepped);
                    assert_eq!(changed.len(), 1, "{knob:?}: {changed:?}");
                    assert_eq!(changed[0].key, key);
                    let back = knob.step(&stepped, !up);
                    if knob.steps.contains(&(knob.get)(policy)) && (knob.live)(&stepped) {
                        assert_eq!(back.as_ref(), Some(policy), "{knob:?}");
                    }
                }
            }
        }
        assert!(KNOBS.iter().all(|knob| seeds.iter().any(|seed| (knob.live)(seed))));
    }

    #[test]
    fn an_overlay_reads_as_the_policy_it_was_made_of() {
        for policy in seeds(&base()) {
            let text = overlay("default", &base(), &policy);
            assert_eq!(Policy::from_toml(&text).unwrap(), policy, "{text}");
        }
        assert_eq!(overlay("default", &base(), &base()), "base = \"default\"\n");
    }

    #[test]
    fn reducers_keep_their_order_and_the_recap_comes_last() {
        let edited = seeds(&base()).pop().unwrap();
        let mut sorted = edited.reducers.clone();
        sorted.sort_unstable();
        assert_eq!(edited.reducers, sorted);
        assert_eq!(edited.reducers.last(), Some(&ReducerName::Recap));
    }
}
