//! nginx as a plain proxy: keep-alive to the provider, nothing buffered on disk.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// A server that ends with this value.
pub struct Nginx {
    child: Child,
    folder: PathBuf,
    pub address: SocketAddr,
}

impl Nginx {
    /// Starts it; none where it is not installed.
    pub fn start(provider: SocketAddr) -> Result<Option<Self>> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let folder = std::env::temp_dir().join(format!("midfold-bench-{}", address.port()));
        std::fs::create_dir_all(&folder)?;
        let place = folder.display();
        let config = format!(
            "daemon off; worker_processes 2; pid {place}/pid; error_log {place}/error.log;
             events {{ worker_connections 1024; }}
             http {{
               access_log off; client_max_body_size 100m; client_body_buffer_size 16m;
               client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;
               fastcgi_temp_path {place}/f; uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;
               upstream provider {{ server {provider}; keepalive 64; }}
               server {{
                 listen {address};
                 location / {{
                   proxy_pass http://provider; proxy_http_version 1.1;
                   proxy_set_header Connection \"\"; proxy_buffering off;
                 }}
               }}
             }}"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, config)?;
        let Ok(child) = Command::new("nginx").arg("-c").arg(&file).spawn() else {
            std::fs::remove_dir_all(&folder)?;
            return Ok(None);
        };
        let nginx = Self { child, folder, address };
        let start = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            ensure!(start.elapsed() < Duration::from_secs(5), "nginx does not listen");
            std::thread::yield_now();
        }
        Ok(Some(nginx))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Its workers end with the master where that is asked, not where it is killed.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-QUIT", &pid]).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
