use super::*;
use crate::counter::Counter;
use crate::view::Media;

struct Bytes;

impl Counter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str, _: Content) -> u32 {
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }

    fn media(&self, _: &Media) -> u32 {
        0
    }
}

/// A frame that allows `cap` bytes and nothing else.
fn frame<'a>(cap: u64, elsewhere: &'a FxHashSet<&'static str>) -> Frame<'a> {
    Frame {
        cap,
        narration: "",
        counter: &Bytes,
        header: "## Recap",
        elsewhere,
        task_elsewhere: false,
        file_blocks: false,
        focus: &[],
        words: None,
    }
}

#[test]
fn names_stand_in_the_order_of_their_hope_and_not_of_their_length() {
    let mut gathered = Gathered::default();
    let mut used = |id: &str, said, result| {
        let order = gathered.next_order();
        let used = gathered.ids.get_or_new(id, order);
        (used.said, used.result) = (said, result);
    };
    used("nEOF", 0, 1);
    used("charge_settlement_window_again", 2, 3);
    used("run_id", 1, 1);
    let text = compose(&gathered, &frame(2_000, &FxHashSet::default())).text;
    assert!(text.contains("names: charge_settlement_window_again run_id nEOF\n"), "{text}");
}

#[test]
fn when_it_gets_tight_orders_outlive_newer_sentences_and_all_stand_in_order() {
    let quote = |text: &str| Quote { seq: None, text: text.to_owned() };
    let told: Vec<_> = (0..40).map(|n| format!("I don't know about {n}.")).collect();
    let mut gathered = Gathered::default();
    gathered.rules.push(quote("Never touch migrations/."));
    gathered.rules.extend(told.iter().map(|text| quote(text)));
    let text = compose(&gathered, &frame(2_000, &FxHashSet::default())).text;
    let at = |what: &str| text.find(what);
    assert!(at("Never touch").is_some() && at(&told[0]).is_none(), "{text}");
    assert!(at("Never touch") < at(&told[38]) && at(&told[38]) < at(&told[39]), "{text}");
}

#[test]
fn the_most_that_fits_is_found_from_anywhere() {
    for max in [0, 1, 2, 7, 64, 100] {
        for limit in 0..=max {
            for about in 0..=max + 3 {
                assert_eq!(most(about, max, |n| n <= limit), limit, "{about} of {max}");
            }
        }
    }
}
