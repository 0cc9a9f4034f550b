//! Which calls of an answer are left out of the client's stream.

/// The numbers of an answer's unrun calls among the calls of the client's tools, and how many of these were seen.
#[derive(Clone, Debug, Default)]
pub(super) struct UnrunNumbers {
    pub numbers: Vec<usize>,
    seen: usize,
}

impl UnrunNumbers {
    /// Whether the next call of a client's tool is unrun.
    pub fn take_next(&mut self) -> bool {
        self.seen += 1;
        self.numbers.contains(&(self.seen - 1))
    }
}
