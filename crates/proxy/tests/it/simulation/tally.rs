//! What happened how often.

/// What happened how often.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub steps: u64,
    pub requests: u64,
    pub folds: u64,
    pub refused: u64,
    pub again: u64,
    pub crashes: u64,
    pub between: u64,
    pub failed_writes: u64,
    pub late: u64,
    pub lost: u64,
    pub others: u64,
    pub voided: u64,
    /// Of a model that is known to bind, where nothing was lost.
    pub unexpected: u64,
    pub sessions: u64,
    pub clients: u64,
    pub branches: u64,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        let pairs = [
            (&mut self.steps, other.steps),
            (&mut self.requests, other.requests),
            (&mut self.folds, other.folds),
            (&mut self.refused, other.refused),
            (&mut self.again, other.again),
            (&mut self.crashes, other.crashes),
            (&mut self.between, other.between),
            (&mut self.failed_writes, other.failed_writes),
            (&mut self.late, other.late),
            (&mut self.lost, other.lost),
            (&mut self.others, other.others),
            (&mut self.voided, other.voided),
            (&mut self.unexpected, other.unexpected),
            (&mut self.sessions, other.sessions),
            (&mut self.clients, other.clients),
            (&mut self.branches, other.branches),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
    }
}
