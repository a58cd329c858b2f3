//! A board as it goes, followed from the command line: shown, and the person heard.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::process::ExitCode;

use agent::Command as Told;
use agent::ask::Decision;
use agent::context::Trust;
use agent::session::Event as SessionEvent;
use base::AbsPath;
use clap::Args;
use composer::board::{Command, Event, JobId, Line, State, WaitsFor};
use host::Dirs;
use model::Cost;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::confined::Confinement;
use crate::permissions::Permissions;
use crate::questions::{Question, Questions};
use crate::run::person::{Interrupt, approval, decision, listen, through};
use crate::run::show::{json_of, line as json_line};
use crate::workshop::Workshop;
use crate::{Streams, tell, unwritten};

use super::board_line::{shown, summary};
use super::{Fleet, Manner, Where};

/// How a board is run.
#[derive(Args)]
pub(super) struct How {
    #[command(flatten)]
    pub(super) place: Where,
    /// The most agents that work at the same time
    #[arg(long, value_name = "N", default_value_t = 8)]
    room: usize,
    /// The most that each may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow what would be asked for. Deny rules hold; secret and protected files stay refused
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: Confinement,
    /// Print every event as a line of JSON, and take commands as lines of JSON on the input
    #[arg(long)]
    json: bool,
}

/// What is to be done on a board.
pub(super) struct Orders {
    /// The checkout.
    pub(super) hub: AbsPath,
    /// What the board is told first.
    pub(super) commands: Vec<Command>,
    /// Jobs of before that are waited for, besides those that come of the commands.
    pub(super) mine: Vec<JobId>,
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
        decision: Decision,
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

impl How {
    /// Opens a board, tells it what `orders` says, and follows it until nothing goes on any more. `orders` is given the
    /// model that is meant.
    pub(super) fn run(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        orders: impl FnOnce(&str, &mut Streams<'_>) -> Result<Orders, String>,
    ) -> Result<ExitCode, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = runtime.block_on(self.perform(dirs, streams, model, orders));
        // Whoever waits for a line of the input on a thread would hold up the end.
        runtime.shutdown_background();
        done
    }

    async fn perform(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
        model: Option<&str>,
        orders: impl FnOnce(&str, &mut Streams<'_>) -> Result<Orders, String>,
    ) -> Result<ExitCode, String> {
        // Who starts agents in a folder by hand trusts what stands there.
        let workshop = Workshop::open_with(dirs, Trust::all(), None, model).await?;
        let problems = workshop.problems();
        problems.iter().for_each(|problem| tell(streams, problem));
        let model = model.unwrap_or_else(|| workshop.default_model());
        let orders = orders(model, streams)?;
        let is_there = self.json || std::io::stdin().is_terminal();
        if self.yes {
            tell(streams, &self.confinement.warning(dirs));
        }
        let manner = Manner {
            allows_asked: self.yes,
            has_person: is_there && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64)),
            confinement: self.confinement.clone(),
        };
        let has_person = manner.has_person;
        let (_, unclear) = Permissions::read(dirs).rules(&orders.hub);
        let is_new = |problem: &&String| !workshop.problems().contains(problem);
        let unclear = unclear.iter().filter(is_new);
        unclear.for_each(|problem| tell(streams, problem));
        let fleet = Fleet::open(&workshop, dirs, &orders.hub, manner, self.room)?;
        let past = fleet.past.problems.iter();
        past.for_each(|problem| tell(streams, problem));
        for command in orders.commands {
            fleet.board.commands.send(command).await.ok();
        }
        let mut show = Show {
            is_json: self.json,
            has_person,
            lines: fleet
                .past
                .lines
                .iter()
                .map(|it| (it.job.clone(), it.clone()))
                .collect(),
            told: HashMap::new(),
            said: HashMap::new(),
            questions: Questions::new(),
            mine: orders.mine,
        };
        let code = show.follow(&fleet, streams).await?;
        fleet.board.ended().await;
        workshop.crew().close().await;
        if let Err(sentence) = workshop.settle().await {
            tell(streams, &sentence);
        }
        // What still runs in the background may keep the trees from being dropped.
        fleet.trees.let_go();
        show.end(&orders.hub, streams)?;
        Ok(code)
    }
}

/// Shows a board as it goes, and hears the person.
struct Show {
    is_json: bool,
    has_person: bool,
    lines: HashMap<JobId, Line>,
    /// What was last printed of each.
    told: HashMap<JobId, String>,
    /// What each agent said last.
    said: HashMap<JobId, String>,
    questions: Questions<(JobId, WaitsFor)>,
    /// The jobs of this run.
    mine: Vec<JobId>,
}

impl Show {
    async fn follow(
        &mut self,
        fleet: &Fleet,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let mut input = (self.is_json || self.has_person).then(listen);
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
                    fleet.board.commands.send(Command::Close).await.ok();
                    continue;
                }
            };
            let Ok(event) = event else { break };
            match &event {
                Event::Closed => break,
                Event::Settled => {
                    fleet.board.commands.send(Command::Close).await.ok();
                }
                Event::Refused(_) if self.mine.is_empty() => {
                    was_refused = true;
                    fleet.board.commands.send(Command::Close).await.ok();
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
                self.mine.iter().all(is_done) && !was_refused,
            ) {
                (true, _) => ExitCode::from(130),
                (false, true) => ExitCode::SUCCESS,
                (false, false) => ExitCode::FAILURE,
            },
        )
    }

    fn show(&mut self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        match event {
            Event::Added(jobs) => self.mine.extend(jobs.iter().cloned()),
            Event::Job(line) => {
                self.lines.insert(line.job.clone(), line.as_ref().clone());
                self.ask(line, streams);
            }
            Event::Told { job, event } => self.hear(job, event),
            _ => {}
        }
        match self.is_json {
            true => self.show_json(event, streams),
            false => self.show_text(event, streams),
        }
    }

    fn hear(&mut self, job: &JobId, event: &SessionEvent) {
        if let SessionEvent::Recorded(stored) = event
            && let agent::Record::Answered { parts, .. } = &stored.record
        {
            let text = agent::parts::texts(parts);
            if !text.trim().is_empty() {
                self.said.insert(job.clone(), text);
            }
        }
    }

    fn show_text(&mut self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        let text = match event {
            Event::Job(line) => {
                let said = self.said.get(&line.job).filter(|_| line.state.is_done());
                let text = shown(line, said.map(String::as_str));
                match self.told.insert(line.job.clone(), text.clone()) {
                    Some(told) if told == text => return Ok(()),
                    _ => text,
                }
            }
            Event::Said { job, text } => format!("{job}: {text}"),
            Event::Refused(sentence) => {
                tell(streams, sentence);
                return Ok(());
            }
            Event::Added(_) | Event::Told { .. } | Event::Settled | Event::Closed => return Ok(()),
        };
        writeln!(streams.output, "{text}").map_err(unwritten)?;
        streams.output.flush().map_err(unwritten)
    }

    fn show_json(&self, event: &Event, streams: &mut Streams<'_>) -> Result<(), String> {
        let value = match event {
            Event::Job(line) => json!({ "event": "job", "line": line }),
            Event::Told { job, event } => match json_of(event) {
                Some(value) => json!({ "event": "told", "job": job, "what": value }),
                None => return Ok(()),
            },
            Event::Added(jobs) => json!({ "event": "added", "jobs": jobs }),
            Event::Refused(sentence) => json!({ "event": "refused", "why": sentence }),
            Event::Said { job, text } => json!({ "event": "said", "job": job, "text": text }),
            Event::Settled => json!({ "event": "settled" }),
            Event::Closed => json!({ "event": "closed" }),
        };
        json_line(streams, &value).map_err(unwritten)
    }

    /// Asks the person what a job waits for.
    fn ask(&mut self, line: &Line, streams: &mut Streams<'_>) {
        if self.is_json || !self.has_person {
            return;
        }
        let waits_for = match &line.state {
            State::Waiting { what } => Some(what),
            _ => None,
        };
        let is_due = |(job, what): &(JobId, WaitsFor)| *job != line.job || Some(what) == waits_for;
        self.questions.retain(is_due, streams.errors);
        let Some(what) = waits_for else {
            return;
        };
        let about = (line.job.clone(), what.clone());
        if self.questions.has(&about) {
            return;
        }
        let question = match what {
            WaitsFor::Leave {
                title,
                details,
                reason,
                rules,
                ..
            } => approval(&format!("  {}:", line.job), (title, details), reason, rules),
            WaitsFor::Answer { text, .. } => Question::words(&format!("{}: {text}: ", line.job)),
        };
        self.questions.ask(about, question, streams.errors);
    }

    /// The command that a line of the input means.
    fn read(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<Command> {
        if self.is_json {
            return read_json(line);
        }
        let line = line.trim();
        let (job, what) = self.questions.answer(line, streams.errors)?;
        let (way, command) = match what {
            WaitsFor::Leave { through, call, .. } => {
                let decision = decision(line);
                (through, Told::Decide { call, decision })
            }
            WaitsFor::Answer {
                through, question, ..
            } => {
                let text = (!line.is_empty()).then(|| line.to_owned());
                (through, Told::Reply { question, text })
            }
        };
        let command = by_way(way, command);
        Some(Command::Tell { job, command })
    }

    fn end(&self, hub: &AbsPath, streams: &mut Streams<'_>) -> Result<(), String> {
        if self.is_json {
            return Ok(());
        }
        let mine = self.mine.iter().filter_map(|job| self.lines.get(job));
        let text = summary(mine, hub);
        streams.output.write_all(text.as_bytes()).map_err(unwritten)
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

fn read_json(line: &str) -> Option<Command> {
    Some(match serde_json::from_str(line).ok()? {
        JsonCommand::Steer { job, text } => Command::Steer { job, text },
        JsonCommand::Decide {
            job,
            through,
            call,
            decision,
        } => Command::Tell {
            job,
            command: by_way(through, Told::Decide { call, decision }),
        },
        JsonCommand::Reply {
            job,
            through,
            question,
            text,
        } => Command::Tell {
            job,
            command: by_way(through, Told::Reply { question, text }),
        },
        JsonCommand::Pause { job } => Command::Pause(job),
        JsonCommand::GoOn { job } => Command::GoOn(job),
        JsonCommand::Stop { job } => Command::Stop(job),
        JsonCommand::Close => Command::Close,
    })
}

fn by_way(way: Vec<String>, command: Told) -> Told {
    through(way.into_iter().map(Into::into).collect(), command)
}
