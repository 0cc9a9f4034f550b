//! What is tested without running the command: what it exposes for that in `midfold_cli::inside`.

mod clients;
mod doctor_clients;
mod exam_names;
mod hooks_claude;
mod hooks_settings;
mod host;
mod html;
mod import_growing;
mod import_plan;
mod import_watch;
mod input;
mod output;
mod paths;
mod run_saving;
mod trajectories_cache;
mod trajectories_config;
mod trajectories_lines;
mod trajectories_lock;
mod trajectories_packed;
mod trajectories_report;
mod visible;
mod words;
