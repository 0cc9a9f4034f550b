//! What happens beside the requests.

use midfold::store::StoredError;
use midfold::store::run_in_memory as now;

use super::world::World;

impl World {
    /// A node writes what waits.
    pub(super) fn save(&mut self) {
        let node = self.rng.below(2);
        let failing = self.fails(20).then(|| self.rng.bits() % 9);
        let is_done = self.nodes[node].write(None, failing, &mut self.rng, self.time);
        self.failed(!is_done);
        self.note(&format!("node {node} writes: {is_done}"));
        if !is_done && self.rng.chance(40) {
            self.nodes[node].crash();
            self.tally.crashes += 1;
            self.note(&format!("node {node} dies of it"));
        }
    }

    /// Another process works on a session: a person at the command line, or through the API.
    pub(super) fn other(&mut self) {
        let rows = now(self.store.sessions(None, 10_000)).unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        self.tally.others += 1;
        let id = self.rng.pick(&rows).new.id.clone();
        let mut stored = self.opened(&id);
        let deed = self.rng.below(5);
        let seq = self.rng.bits() % stored.row().head.max(1);
        let done = match deed {
            0 => now(stored.compact(None, self.time)).map(|_| ()),
            1 => now(stored.undo(None)),
            2 => now(stored.pin(seq, self.rng.chance(50))),
            3 => now(stored.context(true, self.time)).map(|_| ()),
            _ => {
                let fork = format!("fork-{}", self.tally.others);
                now(stored.fork(&fork, Some(seq), self.time)).map(|_| ())
            }
        };
        self.note(&format!("another process: {id}, {deed}, {seq}: {done:?}"));
        let has_events = stored.row().head > 0;
        let allowed = match &done {
            Ok(()) | Err(StoredError::Plan(_) | StoredError::Undo(_)) => true,
            // A node died between making it and filling it.
            Err(StoredError::NoEvent { .. }) => !has_events,
            Err(_) => false,
        };
        assert!(allowed, "{done:?}\n{}", self.story());
        self.check_session(&id);
    }

    /// A client is copied, and both go on.
    pub(super) fn branch(&mut self) {
        let at = self.any();
        self.tally.clients += 1;
        self.tally.branches += 1;
        let name = self.tally.clients;
        let mut branch = self.clients[at].clone();
        branch.name = name;
        branch.waits = None;
        branch.rewind(&mut self.rng, self.tally.steps);
        if !self.is_strict {
            branch.say(name);
        }
        self.note(&format!("client {} branches: {name}", self.clients[at].name));
        let place = self.any();
        if self.clients.len() < 6 {
            self.clients.push(branch);
        } else {
            self.clients[place] = branch;
        }
    }

    pub(super) fn rewind(&mut self) {
        let (at, number) = (self.any(), self.tally.steps);
        self.clients[at].rewind(&mut self.rng, number);
        self.note(&format!("client {} goes back", self.clients[at].name));
    }

    pub(super) fn edit(&mut self) {
        let (at, number) = (self.any(), self.tally.steps);
        self.clients[at].edit(&mut self.rng, number);
        self.note(&format!("client {} changes a message", self.clients[at].name));
    }

    pub(super) fn say(&mut self) {
        let (at, number) = (self.any(), self.tally.steps);
        if self.clients[at].waits.is_none() && !self.is_strict {
            self.clients[at].say(number);
            self.note(&format!("client {} says more", self.clients[at].name));
        }
    }

    /// A client waits no longer, and asks again.
    pub(super) fn give_up(&mut self) {
        let at = self.any();
        self.clients[at].waits = None;
        self.note(&format!("client {} gives up", self.clients[at].name));
    }

    /// A node is stopped in order.
    pub(super) fn restart(&mut self) {
        let node = self.rng.below(2);
        let is_done = self.nodes[node].write(None, None, &mut self.rng, self.time);
        self.nodes[node].crash();
        self.note(&format!("node {node} is started again: {is_done}"));
    }

    pub(super) fn crash(&mut self) {
        let node = self.rng.below(2);
        self.nodes[node].crash();
        self.tally.crashes += 1;
        self.note(&format!("node {node} dies"));
    }

    /// The clock is set: forth by days, or back.
    pub(super) fn jump(&mut self) {
        if self.rng.chance(50) {
            self.time += self.rng.bits() % (30 * 24 * 3_600_000);
        } else {
            self.time = self.time.saturating_sub(self.rng.bits() % 7_200_000);
        }
        self.note(&format!("it is {}", self.time));
    }
}
