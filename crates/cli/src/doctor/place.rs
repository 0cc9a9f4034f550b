//! Checks the store: whether it opens and can be written, and whether other users can read it.

use std::path::{Path, PathBuf};

use midfold::store::{Store, mask};
use midfold_args::StoreAt;
use midfold_proxy::WINDOW_LASTS;

use super::check::{DoctorCheck, LIMIT};
use crate::host::{self, OpenStore, StoreCreation};
use crate::runtime;
use crate::words::plural;

const STORE: &str = "store";
/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1_000;
#[cfg(unix)]
const ACCESS: &str = "access";
/// Fewer free bytes than this (1 GiB) are a warning.
#[cfg(unix)]
const LITTLE: u64 = 1 << 30;

/// The checks of the store: whether it works, and for a SQLite file who may read it.
pub async fn store(at: &StoreAt) -> Vec<DoctorCheck> {
    let url = match host::url_of(at) {
        Ok(url) => url,
        Err(error) => return vec![DoctorCheck::of_error(STORE, error)],
    };
    let path = host::sqlite_path(&url);
    if let Some(path) = path.as_deref().filter(|path| !path.exists()) {
        return vec![to_be_made(path)];
    }
    let opened = tokio::time::timeout(LIMIT, OpenStore::open(at, StoreCreation::No)).await;
    let host = match opened {
        Ok(Ok(host)) => host,
        Ok(Err(error)) => return vec![DoctorCheck::of_error(STORE, error)],
        Err(_) => {
            let text = format!("{}: no answer within {} s", mask(&url), LIMIT.as_secs());
            let fix = "see whether the database runs, or whether another program locks it";
            return vec![DoctorCheck::fail(STORE, text, fix)];
        }
    };
    let windows = windows(&*host.store).await;
    let mut checks = match path {
        Some(path) => vec![written(&path), access(&path)],
        None => vec![DoctorCheck::good(STORE, format!("{} opens", host.store.place()))],
    };
    checks.extend(windows);
    checks
}

/// The number of model windows that midfold learned from refused requests and that have not expired. `None` where there
/// are none. The store does not know which models they belong to, so only the number is shown.
async fn windows(store: &dyn Store) -> Option<DoctorCheck> {
    let since = runtime::now().saturating_sub(WINDOW_LASTS);
    let counted = tokio::time::timeout(LIMIT, store.windows(since)).await.ok()?;
    let count = counted.unwrap_or_default();
    let days = WINDOW_LASTS / DAY;
    let says = format!(
        "{} learned from what providers refused in the last {days} days",
        plural(count, "window")
    );
    (count > 0).then(|| DoctorCheck::good("windows", says))
}

/// Checks whether a store that does not exist yet can be made. It is made when it is first written to, so its folder,
/// or the nearest one that exists, has to be writable.
fn to_be_made(path: &Path) -> DoctorCheck {
    let folder = path.ancestors().skip(1).find(|folder| folder.exists());
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if may_write(folder) {
        return DoctorCheck::good(
            STORE,
            format!("{} is made when it is first used", path.display()),
        );
    }
    let text = format!("{} cannot be made: {} takes no files", path.display(), folder.display());
    DoctorCheck::fail(STORE, text, "name another place: --store sqlite:PATH, or set MIDFOLD_STORE")
}

/// Checks whether a store that opened can also be written.
fn written(path: &Path) -> DoctorCheck {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    if !may_write(path) || !may_write(folder) {
        let text = format!("{} can be read, and not written", path.display());
        return DoctorCheck::fail(
            STORE,
            text,
            format!("chmod u+w {} {}", path.display(), folder.display()),
        );
    }
    #[cfg(unix)]
    if let Ok(disk) = rustix::fs::statvfs(folder) {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < LITTLE {
            let text = format!("{} opens; {} MB are free", path.display(), free >> 20);
            return DoctorCheck::warn(STORE, text, "midfold store prune --older-than 30d --yes");
        }
    }
    DoctorCheck::good(STORE, format!("{} opens, and can be written", path.display()))
}

#[cfg(unix)]
fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn may_write(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.permissions().readonly())
}

/// Checks that no other user can read the store's conversations.
#[cfg(unix)]
fn access(path: &Path) -> DoctorCheck {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.permissions().mode());
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    // Other users may read a folder that the user chose, but not the one that midfold made for itself.
    let is_ours = folder.file_name().is_some_and(|name| name == "midfold");
    let open_folder = if is_ours { 0o077 } else { 0o022 };
    let mut wrong: Vec<(PathBuf, u32, u32)> = Vec::new();
    if mode(path) & 0o077 != 0 {
        wrong.push((path.to_owned(), mode(path), 0o600));
    }
    if mode(&folder) & open_folder != 0 {
        wrong.push((folder.clone(), mode(&folder), if is_ours { 0o700 } else { 0o755 }));
    }
    if wrong.is_empty() {
        return DoctorCheck::good(ACCESS, "the store is readable by you alone");
    }
    let says =
        wrong.iter().map(|(path, mode, _)| format!("{} is {:o}", path.display(), mode & 0o777));
    let fix = wrong.iter().map(|(path, _, mode)| format!("chmod {mode:o} {}", path.display()));
    let says = format!("others can get at the store: {}", says.collect::<Vec<_>>().join(", "));
    DoctorCheck::warn(ACCESS, says, fix.collect::<Vec<_>>().join(" && "))
}

#[cfg(not(unix))]
fn access(path: &Path) -> DoctorCheck {
    DoctorCheck::good("access", format!("{} is in your folder", path.display()))
}
