//! The scripted provider as a process, for clients in other languages.
//!
//! Prints `listening on http://127.0.0.1:PORT` and runs until it is killed. `GET /__stats` returns the requests that it
//! saw, `POST /__reset` forgets them, and `POST /__release` sends one answer that it holds back.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use midfold_testkit::upstream::{
    FaultTime, Flavour, LookUps, OneCall, PlannedFault, ScriptedUpstream, StepLoop, Strictness,
    UpstreamScript, UpstreamSettings,
};

const USAGE: &str = "\
scripted-upstream [OPTIONS]

  --listen ADDRESS       where to listen [127.0.0.1:0]
  --limit TOKENS         how long a prompt may be [no limit]
  --count-output         count the tokens that a request allows for its reply against the limit
  --flavour NAME         whose words say that a prompt does not fit [native]; `list` prints all
  --overflow-in-answer   say it inside an answer with status 200
  --script NAME          shell-loop, text-loop, once (a call of --tool) or fixed [shell-loop]
  --text TEXT            what `fixed` says
  --steps N              steps of a loop [20]
  --result-tokens N      tokens that a step prints, about [400]
  --parallel N           calls in one reply [1]
  --tool NAME            the tool to call [the one most like a shell]
  --arguments JSON       all its arguments, for `once` [{}]
  --argument NAME        its argument for the command
  --plant-every N        every how many steps a result has a fact; 0 is never [5]
  --decide-every N       every how many steps the model says a fact of its own; 0 is never [0]
  --look-up N            look an early result up with `midfold_recall` before every so many steps, where the tool is offered
  --task-fact            the final answer needs the code of part 0, which the task has
  --use-after N          how many steps later a command needs it [half of the steps]
  --fence BEFORE AFTER   around a command in a text; `\\n` is a line break
  --last-fence BEFORE AFTER  around the final answer in a text
  --summary-phrase TEXT  what else is in the prompts of a client's own compaction; repeatable
  --strict NAME          off, provider or templates [provider]
  --reasoning            think though nobody asks for it
  --bind-thinking        bind signatures of thinking to everything before them
  --explicit-cache       cache Anthropic requests at their cache marks only
  --stateful             keep responses for previous_response_id
  --threads              keep Anthropic threads
  --fault WHEN=WHAT      repeatable; WHEN is `3` or `1/4` (the first of every four), WHAT is 429, 500, reset,
                         cut:K, hang:K, error:K or held, K events into the stream
";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)) {
        Ok(Some((address, settings))) => match serve(address, settings) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&format!("cannot listen on {address}: {error}")),
        },
        Ok(None) => ExitCode::SUCCESS,
        Err(text) => fail(&text),
    }
}

fn fail(text: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "scripted-upstream: {text}");
    ExitCode::FAILURE
}

fn say(text: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

fn serve(address: SocketAddr, settings: UpstreamSettings) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_io().build()?;
    runtime.block_on(async {
        let upstream = ScriptedUpstream::listen(address, settings).await?;
        say(&format!("listening on {}", upstream.url()));
        std::future::pending().await
    })
}

/// Reads the options. `None` where they only ask for a text, which is printed here.
fn options(
    mut args: impl Iterator<Item = String>,
) -> Result<Option<(SocketAddr, UpstreamSettings)>, String> {
    let mut address = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut settings = UpstreamSettings::default();
    let mut script = "shell-loop".to_owned();
    let mut text = "Hello.".to_owned();
    let mut steps = StepLoop::default();
    let mut arguments = serde_json::Value::Object(serde_json::Map::new());
    while let Some(name) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{name} needs a value; see --help"));
        match name.as_str() {
            "--help" | "-h" => {
                say(USAGE);
                return Ok(None);
            }
            "--listen" => address = parsed(&name, &value()?)?,
            "--limit" => settings.limit = Some(parsed(&name, &value()?)?),
            "--count-output" => settings.count_output = true,
            "--flavour" => {
                let value = value()?;
                if value == "list" {
                    Flavour::ALL.iter().for_each(|flavour| say(&flavour.name()));
                    return Ok(None);
                }
                settings.flavour = Flavour::named(&value)
                    .ok_or_else(|| format!("no flavour {value}; `--flavour list` prints all"))?;
            }
            "--overflow-in-answer" => settings.overflow_in_answer = true,
            "--script" => script = value()?,
            "--text" => text = value()?,
            "--steps" => steps.steps = parsed(&name, &value()?)?,
            "--result-tokens" => steps.result_tokens = parsed(&name, &value()?)?,
            "--parallel" => steps.parallel = parsed(&name, &value()?)?,
            "--tool" => steps.tool = Some(value()?),
            "--arguments" => arguments = parsed(&name, &value()?)?,
            "--argument" => steps.argument = Some(value()?),
            "--plant-every" => steps.plant_every = parsed(&name, &value()?)?,
            "--decide-every" => steps.decide_every = parsed(&name, &value()?)?,
            "--look-up" => steps.look_ups = Some(LookUps::Before(parsed(&name, &value()?)?)),
            "--task-fact" => steps.task_fact = true,
            "--use-after" => steps.use_after = Some(parsed(&name, &value()?)?),
            "--fence" => steps.fence = (lines(&value()?), lines(&value()?)),
            "--last-fence" => steps.last_fence = (lines(&value()?), lines(&value()?)),
            "--summary-phrase" => settings.summary_phrases.push(value()?),
            "--strict" => {
                settings.strict = match value()?.as_str() {
                    "off" => Strictness::Off,
                    "provider" => Strictness::Provider,
                    "templates" => Strictness::Templates,
                    other => {
                        return Err(format!("--strict is off, provider or templates, not {other}"));
                    }
                }
            }
            "--reasoning" => settings.reasoning = true,
            "--bind-thinking" => settings.bind_thinking = true,
            "--explicit-cache" => settings.explicit_cache = true,
            "--stateful" => settings.stateful = true,
            "--threads" => settings.threads = true,
            "--fault" => settings.faults.push(fault(&value()?)?),
            other => return Err(format!("no option {other}; see --help")),
        }
    }
    settings.script = match script.as_str() {
        "shell-loop" => UpstreamScript::ShellLoop(steps),
        "text-loop" => UpstreamScript::TextLoop(steps),
        "fixed" => UpstreamScript::Fixed(text),
        "once" => {
            let tool = steps.tool.ok_or("--script once needs --tool; see --help")?;
            UpstreamScript::Once(OneCall { tool, arguments })
        }
        other => {
            return Err(format!("--script is shell-loop, text-loop, once or fixed, not {other}"));
        }
    };
    Ok(Some((address, settings)))
}

fn parsed<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} cannot be {value}; see --help"))
}

fn lines(text: &str) -> String {
    text.replace("\\n", "\n")
}

fn fault(text: &str) -> Result<(FaultTime, PlannedFault), String> {
    let wrong = || format!("--fault cannot be {text}; see --help");
    let (when, kind) = text.split_once('=').ok_or_else(wrong)?;
    let when = match when.split_once('/') {
        Some((nth, of)) => {
            FaultTime::Every { nth: parsed("--fault", nth)?, of: parsed("--fault", of)? }
        }
        None => FaultTime::Number(parsed("--fault", when)?),
    };
    let (kind, after) = kind.split_once(':').unwrap_or((kind, "1"));
    let after = parsed("--fault", after)?;
    let fault = match kind {
        "429" => PlannedFault::RateLimited { retry_after: "1".to_owned() },
        "500" => PlannedFault::ServerError,
        "reset" => PlannedFault::Reset,
        "cut" => PlannedFault::Cut { after },
        "hang" => PlannedFault::Hang { after },
        "error" => PlannedFault::StreamError { after },
        "held" => PlannedFault::Held,
        _ => return Err(wrong()),
    };
    Ok((when, fault))
}
