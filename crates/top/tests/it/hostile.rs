//! Whatever a transcript says, the terminal shows letters.

use midfold_top::PressedKey;
use serde_json::Value;

use crate::canned::{Canned, Person, UNSAID, canned};

const HOSTILE: &str =
    "\u{1b}[2J\u{1b}]0;owned\u{7}a\u{9b}31m\u{85}\u{202e}gnp\u{2066}\u{200b}\u{feff}\r\n\t\u{7f}z";

/// Every text of a value that is no word of the format.
fn spoil(value: &mut Value) {
    match value {
        Value::Object(all) => {
            for (name, value) in all {
                let is_word = ["is", "answer", "fates", "id", "session"].contains(&name.as_str());
                if !is_word {
                    spoil(value);
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(spoil),
        Value::String(text) => *text = HOSTILE.to_owned(),
        _ => {}
    }
}

fn spoiled() -> Canned {
    let mut source = canned();
    for value in [
        &mut source.sessions,
        &mut source.fabric,
        &mut source.fold,
        &mut source.explained,
        &mut source.unsaid,
    ] {
        spoil(value);
    }
    source.sessions["sessions"][0]["id"] = HOSTILE.into();
    source
}

fn check(frame: &str) {
    let bad = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
    };
    assert_eq!(frame.chars().find(bad), None, "{frame:?}");
}

#[tokio::test]
async fn hostile_text_moves_no_cursor() {
    for size in [(80, 24), (40, 24), (140, 30)] {
        let mut person = Person::new(spoiled(), size).await;
        check(&person.sees());
        assert!(person.sees().contains("agnp") && !person.sees().contains("owned"));
        for keys in [PressedKey::Enter, PressedKey::Enter] {
            person.press([keys]).await;
            check(&person.sees());
        }
        for text in [UNSAID, "a\u{202e}b"] {
            person.press([PressedKey::Char('/')]).await;
            person.types(text).await;
            check(&person.sees());
            person.press([PressedKey::Enter]).await;
            check(&person.sees());
        }
        check(&midfold_top::plain(&person.state, size.0));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    let person = Person::new(spoiled(), (80, 12)).await;
    settings.bind(|| insta::assert_snapshot!("hostile-80", person.sees()));
}
