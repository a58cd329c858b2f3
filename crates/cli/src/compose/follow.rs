//! Follows a running board on the command line: prints its events and reads the user's commands.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::process::ExitCode;

use agent::SessionCommand as Told;
use agent::context::TrustedFolders;
use agent::session::AgentEvent as SessionEvent;
use agent::user_prompts::PermissionDecision;
use base::AbsPath;
use clap::Args;
use composer::board::{AwaitedInput, BoardCommand, BoardEvent, JobId, JobState, JobStatus};
use host::Dirs;
use model::Cost;
use runtime::agent_services::AgentServices;
use runtime::compose::{Composer, SessionStartOptions};
use runtime::live_sessions::through_subagents;
use runtime::permissions::Permissions;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::confinement::ConfinementArguments;
use crate::questions::{Questions, TerminalQuestion};
use crate::run::show::{json_of, print_json_line as json_line};
use crate::run::terminal_ui::{Interrupt, approval, decision, listen};
use crate::{Streams, print_notice, write_error};

use super::RepositoryArg;
use super::board_line::{job_summary, summary};

/// The options for running a board.
#[derive(Args)]
pub(super) struct BoardOptions {
    #[command(flatten)]
    pub(super) place: RepositoryArg,
    /// The most agents that work at the same time
    #[arg(long, value_name = "N", default_value_t = 8)]
    room: usize,
    /// The most that each may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow calls that would need permission. Deny rules hold; secret and protected files stay
    /// refused
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: ConfinementArguments,
    /// Print every event as a line of JSON, and take commands as lines of JSON on the input
    #[arg(long)]
    json: bool,
}

/// The work for one run of a board.
pub(super) struct BoardRun {
    /// The user's main checkout.
    pub(super) main_repo: AbsPath,
    /// The commands that the board gets first.
    pub(super) commands: Vec<BoardCommand>,
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
    /// Opens a board, sends the commands of `orders`, and follows it until nothing is running.
    /// `orders` is called with the chosen model.
    pub(super) fn run(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        orders: impl FnOnce(&str, &mut Streams<'_>) -> Result<BoardRun, String>,
    ) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = runtime.block_on(self.perform(dirs, streams, model, orders));
        // A thread that still waits for a line of the input must not delay the exit.
        runtime.shutdown_background();
        done
    }

    async fn perform(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        orders: impl FnOnce(&str, &mut Streams<'_>) -> Result<BoardRun, String>,
    ) -> Result<ExitCode, String> {
        // A user who starts agents in a folder by hand trusts the folder's contents.
        let workshop = AgentServices::open_with(dirs, TrustedFolders::all(), None, model).await?;
        let problems = workshop.problems();
        problems
            .iter()
            .for_each(|problem| print_notice(streams, problem));
        let model = model.unwrap_or_else(|| workshop.default_model());
        let orders = orders(model, streams)?;
        let is_there = self.json || std::io::stdin().is_terminal();
        if self.yes {
            print_notice(streams, &self.confinement.warning(dirs));
        }
        let manner = SessionStartOptions {
            allows_asked: self.yes,
            has_user: is_there && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64)),
            confinement: self.confinement.to_confinement(),
        };
        let has_person = manner.has_user;
        let (_, unclear) = Permissions::read(dirs).rules(&orders.main_repo);
        let is_new = |problem: &&String| !workshop.problems().contains(problem);
        let unclear = unclear.iter().filter(is_new);
        unclear.for_each(|problem| print_notice(streams, problem));
        let fleet = Composer::open(&workshop, dirs, &orders.main_repo, manner, self.room)?;
        let past = fleet.past.problems.iter();
        past.for_each(|problem| print_notice(streams, problem));
        for command in orders.commands {
            fleet.board.commands.send(command).await.ok();
        }
        let mut show = BoardPrinter {
            is_json: self.json,
            has_user: has_person,
            lines: fleet
                .past
                .jobs
                .iter()
                .map(|it| (it.job.clone(), it.clone()))
                .collect(),
            printed: HashMap::new(),
            last_messages: HashMap::new(),
            questions: Questions::new(),
            jobs: orders.awaited_jobs,
        };
        let code = show.follow(&fleet, streams).await?;
        fleet.board.closed().await;
        workshop.factory().close().await;
        if let Err(error) = workshop.wait_idle().await {
            print_notice(streams, &error.to_string());
        }
        // Background work may still hold the worktrees.
        fleet.worktrees.unlock_board();
        show.print_summary(&orders.main_repo, streams)?;
        Ok(code)
    }
}

/// Prints a board's progress and handles the user's input.
struct BoardPrinter {
    is_json: bool,
    has_user: bool,
    lines: HashMap<JobId, JobStatus>,
    /// The last line printed for each job.
    printed: HashMap<JobId, String>,
    /// The last message of each agent.
    last_messages: HashMap<JobId, String>,
    questions: Questions<(JobId, AwaitedInput)>,
    /// The jobs of this run.
    jobs: Vec<JobId>,
}

impl BoardPrinter {
    async fn follow(
        &mut self,
        fleet: &Composer,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let mut input = (self.is_json || self.has_user).then(listen);
        let mut interrupt = Interrupt::new();
        let mut was_interrupted = false;
        let mut was_refused = false;
        loop {
            let event = tokio::select! {
                event = fleet.board.events.recv() => event,
                command = next_line(&mut input) => {
                    if let Some(command) = self.read(&command, streams) {
                        fleet.board.commands.send(command).await.ok();
                    }
                    continue;
                }
                () = interrupt.wait() => {
                    was_interrupted = true;
                    fleet.board.commands.send(BoardCommand::Close).await.ok();
                    continue;
                }
            };
            let Ok(event) = event else { break };
            match &event {
                BoardEvent::Closed => break,
                BoardEvent::AllSettled => {
                    fleet.board.commands.send(BoardCommand::Close).await.ok();
                }
                BoardEvent::Refused(_) if self.jobs.is_empty() => {
                    was_refused = true;
                    fleet.board.commands.send(BoardCommand::Close).await.ok();
                }
                _ => {}
            }
            self.show(&event, streams)?;
        }
        let is_done = |job: &JobId| {
            let line = self.lines.get(job);
            line.is_some_and(|line| line.state.is_done())
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

    fn show(&mut self, event: &BoardEvent, streams: &mut Streams<'_>) -> Result<(), String> {
        match event {
            BoardEvent::Added(jobs) => self.jobs.extend(jobs.iter().cloned()),
            BoardEvent::Job(line) => {
                self.lines.insert(line.job.clone(), line.as_ref().clone());
                self.ask(line, streams);
            }
            BoardEvent::Session { job, event } => self.on_session_event(job, event),
            _ => {}
        }
        if self.is_json {
            self.show_json(event, streams)
        } else {
            self.show_text(event, streams)
        }
    }

    fn on_session_event(&mut self, job: &JobId, event: &SessionEvent) {
        if let SessionEvent::Recorded(stored) = event
            && let agent::SessionRecord::Answered { parts, .. } = &stored.record
        {
            let text = agent::stored_parts::texts(parts);
            if !text.trim().is_empty() {
                self.last_messages.insert(job.clone(), text);
            }
        }
    }

    fn show_text(&mut self, event: &BoardEvent, streams: &mut Streams<'_>) -> Result<(), String> {
        let text = match event {
            BoardEvent::Job(line) => {
                let said = self
                    .last_messages
                    .get(&line.job)
                    .filter(|_| line.state.is_done());
                let text = job_summary(line, said.map(String::as_str));
                match self.printed.insert(line.job.clone(), text.clone()) {
                    Some(told) if told == text => return Ok(()),
                    _ => text,
                }
            }
            BoardEvent::Notice { job, text } => format!("{job}: {text}"),
            BoardEvent::Refused(sentence) => {
                print_notice(streams, sentence);
                return Ok(());
            }
            BoardEvent::Added(_)
            | BoardEvent::Session { .. }
            | BoardEvent::AllSettled
            | BoardEvent::Closed => return Ok(()),
        };
        writeln!(streams.output, "{text}").map_err(write_error)?;
        streams.output.flush().map_err(write_error)
    }

    fn show_json(&self, event: &BoardEvent, streams: &mut Streams<'_>) -> Result<(), String> {
        let value = match event {
            BoardEvent::Job(line) => json!({ "event": "job", "line": line }),
            BoardEvent::Session { job, event } => match json_of(event) {
                Some(value) => json!({ "event": "told", "job": job, "what": value }),
                None => return Ok(()),
            },
            BoardEvent::Added(jobs) => json!({ "event": "added", "jobs": jobs }),
            BoardEvent::Refused(sentence) => json!({ "event": "refused", "why": sentence }),
            BoardEvent::Notice { job, text } => {
                json!({ "event": "said", "job": job, "text": text })
            }
            BoardEvent::AllSettled => json!({ "event": "settled" }),
            BoardEvent::Closed => json!({ "event": "closed" }),
        };
        json_line(streams, &value).map_err(write_error)
    }

    /// Asks the user the question that a job waits for.
    fn ask(&mut self, line: &JobStatus, streams: &mut Streams<'_>) {
        if self.is_json || !self.has_user {
            return;
        }
        let waits_for = match &line.state {
            JobState::Waiting { what } => Some(what),
            _ => None,
        };
        let is_due =
            |(job, what): &(JobId, AwaitedInput)| *job != line.job || Some(what) == waits_for;
        self.questions.retain(is_due, streams.errors);
        let Some(what) = waits_for else {
            return;
        };
        let about = (line.job.clone(), what.clone());
        if self.questions.has(&about) {
            return;
        }
        let question = match what {
            AwaitedInput::Leave {
                title,
                details,
                reason,
                rules,
                ..
            } => approval(&format!("  {}:", line.job), (title, details), reason, rules),
            AwaitedInput::Answer { text, .. } => {
                TerminalQuestion::free_text(&format!("{}: {text}: ", line.job))
            }
        };
        self.questions.ask(about, question, streams.errors);
    }

    /// The command that a line of the input means.
    fn read(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<BoardCommand> {
        if self.is_json {
            return read_json(line);
        }
        let line = line.trim();
        let (job, what) = self.questions.answer(line, streams.errors)?;
        let (way, command) = match what {
            AwaitedInput::Leave { through, call, .. } => {
                let decision = decision(line);
                (through, Told::Decide { call, decision })
            }
            AwaitedInput::Answer {
                through, question, ..
            } => {
                let text = (!line.is_empty()).then(|| line.to_owned());
                (through, Told::Reply { question, text })
            }
        };
        let command = command_through(way, command);
        Some(BoardCommand::Forward { job, command })
    }

    fn print_summary(&self, hub: &AbsPath, streams: &mut Streams<'_>) -> Result<(), String> {
        if self.is_json {
            return Ok(());
        }
        let mine = self.jobs.iter().filter_map(|job| self.lines.get(job));
        let text = summary(mine, hub);
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

fn read_json(line: &str) -> Option<BoardCommand> {
    Some(match serde_json::from_str(line).ok()? {
        JsonCommand::Steer { job, text } => BoardCommand::Steer { job, text },
        JsonCommand::Decide {
            job,
            through,
            call,
            decision,
        } => BoardCommand::Forward {
            job,
            command: command_through(through, Told::Decide { call, decision }),
        },
        JsonCommand::Reply {
            job,
            through,
            question,
            text,
        } => BoardCommand::Forward {
            job,
            command: command_through(through, Told::Reply { question, text }),
        },
        JsonCommand::Pause { job } => BoardCommand::Pause(job),
        JsonCommand::GoOn { job } => BoardCommand::Resume(job),
        JsonCommand::Stop { job } => BoardCommand::Stop(job),
        JsonCommand::Close => BoardCommand::Close,
    })
}

fn command_through(way: Vec<String>, command: Told) -> Told {
    through_subagents(way.into_iter().map(Into::into).collect(), command)
}
