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

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ::host::environment::{Recipient, Variable, named_variables, variables};
use ::host::{Dirs, FileKind, Files, RealFiles};
use base::{AbsPath, LineFeeds, printable};
use connect::Variables;
use connect::acp::host::catalog::{self, AgentCommand};
use connect::acp::host::{
    self, AgentLaunch, HostedAgentCommand, HostedAgentEvent, SessionStart, SignIn,
};
use connect::acp::protocol::{MessageContent, PromptStop, SignInMethod};
use connect::mcp::{Approval, Approvals, ServerEntry, ServerOrigin};
use runtime::mcp_pool::{self, Consents};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::run::show::OutputFormat;
use crate::{Streams, print_notice, write_error};
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

/// A program that is an agent.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) command: AgentCommand,
    pub(crate) environment: Variables,
}

/// The outcome of a run with an external agent.
enum HostedOutcome {
    Ended(PromptStop),
    /// It was stopped before there was a turn.
    Stopped,
    /// It can go on with sessions, but not by telling them again.
    OnlyResumes,
}

/// Returns the external agent that `name` names. `name` is the id of a known agent, or the path of
/// a program. Blocks on the disk. Fails if the agent is not installed.
pub(crate) fn find(name: &str, files: &dyn Files) -> Result<Program, String> {
    let mut environment = to_environment(variables(Recipient::Foreign));
    let known = catalog::known_agents();
    if let Some(entry) = known.iter().find(|entry| entry.id == name) {
        let command = entry.find(files, &environment);
        let missing = || format!("{} is not here. {}", entry.name, entry.install);
        environment.extend(to_environment(named_variables(&entry.keys)));
        environment.extend(entry.environment.clone());
        return Ok(Program {
            name: entry.name.clone(),
            command: command.ok_or_else(missing)?,
            environment,
        });
    }
    if !name.contains('/') {
        let ids: Vec<_> = known.iter().map(|entry| entry.id.as_str()).collect();
        let ids = ids.join(", ");
        return Err(format!(
            "there is no agent \"{name}\"; there are {ids}, or the path of a program that speaks ACP"
        ));
    }
    let path = crate::folder(Some(Path::new(name)), files)?;
    let stat = files.stat(&path).map_err(|error| error.to_string())?;
    match stat.kind {
        FileKind::File => Ok(Program {
            name: path.name(),
            command: AgentCommand {
                program: path.as_path().display().to_string(),
                arguments: Vec::new(),
            },
            environment,
        }),
        _ => Err(format!("{path} is not a program")),
    }
}

fn to_environment(variables: Vec<Variable>) -> Variables {
    let texts = variables.into_iter();
    texts
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
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
        let program = find(self.agent, &RealFiles)?;
        if self.allows_all {
            let warning = format!("{} acts without asking", program.name);
            print_notice(streams, &warning);
        }
        let (servers, problems) = servers(dirs, &self.root);
        problems
            .iter()
            .for_each(|problem| print_notice(streams, problem));
        let begin = match self.resume {
            None => SessionStart::New,
            Some(id) => SessionStart::Load(id.to_owned()),
        };
        let start = self.start(&program, begin, servers.clone(), dirs)?;
        let went = match (
            self.follow(&program.name, start, streams).await?,
            self.resume,
        ) {
            (HostedOutcome::OnlyResumes, Some(id)) => {
                let begin = SessionStart::Resume(id.to_owned());
                let start = self.start(&program, begin, servers, dirs)?;
                self.follow(&program.name, start, streams).await?
            }
            (went, _) => went,
        };
        Ok(match went {
            HostedOutcome::Ended(end) => exit_code(&end),
            HostedOutcome::Stopped => ExitCode::from(130),
            HostedOutcome::OnlyResumes => ExitCode::FAILURE,
        })
    }

    /// Returns the launch of an agent, for a new or an earlier session. Fails if the sign-in option
    /// is invalid.
    fn start(
        &self,
        program: &Program,
        begin: SessionStart,
        servers: Vec<ServerEntry>,
        dirs: &Dirs,
    ) -> Result<AgentLaunch, String> {
        let sign_in = self.sign_in.map(sign_in).transpose()?;
        // An agent whose sign-in method takes parameters must know in advance that we have them.
        let auth_meta = sign_in.iter().flat_map(|it| it.meta.keys());
        Ok(AgentLaunch {
            name: program.name.clone(),
            program: program.command.program.clone(),
            arguments: program.command.arguments.clone(),
            environment: program.environment.clone(),
            root: self.root.clone(),
            session: begin,
            servers,
            auth_meta: auth_meta.map(|key| (key.clone(), true.into())).collect(),
            sign_in,
            has_terminals: true,
            files: Arc::new(RealFiles),
            ignore: Arc::new(|path, _| changes::is_ignored(path)),
            recovery: dirs.recovery(),
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
                HostedAgentEvent::Hello(about) if self.resume.is_some() && !about.loads => {
                    close_agent(&commands, &mut events).await;
                    return if about.resumes {
                        Ok(HostedOutcome::OnlyResumes)
                    } else {
                        Err(format!("{name} cannot resume an earlier session"))
                    };
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

/// Returns the MCP servers for an external agent: those that our own sessions would use. Blocks on
/// the disk.
fn servers(dirs: &Dirs, root: &AbsPath) -> (Vec<ServerEntry>, Vec<String>) {
    let (mut entries, problems) = mcp_pool::gather(&RealFiles, dirs, root);
    let consents = Consents::new(Arc::new(RealFiles), &dirs.state);
    entries.retain(|entry| {
        let may =
            entry.origin == ServerOrigin::User || consents.approval(entry) == Approval::Allowed;
        may && !entry.is_disabled && entry.reach.is_ok()
    });
    (entries, problems)
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
