//! Follows a running board on the command line: prints its events and reads the user's commands.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::process::ExitCode;

use agent::context::TrustedFolders;
use agent::user_prompts::PermissionDecision;
use agent::{AgentEvent, SessionCommand};
use base::AbsPath;
use clap::Args;
use composer::job::{AwaitedInput, JobId, JobState, JobStatus};
use composer::service::OpenBoard;
use composer::{Event, JobCommand};
use host::Dirs;
use model::Cost;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::confinement::ConfinementArguments;
use crate::questions::{Questions, TerminalQuestion};
use crate::run::show::{json_of, print_json_line as json_line};
use crate::run::terminal_ui::{Interrupt, approval, decision, listen};
use crate::{Streams, error_text, print_notice, write_error};
use runtime::agent_services::AgentServices;
use runtime::live_sessions::through_subagents;
use runtime::permissions::Permissions;

use super::RepositoryArg;
use super::board_line::{job_summary, summary};
use runtime::compose::service::{SessionStartOptions, open_board};

/// The options for running a board.
#[derive(Args)]
pub(super) struct BoardOptions {
    #[command(flatten)]
    pub(super) repository: RepositoryArg,
    /// The most agents that work at the same time
    #[arg(long = "room", value_name = "N", default_value_t = 8)]
    max_parallel: usize,
    /// The most that each may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow calls that need permission, without asking. The sandbox and deny rules stay in force;
    /// secret and protected files stay refused
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: ConfinementArguments,
    /// Print every event as a line of JSON, and take commands as lines of JSON on the input
    #[arg(long)]
    json: bool,
}

/// The commands of one run of a board.
pub(super) struct BoardRun {
    /// The user's main checkout.
    pub(super) main_repo: AbsPath,
    /// The commands that the board gets first.
    pub(super) commands: Vec<JobCommand>,
    /// Earlier jobs to wait for, in addition to those that the commands create.
    pub(super) awaited_jobs: Vec<JobId>,
}

/// A command as a line of JSON.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum JsonCommand {
    Steer {
        job: JobId,
        text: String,
    },
    Decide {
        job: JobId,
        #[serde(default)]
        through: Vec<String>,
        call: String,
        decision: PermissionDecision,
    },
    Reply {
        job: JobId,
        #[serde(default)]
        through: Vec<String>,
        question: u64,
        text: Option<String>,
    },
    Pause {
        job: JobId,
    },
    GoOn {
        job: JobId,
    },
    Stop {
        job: JobId,
    },
    Close,
}

impl BoardOptions {
    /// Opens a board, sends it the commands of the run, and follows it until nothing is running.
    /// `prepare` receives the chosen model and returns the run. The exit code is that of the
    /// awaited jobs.
    pub(super) fn run(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        prepare: impl FnOnce(&str, &mut Streams<'_>) -> Result<BoardRun, String>,
    ) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = runtime.block_on(self.perform(dirs, streams, model, prepare));
        // A thread that still waits for a line of the input must not delay the exit.
        runtime.shutdown_background();
        done
    }

    /// Opens the board and follows it, as `run` describes. A failure is a sentence for the user.
    async fn perform(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        prepare: impl FnOnce(&str, &mut Streams<'_>) -> Result<BoardRun, String>,
    ) -> Result<ExitCode, String> {
        // A user who starts agents in a folder by hand trusts the folder's contents.
        let services = AgentServices::open_with(dirs, TrustedFolders::all(), None, model)
            .await
            .map_err(error_text)?;
        let problems = services.problems();
        problems
            .iter()
            .for_each(|problem| print_notice(streams, problem));
        let model = model.unwrap_or_else(|| services.default_model());
        let run = prepare(model, streams)?;
        let is_attended = self.json || std::io::stdin().is_terminal();
        if self.yes {
            print_notice(streams, &self.confinement.warning(dirs));
        }
        let options = SessionStartOptions {
            allows_asked: self.yes,
            has_user: is_attended && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64)),
            confinement: self.confinement.to_confinement(),
        };
        let has_user = options.has_user;
        let (_, unclear) = Permissions::read(dirs).rules(&run.main_repo);
        let is_new = |problem: &&String| !services.problems().contains(problem);
        let unclear = unclear.iter().filter(is_new);
        unclear.for_each(|problem| print_notice(streams, problem));
        let board = open_board(&services, dirs, &run.main_repo, options, self.max_parallel);
        let board = board.map_err(error_text)?;
        let problems = board.saved.problems.iter();
        problems.for_each(|problem| print_notice(streams, problem));
        for command in run.commands {
            board.scheduler.commands.send(command).await.ok();
        }
        let mut printer = BoardPrinter {
            is_json: self.json,
            has_user,
            statuses: board
                .saved
                .jobs
                .iter()
                .map(|it| (it.job.clone(), it.clone()))
                .collect(),
            printed: HashMap::new(),
            last_messages: HashMap::new(),
            questions: Questions::new(),
            jobs: run.awaited_jobs,
        };
        let code = printer.follow(&board, streams).await?;
        board.scheduler.closed().await;
        services.factory().close().await;
        if let Err(error) = services.wait_idle().await {
            print_notice(streams, &error.to_string());
        }
        // Background work may still hold the worktrees.
        board.worktrees.unlock_board();
        printer.print_summary(&run.main_repo, streams)?;
        Ok(code)
    }
}

/// Prints a board's progress and handles the user's input.
struct BoardPrinter {
    is_json: bool,
    has_user: bool,
    statuses: HashMap<JobId, JobStatus>,
    /// The last line printed for each job.
    printed: HashMap<JobId, String>,
    /// The last message of each agent.
    last_messages: HashMap<JobId, String>,
    questions: Questions<(JobId, AwaitedInput)>,
    /// The jobs of this run.
    jobs: Vec<JobId>,
}

impl BoardPrinter {
    /// Prints events and forwards the user's commands until the board is closed; closes it once all
    /// jobs have settled. The exit code is 130 after an interruption, else a failure unless all
    /// jobs are done.
    async fn follow(
        &mut self,
        board: &OpenBoard,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let mut input = (self.is_json || self.has_user).then(listen);
        let mut interrupt = Interrupt::new();
        let mut was_interrupted = false;
        let mut was_refused = false;
        loop {
            let event = tokio::select! {
                event = board.scheduler.events.recv() => event,
                command = next_line(&mut input) => {
                    if let Some(command) = self.read(&command, streams) {
                        board.scheduler.commands.send(command).await.ok();
                    }
                    continue;
                }
                () = interrupt.wait() => {
                    was_interrupted = true;
                    board.scheduler.commands.send(JobCommand::Close).await.ok();
                    continue;
                }
            };
            let Ok(event) = event else { break };
            match &event {
                Event::Closed => break,
                Event::AllSettled => {
                    board.scheduler.commands.send(JobCommand::Close).await.ok();
                }
                Event::Refused(_) if self.jobs.is_empty() => {
                    was_refused = true;
                    board.scheduler.commands.send(JobCommand::Close).await.ok();
                }
                _ => {}
            }
            self.show(&event, streams)?;
        }
        let is_done = |job: &JobId| {
            let status = self.statuses.get(job);
            status.is_some_and(|status| status.state.is_done())
        };
        Ok(
            match (
                was_interrupted,
                self.jobs.iter().all(is_done) && !was_refused,
            ) {
                (true, _) => ExitCode::from(130),
                (false, true) => ExitCode::SUCCESS,
                (false, false) => ExitCode::FAILURE,
            },
        )
    }

    /// Updates the known state by an event, asks the user what its job waits for, and prints it.
    fn show(&mut self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        match event {
            Event::Added(jobs) => self.jobs.extend(jobs.iter().cloned()),
            Event::Job(status) => {
                self.statuses
                    .insert(status.job.clone(), status.as_ref().clone());
                self.ask(status, streams);
            }
            Event::Session { job, event } => self.on_session_event(job, event),
            _ => {}
        }
        if self.is_json {
            self.show_json(event, streams)
        } else {
            self.show_text(event, streams)
        }
    }

    fn on_session_event(&mut self, job: &JobId, event: &AgentEvent) {
        if let AgentEvent::Recorded(stored) = event
            && let agent::SessionRecord::Answered { parts, .. } = &stored.record
        {
            let text = agent::stored_parts::texts(parts);
            if !text.trim().is_empty() {
                self.last_messages.insert(job.clone(), text);
            }
        }
    }

    /// Prints an event as a line of text, unless it has none or the job's line has not changed.
    /// Refusals go to standard error.
    fn show_text(&mut self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        let text = match event {
            Event::Job(status) => {
                let message = self
                    .last_messages
                    .get(&status.job)
                    .filter(|_| status.state.is_done());
                let text = job_summary(status, message.map(String::as_str));
                match self.printed.insert(status.job.clone(), text.clone()) {
                    Some(printed) if printed == text => return Ok(()),
                    _ => text,
                }
            }
            Event::Notice { job, text } => format!("{job}: {text}"),
            Event::Refused(sentence) => {
                print_notice(streams, sentence);
                return Ok(());
            }
            Event::Added(_)
            | Event::Session { .. }
            | Event::Undelivered(_)
            | Event::Board(_)
            | Event::AllSettled
            | Event::Closed => return Ok(()),
        };
        writeln!(streams.output, "{text}").map_err(write_error)?;
        streams.output.flush().map_err(write_error)
    }

    /// Prints an event as a line of JSON, unless it has no such form.
    fn show_json(&self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        let value = match event {
            Event::Job(status) => json!({ "event": "job", "line": status }),
            Event::Session { job, event } => match json_of(event) {
                Some(value) => json!({ "event": "told", "job": job, "what": value }),
                None => return Ok(()),
            },
            Event::Added(jobs) => json!({ "event": "added", "jobs": jobs }),
            Event::Refused(sentence) => json!({ "event": "refused", "why": sentence }),
            Event::Notice { job, text } => {
                json!({ "event": "said", "job": job, "text": text })
            }
            Event::Undelivered(prompt) => {
                json!({ "event": "undelivered", "text": prompt.text })
            }
            Event::AllSettled => json!({ "event": "settled" }),
            Event::Closed => json!({ "event": "closed" }),
            Event::Board(_) => return Ok(()),
        };
        json_line(streams, &value).map_err(write_error)
    }

    /// Asks the user the question that a job waits for.
    fn ask(&mut self, status: &JobStatus, streams: &mut Streams<'_>) {
        if self.is_json || !self.has_user {
            return;
        }
        let awaited = match &status.state {
            JobState::Waiting { input } => Some(input),
            _ => None,
        };
        let is_due =
            |(job, input): &(JobId, AwaitedInput)| *job != status.job || Some(input) == awaited;
        self.questions.retain(is_due, streams.errors);
        let Some(input) = awaited else {
            return;
        };
        let about = (status.job.clone(), input.clone());
        if self.questions.has(&about) {
            return;
        }
        let question = match input {
            AwaitedInput::Permission {
                title,
                details,
                reason,
                rules,
                ..
            } => approval(
                &format!("  {}:", status.job),
                (title, details),
                reason,
                rules,
            ),
            AwaitedInput::Answer { text, .. } => {
                TerminalQuestion::free_text(&format!("{}: {text}: ", status.job))
            }
        };
        self.questions.ask(about, question, streams.errors);
    }

    /// The command that a line of the input means.
    fn read(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<JobCommand> {
        if self.is_json {
            return read_json(line);
        }
        let line = line.trim();
        let (job, input) = self.questions.answer(line, streams.errors)?;
        let (path, command) = match input {
            AwaitedInput::Permission { through, call, .. } => {
                let decision = decision(line);
                (through, SessionCommand::Decide { call, decision })
            }
            AwaitedInput::Answer {
                through, question, ..
            } => {
                let text = (!line.is_empty()).then(|| line.to_owned());
                (through, SessionCommand::Reply { question, text })
            }
        };
        let command = command_through(path, command);
        Some(JobCommand::Forward { job, command })
    }

    /// Prints the jobs of this run with the commands for their work; nothing for JSON.
    fn print_summary(&self, main_repo: &AbsPath, streams: &mut Streams<'_>) -> Result<(), String> {
        if self.is_json {
            return Ok(());
        }
        let own = self.jobs.iter().filter_map(|job| self.statuses.get(job));
        let text = summary(own, main_repo);
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)
    }
}

async fn next_line(input: &mut Option<mpsc::Receiver<String>>) -> String {
    loop {
        let line = match input {
            Some(lines) => lines.recv().await,
            None => std::future::pending().await,
        };
        match line {
            Some(line) => return line,
            None => *input = None,
        }
    }
}

/// Parses a command from a line of JSON; `None` if it is invalid.
fn read_json(line: &str) -> Option<JobCommand> {
    Some(match serde_json::from_str(line).ok()? {
        JsonCommand::Steer { job, text } => JobCommand::Steer { job, text },
        JsonCommand::Decide {
            job,
            through,
            call,
            decision,
        } => JobCommand::Forward {
            job,
            command: command_through(through, SessionCommand::Decide { call, decision }),
        },
        JsonCommand::Reply {
            job,
            through,
            question,
            text,
        } => JobCommand::Forward {
            job,
            command: command_through(through, SessionCommand::Reply { question, text }),
        },
        JsonCommand::Pause { job } => JobCommand::Pause(job),
        JsonCommand::GoOn { job } => JobCommand::Resume(job),
        JsonCommand::Stop { job } => JobCommand::Stop(job),
        JsonCommand::Close => JobCommand::Close,
    })
}

fn command_through(path: Vec<String>, command: SessionCommand) -> SessionCommand {
    through_subagents(path.into_iter().map(Into::into).collect(), command)
}
