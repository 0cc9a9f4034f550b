//! Prefixes, breaks and prices, reckoned by hand.

use midfold_core::RawEvent;
use midfold_core::log::EventLog;
use midfold_eval::prices::{HOUR, PriceCliff, PriceTable};
use midfold_eval::replay::{Recording, ReplayResult, ReplayStrategy};

use super::bench::{Talk, outside, run, said, with};

/// Messages of 104, 14, 504, 14 and 1,004 tokens; requests before the second, fourth and last.
fn talk() -> Talk {
    Talk::default()
        .filler("user", 400)
        .filler("assistant", 40)
        .filler("user", 2_000)
        .filler("assistant", 40)
        .filler("user", 4_000)
        .filler("assistant", 40)
}

#[test]
fn without_a_break_every_request_pays_a_tenth_for_what_it_repeats() {
    let found = run(&talk().recording(), ReplayStrategy::Raw, 100_000).unwrap();
    let rows = found.requests.iter().map(|r| (r.at, r.raw, r.tokens, r.prefix, r.broke));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [(1, 104, 104, 0, false), (3, 622, 622, 104, false), (5, 1_640, 1_640, 622, false)]
    );
    let sum = &found.measures;
    // 104 × 1.25, then 104 × 0.1 + 518 × 1.25, then 622 × 0.1 + 1,018 × 1.25; in hundredths.
    assert_eq!(sum.cost, 13_000 + 65_790 + 133_470);
    assert_eq!((sum.cost, sum.breaks, sum.cached), (sum.raw_cost, 0, 726));
    assert!((sum.price - 2_122.6).abs() < 1e-6 && (sum.raw_price - 2_122.6).abs() < 1e-6);
    assert!((sum.hit_share() - 726.0 / 2_366.0).abs() < 1e-9);
    assert!((sum.mean_context() - 2_366.0 / 3.0).abs() < 1e-9);
    assert_eq!(sum.peak, 1_640);
}

#[test]
fn a_fold_pays_in_full_from_its_first_changed_message_on() {
    // Above 0.8 of 1,000 tokens the third message gives way to one of 14 tokens.
    let found = outside(&talk(), 1_000, |messages| {
        let mut all = messages.to_vec();
        all[2] = said("user", &"x".repeat(40));
        all
    });
    let row = found.requests[2];
    assert_eq!((row.tokens, row.prefix, row.broke, row.fold), (1_150, 118, true, Some(0)));
    let sum = &found.measures;
    // The last request: 118 × 0.1 + 1,032 × 1.25.
    assert_eq!(sum.cost, 13_000 + 65_790 + 130_180);
    assert_eq!((sum.breaks, sum.over), (1, 1));
    let by = &sum.tokens_by;
    // The made message stands for another: 14 tokens of recap; the rest as it was said.
    assert_eq!((by.recap, by.assistant, by.user), (14, 14 + 28, 104 * 3 + 504 + 1_004));
    assert_eq!(by.named().iter().map(|(_, n)| n).sum::<u64>(), sum.tokens);
}

#[test]
fn a_price_table_knows_a_least_prefix_and_a_cliff() {
    let table = PriceTable {
        name: "made up".to_owned(),
        unit: "USD per million tokens".to_owned(),
        input: 2.0,
        read: 0.2,
        write: 2.5,
        min_prefix: 500,
        cliff: Some(PriceCliff { above: 1_600, input: 2.0, output: 1.0 }),
        ..PriceTable::reference()
    };
    let found = with(&talk().recording(), ReplayStrategy::Raw, 100_000, &table, false).unwrap();
    let sum = &found.measures;
    // 104 tokens are below what is cached: plain input. 622 are written, the prefix of 104 is too
    // short to be read. 1,640 are above the cliff: all twice as dear.
    let dollars = (104.0 * 2.0 + 622.0 * 2.5 + 2.0 * (622.0 * 0.2 + 1_018.0 * 2.5)) / 1e6;
    assert!((sum.price - dollars).abs() < 1e-12, "{} {dollars}", sum.price);
    assert_eq!(sum.cached, 622);
    // The ratio stays that of the reference.
    assert!((sum.cost_ratio() - 1.0).abs() < 1e-9);
}

#[test]
fn what_travels_beside_the_messages_is_sent_and_cached_but_not_in_the_ratio() {
    let mut log = super::bench::log(midfold_formats::DialectKind::OpenAiChat, &talk().0);
    let bare = log.tokens();
    log.set_envelope([&b"[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"[..]]);
    let beside = log.envelope_tokens();
    assert!(beside > 0 && log.tokens() == bare + beside);
    let recording = Recording::new(log);
    let found = run(&recording, ReplayStrategy::Raw, 100_000).unwrap();
    let first = (found.requests[0].tokens, found.requests[0].prefix);
    assert_eq!(first, (104 + beside, 0));
    assert_eq!(found.requests[1].prefix, 104 + beside);
    assert_eq!(found.measures.cost, 13_000 + 65_790 + 133_470);
    assert_eq!(found.measures.tokens_by.system, 3 * beside);
}

/// The same talk, its messages recorded so many milliseconds after one another's first.
fn timed(times: [Option<u64>; 6]) -> Recording {
    let bare = super::bench::log(midfold_formats::DialectKind::OpenAiChat, &[]);
    let events = talk().0.into_iter().zip(times);
    let events = events.map(|(bytes, at)| RawEvent { at, ..RawEvent::new(bytes) });
    Recording::new(EventLog::of(
        midfold_formats::DialectKind::OpenAiChat.shared(),
        *bare.profile(),
        std::sync::Arc::clone(bare.counter()),
        events,
    ))
}

fn at(prices: &PriceTable, times: [Option<u64>; 6]) -> ReplayResult {
    with(&timed(times), ReplayStrategy::Raw, 100_000, prices, false).unwrap()
}

/// The second request comes five minutes after the first, the third a little more after that.
const LATE: [Option<u64>; 6] =
    [Some(0), Some(1), Some(300_000), Some(300_001), Some(600_001), Some(600_002)];

#[test]
fn what_a_cache_forgot_is_paid_for_in_full() {
    let own = PriceTable::reference();
    let found = at(&own, LATE);
    let sum = &found.measures;
    assert_eq!(found.requests.iter().map(|r| r.cold).collect::<Vec<_>>(), [false, false, true]);
    // The last request pays for all of its 1,640 tokens, and its prefix is what it was.
    assert_eq!((sum.cost, sum.raw_cost), (13_000 + 65_790 + 205_000, 13_000 + 65_790 + 205_000));
    assert_eq!((found.requests[2].prefix, sum.cached), (622, 104));
    assert_eq!((sum.timed, sum.cold), (2, 1));
    assert!((sum.price - 2_837.9).abs() < 1e-6 && (sum.raw_price - 2_837.9).abs() < 1e-6);
    // Within the hour nothing is cold, and what is written costs 2.
    let [five, hour] = sum.lifetimes;
    assert_eq!((five.cold, hour.cold), (1, 0));
    assert!((five.price - 2_837.9).abs() < 1e-6, "{five:?}");
    assert!((hour.price - 3_352.6).abs() < 1e-6 && (hour.raw_price - 3_352.6).abs() < 1e-6);
    let chosen = at(&own.living(Some(HOUR)), LATE).measures;
    assert_eq!((chosen.cold, chosen.cost, chosen.lifetimes), (0, 335_260, sum.lifetimes));
    let never = at(&own.living(None), LATE).measures;
    assert_eq!((never.cold, never.cost), (0, 13_000 + 65_790 + 133_470));
}

#[test]
fn a_gap_counts_only_between_two_requests_whose_times_are_known() {
    let mut times = LATE.map(|at| at.map(|at| at * 100));
    times[2] = None;
    let sum = at(&PriceTable::reference(), times).measures;
    assert_eq!((sum.timed, sum.cold, sum.cost), (0, 0, 13_000 + 65_790 + 133_470));
    // Records that were written out of order are no gap.
    let back = [Some(9_000_000), None, Some(8_000_000), None, Some(1_000_000), None];
    let sum = at(&PriceTable::reference(), back).measures;
    assert_eq!((sum.timed, sum.cold), (2, 0));
}
