//! The command `serve`: the background process that owns agents.

use std::io::{stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

use agent::session::SessionActivity;
use background::{Error, ServerProgram, ServiceStatus};
use base::{LineFeeds, printable};
use clap::Args;
use host::Dirs;

use crate::{Streams, error_text};

/// Run the background process that owns agents, or ask for its state
///
/// With the setting `agents.background`, windows start such a process by themselves. Agents go on in it
/// when the windows are closed or killed; the next window shows them again. The process ends by
/// itself when no window is open and no agent works for some minutes. It also keeps the shells of
/// windows; one without a window and without a command ends after the same time. It serves only programs of the
/// same user, over a socket in the state folder.
///
/// With `--stdio`, a program on another machine, which started this one by ssh, talks to the background
/// process over standard input and output. The process is started if necessary and goes on afterwards.
///
/// Exit codes: 0 done; 1 an error, `--status` without a running process, or `--stop` while agents work
/// or commands run in shells.
#[derive(Args)]
pub(crate) struct ServeCommand {
    /// Print the state of the running process
    #[arg(long, conflicts_with = "stop")]
    status: bool,
    /// End the running process with its shells. While agents work or commands run, it goes on, unless
    /// `--force` is given
    #[arg(long)]
    stop: bool,
    /// Stop working agents too; their sessions can go on later
    #[arg(long, requires = "stop")]
    force: bool,
    /// Connect standard input and output to the background process, for another machine
    #[arg(long, conflicts_with_all = ["status", "stop"])]
    stdio: bool,
    /// Leave the terminal, as `--stdio` starts the process
    #[arg(long, hide = true, conflicts_with_all = ["status", "stop", "stdio"])]
    detached: bool,
    /// Print the state as JSON
    #[arg(long, requires = "status")]
    json: bool,
    /// Minutes without windows and working agents after which the process ends
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1440))]
    idle_minutes: u64,
}

impl ServeCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        if self.stdio {
            return pass_through(dirs);
        }
        if !self.status && !self.stop {
            return self.serve(dirs);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        runtime.block_on(async {
            if self.status {
                self.print_status(dirs, streams).await
            } else {
                self.end(dirs, streams).await
            }
        })
    }

    fn serve(&self, dirs: &Dirs) -> Result<ExitCode, String> {
        if self.detached {
            host::process::leave_terminal();
        }
        let idle_time = Duration::from_secs(self.idle_minutes * 60);
        match background::serve(dirs, idle_time) {
            // Two programs started it at the same time.
            Err(Error::RunsAlready) if self.detached => Ok(ExitCode::SUCCESS),
            served => served.map(|()| ExitCode::SUCCESS).map_err(error_text),
        }
    }

    async fn print_status(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let status = background::ask_status(dirs).await.map_err(error_text)?;
        let code = if status.is_some() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
        let text = if self.json {
            let json = serde_json::to_string_pretty(&status);
            json.map_err(|error| error.to_string())?
        } else {
            status.as_ref().map_or_else(
                || "The background process is not running.".to_owned(),
                describe,
            )
        };
        writeln!(streams.output, "{text}").map_err(|error| error.to_string())?;
        Ok(code)
    }

    async fn end(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let (sentence, code) = match background::ask_to_stop(dirs, self.force).await {
            Ok(true) => ("The background process ends.", ExitCode::SUCCESS),
            Ok(false) => (
                "Agents are at work, commands run in shells or windows are open: nothing was stopped. `--stop --force` stops them too.",
                ExitCode::FAILURE,
            ),
            Err(Error::NotRunning) => ("The background process is not running.", ExitCode::SUCCESS),
            Err(error) => return Err(error_text(error)),
        };
        writeln!(streams.output, "{sentence}").map_err(|error| error.to_string())?;
        Ok(code)
    }
}

/// Connects the input and the output of this program to the background process until one of them ends.
fn pass_through(dirs: &Dirs) -> Result<ExitCode, String> {
    let program = host::own_program();
    let path = program.ok_or("the path of this program is unknown")?;
    let arguments = vec!["serve".into(), "--detached".into()];
    let program = ServerProgram { path, arguments };
    let carried = background::proxy(dirs, &program, stdin(), stdout());
    carried.map(|()| ExitCode::SUCCESS).map_err(error_text)
}

/// Describes the state of the process for people.
fn describe(status: &ServiceStatus) -> String {
    let mut text = format!(
        "Process {}, connected programs: {}, open sessions: {}, shells: {}",
        status.pid,
        status.clients,
        status.sessions.len(),
        status.shells.len()
    );
    for session in &status.sessions {
        let activity = match session.activity {
            SessionActivity::Idle => "idle",
            SessionActivity::Working => "works",
            SessionActivity::WaitingForUser => "waits for you",
        };
        text.push_str(&format!("\n{}  {activity}  {}", session.id, session.folder));
        if !session.waiting_for.is_empty() {
            text.push_str(&format!("  {}", session.waiting_for));
        }
    }
    for shell in &status.shells {
        let activity = match (shell.is_busy, shell.is_attached) {
            (true, _) => "runs a command",
            (false, true) => "is shown",
            (false, false) => "idle",
        };
        let program = printable(&shell.program, LineFeeds::Escape);
        text.push_str(&format!(
            "\n{}  {activity}  {}  for {}",
            program,
            shell.folder,
            age(shell.age_s)
        ));
    }
    text
}

/// Returns a run time in its largest unit.
fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
