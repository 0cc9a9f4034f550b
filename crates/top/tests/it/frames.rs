//! Frames, as people see them.

use midfold_top::{ListOrder, PressedKey, SessionId, SourceQuestion, TopState, TopView, plain};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::json;

use crate::canned::{Canned, NOW, Person, UNSAID, canned, row, seen};

const WIDE: (u16, u16) = (80, 24);
const NARROW: (u16, u16) = (40, 24);

macro_rules! sees {
    ($name:expr, $text:expr) => {{
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        let text: String = $text;
        settings.bind(|| insta::assert_snapshot!($name, text));
    }};
}

fn nobody() -> Canned {
    Canned { sessions: json!({ "sessions": [], "next": null }), ..canned() }
}

#[tokio::test]
async fn the_list() {
    for (name, size) in [("list-80", WIDE), ("list-40", NARROW), ("list-140", (140, 12))] {
        sees!(name, Person::new(canned(), size).await.sees());
    }
}

#[tokio::test]
async fn a_store_without_sessions() {
    sees!("empty-80", Person::new(nobody(), WIDE).await.sees());
    sees!("empty-40", Person::new(nobody(), (40, 8)).await.sees());
    let mut person = Person::new(nobody(), WIDE).await;
    person
        .press([
            PressedKey::Down,
            PressedKey::Enter,
            PressedKey::Char('/'),
            PressedKey::Char('o'),
            PressedKey::End,
        ])
        .await;
    assert_eq!(
        person.state.view(),
        TopView::List,
        "there is nothing to open and nothing to ask of"
    );
}

#[test]
fn before_the_first_answer() {
    let state = TopState::new("memory", false, NOW);
    assert!(seen(&state, WIDE).contains("reading the sessions"));
}

#[tokio::test]
async fn a_session_with_folds() {
    for (name, size) in [("session-80", WIDE), ("session-40", NARROW)] {
        let mut person = Person::new(canned(), size).await;
        person.press([PressedKey::Enter]).await;
        sees!(name, person.sees());
        person.press([PressedKey::Up]).await;
        assert!(person.sees().contains("fold 2 of 3"), "{}", person.sees());
    }
}

#[tokio::test]
async fn a_fold() {
    for (name, size) in [("fold-80", (80, 32)), ("fold-40", (40, 44))] {
        let mut person = Person::new(canned(), size).await;
        person.press([PressedKey::Enter, PressedKey::Enter]).await;
        assert_eq!(person.state.view(), TopView::Fold);
        sees!(name, person.sees());
    }
}

#[tokio::test]
async fn why_it_forgot() {
    for (name, size) in [("forgot-80", WIDE), ("forgot-40", (40, 32))] {
        let mut person = Person::new(canned(), size).await;
        person.press([PressedKey::Char('/')]).await;
        person.types("LED-41q0").await;
        person
            .press([
                PressedKey::Backspace,
                PressedKey::Backspace,
                PressedKey::Char('0'),
                PressedKey::Char('1'),
            ])
            .await;
        assert!(person.sees().contains("forg") && person.sees().contains("LED-4101▏"));
        person.press([PressedKey::Enter]).await;
        sees!(name, person.sees());
    }
}

#[tokio::test]
async fn what_nobody_said_leads_to_the_messages_with_its_words() {
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Char('/')]).await;
    person.types(UNSAID).await;
    person.press([PressedKey::Enter]).await;
    sees!("unsaid-80", person.sees());
}

#[tokio::test]
async fn help() {
    for (name, size) in [("help-80", WIDE), ("help-40", (40, 44))] {
        let mut person = Person::new(canned(), size).await;
        person.press([PressedKey::Char('?')]).await;
        sees!(name, person.sees());
    }
}

#[tokio::test]
async fn text_for_pipes() {
    let person = Person::new(canned(), WIDE).await;
    let list = plain(&person.state, 80);
    // Nothing is cut, however long it is.
    assert!(
        !list.contains('…')
            && list.contains("Look through the reports with the shell, part by part")
    );
    sees!("plain-list", list);
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Enter]).await;
    sees!("plain-session", plain(&person.state, 80));
}

#[tokio::test]
async fn a_pipe_gets_every_session() {
    let mut source = canned();
    let rows = (0..60).map(|n| row(&format!("session-{n}"), &format!("Task {n}."), n + 1, 900, 0));
    source.sessions["sessions"] = rows.collect();
    let person = Person::new(source, WIDE).await;
    let list = plain(&person.state, 80);
    assert_eq!(list.lines().count(), 2 + 60, "{list}");
    assert!((0..60).all(|n| list.contains(&format!("Task {n}."))), "{list}");
}

#[tokio::test]
async fn it_is_sorted_as_asked_and_the_choice_stays() {
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Down]).await;
    let first = |person: &Person| person.sees().lines().nth(2).unwrap().to_owned();
    for (sort, name) in [
        (ListOrder::Fill, "01k9-nameless"),
        (ListOrder::Cost, "Look through"),
        (ListOrder::Folds, "01k9-nameless"),
        (ListOrder::Changed, "Look through"),
    ] {
        person.press([PressedKey::Char('o')]).await;
        assert!(first(&person).contains(name), "{sort:?}: {}", person.sees());
        let chosen = person.sees().lines().find(|line| line.starts_with('›')).unwrap().to_owned();
        assert!(chosen.contains("01k9-nameless"), "{sort:?}: {chosen}");
    }
}

#[tokio::test]
async fn back_leads_to_the_list_and_out() {
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Enter, PressedKey::Enter, PressedKey::Char('?')]).await;
    for view in [TopView::Fold, TopView::Session, TopView::List] {
        person.press([PressedKey::Esc]).await;
        assert_eq!(person.state.view(), view);
    }
    person.press([PressedKey::Char('/'), PressedKey::Char('q'), PressedKey::Esc]).await;
    assert!(!person.state.is_done(), "a letter that is typed does not quit");
    person.press([PressedKey::Char('q')]).await;
    assert!(person.state.is_done());
}

#[tokio::test]
async fn a_page_is_scrolled_as_far_as_it_goes() {
    let mut person = Person::new(canned(), (80, 10)).await;
    person.press([PressedKey::Enter, PressedKey::Enter]).await;
    let top = person.sees();
    person.press([PressedKey::End]).await;
    let end = person.sees();
    assert!(end.contains("LED-4101") && !top.contains("LED-4101"), "{end}");
    person.press([PressedKey::Down, PressedKey::PageDown]).await;
    assert_eq!(person.sees(), end);
    person.press([PressedKey::Home]).await;
    assert_eq!(person.sees(), top);
}

#[tokio::test]
async fn what_changed_is_read_again_and_nothing_else() {
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Enter]).await;
    let answer = |tick: u64| {
        let mut sessions = canned().sessions;
        sessions["sessions"][0]["tick"] = tick.into();
        Canned { sessions, ..canned() }
    };
    assert_eq!(person.state.tick(NOW + 500), [SourceQuestion::Sessions]);
    let same = midfold_top::AnswerSource::answer(&answer(400), &SourceQuestion::Sessions).await;
    assert_eq!(person.state.note_answer(&SourceQuestion::Sessions, same), []);
    let other = midfold_top::AnswerSource::answer(&answer(401), &SourceQuestion::Sessions).await;
    let asks = person.state.note_answer(&SourceQuestion::Sessions, other);
    assert!(matches!(asks[..], [SourceQuestion::Detail(_), SourceQuestion::Fabric(_)]), "{asks:?}");
}

#[tokio::test]
async fn what_failed_is_said_until_it_works_again() {
    let mut person = Person::new(canned(), WIDE).await;
    let source = midfold_top::ServerSource::new("ftp://x", None).err().unwrap();
    assert_eq!(person.state.note_answer(&SourceQuestion::Sessions, Err(source)), []);
    assert!(person.sees().contains("the address of the server cannot be used"));
    assert!(person.sees().contains("Look through"), "what was known stays");
    let again = midfold_top::AnswerSource::answer(&canned(), &SourceQuestion::Sessions).await;
    assert_eq!(person.state.note_answer(&SourceQuestion::Sessions, again), []);
    assert!(!person.sees().contains("cannot be used"));
}

#[tokio::test]
async fn what_failed_is_asked_again_as_long_as_it_is_wanted() {
    let mut person = Person::new(canned(), WIDE).await;
    person.press([PressedKey::Enter]).await;
    let first = canned().sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
    let id = SessionId::from(first);
    let trouble = || midfold_top::ServerSource::new("ftp://x", None).err().unwrap();
    let mine = [SourceQuestion::Detail(id.clone()), SourceQuestion::Fabric(id.clone())];
    let gone = SourceQuestion::Explain(id, "nobody asks this".to_owned());
    for ask in mine.iter().chain([&gone, &mine[0]]) {
        assert_eq!(person.state.note_answer(ask, Err(trouble())), []);
    }
    let list = midfold_top::AnswerSource::answer(&canned(), &SourceQuestion::Sessions).await;
    assert_eq!(person.state.note_answer(&SourceQuestion::Sessions, list), mine);
    let list = midfold_top::AnswerSource::answer(&canned(), &SourceQuestion::Sessions).await;
    assert_eq!(person.state.note_answer(&SourceQuestion::Sessions, list), [], "only once");
}

#[tokio::test]
async fn colours_are_there_where_they_are_wanted() {
    for (color, expected) in [(true, true), (false, false)] {
        let mut state = TopState::new("memory", color, NOW);
        midfold_top::settle(&canned(), &mut state, vec![SourceQuestion::Sessions]).await.unwrap();
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| midfold_top::draw(&state, frame)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let colored = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(colored, expected);
    }
}

#[tokio::test]
async fn no_screen_is_too_small() {
    for size in [(1, 1), (3, 2), (10, 3), (20, 5), (39, 7), (300, 100)] {
        let mut person = Person::new(canned(), size).await;
        for keys in [
            &[PressedKey::Enter][..],
            &[PressedKey::Enter],
            &[PressedKey::Char('?')],
            &[PressedKey::Char('/')],
        ] {
            person.press(keys.iter().copied()).await;
            assert_eq!(person.sees().lines().count(), usize::from(size.1));
        }
        person.types("a long text that is typed").await;
        person.sees();
        assert!(plain(&person.state, size.0).ends_with('\n'));
    }
}
