//! Cold compaction of 10,000 messages, 17 MB, and its parts: `cargo bench -p midfold-benches --features criterion`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput};
use midfold::Budget;
use midfold_benches as bench;

fn cold(c: &mut Criterion) -> anyhow::Result<()> {
    let input = bench::transcript();
    let mut group = c.benchmark_group("cold");
    group.sample_size(10).measurement_time(Duration::from_secs(8));
    group.throughput(Throughput::Bytes(input.len() as u64));

    for name in ["o200k", "estimate:openai", "chars:3.2"] {
        let counter = bench::counter(name)?;
        // A run that fails must not be measured as a fast one.
        bench::compact(&input, counter.clone())?;
        group.bench_function(format!("compact {name}"), |b| {
            b.iter(|| bench::compact(black_box(&input), counter.clone()));
        });
        group.bench_function(format!("read and count {name}"), |b| {
            b.iter(|| bench::log(black_box(&input), counter.clone()));
        });
    }

    let exact = bench::counter("o200k")?;
    let texts = bench::texts(&bench::log(&input, bench::counter("chars:4")?)?);
    group.bench_function("bare tokenizer pass", |b| {
        b.iter(|| bench::count(&*exact, black_box(&texts)));
    });
    group.bench_function("bare JSON scan", |b| {
        b.iter(|| midfold::formats::scan::value(black_box(&input), 0));
    });
    group.bench_function("JSON scan of serde_json", |b| {
        b.iter(|| {
            serde_json::from_slice::<&serde_json::value::RawValue>(black_box(&input)).is_ok()
        });
    });
    group.finish();
    Ok(())
}

fn fold(c: &mut Criterion) -> anyhow::Result<()> {
    let mut group = c.benchmark_group("fold");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for messages in [1_000, 10_000] {
        let bytes = bench::BYTES / bench::MESSAGES * messages;
        let input = bytes::Bytes::from(midfold_testkit::big_openai(messages, bytes));
        let session = bench::session(bench::log(&input, bench::counter("o200k")?)?)?;
        group.bench_function(format!("{messages} messages"), |b| {
            b.iter_batched_ref(
                || session.clone(),
                |session| session.compact(&Budget::new(bench::WINDOW), None),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    cold(&mut criterion)?;
    fold(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
