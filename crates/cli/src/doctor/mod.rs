//! `midfold doctor`: checks one by one what midfold needs.

mod check;
pub mod clients;
pub mod near;
mod place;
mod reach;
mod settings;

use std::net::SocketAddr;

use midfold::{ServerSettings, ServingUpstreams};
use midfold_args::DoctorArgs as Args;
use midfold_serve::{OutgoingProxy, UpstreamTable};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use self::check::{CheckState, DoctorCheck};
use crate::error::CommandError;
use crate::output::{Output, OutputColor, OutputStyle};
use crate::presets::pretty;
use crate::runtime::block_on;
use crate::serve;
use crate::serving;
use crate::tls;
use crate::words::{plural, wrap};

pub fn run(args: &Args, json: bool, output: &Output) -> Result<(), CommandError> {
    let upstream = ServingUpstreams::from_texts(args.upstream.iter().map(String::as_str));
    let given = ServerSettings { listen: args.listen, upstream, ..ServerSettings::default() };
    let named = serve::upstreams(&given, UpstreamTable::default())?;
    // An error in the variables or the files is ignored here, because the table has a line of its own for it.
    let settings = given.over(serving::below().unwrap_or_default());
    let upstreams = serve::upstreams(&settings, UpstreamTable::default()).unwrap_or(named);
    let outgoing = tls::outgoing(&settings).unwrap_or_default();
    let listen = settings.listen.unwrap_or(serve::LISTEN);
    let checks = block_on(async { Ok(all(args, listen, &upstreams, &outgoing).await) })?;
    let failed = checks.iter().any(|check| check.state == CheckState::Fail);
    if json {
        output.stdout(pretty(&to_json(&checks, !failed))?)?;
    } else {
        output.stdout(page(&checks, &output.stdout_style()))?;
    }
    if failed { Err(CommandError::silent(1)) } else { Ok(()) }
}

/// Runs all checks, those that wait for others at the same time. Returns them in the order in which they are shown.
async fn all(
    args: &Args,
    listen: SocketAddr,
    upstreams: &UpstreamTable,
    outgoing: &OutgoingProxy,
) -> Vec<DoctorCheck> {
    let (store, (providers, clock), model, clients) = tokio::join!(
        place::store(&args.at),
        reach::providers(upstreams, outgoing),
        reach::model(args.narrator.as_deref(), outgoing),
        clients::all(),
    );
    // The port is checked last. The check listens on the port for a moment, and a check that runs at the same time
    // would find that listener.
    let port = reach::port(listen).await;
    let mut all = vec![settings::files()];
    all.extend(store);
    all.extend(providers);
    all.extend(clock);
    all.extend([model, port]);
    all.extend(clients);
    all
}

/// The table: each check's state, name and message, and below it what to do.
fn page(checks: &[DoctorCheck], style: &OutputStyle) -> String {
    let states = 4;
    let names = checks.iter().map(|check| check.name.width()).max().unwrap_or(0);
    let indent = states + 2 + names + 2;
    let room = style.width.saturating_sub(indent).max(24);
    let mut out = String::new();
    for check in checks {
        let state = format!("{:states$}", check.state.name());
        let head = format!("{}  {:names$}  ", style.paint(check.state.color(), &state), check.name);
        for (at, line) in wrap(&check.says, room).iter().enumerate() {
            let before = if at == 0 { head.clone() } else { " ".repeat(indent) };
            out += &format!("{before}{line}\n");
        }
        let fix = check.fix.iter().flat_map(|fix| wrap(fix, room - 2));
        for (at, line) in fix.enumerate() {
            let mark = if at == 0 { "→ " } else { "  " };
            out += &format!(
                "{}{}\n",
                " ".repeat(indent),
                style.paint(OutputColor::Cyan, &format!("{mark}{line}"))
            );
        }
    }
    out + &format!("\n{}\n", verdict_line(checks, style))
}

fn verdict_line(checks: &[DoctorCheck], style: &OutputStyle) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count() as u64;
    let (warned, failed) = (count(CheckState::Warn), count(CheckState::Fail));
    match (failed, warned) {
        (0, 0) => style.paint(OutputColor::Green, "all is well"),
        (0, _) => style
            .paint(OutputColor::Yellow, &format!("nothing fails; {}", plural(warned, "warning"))),
        _ => {
            let text = format!("{}, {}", plural(failed, "failure"), plural(warned, "warning"));
            style.paint(OutputColor::Red, &text)
        }
    }
}

fn to_json(checks: &[DoctorCheck], ok: bool) -> Value {
    let check = |check: &DoctorCheck| {
        json!({
            "name": check.name, "state": check.state.name(), "says": check.says, "fix": check.fix,
        })
    };
    json!({ "ok": ok, "checks": checks.iter().map(check).collect::<Vec<_>>() })
}
