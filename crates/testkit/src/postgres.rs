//! A throw-away PostgreSQL server: a private data directory, a unix socket and no TCP. It is removed when dropped.
//! Debian's packages are enough for it; where they are not installed, [`Cluster::start`] fails.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable with the URL of a running server, so that a test script can start one for all tests:
/// `postgres:///postgres?host=/folder&user=postgres`. Each test makes a schema of its own there.
pub const VARIABLE: &str = "MIDFOLD_POSTGRES";

/// A running server for tests.
pub struct Cluster {
    /// The folder of a server that this process started, with data, socket and log. `None` for the server of
    /// [`VARIABLE`].
    own: Option<ClusterFolder>,
    admin: String,
}

struct ClusterFolder {
    folder: PathBuf,
    bin: PathBuf,
}

static NAMES: AtomicU32 = AtomicU32::new(0);

impl Cluster {
    /// The server that [`VARIABLE`] names, or else a new one.
    ///
    /// # Errors
    /// When no server is installed (a test then prints `skipped: …`), or it does not start.
    pub fn start() -> Result<Self, String> {
        match std::env::var(VARIABLE) {
            Ok(admin) if !admin.is_empty() => Ok(Self { own: None, admin }),
            _ => Self::start_own(),
        }
    }

    /// Starts a new server, whatever [`VARIABLE`] says.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn start_own() -> Result<Self, String> {
        let bin = binaries().ok_or("no PostgreSQL server is installed (Debian: postgresql)")?;
        let name = NAMES.fetch_add(1, Ordering::Relaxed);
        // The path is short, because that of a unix socket has at most 107 bytes.
        let folder = PathBuf::from(format!("/tmp/midfold-pg-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // From here on dropping `own` removes the folder, also after an error.
        let own = ClusterFolder { folder, bin };
        let folder = own.folder.display().to_string();
        if is_root() {
            run(Command::new("chown").args(["postgres", &folder]))?;
        }
        let data = format!("{folder}/data");
        let sure = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "-D"];
        run(own.command("initdb").args(sure).arg(&data))?;
        let options = format!("-c listen_addresses= -c unix_socket_directories={folder}");
        let log = format!("{folder}/log");
        let start = ["-w", "-t", "60", "-l", &log, "-o", &options, "-D", &data, "start"];
        run(own.command("pg_ctl").args(start))?;
        let admin = format!("postgres:///postgres?host={folder}&user=postgres");
        Ok(Self { own: Some(own), admin })
    }

    /// The URL of the server's own database, in which schemas are made.
    #[must_use]
    pub fn admin_url(&self) -> &str {
        &self.admin
    }

    /// Makes an empty schema and returns a URL that leads to it. A database for each test would take half a second.
    ///
    /// # Errors
    /// With the error text of `psql`.
    pub fn schema(&self) -> Result<String, String> {
        let number = NAMES.fetch_add(1, Ordering::Relaxed);
        let name = format!("midfold_test_{}_{number}", std::process::id());
        self.sql(&self.admin, &format!("CREATE SCHEMA {name}"))?;
        let mark = if self.admin.contains('?') { '&' } else { '?' };
        Ok(format!("{}{mark}options=-csearch_path%3D{name}", self.admin))
    }

    /// Removes a schema that [`Cluster::schema`] made. On a server of this process that is not needed.
    pub fn drop_schema(&self, url: &str) {
        if let Some((_, name)) = url.rsplit_once("%3D") {
            let _ = self.sql(&self.admin, &format!("DROP SCHEMA IF EXISTS {name} CASCADE"));
        }
    }

    /// Runs SQL with `psql`, and returns its output.
    ///
    /// # Errors
    /// With the error text of `psql`.
    pub fn sql(&self, url: &str, sql: &str) -> Result<String, String> {
        let psql = binaries().map_or_else(|| PathBuf::from("psql"), |bin| bin.join("psql"));
        let mut command = Command::new(psql);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, url]);
        let output = run(&mut command)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Stops the server and all its processes with `SIGSTOP`: connections stay open, but get no answers.
    /// [`Cluster::resume`] lets them go on.
    ///
    /// # Errors
    /// When this process did not start the server.
    pub fn pause(&self) -> Result<(), String> {
        self.signal("-STOP")
    }

    /// Lets a paused server go on.
    ///
    /// # Errors
    /// When this process did not start the server.
    pub fn resume(&self) -> Result<(), String> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<(), String> {
        let own = self.own.as_ref().ok_or("only a server of our own is stopped")?;
        let pid_file = own.folder.join("data/postmaster.pid");
        let text = std::fs::read_to_string(&pid_file)
            .map_err(|error| format!("{}: {error}", pid_file.display()))?;
        let server = text.lines().next().unwrap_or_default().trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        let mut kill = own.command("kill");
        kill.args([signal, &server]);
        kill.args(children.unwrap_or_default().split_whitespace());
        run(&mut kill).map(drop)
    }

    /// Kills the server and all its processes (`SIGKILL`), and starts it again.
    ///
    /// # Errors
    /// When this process did not start the server, or it does not start again.
    pub fn crash(&self) -> Result<(), String> {
        let own = self.own.as_ref().ok_or("only a server of our own is crashed")?;
        let data = own.folder.join("data");
        let pid_file = data.join("postmaster.pid");
        let text = std::fs::read_to_string(&pid_file)
            .map_err(|error| format!("{}: {error}", pid_file.display()))?;
        let server = text.lines().next().unwrap_or_default().trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
        // The server gets the signal first. If a child died before it, the server would start recovery.
        let mut kill = own.command("kill");
        kill.args(["-KILL", &server]);
        kill.args(children.unwrap_or_default().split_whitespace());
        // A child may have ended before its signal, so an error is ignored.
        let _ = run(&mut kill);
        while Path::new("/proc").join(&server).join("exe").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let log = own.folder.join("log");
        let options =
            format!("-c listen_addresses= -c unix_socket_directories={}", own.folder.display());
        // A new server refuses to start while a process of the old one still holds the shared memory.
        let mut outcome = Ok(());
        for _ in 0..40 {
            let mut start = own.command("pg_ctl");
            start.args(["-w", "-t", "60", "-o", &options]).arg("-l").arg(&log).arg("-D");
            outcome = run(start.arg(&data).arg("start")).map(drop);
            if outcome.is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        outcome
    }
}

impl ClusterFolder {
    /// A command of the server. Root runs it as `postgres`, because the server refuses to run as root.
    fn command(&self, name: &str) -> Command {
        let program = if name == "kill" { name.into() } else { self.bin.join(name) };
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(&self.folder);
        command
    }

    fn stop(&self, mode: &str) -> Result<Output, String> {
        let data = self.folder.join("data");
        run(self.command("pg_ctl").args(["-w", "-m", mode, "-D"]).arg(data).arg("stop"))
    }
}

impl Drop for ClusterFolder {
    fn drop(&mut self) {
        if self.folder.join("data/postmaster.pid").exists() {
            let _ = self.stop("immediate");
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folder with the server's programs, of the newest installed version. `None` where none is installed.
fn binaries() -> Option<PathBuf> {
    let version = |path: &Path| -> u32 {
        let name = path.parent().and_then(Path::file_name).and_then(OsStr::to_str);
        name.and_then(|name| name.parse().ok()).unwrap_or(0)
    };
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    folders.extend(["/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from));
    folders.retain(|bin| bin.join("initdb").exists() && bin.join("pg_ctl").exists());
    folders.into_iter().max_by_key(|bin| version(bin))
}

fn is_root() -> bool {
    run(Command::new("id").arg("-u")).is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

/// Runs a command to its end. Its error output becomes part of the error. A server that it starts would keep our pipes
/// open, so `start` gets no pipes; `pg_ctl` writes to a log file then.
fn run(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let starts = command.get_args().any(|arg| arg == "start");
    let pipe = || if starts { Stdio::null() } else { Stdio::piped() };
    let output = command
        .stdin(Stdio::null())
        .stdout(pipe())
        .stderr(pipe())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} failed ({}): {}", output.status, stderr.trim()))
}
