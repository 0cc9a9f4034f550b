//! `midfold worker`: takes jobs from the queue of a store and asks a model to narrate their spans.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use midfold::model::ModelClient;
use midfold::store::StoredError;
use midfold::store::worker::{JobWorker, WorkerReport};
use midfold_args::WorkerArgs as Args;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::error::CommandError;
use crate::host::{OpenStore, StoreCreation};
use crate::output::Output;
use crate::runtime::{self, block_on};
use crate::signals;
use crate::summariser::SummariserModel;
use crate::words::{line, number, plural, time};

/// The most time that a call may go on after the signal to stop.
const GRACE: Duration = Duration::from_secs(5);
/// The time after which a store that failed is asked again.
const PAUSE: Duration = Duration::from_secs(5);

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    let model = SummariserModel {
        url: &args.base_url,
        name: &args.model,
        key_env: args.key_env.as_deref(),
        key_file: args.key_file.as_deref(),
        window: args.window,
        option: "--base-url",
    };
    let client = Arc::new(model.client()?);
    block_on(async {
        let host = OpenStore::open(&args.at, StoreCreation::Yes).await?;
        let (stop, stopped) = watch::channel(false);
        let signals = tokio::spawn(end(stop));
        let shared = Arc::new(WorkerShared {
            client,
            json,
            output: *output,
            once: args.once,
            poll: Duration::from_millis(args.poll),
            counts: WorkerCounts::default(),
        });
        if !json && !args.once {
            let place = host.store.place();
            output.stderr(&format!("waiting for jobs in {place}; ctrl-c ends\n"));
        }
        let mut all = JoinSet::new();
        for number in 1..=args.concurrency {
            let name = format!("midfold-{}-{number}", std::process::id());
            let worker = JobWorker::new(host.store.clone(), &name, Arc::new(runtime::now));
            all.spawn(Arc::clone(&shared).work(worker, stopped.clone()));
        }
        let mut failed = None;
        while let Some(joined) = all.join_next().await {
            // The others go on to their end, so that no running job is cut off.
            if let Ok(Err(error)) = joined {
                failed = Some(error);
            }
        }
        // `end` never returns by itself, because it keeps the sender alive for the workers.
        signals.abort();
        if let Some(error) = failed {
            return Err(error.into());
        }
        shared.end()
    })
}

/// Waits for the signal to end, and passes it to the workers.
async fn end(stop: watch::Sender<bool>) {
    signals::told_to_end().await;
    // `stop` is kept after this: receivers of a closed channel would not wait any more.
    let _ = stop.send(true);
    std::future::pending().await
}

#[derive(Default)]
struct WorkerCounts {
    jobs: AtomicU64,
    folded: AtomicU64,
    failed: AtomicU64,
}

struct WorkerShared {
    client: Arc<ModelClient>,
    json: bool,
    output: Output,
    once: bool,
    poll: Duration,
    counts: WorkerCounts,
}

impl WorkerShared {
    /// Does one job after the other until the signal to stop, or with `--once` until no job is due.
    async fn work(
        self: Arc<Self>,
        worker: JobWorker,
        mut stopped: watch::Receiver<bool>,
    ) -> Result<(), StoredError> {
        while !*stopped.borrow() {
            let summarise = |request| {
                let client = Arc::clone(&self.client);
                async move { client.summarise(&request).await }
            };
            let step = worker.step_until(summarise, after(stopped.clone()));
            match step.await {
                Ok(Some(report)) => self.tell(&report),
                Ok(None) if self.once => return Ok(()),
                Ok(None) => pause(self.poll, &mut stopped).await,
                Err(error) if self.once => return Err(error),
                Err(error) => {
                    self.output
                        .stderr(&format!("{}  the store failed: {error}\n", time(runtime::now())));
                    pause(PAUSE, &mut stopped).await;
                }
            }
        }
        Ok(())
    }

    fn tell(&self, report: &WorkerReport) {
        let accepted = report.code.is_accepted();
        let is_failure = report.code.failure().is_some();
        self.counts.jobs.fetch_add(1, Ordering::Relaxed);
        self.counts.folded.fetch_add(u64::from(report.folded), Ordering::Relaxed);
        self.counts.failed.fetch_add(u64::from(is_failure), Ordering::Relaxed);
        if self.json {
            let value = json!({
                "time": runtime::now(), "job": report.job, "session": report.session,
                "from": report.span.start, "to": report.span.end.saturating_sub(1),
                "attempt": report.attempt, "code": report.code.as_str(), "detail": report.detail,
                "folded": report.folded, "failed": is_failure,
            });
            let _ = self.output.stdout(format!("{value}\n"));
            return;
        }
        let fold = match (accepted, report.folded) {
            (_, true) => ", a fold is ready",
            (true, false) => ", no fold came of it",
            (false, _) => "",
        };
        let detail = if report.detail.is_empty() {
            String::new()
        } else {
            format!(": {}", line(&report.detail, 200))
        };
        self.output.stderr(&format!(
            "{}  job {}  {}  messages {} to {}  attempt {}  {}{fold}{detail}\n",
            time(runtime::now()),
            report.job,
            report.session,
            number(report.span.start),
            number(report.span.end.saturating_sub(1)),
            report.attempt,
            report.code,
        ));
    }

    fn end(&self) -> Result<(), CommandError> {
        let [jobs, folded, failed] = [&self.counts.jobs, &self.counts.folded, &self.counts.failed]
            .map(|count| count.load(Ordering::Relaxed));
        if !self.json {
            let text = match jobs {
                0 if self.once => "no job was due\n".to_owned(),
                0 => "stopped; no job came\n".to_owned(),
                _ => format!(
                    "{}: {} ready, {failed} failed\n",
                    plural(jobs, "job"),
                    plural(folded, "fold")
                ),
            };
            self.output.stderr(&text);
        }
        if self.once && failed > 0 { Err(CommandError::silent(1)) } else { Ok(()) }
    }
}

/// Returns when the time of grace after the signal to stop is over.
async fn after(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
    tokio::time::sleep(GRACE).await;
}

async fn pause(time: Duration, stopped: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
}
