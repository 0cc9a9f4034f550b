//! The bodies of the fuzz targets on stable, over their seeds and what fuzzing once broke.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test helpers may fail loudly"
)]

#[path = "../../../../fuzz/src/bodies.rs"]
mod bodies;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use midfold::formats::profile;
use midfold::formats::read::read;
use midfold::{Budget, EventLog, Meter, PlanOutcome, Policy, Session};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(dir: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<_> =
        std::fs::read_dir(root().join(dir)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Every file, and every file cut and damaged in a few places.
fn variants(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let cuts = (1..4).map(move |n| bytes[..bytes.len() * n / 4].to_vec());
    let flips = (1..8).map(move |n| {
        let mut bytes = bytes.to_vec();
        let at = bytes.len() * n / 8;
        bytes[at] = bytes[at].wrapping_add(n as u8);
        bytes
    });
    std::iter::once(bytes.to_vec()).chain(cuts).chain(flips)
}

#[test]
fn read_and_compact_hold_on_their_seeds() {
    let mut seeds = files("fixtures");
    seeds.extend(files("crates/formats/tests/fixtures/clients"));
    assert!(seeds.len() > 20);
    for (path, seed) in seeds {
        for bytes in variants(&seed) {
            let run = || {
                bodies::read(&bytes);
                bodies::compact(&bytes);
            };
            let name = path.display();
            assert!(std::panic::catch_unwind(run).is_ok(), "{name}, {} bytes", bytes.len());
        }
    }
}

#[test]
fn verify_holds_on_its_seeds() {
    let seeds = files("fuzz/seeds/verify");
    assert!(seeds.len() >= 3);
    for (_, seed) in seeds {
        variants(&seed).for_each(|bytes| bodies::verify(&bytes));
    }
}

#[test]
fn answer_request_and_vendor_hold_on_their_seeds() {
    for (dir, body) in [
        ("fuzz/seeds/answer", bodies::answer as fn(&[u8])),
        ("fuzz/seeds/request", bodies::request),
        ("fuzz/seeds/vendor", bodies::vendor),
    ] {
        let seeds = files(dir);
        assert!(seeds.len() >= 5, "{dir}");
        for (path, seed) in seeds {
            for bytes in variants(&seed) {
                let name = path.display();
                assert!(std::panic::catch_unwind(|| body(&bytes)).is_ok(), "{name}");
            }
        }
    }
}

/// Inputs that fuzzing found, each of which broke something once.
#[test]
fn what_was_found_stays_fixed() {
    for (path, bytes) in files("fuzz/seeds/found") {
        let run = || {
            bodies::read(&bytes);
            bodies::compact(&bytes);
            bodies::verify(&bytes);
        };
        assert!(std::panic::catch_unwind(run).is_ok(), "{}", path.display());
    }
}

/// Writes the seeds of `verify`: fixtures, what a fold makes of them, and its record.
#[test]
#[ignore = "writes into the source tree"]
fn write_seeds_of_verify() {
    for (path, bytes) in files("fixtures") {
        let Ok(found) = read(&Bytes::from(bytes.clone()), None) else { continue };
        let Some(conversation) = found.conversations.first() else { continue };
        let kind = conversation.format.dialect();
        let counter = midfold::tokens::by_name("chars:3.2").unwrap();
        let profile = profile::for_dialect(kind)[0];
        let log =
            EventLog::of(kind.shared(), profile, counter, conversation.events.iter().cloned());
        let policy = Policy::preset("default").unwrap();
        let budget = Budget::new(log.tokens().max(400));
        let mut session = Session::over("seed", log, policy, Meter::exact());
        let Ok(PlanOutcome::Folded(fold)) = session.compact(&budget, None) else { continue };
        let mut out = bytes;
        out.extend_from_slice(bodies::SEPARATOR);
        out.extend_from_slice(&session.view().bytes());
        out.extend_from_slice(bodies::SEPARATOR);
        out.extend_from_slice(serde_json::to_string(&fold).unwrap().as_bytes());
        let name = path.file_name().unwrap();
        std::fs::write(root().join("fuzz/seeds/verify").join(name), out).unwrap();
    }
}
