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

#[test]
fn when_it_gets_tight_orders_outlive_newer_sentences_and_all_stand_in_order() {
    let quote = |text: &str| Quote { seq: None, text: text.to_owned() };
    let told: Vec<_> = (0..40).map(|n| format!("I don't know about {n}.")).collect();
    let mut gathered = Gathered::default();
    gathered.rules.push(quote("Never touch migrations/."));
    gathered.rules.extend(told.iter().map(|text| quote(text)));
    let frame = Frame {
        cap: 2_000,
        narration: "",
        counter: &Bytes,
        header: "## Recap",
        elsewhere: &FxHashSet::default(),
        task_elsewhere: false,
        file_blocks: false,
        focus: &[],
        words: None,
    };
    let text = compose(&gathered, &frame).text;
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
