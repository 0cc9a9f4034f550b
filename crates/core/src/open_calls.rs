//! Calls that wait for their results. A few are looked through; many are found by their ids and names,
//! so that a message of a hundred thousand parallel calls costs no more for each than one of two.

use std::borrow::Cow;
use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// A call by its id.
pub(crate) trait NamedCall {
    /// The bytes of its id; empty where it has none.
    fn id_bytes(&self) -> Cow<'_, [u8]>;

    /// The bytes of its tool's name; empty where it is not told.
    fn name_bytes(&self) -> Cow<'_, [u8]>;
}

/// What a result tells of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOfResult<'a> {
    /// The id; empty where it has none.
    pub id: &'a [u8],
    /// The tool's name; empty where it is not told.
    pub name: &'a [u8],
    /// A result without an id may answer a call that has one.
    pub by_order: bool,
}

/// Open calls, in the order that they were made.
#[derive(Clone, Debug)]
pub(crate) struct OpenCalls<T> {
    /// Those that were answered are gone.
    calls: Vec<Option<T>>,
    /// None before this place is open.
    first: usize,
    left: usize,
    /// Places of each id, and of each name without and with an id, in order, once there are many;
    /// those that were answered otherwise are still among them.
    places: FxHashMap<(CallKey, Box<[u8]>), VecDeque<usize>>,
}

/// What calls are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CallKey {
    Id,
    /// The name of a call without an id.
    Name,
    /// The name of a call that has one.
    NameToo,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self { calls: Vec::new(), first: 0, left: 0, places: FxHashMap::default() }
    }
}

/// More than these are found by their ids.
const FEW: usize = 8;

impl<T: NamedCall> OpenCalls<T> {
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// A call is made.
    pub fn push(&mut self, call: T) {
        if self.left == 0 {
            *self = Self::default();
        }
        self.calls.push(Some(call));
        self.left += 1;
        if self.calls.len() > FEW {
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

    /// Takes the newest call with this id, else the oldest without one; with `by_order`, else the
    /// oldest of all. Of several, the oldest with the same name comes first.
    pub fn answer(&mut self, asked: &CallOfResult<'_>) -> Option<T> {
        let newest = if asked.id.is_empty() { None } else { self.newest(asked.id) };
        let at = newest.or_else(|| self.of_name(asked)).or_else(|| {
            if asked.by_order {
                self.oldest()
            } else {
                self.oldest_of((CallKey::Id, b""), |_| true)
            }
        })?;
        self.left -= 1;
        self.calls.get_mut(at)?.take()
    }

    /// All that wait, in order; none waits any more.
    pub fn take_all(&mut self) -> Vec<T> {
        std::mem::take(self).calls.into_iter().flatten().collect()
    }

    fn newest(&mut self, id: &[u8]) -> Option<usize> {
        if self.places.is_empty() {
            let has_it = |call: &Option<T>| call.as_ref().is_some_and(|c| *c.id_bytes() == *id);
            return self.calls.iter().rposition(has_it);
        }
        let places = self.places.get_mut(&(CallKey::Id, id.into()))?;
        std::iter::from_fn(|| places.pop_back()).find(|at| self.calls[*at].is_some())
    }

    /// The oldest of this name: of those without an id, or of all.
    fn of_name(&mut self, asked: &CallOfResult<'_>) -> Option<usize> {
        if asked.name.is_empty() {
            return None;
        }
        let same = |call: &T| *call.name_bytes() == *asked.name;
        let without = self.oldest_of((CallKey::Name, asked.name), |call| {
            call.id_bytes().is_empty() && same(call)
        });
        let with = asked.by_order.then(|| {
            let named = |call: &T| !call.id_bytes().is_empty() && same(call);
            self.oldest_of((CallKey::NameToo, asked.name), named)
        });
        [without, with.flatten()].into_iter().flatten().min()
    }

    /// The oldest of these; where they are looked through, those that `wanted` names.
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

    /// The rule, looked through from end to end.
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
                let mut made = 0;
                for turn in 0..3 * many {
                    let roll = (seed + 1).wrapping_mul(turn + 7).wrapping_mul(2_654_435_761) >> 9;
                    let id = ids[roll % ids.len()];
                    let name = names[(roll >> 4) % names.len()];
                    if turn < many || roll % 3 == 0 {
                        made += 1;
                        open.push((id, name, made));
                        plain.push((id, name, made));
                    } else {
                        let by_order = id.is_empty() && roll % 2 == 0;
                        let asked =
                            CallOfResult { id: id.as_bytes(), name: name.as_bytes(), by_order };
                        let got = open.answer(&asked).map(|(_, _, made)| made);
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
