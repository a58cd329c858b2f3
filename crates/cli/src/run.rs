//! An agent's turn on the command line: its words stream to the output, questions to the terminal.

mod machine;
pub(crate) mod show;
pub(crate) mod terminal_ui;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent::context::TrustedFolders;
use agent::engine::{self, SessionChannels, SessionOptions};
use agent::record::{Handover, SessionMode, Stored, TurnEnd};
use agent::session::{AgentEvent, SessionCommand, UserPrompt};
use agent::store::{SessionStore, SessionSummary};
use base::AbsPath;
use clap::Args;
use host::{Dirs, Files};
use model::{Cost, Effort, FailureClass};
use runtime::mcp_pool::ServerWait;
use runtime::models::setup::{self, AUTO, DEMO, Setup};
use runtime::session_factory::{self, RoutedModel, SessionFactory, SessionSpec};
use runtime::{routing, sample_project, trust};

use crate::ask::open_ledger;
use crate::confinement::ConfinementArguments;
use crate::external_agent;
use crate::{Streams, error_text, print_notice, write_error};
use machine::MachineRun;
use show::{EventPrinter, OutputFormat};
use terminal_ui::TerminalUi;

/// Run an agent on a task
///
/// It works in a folder with its tools and streams its messages and actions. Commands run in a
/// sandbox, where they can change the folder and nothing else; each needs your permission, or
/// --yes.
///
/// Exit codes: 0 the task is done; 1 it is not, for a reason on this machine, or the model
/// declined; 2 wrong arguments; 3 a budget forbids continuing; 4 the agent repeated itself; 97 the
/// model could not be reached or failed; 130 stopped with Ctrl-C.
#[derive(Args)]
pub(crate) struct RunCommand {
    /// The folder to work in; for the demo model a fresh copy of its sample project without it
    #[arg(long)]
    root: Option<PathBuf>,
    /// `auto`, `demo`, or a model written provider/model; the settings' models.default without it
    #[arg(long)]
    model: Option<String>,
    /// Read and write a plan to .burin/plans, and change nothing else; a session that is continued without it may
    /// change files again
    #[arg(long)]
    plan: bool,
    /// Print every event as a line of JSON, and take commands as lines of JSON on the input
    #[arg(long)]
    json: bool,
    /// Continue the session with this ID
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// Reasoning effort: minimal, low, medium, high or max; the settings' models.effort without it
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    effort: Option<Effort>,
    /// The most that it may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow calls that need permission, without asking. The sandbox and deny rules stay in force;
    /// secret and protected files, and files outside the folder, stay refused
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: ConfinementArguments,
    /// Let the hooks of this project run, as they are now; it is remembered until they change
    #[arg(long)]
    trust_hooks: bool,
    /// Print every piece of each prompt with its origin
    #[arg(long)]
    show_prompt: bool,
    /// Host this agent instead of our own: claude, codex, gemini, opencode, or the path of a
    /// program that speaks ACP
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["model", "plan", "effort", "max_cost", "trust_hooks", "show_prompt"]
    )]
    agent: Option<String>,
    /// Use the agents of this machine of the settings' agents.machines, in its folder; with --resume and without a
    /// task, show the session and follow its turn
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = [
            "root", "agent", "effort", "max_cost", "yes", "trust_hooks", "show_prompt", "no_sandbox", "without", "allow_host"
        ]
    )]
    machine: Option<String>,
    /// Sign-in method for that agent, used first, with its parameters: METHOD or METHOD={…}
    #[arg(long, requires = "agent", value_name = "METHOD")]
    sign_in: Option<String>,
    /// The task; read from the input where it is left out or `-`
    task: Vec<String>,
}

/// Parses a reasoning effort; the error lists the levels.
fn effort(word: &str) -> Result<Effort, String> {
    let value = serde_json::Value::from(word);
    serde_json::from_value(value)
        .map_err(|_| "the levels are minimal, low, medium, high and max".to_owned())
}

/// The files and folders that a run uses.
#[derive(Clone, Copy)]
pub(crate) struct RunEnvironment<'a> {
    /// The file system to use.
    pub(crate) files: &'a dyn Files,
    /// The folders for Burin's own files.
    pub(crate) dirs: &'a Dirs,
}

impl RunCommand {
    /// Returns the command that continues a session with a task.
    pub(crate) fn resuming(id: String, task: String, allows_all: bool, is_json: bool) -> Self {
        Self {
            machine: None,
            root: None,
            model: None,
            plan: false,
            json: is_json,
            resume: Some(id),
            effort: None,
            max_cost: None,
            yes: allows_all,
            confinement: ConfinementArguments::default(),
            trust_hooks: false,
            show_prompt: false,
            agent: None,
            sign_in: None,
            task: vec![task],
        }
    }

    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(
        &self,
        machine: RunEnvironment<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let task = self.task(streams)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = match (&self.machine, &self.agent) {
            (Some(name), _) => {
                let run = self.machine_run(name, task);
                runtime.block_on(run.perform(machine.dirs, streams))
            }
            (None, Some(agent)) => runtime.block_on(self.host(agent, task, machine, streams)),
            (None, None) => runtime.block_on(self.perform(task, machine, streams)),
        };
        // A thread that still waits for a line of the input must not delay the exit.
        runtime.shutdown_background();
        done
    }

    /// Returns the task of the command line, or of standard input if that is empty or `-`, unless
    /// `--json` reserves the input for commands. Fails if the task is blank.
    fn task(&self, streams: &mut Streams<'_>) -> Result<String, String> {
        let words = self.task.join(" ");
        if words.is_empty() && self.machine.is_some() && self.resume.is_some() {
            return Ok(words);
        }
        let task = match words.as_str() {
            "" | "-" if !self.json => {
                let mut text = String::new();
                let read = streams.input.read_to_string(&mut text);
                read.map_err(|error| format!("cannot read standard input: {error}"))?;
                text
            }
            _ => words,
        };
        match task.trim() {
            "" => Err("there is no task: write it after the options, or pipe it in".to_owned()),
            _ => Ok(task),
        }
    }

    /// Returns the run with an agent of another machine; an empty task only shows the session.
    fn machine_run<'a>(&'a self, name: &'a str, task: String) -> MachineRun<'a> {
        MachineRun {
            machine: name,
            task: Some(task).filter(|task| !task.is_empty()),
            model: self.model.as_deref(),
            resume: self.resume.as_deref(),
            is_plan: self.plan,
            form: self.form(),
        }
    }

    /// Runs the task with an external agent.
    async fn host(
        &self,
        agent: &str,
        task: String,
        machine: RunEnvironment<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let job = external_agent::HostedRun {
            agent,
            root: crate::folder(self.root.as_deref(), machine.files)?,
            task,
            form: self.form(),
            allows_all: self.yes,
            resume: self.resume.as_deref(),
            sign_in: self.sign_in.as_deref(),
        };
        job.perform(machine.dirs, streams).await
    }

    fn form(&self) -> OutputFormat {
        if self.json {
            OutputFormat::Json
        } else {
            OutputFormat::Text
        }
    }

    /// Runs the task with an agent of ours, in a new or an earlier session, and prints its events.
    /// Returns an exit code for the end of the turn; fails if the session cannot be started.
    async fn perform(
        &self,
        task: String,
        machine: RunEnvironment<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let mut setup = Setup::find(machine.files, machine.dirs).await;
        for problem in std::mem::take(&mut setup.problems) {
            print_notice(streams, &problem);
        }
        let (usage_store, ledger) = open_ledger(machine.dirs, streams)?;
        let store = SessionStore::start(ledger).map_err(error_text)?;
        let past = self.past(&store)?;
        let own = past
            .as_ref()
            .map_or(&setup.settings.default, |past| &past.wanted);
        let wanted = self.model.as_ref().unwrap_or(own).clone();
        routing::choose(&wanted, &task, &mut setup).map_err(error_text)?;
        if wanted == AUTO {
            setup
                .unusable_providers()
                .iter()
                .for_each(|it| print_notice(streams, it));
        }
        let routes = if wanted == DEMO {
            vec![setup::demo().map_err(error_text)?]
        } else {
            setup.routes()
        };
        let known: Vec<RoutedModel> = routes.iter().map(RoutedModel::of).collect();
        let mut settings = setup.settings.clone();
        if let Some(most) = self.max_cost {
            settings.budget_agent = most as f32;
        }
        let router = routing::start(routes, &settings, usage_store.clone());
        // A user who starts an agent in a folder by hand trusts the folder's contents.
        let gateway = session_factory::model_gateway(router.clone(), &known);
        let root = self.folder(&wanted, past.as_ref(), machine, streams)?;
        let factory =
            SessionFactory::new(gateway, store, machine.dirs, TrustedFolders::all(), None)
                .with_effort(setup.settings.effort);
        let start = self
            .start(&factory, &wanted, root, machine, streams)
            .await?;
        let opened = match &past {
            Some(past) => engine::resume(start.clone(), &past.id)
                .await
                .map_err(error_text)?,
            None => engine::start(start.clone()),
        };
        opened
            .problems
            .iter()
            .for_each(|problem| print_notice(streams, problem));
        if let Some(mode) = past.as_ref().and_then(|past| self.other_mode(past.mode)) {
            // As below.
            opened
                .commands
                .send(SessionCommand::SetMode(mode))
                .await
                .ok();
        }
        if past.is_some_and(|past| past.wanted != wanted) {
            let how = Handover::Full;
            let switch = SessionCommand::Switch { model: wanted, how };
            // The events of a session that has ended report its end.
            opened.commands.send(switch).await.ok();
        }
        let end = self.follow(opened, &start, task, streams).await;
        factory.close().await;
        let end = end?;
        router.idle().await;
        if let Err(error) = usage_store.flush() {
            print_notice(streams, &error.to_string());
        }
        Ok(exit_code(&end))
    }

    /// Returns the options to start a session with, and prints notices about them, some while it
    /// waits for MCP servers. With `--trust-hooks`, stores the user's consent to all hooks of the
    /// folder.
    async fn start(
        &self,
        factory: &SessionFactory,
        model: &str,
        root: AbsPath,
        machine: RunEnvironment<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<SessionOptions, String> {
        if self.yes {
            print_notice(streams, &self.confinement.warning(machine.dirs));
        }
        let is_there = self.json || std::io::stdin().is_terminal();
        if self.trust_hooks {
            trust::consent_to_all_hooks(machine.dirs, &root).map_err(error_text)?;
        }
        let (hooks, notices) = trust::hooks_of(machine.dirs, &root, "use --trust-hooks");
        notices
            .iter()
            .for_each(|notice| print_notice(streams, notice));
        let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
        let wanted = SessionSpec {
            root,
            model: model.to_owned(),
            mode: self.other_mode(SessionMode::Build).unwrap_or_default(),
            allows_asked: self.yes,
            has_user: is_there && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64))
                .into(),
            effort: self.effort,
            hooks,
            confinement: self.confinement.to_confinement(),
            session_root: None,
            servers: Vec::new(),
            waiting: ServerWait::with_notifier(move |text| {
                // A start sends one notice; if the channel is full, the wait is over.
                sender.try_send(text).ok();
            }),
        };
        let starting = factory.start(wanted);
        tokio::pin!(starting);
        let (start, notices) = loop {
            tokio::select! {
                biased;
                Some(text) = receiver.recv() => print_notice(streams, &text),
                started = &mut starting => break started,
            }
        };
        notices
            .iter()
            .for_each(|notice| print_notice(streams, notice));
        Ok(start)
    }

    /// Returns the mode to switch to, if the arguments require another one than `mode`. Without
    /// `--plan`, ask mode stays.
    fn other_mode(&self, mode: SessionMode) -> Option<SessionMode> {
        match (self.plan, mode) {
            (true, SessionMode::Build | SessionMode::Ask) => Some(SessionMode::Plan),
            (false, SessionMode::Plan) => Some(SessionMode::Build),
            (true, SessionMode::Plan) | (false, SessionMode::Build | SessionMode::Ask) => None,
        }
    }

    /// The session to go on with.
    fn past(&self, store: &SessionStore) -> Result<Option<SessionSummary>, String> {
        let Some(id) = &self.resume else {
            return Ok(None);
        };
        let mut lines = store.sessions(usize::MAX).map_err(error_text)?.into_iter();
        let line = lines.find(|line| line.id == *id);
        line.map(Some).ok_or_else(|| {
            format!(
                "there is no session \"{id}\": `burin-agent sessions list` lists the stored ones"
            )
        })
    }

    /// The folder to work in.
    fn folder(
        &self,
        model: &str,
        past: Option<&SessionSummary>,
        machine: RunEnvironment<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<AbsPath, String> {
        let sample = match (&self.root, past) {
            (None, None) if model == DEMO => {
                let folder =
                    sample_project::create(machine.files, machine.dirs).map_err(error_text)?;
                let sentence = format!("the demo model works on a sample project in {folder}");
                print_notice(streams, &sentence);
                Some(folder)
            }
            _ => None,
        };
        let past = past.map(|past| Path::new(&past.root));
        let named = self.root.as_deref().or(past);
        let named = named.or(sample.as_ref().map(AbsPath::as_path));
        crate::folder(named, machine.files)
    }

    /// Prints the session's events until its turn ends.
    async fn follow(
        &self,
        mut opened: SessionChannels,
        start: &SessionOptions,
        task: String,
        streams: &mut Streams<'_>,
    ) -> Result<TurnEnd, String> {
        let form = self.form();
        let mut printer = EventPrinter::new(form, self.show_prompt);
        printer
            .print_session_start(&opened.id, start, streams)
            .map_err(write_error)?;
        if let Some(id) = &self.resume {
            let past = start.harness.store().read(id).map_err(error_text)?;
            past.problems
                .iter()
                .for_each(|problem| print_notice(streams, problem));
            printer.remember(past.records);
        }
        let mut ui = TerminalUi::new(opened.commands.clone(), form, start.has_user);
        ui.send(prompt(task)).await;
        loop {
            let event = tokio::select! {
                event = opened.events.recv() => event,
                command = ui.next(streams) => {
                    ui.send(command).await;
                    continue;
                }
            };
            let Some(event) = event else {
                return Err("the session ended without saying how".to_owned());
            };
            ui.on_event(&event, streams);
            printer.print(&event, start, streams).map_err(write_error)?;
            if let AgentEvent::Idle(end) = event {
                ui.send(SessionCommand::Close).await;
                while !matches!(opened.events.recv().await, None | Some(AgentEvent::Closed)) {}
                printer
                    .print_turn_end(&opened.id, &end, streams)
                    .map_err(write_error)?;
                return Ok(end);
            }
        }
    }
}

fn prompt(text: String) -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        text,
        images: Vec::new(),
    })
}

/// Returns the exit code for a turn's end.
fn exit_code(end: &TurnEnd) -> ExitCode {
    match end {
        TurnEnd::Done => ExitCode::SUCCESS,
        TurnEnd::Stopped => ExitCode::from(130),
        TurnEnd::OutOfBudget { .. } => ExitCode::from(3),
        TurnEnd::Looped { .. } => ExitCode::from(4),
        TurnEnd::Refused | TurnEnd::Interrupted => ExitCode::FAILURE,
        TurnEnd::Failed { class, .. } => match FailureClass::named(class) {
            Some(FailureClass::Budget) => ExitCode::from(3),
            Some(_) => ExitCode::from(97),
            None => ExitCode::FAILURE,
        },
    }
}

/// The records sent so far.
type Records = Vec<Stored>;

#[cfg(test)]
mod tests;
