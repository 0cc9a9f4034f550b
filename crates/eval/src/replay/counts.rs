//! A multiset of numbers: how many times each one was added and not taken out.

/// The count of each number.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberCounts(Vec<u32>);

impl NumberCounts {
    pub fn add(&mut self, numbers: &[u32]) {
        for number in numbers {
            let at = *number as usize;
            if at >= self.0.len() {
                self.0.resize(at + 1, 0);
            }
            self.0[at] += 1;
        }
    }

    pub fn take(&mut self, numbers: &[u32]) {
        for number in numbers {
            if let Some(count) = self.0.get_mut(*number as usize) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub fn has(&self, number: u32) -> bool {
        self.0.get(number as usize).is_some_and(|count| *count > 0)
    }
}
