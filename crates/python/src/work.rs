//! `midfold.work`: does the jobs in the queue of a store with a Python function that narrates.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use midfold::blocking::StorePlace;
use midfold::core::event::Usage;
use midfold::core::narrate::{
    FailureClass, SummaryFailure, SummaryReply, SummaryRequest as Request,
};
use midfold::store::worker::{JobWorker, WorkerReport};
use midfold::{Door, FailureArea};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tokio::sync::oneshot;

use crate::clock::now;
use crate::errors::Failure;
use crate::python::make;
use crate::summary::{SummaryRequest, answer};

/// How often Ctrl-C is looked for while the store works.
const TICK: Duration = Duration::from_millis(100);

type WorkAnswer = Result<SummaryReply, SummaryFailure>;
type WorkQuestion = (Request, oneshot::Sender<WorkAnswer>);

/// Takes jobs from the queue of a store, and has `narrate` write what they want: it is called with
/// a `SummaryRequest`, on this thread, and returns the text. Each answer is judged, and the fold
/// that comes of it is stored. Ends when no job is due, or after `limit` of them; returns what came
/// of each. `model` is the name that records show.
///
/// A job is this worker's for as long as `narrate` takes. What it raises ends the work and comes
/// out here, Ctrl-C too; its job goes back into the queue, to be tried again a little later.
///
/// Raises `StoreError` if there is no such store, or it fails.
///
/// >>> import midfold
/// >>> midfold.work("memory", lambda request: "...")
/// []
#[pyfunction]
#[pyo3(signature = (store, narrate, *, limit=None, model=String::new()))]
pub fn work<'py>(
    py: Python<'py>,
    store: &str,
    narrate: Py<PyAny>,
    limit: Option<usize>,
    model: String,
) -> PyResult<Bound<'py, PyList>> {
    let limit = limit.unwrap_or(usize::MAX);
    let stop = AtomicBool::new(false);
    // `narrate` is called on the caller's own thread. Another thread works with the store meanwhile, so that the claim
    // on a job is renewed while a model takes its time.
    let (outcome, raised) = py.detach(|| {
        let place = match StorePlace::existing(store, Door::Python) {
            Ok(place) => place,
            Err(error) => return (Err(error.into()), None),
        };
        let (ask, questions) = channel();
        let (place, stop) = (&place, &stop);
        thread::scope(|scope| {
            let steps = scope.spawn(move || steps(place, limit, stop, &ask));
            let raised = serve(&questions, stop, |request| call(&narrate, request, &model));
            let died = |_| {
                Err(Failure::new(FailureArea::Store, "the thread that drives the store has died"))
            };
            (steps.join().unwrap_or_else(died), raised)
        })
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    let finished = outcome?;
    let reports =
        finished.iter().map(|report| report_dict(py, report)).collect::<PyResult<Vec<_>>>()?;
    PyList::new(py, reports)
}

/// Jobs one after the other, until there is none or somebody wants to stop.
fn steps(
    place: &StorePlace,
    limit: usize,
    stop: &AtomicBool,
    ask: &Sender<WorkQuestion>,
) -> Result<Vec<WorkerReport>, Failure> {
    // The name only shows who holds a job; leases tell workers apart by job and attempt.
    let name = format!("midfold-python-{}", std::process::id());
    let worker = JobWorker::new(place.store(), &name, Arc::new(now));
    let mut reports = Vec::new();
    while reports.len() < limit && !stop.load(Ordering::Relaxed) {
        let step = worker.step(|request| {
            let (back, answer) = oneshot::channel();
            let is_sent = ask.send((request, back)).is_ok();
            async move {
                let nobody = || given_back("nobody is there to ask".to_owned());
                if is_sent { answer.await.unwrap_or_else(|_| nobody()) } else { nobody() }
            }
        });
        match place.block_on(|_| step)? {
            Some(report) => reports.push(report),
            None => break,
        }
    }
    Ok(reports)
}

/// Answers until nobody asks any more. What Python raised first.
fn serve(
    questions: &Receiver<WorkQuestion>,
    stop: &AtomicBool,
    call: impl Fn(&Request) -> PyResult<WorkAnswer>,
) -> Option<PyErr> {
    let mut raised = None;
    loop {
        let question = questions.recv_timeout(TICK);
        let outcome = match &question {
            // This request arrived after an earlier one had raised: it is not answered.
            Ok(_) if raised.is_some() => Ok(given_back("the work was stopped".to_owned())),
            Ok((request, _)) => call(request),
            Err(RecvTimeoutError::Timeout) => {
                Python::attach(|py| py.check_signals()).map(|()| given_back(String::new()))
            }
            Err(RecvTimeoutError::Disconnected) => return raised,
        };
        let answer = outcome.unwrap_or_else(|error| {
            // Set before the answer is sent, so that no other job is taken.
            stop.store(true, Ordering::Relaxed);
            // The detail is stored, and the message of an exception may hold a key or other texts. So only the name of
            // its type is kept.
            let kind = Python::attach(|py| error.get_type(py).name().map(|name| name.to_string()));
            let answer = given_back(kind.unwrap_or_default());
            raised.get_or_insert(error);
            answer
        });
        if let Ok((_, back)) = question {
            // Nobody receives the answer if another worker has taken the job meanwhile. That is no error.
            let _ = back.send(answer);
        }
    }
}

/// The text that Python returns, as the engine takes it.
fn call(narrate: &Py<PyAny>, request: &Request, model: &str) -> PyResult<WorkAnswer> {
    let request = SummaryRequest { request: request.clone() };
    let text: String = Python::attach(|py| narrate.call1(py, (request,))?.extract(py))?;
    Ok(answer(Some(text), None, "stop", model.to_owned(), Usage::default())?)
}

/// A job that is tried again later.
fn given_back(detail: String) -> WorkAnswer {
    Err(SummaryFailure::new(FailureClass::Server, detail))
}

/// The result of a job, as `midfold.Worked`.
fn report_dict<'py>(py: Python<'py>, report: &WorkerReport) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("job", report.job)?;
    fields.set_item("session", &report.session)?;
    fields.set_item("events", (report.span.start, report.span.end))?;
    fields.set_item("attempt", report.attempt)?;
    fields.set_item("code", report.code.as_str())?;
    fields.set_item("detail", &report.detail)?;
    fields.set_item("folded", report.folded)?;
    make(py, "Worked", &fields)
}
