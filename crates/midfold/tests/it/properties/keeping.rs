//! What the user asks to keep is in the output of every fold, whatever else is in the conversation.

use midfold::core::Role;
use midfold::{Policy, Session};
use midfold_testkit::Rng;
use proptest::prelude::*;

use super::input::{input, log, open};
use super::{bytes, prove};

const KEPT: &str = "Gate 7 is for Mrs Oyelaran alone, code 4471 after six.";

fn holds(session: &Session) -> bool {
    String::from_utf8_lossy(&bytes(&session.view()).concat()).contains(KEPT)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_to_be_kept_is_in_every_fold(input in input(), seed in any::<u64>()) {
        let mut input = input;
        let at = Rng::new(seed).below(input.messages.len() + 1);
        let text = format!("Remember: <keep>{KEPT}</keep> Thanks.");
        let message = input.wire.kind.dialect().made_message(Role::User, &text);
        input.messages.insert(at, message);
        for _ in 0..3 {
            let (mut session, budget) = open(&input);
            // What may not be folded may be larger than the window: then nothing is lost either.
            let folded = session.compact(&budget, None).is_ok();
            prop_assert!(holds(&session), "by hand");
            if folded {
                prove(&input, &session, &budget, session.active());
            }
            let (mut session, budget) = open(&input);
            let _ = session.context(&budget, 0);
            prop_assert!(holds(&session), "by itself");
            // What came out is compacted again, by any preset.
            input.messages = bytes(&session.view());
            let presets = Policy::preset_names();
            input.preset = presets[Rng::new(seed).below(presets.len())];
            prop_assert!(!log(input.wire, &input.messages).is_empty());
        }
    }
}
