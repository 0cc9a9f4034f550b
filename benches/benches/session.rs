//! A session that is held: appending to it and reading its context.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use midfold::Budget;
use midfold_benches as bench;

fn append(c: &mut Criterion) -> anyhow::Result<()> {
    let events = bench::appended(256);
    // Wide enough that no fold is made: this is about the turns between folds.
    let budget = Budget::new(1 << 40);
    let mut group = c.benchmark_group("append 4 KB, count exactly, take the context");
    for messages in [100, 1_000, 10_000, 100_000] {
        let held = bench::holding(messages)?;
        group.bench_function(format!("{messages} held"), |b| {
            b.iter_custom(|iterations| {
                let mut total = Duration::ZERO;
                let mut session = held.clone();
                for (n, event) in (0..iterations).zip(events.iter().cycle()) {
                    // A new copy now and then: the size held is what the name says.
                    if session.log().len() > messages + messages / 10 + 100 {
                        session = held.clone();
                    }
                    let event = event.clone();
                    let start = Instant::now();
                    session.append(event);
                    let context = black_box(session.context(&budget, 0));
                    total += start.elapsed();
                    assert!(context.is_ok(), "append {n} found no context");
                }
                total
            });
        });
    }
    group.finish();
    Ok(())
}

fn render(c: &mut Criterion) -> anyhow::Result<()> {
    let log = bench::log(&bench::transcript(), bench::counter("chars:4")?)?;
    let context = bench::session(log)?.view();
    let mut group = c.benchmark_group("context to bytes");
    group.throughput(Throughput::Bytes(context.bytes().len() as u64));
    group.bench_function("17 MB", |b| b.iter(|| black_box(&context).bytes()));
    group.finish();
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let mut criterion = Criterion::default().configure_from_args();
    append(&mut criterion)?;
    render(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
