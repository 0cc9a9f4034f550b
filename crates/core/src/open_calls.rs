//! Calls that wait for their results. A few are searched one by one. Many are indexed by ids and names, so that each of
//! a hundred thousand parallel calls costs no more than each of two.

use std::borrow::Cow;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A call with the names by which its result finds it.
pub(crate) trait NamedCall {
    /// The bytes of its id; empty where it has none.
    fn id_bytes(&self) -> Cow<'_, [u8]>;

    /// The bytes of its tool's name; empty where the call names none.
    fn name_bytes(&self) -> Cow<'_, [u8]>;
}

/// The names by which a result finds its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOfResult<'a> {
    /// The id; empty where it has none.
    pub id: &'a [u8],
    /// The tool's name; empty where the result names none.
    pub name: &'a [u8],
    /// Whether a result without an id may also answer a call that has one.
    pub by_order: bool,
}

/// Open calls, in the order in which they were made.
#[derive(Clone, Debug)]
pub(crate) struct OpenCalls<T> {
    /// The calls; an answered one is `None`.
    calls: Vec<Option<T>>,
    /// No call before this place is open.
    first: usize,
    /// The number of open calls.
    open_count: usize,
    /// Only for many calls: the places of each id, and of each name, in order. Places of answered calls may still be
    /// among them and are skipped when they are found.
    places: FxHashMap<(CallKey, Box<[u8]>), VecDeque<usize>>,
}

/// The kinds of keys of `places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CallKey {
    Id,
    /// The name of a call without an id.
    Name,
    /// The name of a call that has an id, too.
    NameToo,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self { calls: Vec::new(), first: 0, open_count: 0, places: FxHashMap::default() }
    }
}

/// Above this number of calls, places are indexed.
const FEW: usize = 8;

impl<T: NamedCall> OpenCalls<T> {
    /// Whether no call is open.
    pub fn is_empty(&self) -> bool {
        self.open_count == 0
    }

    /// Adds a call.
    pub fn push(&mut self, call: T) {
        // No call is open: start anew, so that the list does not grow with the log.
        if self.open_count == 0 {
            *self = Self::default();
        }
        self.calls.push(Some(call));
        self.open_count += 1;
        if self.calls.len() > FEW {
            // The first time all calls are indexed, later only the new one.
            let unplaced = if self.places.is_empty() { 0 } else { self.calls.len() - 1 };
            for (at, call) in self.calls.iter().enumerate().skip(unplaced) {
                let Some(call) = call else { continue };
                let id = call.id_bytes();
                let named = if id.is_empty() { CallKey::Name } else { CallKey::NameToo };
                self.places.entry((CallKey::Id, (&*id).into())).or_default().push_back(at);
                let name = (named, (&*call.name_bytes()).into());
                self.places.entry(name).or_default().push_back(at);
            }
        }
    }

    /// Takes the open call that a result answers: the newest with its id. Else the oldest without an id or, with
    /// `by_order`, the oldest of all; a call with the result's tool name is preferred. `None` where no call qualifies.
    pub fn answer(&mut self, wanted: &CallOfResult<'_>) -> Option<T> {
        let newest = if wanted.id.is_empty() { None } else { self.newest(wanted.id) };
        let at = newest.or_else(|| self.of_name(wanted)).or_else(|| {
            if wanted.by_order {
                self.oldest()
            } else {
                self.oldest_of((CallKey::Id, b""), |_| true)
            }
        })?;
        self.open_count -= 1;
        self.calls.get_mut(at)?.take()
    }

    /// Takes all open calls, in order.
    pub fn take_all(&mut self) -> Vec<T> {
        std::mem::take(self).calls.into_iter().flatten().collect()
    }

    /// The newest open call with this id.
    fn newest(&mut self, id: &[u8]) -> Option<usize> {
        if self.places.is_empty() {
            let has_it = |call: &Option<T>| call.as_ref().is_some_and(|c| *c.id_bytes() == *id);
            return self.calls.iter().rposition(has_it);
        }
        let places = self.places.get_mut(&(CallKey::Id, id.into()))?;
        // Popped for good: the caller takes the call that is found, and the others are answered.
        std::iter::from_fn(|| places.pop_back()).find(|at| self.calls[*at].is_some())
    }

    /// The oldest call with the result's tool name: of the calls without an id, or with `by_order` of all.
    fn of_name(&mut self, wanted: &CallOfResult<'_>) -> Option<usize> {
        if wanted.name.is_empty() {
            return None;
        }
        let same = |call: &T| *call.name_bytes() == *wanted.name;
        let without = self.oldest_of((CallKey::Name, wanted.name), |call| {
            call.id_bytes().is_empty() && same(call)
        });
        let with = wanted.by_order.then(|| {
            let named = |call: &T| !call.id_bytes().is_empty() && same(call);
            self.oldest_of((CallKey::NameToo, wanted.name), named)
        });
        [without, with.flatten()].into_iter().flatten().min()
    }

    /// The oldest open call under a key. `wanted` is the same condition for calls that are not indexed.
    fn oldest_of(
        &mut self,
        (key, text): (CallKey, &[u8]),
        wanted: impl Fn(&T) -> bool,
    ) -> Option<usize> {
        if self.places.is_empty() {
            let is_it =
                |call: &T| (key != CallKey::Id || *call.id_bytes() == *text) && wanted(call);
            return self.calls.iter().position(|call| call.as_ref().is_some_and(is_it));
        }
        let places = self.places.get_mut(&(key, text.into()))?;
        while places.front().is_some_and(|at| self.calls[*at].is_none()) {
            places.pop_front();
        }
        places.front().copied()
    }

    /// The oldest open call.
    fn oldest(&mut self) -> Option<usize> {
        while self.calls.get(self.first).is_some_and(Option::is_none) {
            self.first += 1;
        }
        (self.first < self.calls.len()).then_some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Made = (&'static str, &'static str, usize);

    impl NamedCall for Made {
        fn id_bytes(&self) -> Cow<'_, [u8]> {
            self.0.as_bytes().into()
        }

        fn name_bytes(&self) -> Cow<'_, [u8]> {
            self.1.as_bytes().into()
        }
    }

    /// The same rule, as a plain search over all calls.
    fn plainly(open: &mut Vec<Made>, id: &str, name: &str, by_order: bool) -> Option<usize> {
        let named = open.iter().rposition(|call| !id.is_empty() && call.0 == id);
        let may = |call: &Made| by_order || call.0.is_empty();
        let same = || open.iter().position(|call| !name.is_empty() && may(call) && call.1 == name);
        let other = || open.iter().position(may);
        named.or_else(same).or_else(other).map(|at| open.remove(at).2)
    }

    #[test]
    fn few_and_many_are_paired_by_the_same_rule() {
        let ids = ["a", "b", "", "c", "a"];
        let names = ["run", "read", "", "run"];
        for many in [3, 8, 9, 40] {
            for seed in 0..50usize {
                let (mut open, mut plain) = (OpenCalls::default(), Vec::new());
                let mut number = 0;
                for turn in 0..3 * many {
                    let roll = (seed + 1).wrapping_mul(turn + 7).wrapping_mul(2_654_435_761) >> 9;
                    let id = ids[roll % ids.len()];
                    let name = names[(roll >> 4) % names.len()];
                    if turn < many || roll % 3 == 0 {
                        number += 1;
                        open.push((id, name, number));
                        plain.push((id, name, number));
                    } else {
                        let by_order = id.is_empty() && roll % 2 == 0;
                        let wanted =
                            CallOfResult { id: id.as_bytes(), name: name.as_bytes(), by_order };
                        let got = open.answer(&wanted).map(|(_, _, number)| number);
                        let want = plainly(&mut plain, id, name, by_order);
                        assert_eq!(got, want, "{many} {seed} {turn}");
                    }
                    assert_eq!(open.is_empty(), plain.is_empty());
                }
                assert_eq!(open.take_all(), plain);
            }
        }
    }
}
