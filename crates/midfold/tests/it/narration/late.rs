//! Narrations that come after the fold: none is lost, none counts as a failure.

use super::*;

const ALL: [(Kind, bool); 4] =
    [(Kind::Memory, false), (Kind::Memory, true), (Kind::Sqlite, false), (Kind::Sqlite, true)];

impl World {
    /// The next fold has the narration that came too late for the one before.
    async fn serves_the_next_fold(&mut self, restart: bool) {
        let first = self.active().await;
        assert!(first.narrated.is_none(), "nobody waited");
        if restart {
            self.reopen().await;
        }
        let sent = self.context().await;
        assert!(!sent.contains(GOOD), "between folds nothing changes");
        self.feed(FULL).await;
        let sent = self.context().await;
        let second = self.active().await;
        assert_eq!(second.prev, Some(first.id));
        assert!(sent.contains(GOOD), "restart {restart}");
        let narrated = second.narrated.as_ref().unwrap();
        assert!(narrated.span.end < second.span.end, "the rest of the span has computed sections");
        let codes: Vec<_> = second.verdicts.iter().map(|verdict| verdict.code.as_str()).collect();
        assert!(codes.contains(&"accepted"), "{codes:?}");
        assert_eq!(self.cooldown().await, 0, "an accepted narration is no failure");
    }
}

#[tokio::test]
async fn one_that_was_being_written_during_the_fold() {
    for (kind, restart) in ALL {
        let policy = policy("default");
        let mut world = World::new(kind, &policy, good(&policy)).await;
        let running = world.in_flight().await;
        world.feed(FULL).await;
        let sent = world.context().await;
        assert!(!sent.contains(GOOD));
        assert_eq!(world.active().await.fallback.map(|stands| stands.as_str()), Some("computed"));
        world.server.release();
        let report = running.await.unwrap().unwrap();
        assert_eq!((report.code.as_str(), report.folded), ("accepted", true), "{report:?}");
        world.serves_the_next_fold(restart).await;
    }
}

#[tokio::test]
async fn one_that_was_asked_for_after_the_fold_with_nothing_new_since() {
    for (kind, restart) in ALL {
        let policy = policy("default");
        let mut world = World::new(kind, &policy, good(&policy)).await;
        world.feed(FULL).await;
        world.context().await;
        world.server.release();
        let report = world.step().await.unwrap();
        assert_eq!(report.code.as_str(), "accepted", "{report:?}");
        world.serves_the_next_fold(restart).await;
    }
}

#[tokio::test]
async fn one_whose_session_was_saved_by_somebody_else_meanwhile() {
    for (kind, restart) in ALL {
        let policy = policy("default");
        let mut world = World::new(kind, &policy, good(&policy)).await;
        world.feed(FULL).await;
        world.context().await;
        let running = world.in_flight().await;
        world.pass(1);
        world.observe().await;
        world.server.release();
        let report = running.await.unwrap().unwrap();
        assert_eq!(report.code.as_str(), "accepted", "{report:?}");
        world.serves_the_next_fold(restart).await;
    }
}

#[tokio::test]
async fn one_that_no_recap_has_room_for_is_handed_on_to_be_updated() {
    let mut policy = policy("default");
    policy.recap.cap_tokens = 150;
    // As if by a policy whose cap knows nothing of the recap's.
    policy.narration.max_tokens = Some(600);
    let mut world = World::new(Kind::Memory, &policy, good(&policy)).await;
    world.server.release();
    let report = world.step().await.unwrap();
    assert_eq!((report.code.as_str(), report.folded), ("accepted", false), "{report:?}");
    assert_eq!(world.cooldown().await, 0);
    world.feed(FULL).await;
    world.context().await;
    let fold = world.active().await;
    assert!(fold.narrated.is_none(), "it found no room");
    let unused = fold.verdicts.last().map(|verdict| (verdict.code.as_str(), &*verdict.detail));
    assert_eq!(unused, Some(("unused", "the recap has no room for it")));
    world.feed(FULL).await;
    assert_eq!(world.job().await.state, JobState::Ready, "the next span is asked for");
    world.step().await.unwrap();
    let asked = world.server.seen().pop().unwrap();
    assert!(asked.message("user").contains(GOOD), "with what was narrated before");
}
