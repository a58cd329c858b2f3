//! CPU time of shells at their prompts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::terminal::{ShellKind, TerminalSession, TerminalSpec, install_integration, integrate};
use base::AbsPath;
use cpu_time::ProcessTime;
use host::environment::{Recipient, variables};
use host::{RealClock, RealFiles};
use tempfile::TempDir;

use super::{SCROLLBACK, emulator_options};
use crate::figure::Figure;
use crate::index::place;

/// Number of terminals.
const COUNT: usize = 10;
/// Time over which they are measured.
const SPAN: Duration = Duration::from_secs(10);
/// Time after which a shell without a prompt fails the benchmark.
const PATIENCE: Duration = Duration::from_secs(30);
/// Goal: share of a core, in percent.
const GOAL: f64 = 0.2;

pub(super) fn figures() -> Result<Vec<Figure>, String> {
    let home = TempDir::new().map_err(|error| error.to_string())?;
    let folder = place(home.path())?;
    let sessions: Result<Vec<_>, String> = (0..COUNT).map(|_| shell(&folder)).collect();
    let sessions = sessions?;
    sessions.iter().try_for_each(wait_for_prompt)?;
    std::thread::sleep(Duration::from_secs(1));
    let members: Vec<u32> = sessions.iter().flat_map(TerminalSession::members).collect();
    let shells = cpu_seconds(&members);
    let own = ProcessTime::now();
    std::thread::sleep(SPAN);
    let own = own.elapsed().as_secs_f64();
    let shells = cpu_seconds(&members) - shells;
    let share = |seconds: f64| seconds * 100.0 / SPAN.as_secs_f64();
    let name = |what: &str| format!("{COUNT} idle terminals, {what}, of a core");
    Ok(vec![
        Figure::alone(name("this program"), share(own), "%", COUNT, Some(GOAL)),
        Figure::alone(name("their shells"), share(shells), "%", COUNT, None),
    ])
}

fn shell(folder: &AbsPath) -> Result<TerminalSession, String> {
    let failed = |error: host::Error| error.to_string();
    let state = folder.join("state");
    install_integration(&RealFiles, &state).map_err(failed)?;
    let mut variables = variables(Recipient::Personal);
    variables.retain(|(name, _)| name != "HOME" && name != "PROMPT_COMMAND");
    variables.push(("HOME".into(), folder.as_path().into()));
    let nonce = "0123456789abcdef".to_owned();
    let integration = integrate(ShellKind::Bash, &state, nonce, &variables);
    let spec = TerminalSpec {
        program: "bash".into(),
        arguments: Vec::new(),
        folder: folder.clone(),
        variables,
        integration: Some(integration),
        sandbox: None,
        emulator: emulator_options(SCROLLBACK),
        restored: None,
        output: None,
    };
    let clock = Arc::new(RealClock::default());
    TerminalSession::start(spec, clock, Arc::new(|| {})).map_err(failed)
}

fn wait_for_prompt(session: &TerminalSession) -> Result<(), String> {
    let start = Instant::now();
    while !session.with_emulator(|emulator| emulator.modes().is_prompt_open) {
        if start.elapsed() > PATIENCE {
            return Err("a shell shows no prompt".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Returns the CPU time of processes, from counters in nanoseconds.
fn cpu_seconds(ids: &[u32]) -> f64 {
    let nanoseconds = ids.iter().map(|id| {
        let text = std::fs::read_to_string(format!("/proc/{id}/schedstat")).unwrap_or_default();
        let first = text.split_whitespace().next();
        first
            .and_then(|first| first.parse::<f64>().ok())
            .unwrap_or(0.0)
    });
    nanoseconds.sum::<f64>() / 1e9
}
