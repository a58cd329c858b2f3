//! Runs an external agent on the command line, with its output, permissions and cancellation as for
//! our own agents.
//!
//! The ledger does not record its sessions: the agent stores them itself, and reports whether it
//! can resume one. Start at `HostedRun::perform`.

mod changes;
mod show;
mod terminal_ui;

#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::Duration;

use ::host::{Dirs, RealFiles};
use base::{AbsPath, LineFeeds, printable};
use connect::acp::host::{
    self, AgentLaunch, HostedAgentCommand, HostedAgentEvent, SessionStart, SignIn,
};
use connect::acp::protocol::{MessageContent, PromptStop, SignInMethod};
use runtime::external_agents::directory;
use runtime::external_agents::launch::{self, LaunchRequest};
use runtime::external_agents::terminals;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::run::show::OutputFormat;
use crate::{Streams, error_text, print_notice, write_error};
use changes::FolderWatch;
use show::HostedPrinter;
use terminal_ui::HostedTerminalUi;

/// The quiet time after which all file changes count as reported.
const QUIET: Duration = Duration::from_millis(300);
/// The time an agent may take to shut down; its host ends it before that.
const LEAVES: Duration = Duration::from_secs(10);

/// The task for an external agent.
pub(crate) struct HostedRun<'a> {
    /// The id of a known one, or the path of a program.
    pub(crate) agent: &'a str,
    pub(crate) root: AbsPath,
    pub(crate) task: String,
    pub(crate) form: OutputFormat,
    /// Whether every permission request is allowed.
    pub(crate) allows_all: bool,
    /// The session to go on with.
    pub(crate) resume: Option<&'a str>,
    /// The sign-in method to use first: `METHOD` or `METHOD={…}`.
    pub(crate) sign_in: Option<&'a str>,
}

/// The outcome of a run with an external agent.
enum HostedOutcome {
    Ended(PromptStop),
    /// It was stopped before there was a turn.
    Stopped,
}

impl HostedRun<'_> {
    /// Runs the task to the end of its turn and prints its events. The exit code says how the turn
    /// ended.
    pub(crate) async fn perform(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        dirs.create().map_err(|error| error.to_string())?;
        let agent = directory::find(&RealFiles, dirs, self.agent).map_err(error_text)?;
        if self.allows_all {
            let warning = format!("{} acts without asking", agent.name);
            print_notice(streams, &warning);
        }
        let (servers, problems) = launch::servers(dirs, &self.root);
        problems
            .iter()
            .for_each(|problem| print_notice(streams, problem));
        let request = LaunchRequest {
            root: self.root.clone(),
            session: match self.resume {
                None => SessionStart::New,
                Some(id) => SessionStart::Continue(id.to_owned()),
            },
            servers,
            sign_in: self.sign_in.map(sign_in).transpose()?,
            sandbox: None,
            terminals: terminals::unconfined(dirs),
        };
        let start = agent.launch(dirs, request).map_err(error_text)?;
        Ok(match self.follow(&agent.name, start, streams).await? {
            HostedOutcome::Ended(end) => exit_code(&end),
            HostedOutcome::Stopped => ExitCode::from(130),
        })
    }

    /// Runs the agent's turn and prints its events until the turn ends.
    async fn follow(
        &self,
        name: &str,
        start: AgentLaunch,
        streams: &mut Streams<'_>,
    ) -> Result<HostedOutcome, String> {
        let mut changes = FolderWatch::before(&self.root).await;
        let (commands, mut events) = host::start(start);
        let mut ui = HostedTerminalUi::new(name, commands.clone(), self.form, self.allows_all);
        let mut printer = HostedPrinter::new(self.form, name, &self.root);
        let (mut end, mut is_stopped) = (None, false);
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                // Late file changes arrive soon after the end, or never.
                () = tokio::time::sleep(QUIET), if end.is_some() => break,
                command = ui.next(streams) => {
                    is_stopped |= command == HostedAgentCommand::Stop;
                    ui.send(command).await;
                    if is_stopped && !printer.has_begun() {
                        close_agent(&commands, &mut events).await;
                        return Ok(HostedOutcome::Stopped);
                    }
                    continue;
                }
            };
            match event.unwrap_or(HostedAgentEvent::Closed(None)) {
                HostedAgentEvent::Hello(about)
                    if self.resume.is_some() && !about.loads && !about.resumes =>
                {
                    close_agent(&commands, &mut events).await;
                    return Err(format!("{name} cannot resume an earlier session"));
                }
                HostedAgentEvent::Began { session, .. }
                    if self.resume.is_some_and(|wanted| wanted != session) =>
                {
                    close_agent(&commands, &mut events).await;
                    let wanted = self.resume.unwrap_or_default();
                    return Err(format!("{name}: there is no session {wanted}"));
                }
                HostedAgentEvent::Began { session, .. } => {
                    printer
                        .print_session_start(&session, streams)
                        .map_err(write_error)?;
                    let task = MessageContent::Text(self.task.clone());
                    ui.send(HostedAgentCommand::Prompt(vec![task])).await;
                }
                HostedAgentEvent::NeedsSignIn { methods, why } if end.is_none() => {
                    close_agent(&commands, &mut events).await;
                    return Err(needs_sign_in(name, &methods, &why));
                }
                HostedAgentEvent::Changed(paths) => changes.add_changes(paths),
                // An agent that did not stop was killed, as the user requested.
                HostedAgentEvent::TurnEnded(PromptStop::Failed(_)) if is_stopped => {
                    end = Some(PromptStop::Stopped)
                }
                HostedAgentEvent::TurnEnded(how) => end = Some(how),
                HostedAgentEvent::Closed(why) => match &end {
                    Some(_) => break,
                    None => {
                        let why = why.unwrap_or_else(|| "it left".to_owned());
                        return Err(format!("{name}: {}", printable(&why, LineFeeds::Keep)));
                    }
                },
                HostedAgentEvent::Asking {
                    number,
                    call,
                    choices,
                } => {
                    printer
                        .asking(number, &call, &choices, streams)
                        .map_err(write_error)?;
                    let call = printer.merged_call(&call);
                    ui.ask_permission(number, &call, choices, streams).await;
                }
                HostedAgentEvent::Form { number, form } => ui.fill(number, form),
                HostedAgentEvent::Page { number, url, why } => ui.open(number, url, why),
                event => printer.print(&event, streams).map_err(write_error)?,
            }
        }
        close_agent(&commands, &mut events).await;
        let end = end.ok_or("its turn never ended")?;
        let changed = changes.after().await;
        printer
            .print_turn_end(self.agent, &end, &changed, streams)
            .map_err(write_error)?;
        Ok(HostedOutcome::Ended(end))
    }
}

/// Ends the connection to an agent.
async fn close_agent(
    commands: &mpsc::Sender<HostedAgentCommand>,
    events: &mut mpsc::Receiver<HostedAgentEvent>,
) {
    // One that is gone needs no word.
    commands.send(HostedAgentCommand::Close).await.ok();
    let gone = async {
        while !matches!(
            events.recv().await,
            None | Some(HostedAgentEvent::Closed(_))
        ) {}
    };
    tokio::time::timeout(LEAVES, gone).await.ok();
}

/// Parses `METHOD`, or `METHOD={…}` with the method's parameters.
fn sign_in(text: &str) -> Result<SignIn, String> {
    let (method, meta) = match text.split_once('=') {
        None => (text, Map::new()),
        Some((method, meta)) => match serde_json::from_str(meta) {
            Ok(Value::Object(meta)) => (method, meta),
            _ => return Err(format!("{meta} is not a JSON object; write METHOD={{…}}")),
        },
    };
    Ok(SignIn {
        method: method.to_owned(),
        meta,
    })
}

fn needs_sign_in(name: &str, methods: &[SignInMethod], why: &str) -> String {
    let mut text = format!(
        "{name} asks you to sign in: {}",
        printable(why, LineFeeds::Keep)
    );
    for method in methods {
        let how = match &method.terminal {
            Some(terminal) => format!(
                "run it once in a terminal, with {}",
                terminal.arguments.join(" ")
            ),
            None => format!("--sign-in {}", method.id),
        };
        text.push_str(&format!(
            "\n  {}: {how}",
            printable(&method.name, LineFeeds::Escape)
        ));
    }
    text
}

/// Returns the exit code for a turn's end, the same as for our own agents.
fn exit_code(end: &PromptStop) -> ExitCode {
    match end {
        PromptStop::Done => ExitCode::SUCCESS,
        PromptStop::Stopped => ExitCode::from(130),
        PromptStop::Refused => ExitCode::FAILURE,
        PromptStop::TooMany => ExitCode::from(4),
        PromptStop::TooLong | PromptStop::Failed(_) => ExitCode::from(97),
    }
}
