//! `midfold serve` as a process, and what it takes.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

/// A server that ends with this value.
pub struct Midfold {
    child: Child,
    pub address: SocketAddr,
}

impl Midfold {
    pub fn start(program: &str, provider: SocketAddr, window: &str) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory", "--window", window])
            .args(["--json", "--upstream", &format!("http://{provider}")])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{program} does not start: build it first"))?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let told: serde_json::Value = serde_json::from_str(&line)?;
        let address = told["listen"].as_str().and_then(|url| url.strip_prefix("http://"));
        Ok(Self { child, address: address.context("no address")?.parse()? })
    }

    /// Kilobytes in memory now.
    pub fn resident(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// Kilobytes in memory at most.
    pub fn peak(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Result<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Midfold {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
