//! One run at a time writes to an output.

use std::fs;
use std::path::Path;

use midfold_cli::inside::RunLock;

#[test]
fn one_at_a_time_and_nothing_stays() {
    let name = format!("midfold-lock-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let output = Path::new("out.jsonl");
    // A file that a killed run left is no lock.
    fs::write(&path, "").unwrap();
    let lock = RunLock::take(&path, output).unwrap();
    let refused = RunLock::take(&path, output).err().unwrap();
    assert_eq!((refused.code, &*refused.message), (1, "another run is writing out.jsonl"));
    drop(lock);
    let again = RunLock::take(&path, output).unwrap();
    drop(again);
    assert!(!cfg!(unix) || !path.exists());
}

#[test]
fn of_many_at_once_one_has_it() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let name = format!("midfold-locks-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let holders = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let Ok(lock) = RunLock::take(&path, Path::new("out")) else { continue };
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    holders.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
}
