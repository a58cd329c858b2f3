//! Agents started from the command line, and the board as it goes.

use std::collections::{HashMap, VecDeque};
use std::io::IsTerminal;
use std::process::ExitCode;

use agent::Command as Told;
use agent::ask::Decision;
use agent::context::Trust;
use agent::session::Event as SessionEvent;
use base::AbsPath;
use clap::Args;
use composer::board::{Command, Event, JobId, Line, State, Task, WaitsFor};
use composer::roles::USUAL;
use host::{Dirs, RealFiles};
use model::Cost;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;

use crate::models::setup::DEMO;
use crate::run::person::{Interrupt, decision, listen, through};
use crate::run::show::{json_of, line as json_line};
use crate::workshop::{Workshop, is_sample};
use crate::{Streams, tell, unwritten};

use super::board_line::{shown, summary};
use super::parts::{share, title};
use super::{Fleet, Manner, Where, own_roles};
use crate::confined::Confinement;

#[derive(Args)]
pub(super) struct Start {
    #[command(flatten)]
    place: Where,
    /// How many agents; one for each task without it. Several share a single task
    #[arg(long, value_name = "N", default_value_t = 0)]
    agents: usize,
    /// Have each of them do all of the task, to choose from
    #[arg(long)]
    best_of: bool,
    /// Do the tasks one after the other, each going on from the one before
    #[arg(long, conflicts_with = "best_of")]
    in_order: bool,
    /// `auto`, `demo`, or a model written provider/model; the settings' models.default without it
    #[arg(long)]
    model: Option<String>,
    /// What they are there for: builder, planner, debugger, reviewer, or one of your roles.json
    #[arg(long, default_value = USUAL)]
    role: String,
    /// How many may work at the same time
    #[arg(long, value_name = "N", default_value_t = 8)]
    room: usize,
    /// Have these go on that were interrupted, failed or stopped
    #[arg(long, value_name = "JOB")]
    go_on: Vec<JobId>,
    /// The most that each may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow everything that would be asked
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: Confinement,
    /// Print every event as a line of JSON, and take commands as lines of JSON on the input
    #[arg(long)]
    json: bool,
    /// The tasks, each in quotes
    tasks: Vec<String>,
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

impl Start {
    pub(super) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        if self.tasks.is_empty() && self.go_on.is_empty() {
            return Err("there is no task: write each in quotes behind the options".to_owned());
        }
        own_roles(dirs).0.named(&self.role)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = runtime.block_on(self.perform(dirs, streams));
        // Whoever waits for a line of the input on a thread would hold up the end.
        runtime.shutdown_background();
        done
    }

    async fn perform(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        // Who starts agents in a folder by hand trusts what stands there.
        let model = self.model.as_deref();
        let workshop = Workshop::open_with(dirs, Trust::all(), None, model).await?;
        let problems = workshop.problems();
        problems.iter().for_each(|problem| tell(streams, problem));
        let model = self.model.clone();
        let model = model.unwrap_or_else(|| workshop.default_model().to_owned());
        let hub = self.hub(&model, dirs, streams)?;
        let is_there = self.json || std::io::stdin().is_terminal();
        if self.yes {
            tell(
                streams,
                "nothing is asked: agents change their worktrees and run commands in them",
            );
        }
        let manner = Manner {
            allows_all: self.yes,
            has_person: is_there && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64)),
            confinement: self.confinement.clone(),
        };
        let has_person = manner.has_person;
        let fleet = Fleet::open(&workshop, dirs, &hub, manner, self.room)?;
        let past = fleet.past.problems.iter();
        past.for_each(|problem| tell(streams, problem));
        for command in self.commands(&model) {
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
            open: VecDeque::new(),
            mine: self.go_on.clone(),
        };
        let code = show.follow(&fleet, streams).await?;
        fleet.board.ended().await;
        workshop.crew().close().await;
        if let Err(sentence) = workshop.settle().await {
            tell(streams, &sentence);
        }
        // What still runs in the background may keep the trees from being dropped.
        fleet.trees.let_go();
        show.end(&hub, streams)?;
        Ok(code)
    }

    /// The checkout that is worked on. The demo model gets a repository of its own with the sample project, unless the
    /// folder is one.
    fn hub(&self, model: &str, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<AbsPath, String> {
        let folder = crate::folder(self.place.root.as_deref(), &RealFiles)?;
        if model != DEMO || is_sample(&folder) || self.place.root.is_some() {
            if is_sample(&folder) && git::Repository::discover(&folder).is_err() {
                begin_repository(&folder)?;
            }
            return Ok(folder);
        }
        let sample = crate::run::sample(&RealFiles, dirs)?;
        begin_repository(&sample)?;
        tell(
            streams,
            &format!("the demo model works on a sample project in {sample}"),
        );
        Ok(sample)
    }

    fn commands(&self, model: &str) -> Vec<Command> {
        let task = |prompt: &str| Task {
            name: String::new(),
            title: title(prompt),
            prompt: prompt.to_owned(),
            role: self.role.clone(),
            model: model.to_owned(),
            needs: Vec::new(),
        };
        let mut commands: Vec<Command> = self.go_on.iter().cloned().map(Command::GoOn).collect();
        match self.tasks.as_slice() {
            [] => {}
            [only] if self.best_of => {
                commands.push(Command::AddBestOf(task(only), self.agents.max(2)));
            }
            [only] => {
                let count = self.agents.max(1);
                let shares = (1..=count).map(|number| Task {
                    prompt: share(only, number, count),
                    ..task(only)
                });
                commands.push(Command::Add(shares.collect()));
            }
            many if self.best_of => {
                let count = self.agents.max(2);
                commands.extend(many.iter().map(|it| Command::AddBestOf(task(it), count)));
            }
            many => {
                let tasks = many.iter().enumerate().map(|(ix, prompt)| Task {
                    name: format!("task-{ix}"),
                    needs: match (self.in_order, ix) {
                        (true, 1..) => vec![format!("task-{}", ix - 1)],
                        _ => Vec::new(),
                    },
                    ..task(prompt)
                });
                commands.push(Command::Add(tasks.collect()));
                if self.agents > 0 && self.agents < many.len() {
                    commands.insert(0, Command::SetRoom(self.agents));
                }
            }
        }
        commands
    }
}

pub(super) fn begin_repository(folder: &AbsPath) -> Result<(), String> {
    git::begin(folder, "The sample project").map_err(|error| error.to_string())
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
    /// What waits for an answer, the oldest first.
    open: VecDeque<(JobId, WaitsFor)>,
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
                    if let Some(command) = self.read(&command) {
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
        self.open.retain(|(job, _)| *job != line.job);
        let State::Waiting { what } = &line.state else {
            return;
        };
        self.open.push_back((line.job.clone(), what.clone()));
        if self.is_json || !self.has_person {
            return;
        }
        let text = match what {
            WaitsFor::Leave { title, reason, .. } => format!(
                "\n{}: {title}\n  {reason}. Allow? [y]es, for this [s]ession, [a]lways, [n]o, or say what to do \
                 instead: ",
                line.job
            ),
            WaitsFor::Answer { text, .. } => format!("\n{}: {text}: ", line.job),
        };
        // Where standard error is closed there is nobody to ask.
        streams.errors.write_all(text.as_bytes()).ok();
        streams.errors.flush().ok();
    }

    /// The command that a line of the input means.
    fn read(&mut self, line: &str) -> Option<Command> {
        if self.is_json {
            return read_json(line);
        }
        let (job, what) = self.open.pop_front()?;
        let line = line.trim();
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
