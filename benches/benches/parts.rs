//! The parts of a compaction, each alone, at 1,000 and 10,000 messages: reading, appending,
//! counting, planning, projecting, rendering.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput};
use midfold::core::plan::{FoldCause, PlanRequest, plan};
use midfold::core::project::project;
use midfold::formats::read;
use midfold::{Budget, Meter, PlanOutcome, Policy};
use midfold_benches as bench;

fn parts(c: &mut Criterion, messages: usize) -> anyhow::Result<()> {
    let size = bench::BYTES / bench::MESSAGES * messages;
    let input = bytes::Bytes::from(midfold_testkit::big_openai(messages, size));
    let mut group = c.benchmark_group(format!("{messages} messages"));
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Bytes(input.len() as u64));

    group.bench_function("read", |b| b.iter(|| read::read(black_box(&input), None).is_ok()));
    let free = bench::counter("chars:4")?;
    group.bench_function("read and append", |b| {
        b.iter(|| bench::log(black_box(&input), free.clone()));
    });
    let log = bench::log(&input, free)?;
    let texts = bench::texts(&log);
    for name in ["o200k", "estimate:openai", "chars:4"] {
        let counter = bench::counter(name)?;
        group.bench_function(format!("count {name}"), |b| {
            b.iter(|| bench::count(&*counter, black_box(&texts)));
        });
    }

    let budget = Budget::new(bench::WINDOW);
    let policy = Policy::preset("default")?;
    let mut request = PlanRequest::new(&log, &policy, &budget, Meter::exact());
    request.cause = FoldCause::Manual;
    let PlanOutcome::Folded(fold) = plan(&request)? else { anyhow::bail!("nothing was folded") };
    group.bench_function("plan", |b| b.iter(|| plan(black_box(&request)).is_ok()));
    group.bench_function("project, nothing folded", |b| b.iter(|| project(&log, None)));
    group.bench_function("project through a fold", |b| b.iter(|| project(&log, Some(&fold))));
    for (name, context) in [("whole", project(&log, None)), ("folded", project(&log, Some(&fold)))]
    {
        group.bench_function(format!("bytes of the {name} context"), |b| {
            b.iter_batched(|| context.clone(), |context| context.bytes(), BatchSize::LargeInput);
        });
    }
    group.finish();
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    for messages in [1_000, 10_000] {
        parts(&mut criterion, messages)?;
    }
    criterion.final_summary();
    Ok(())
}
