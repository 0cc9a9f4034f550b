//! The whole exam, and our own exam in it.

use std::path::Path;

use midfold_eval::exam::folder;
use midfold_eval::exam::paper::Paper;
use midfold_eval::exam::score::Probe;
use midfold_eval::exam::sitting::ExamCandidate;

#[test]
fn the_example_is_the_conversation_of_the_exam() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read(here.join(path)).expect(path);
    assert!(
        read("data/exam/messages/tidelog.jsonl") == read("../../examples/tidelog.jsonl"),
        "crates/eval/data/exam/messages/tidelog.jsonl has to be a copy of examples/tidelog.jsonl"
    );
}

#[test]
fn all_history_holds_our_exam_and_a_list_of_its_names_does_not() {
    let exams = folder::own().expect("our exam");
    let [exam] = &exams[..] else { unreachable!("there is one") };
    assert_eq!((exam.exam.questions.len(), exam.exam.window), (20, 24_000));
    let row = exam.walk(&ExamCandidate::Raw, false).expect("a walk");
    assert!(row.score >= 0.98, "{}", row.score);
    let lost: Vec<u32> = (exam.exam.questions.iter().zip(&row.questions))
        .filter(|(_, score)| **score < 1.0)
        .map(|(question, _)| question.id)
        .collect();
    assert!(lost.is_empty(), "questions that the raw history does not hold: {lost:?}");
    for question in &exam.exam.questions {
        assert!(question.evidence.iter().all(|seq| *seq < exam.exam.cut), "{}", question.id);
        for point in &question.key_points {
            let probe = Probe::new(&point.probe).expect("patterns");
            assert!(!probe.holds(&question.question), "{} gives itself away", question.id);
        }
    }
}

#[test]
fn our_exam_is_a_folder_of_exams_as_anybody_s() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/exam");
    assert_eq!(folder::names(&data).expect("names"), ["tidelog"]);
    let paper = Paper { sittings: folder::all(&data).expect("exams"), ..Paper::default() };
    assert_eq!(paper.sittings[0].exam.cut, folder::own().expect("ours")[0].exam.cut);
}

#[test]
fn an_exam_that_is_none_says_where() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-exams");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("messages")).expect("a folder");
    let says = |name: &str| folder::open(&folder, name).err().expect("an error").to_string();
    assert!(folder::names(&folder).expect_err("an error").to_string().contains("no exam"));
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("a.json", r#"{"window": 1000, "cut": 9, "questions": []}"#);
    assert!(says("a").contains("messages/a.json"), "{}", says("a"));
    write("messages/a.jsonl", r#"{"role": "user", "content": "Hello"}"#);
    assert!(says("a").contains("a.json: `cut` is 9 of 1 messages"), "{}", says("a"));
    write("a.json", r#"{"window": 1000}"#);
    assert!(says("a").contains("the questions: missing field"), "{}", says("a"));
}
