//! Checks contexts against a provider's rules, without reading the whole context at every request.

use midfold_core::profile::ProviderRules;
use midfold_core::view::EventView;

/// The check of one context, and a second check of a shorter start of it. A change is nearly always near the end, so
/// the check continues from the second one.
pub(super) struct ContextChecker<'a> {
    begin: &'a dyn Fn() -> Box<dyn ProviderRules>,
    now: CheckWalk,
    behind: CheckWalk,
}

struct CheckWalk {
    rules: Box<dyn ProviderRules>,
    /// The number of messages that it has checked.
    len: usize,
}

/// The number of messages that the second check stays behind the first.
const BEHIND: usize = 128;
/// The number of messages by which it may fall behind before it catches up.
const FAR: usize = 512;

impl<'a> ContextChecker<'a> {
    pub fn new(begin: &'a dyn Fn() -> Box<dyn ProviderRules>) -> Self {
        let walk = || CheckWalk { rules: begin(), len: 0 };
        Self { begin, now: walk(), behind: walk() }
    }

    /// The number of violations in a context whose first `same` messages are those of the context before. `views`
    /// returns its messages from an index on.
    pub fn violations<'v, I: Iterator<Item = (&'v [u8], &'v EventView)>>(
        &mut self,
        same: usize,
        views: impl Fn(usize) -> I,
    ) -> usize {
        // The change is before the end of the second check, so everything is checked again.
        if same < self.behind.len {
            self.behind = CheckWalk { rules: (self.begin)(), len: 0 };
        }
        // The change is near the end: the check continues from the second one.
        if same < self.now.len {
            self.now = CheckWalk { rules: self.behind.rules.fork(), len: self.behind.len };
        }
        self.now.follow(views(self.now.len));
        if self.now.len - self.behind.len > FAR {
            let more = self.now.len - BEHIND - self.behind.len;
            self.behind.follow(views(self.behind.len).take(more));
        }
        self.now.rules.violations()
    }
}

impl CheckWalk {
    fn follow<'v>(&mut self, views: impl Iterator<Item = (&'v [u8], &'v EventView)>) {
        for (bytes, view) in views {
            self.rules.push(bytes, view);
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midfold_core::view::{Role, TextOrigin};

    /// Returns, as the number of violations, a number that is unique for these messages in this order.
    #[derive(Clone, Default)]
    struct MessageNumbers(usize);

    impl ProviderRules for MessageNumbers {
        fn push(&mut self, bytes: &[u8], _: &EventView) {
            self.0 = self.0.wrapping_mul(31).wrapping_add(usize::from(bytes[0]) + 1);
        }

        fn violations(&self) -> usize {
            self.0
        }

        fn fork(&self) -> Box<dyn ProviderRules> {
            Box::new(self.clone())
        }
    }

    proptest::proptest! {
        /// A context that grows, is cut near its end, or is cut far back gives the same result as one that is read from
        /// the start.
        #[test]
        fn every_context_is_checked_whole(
            steps in proptest::collection::vec((0..3u8, 0..900usize, 0..255u8), 1..40),
        ) {
            let view = EventView { role: Role::User, origin: TextOrigin::Genuine, blocks: Vec::new() };
            let begin = || Box::new(MessageNumbers::default()) as Box<dyn ProviderRules>;
            let mut checker = ContextChecker::new(&begin);
            let mut context: Vec<[u8; 1]> = Vec::new();
            for (how, n, byte) in steps {
                let cut = [0, n.min(30), n][usize::from(how)].min(context.len());
                let same = context.len() - cut;
                context.truncate(same);
                context.extend((0..n).map(|at| [byte.wrapping_add(at as u8)]));
                let views = |from| context[from..].iter().map(|bytes| (&bytes[..], &view));
                let mut whole = MessageNumbers::default();
                views(0).for_each(|(bytes, view)| whole.push(bytes, view));
                proptest::prop_assert_eq!(checker.violations(same, views), whole.0);
            }
        }
    }
}
