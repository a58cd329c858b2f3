//! An agent's turn on the command line: its words stream to the output, questions to the terminal.

pub(crate) mod person;
pub(crate) mod show;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent::context::Trust;
use agent::engine::{self, Opened, Start};
use agent::record::{Handover, Mode, Stored, TurnEnd};
use agent::session::{Command, Event, Prompt};
use agent::store::{SessionLine, Store};
use base::AbsPath;
use clap::Args;
use host::{Dirs, Files};
use model::{Cost, Effort, FailureClass};

use crate::ask;
use crate::confined::Confinement;
use crate::crew::{self, Crew, Known, Wanted};
use crate::foreign::Waiting;
use crate::guest;
use crate::house;
use crate::models::setup::{self, AUTO, DEMO, Setup};
use crate::{Streams, tell, unwritten};
use person::Person;
use show::{Form, Printer};

/// Run an agent on a task
///
/// It works in a folder with its tools and streams what it says and does. Commands run in a sandbox, where they can
/// change the folder and nothing else; each needs your leave, or --yes.
///
/// Exit codes: 0 the task is done; 1 it is not, for a reason on this machine, or the model declined; 2 wrong
/// arguments; 3 a budget forbids to go on; 4 the agent went in circles; 97 the model could not be reached or failed;
/// 130 stopped with Ctrl-C.
#[derive(Args)]
pub(crate) struct Run {
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
    /// Continue this session
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    /// How hard the model thinks: minimal, low, medium, high or max; the settings' models.effort without it
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    effort: Option<Effort>,
    /// The most that it may cost, in US dollars
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// Allow what would be asked for: files are changed and commands run, in the sandbox. Deny rules hold; secret and
    /// protected files and files outside the folder stay refused
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    confinement: Confinement,
    /// Let the hooks of this project run, as they are now; it is remembered until they change
    #[arg(long)]
    trust_hooks: bool,
    /// Print every piece of each prompt with its origin
    #[arg(long)]
    show_prompt: bool,
    /// Host this agent instead of ours: claude, codex, gemini, opencode, or the path of a program that speaks ACP
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["model", "plan", "effort", "max_cost", "trust_hooks", "show_prompt"]
    )]
    agent: Option<String>,
    /// How to sign in to that agent before anything else, with what it needs to know: METHOD or METHOD={…}
    #[arg(long, requires = "agent", value_name = "METHOD")]
    sign_in: Option<String>,
    /// The task; read from the input where it is left out or `-`
    task: Vec<String>,
}

fn effort(word: &str) -> Result<Effort, String> {
    let value = serde_json::Value::from(word);
    serde_json::from_value(value)
        .map_err(|_| "the levels are minimal, low, medium, high and max".to_owned())
}

/// Where a run takes place.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'a> {
    /// Its files.
    pub(crate) files: &'a dyn Files,
    /// Our own folders.
    pub(crate) dirs: &'a Dirs,
}

impl Run {
    pub(crate) fn run(
        &self,
        machine: Machine<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let task = self.task(streams)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start: {error}"))?;
        let done = match &self.agent {
            Some(agent) => runtime.block_on(self.host(agent, task, machine, streams)),
            None => runtime.block_on(self.perform(task, machine, streams)),
        };
        // Whoever waits for a line of the input on a thread would hold up the end.
        runtime.shutdown_background();
        done
    }

    fn task(&self, streams: &mut Streams<'_>) -> Result<String, String> {
        let words = self.task.join(" ");
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
            "" => Err("there is no task: write it behind the options, or pipe it in".to_owned()),
            _ => Ok(task),
        }
    }

    /// Has an agent of others do it.
    async fn host(
        &self,
        agent: &str,
        task: String,
        machine: Machine<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let job = guest::Job {
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

    fn form(&self) -> Form {
        match self.json {
            true => Form::Json,
            false => Form::Text,
        }
    }

    async fn perform(
        &self,
        task: String,
        machine: Machine<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let mut setup = Setup::find(machine.files, machine.dirs).await;
        for problem in std::mem::take(&mut setup.problems) {
            tell(streams, &problem);
        }
        let (book, ledger) = ask::open_book(machine.dirs, streams)?;
        let store = Store::start(ledger)?;
        let past = self.past(&store)?;
        let own = past
            .as_ref()
            .map_or(&setup.settings.default, |past| &past.wanted);
        let wanted = self.model.as_ref().unwrap_or(own).clone();
        ask::choose(&wanted, &task, &mut setup)?;
        if wanted == AUTO {
            setup.unusable().iter().for_each(|it| tell(streams, it));
        }
        let lanes = match wanted == DEMO {
            true => vec![setup::demo()?],
            false => setup.lanes(),
        };
        let known: Vec<Known> = lanes.iter().map(Known::of).collect();
        let mut settings = setup.settings.clone();
        if let Some(most) = self.max_cost {
            settings.budget_agent = most as f32;
        }
        let router = ask::start(lanes, &settings, book.clone());
        // Who starts an agent in a folder by hand trusts what stands there.
        let mind = crew::mind(router.clone(), &known);
        let root = self.folder(&wanted, past.as_ref(), machine, streams)?;
        let crew = Crew::new(mind, store, machine.dirs, Trust::all(), None)
            .with_effort(setup.settings.effort);
        let start = self.start(&crew, &wanted, root, machine, streams).await?;
        let opened = match &past {
            Some(past) => engine::resume(start.clone(), &past.id).await?,
            None => engine::start(start.clone()),
        };
        if let Some(mode) = past.as_ref().and_then(|past| self.other_mode(past.mode)) {
            // As below.
            opened.commands.send(Command::SetMode(mode)).await.ok();
        }
        if past.is_some_and(|past| past.wanted != wanted) {
            let how = Handover::Full;
            let switch = Command::Switch { model: wanted, how };
            // A session that has ended already says so by its events.
            opened.commands.send(switch).await.ok();
        }
        let end = self.follow(opened, &start, task, streams).await;
        crew.close().await;
        let end = end?;
        router.idle().await;
        if let Err(error) = book.flush() {
            tell(
                streams,
                &format!("{error}; what was spent is not written down"),
            );
        }
        Ok(exit_code(&end))
    }

    async fn start(
        &self,
        crew: &Crew,
        model: &str,
        root: AbsPath,
        machine: Machine<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<Start, String> {
        if self.yes {
            tell(streams, &self.confinement.warning(machine.dirs));
        }
        let is_there = self.json || std::io::stdin().is_terminal();
        if self.trust_hooks {
            house::consent_to_all_hooks(machine.dirs, &root)?;
        }
        let (hooks, notices) = house::hooks_of(machine.dirs, &root, "use --trust-hooks");
        notices.iter().for_each(|notice| tell(streams, notice));
        let (told, mut heard) = tokio::sync::mpsc::channel(4);
        let wanted = Wanted {
            root,
            model: model.to_owned(),
            mode: self.other_mode(Mode::Build).unwrap_or_default(),
            allows_asked: self.yes,
            has_person: is_there && !self.yes,
            budget: self
                .max_cost
                .map(|dollars| Cost((dollars.max(0.0) * 1e9) as u64)),
            effort: self.effort,
            hooks,
            confinement: self.confinement.clone(),
            ground: None,
            servers: Vec::new(),
            waiting: Waiting::telling(move |text| {
                // There is one such word for a start; where it finds no room, the wait is over.
                told.try_send(text).ok();
            }),
        };
        let starting = crew.start(wanted);
        tokio::pin!(starting);
        let (start, notices) = loop {
            tokio::select! {
                biased;
                Some(text) = heard.recv() => tell(streams, &text),
                started = &mut starting => break started,
            }
        };
        notices.iter().for_each(|notice| tell(streams, notice));
        Ok(start)
    }

    /// The mode that the arguments ask for, where it is another than this. A session that only answers stays so.
    fn other_mode(&self, mode: Mode) -> Option<Mode> {
        match (self.plan, mode) {
            (true, Mode::Build | Mode::Ask) => Some(Mode::Plan),
            (false, Mode::Plan) => Some(Mode::Build),
            (true, Mode::Plan) | (false, Mode::Build | Mode::Ask) => None,
        }
    }

    /// The session to go on with.
    fn past(&self, store: &Store) -> Result<Option<SessionLine>, String> {
        let Some(id) = &self.resume else {
            return Ok(None);
        };
        let mut lines = store.sessions(usize::MAX)?.into_iter();
        let line = lines.find(|line| line.id == *id);
        line.map(Some).ok_or_else(|| {
            format!(
                "there is no session \"{id}\": `burin-agent sessions list` names those there are"
            )
        })
    }

    /// The folder to work in.
    fn folder(
        &self,
        model: &str,
        past: Option<&SessionLine>,
        machine: Machine<'_>,
        streams: &mut Streams<'_>,
    ) -> Result<AbsPath, String> {
        let sample = match (&self.root, past) {
            (None, None) if model == DEMO => {
                let folder = sample(machine.files, machine.dirs)?;
                let sentence = format!("the demo model works on a sample project in {folder}");
                tell(streams, &sentence);
                Some(folder)
            }
            _ => None,
        };
        let past = past.map(|past| Path::new(&past.root));
        let named = self.root.as_deref().or(past);
        let named = named.or(sample.as_ref().map(AbsPath::as_path));
        crate::folder(named, machine.files)
    }

    /// Passes on what the session tells until its turn ends.
    async fn follow(
        &self,
        mut opened: Opened,
        start: &Start,
        task: String,
        streams: &mut Streams<'_>,
    ) -> Result<TurnEnd, String> {
        let form = self.form();
        let mut printer = Printer::new(form, self.show_prompt);
        printer
            .begin(&opened.id, start, streams)
            .map_err(unwritten)?;
        if let Some(id) = &self.resume {
            let past = start.harness.store().read(id)?;
            past.problems
                .iter()
                .for_each(|problem| tell(streams, problem));
            printer.remember(past.records);
        }
        let mut person = Person::new(opened.commands.clone(), form, start.has_person);
        person.tell(prompt(task)).await;
        loop {
            let event = tokio::select! {
                event = opened.events.recv() => event,
                command = person.next(streams) => {
                    person.tell(command).await;
                    continue;
                }
            };
            let Some(event) = event else {
                return Err("the session ended without saying how".to_owned());
            };
            person.look(&event, streams);
            printer.print(&event, start, streams).map_err(unwritten)?;
            if let Event::Idle(end) = event {
                person.tell(Command::Close).await;
                while !matches!(opened.events.recv().await, None | Some(Event::Closed)) {}
                printer.end(&opened.id, &end, streams).map_err(unwritten)?;
                return Ok(end);
            }
        }
    }
}

fn prompt(text: String) -> Command {
    Command::Prompt(Prompt {
        text,
        images: Vec::new(),
    })
}

/// A fresh copy of the demo model's sample project, in a folder of our own.
pub(crate) fn sample(files: &dyn Files, dirs: &Dirs) -> Result<AbsPath, String> {
    let mut number = 1;
    let folder = loop {
        let folder = dirs.state.join(format!("demo/{number}"));
        match files.exists(&folder) {
            true => number += 1,
            false => break folder,
        }
    };
    let sentence = |error: host::Error| error.to_string();
    for (path, text) in mockllm::demo::SAMPLE {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            files.create_folder(&parent).map_err(sentence)?;
        }
        files
            .write_private(&path, text.as_bytes())
            .map_err(sentence)?;
    }
    files.canonicalize(&folder).map_err(sentence)
}

/// How a turn's end is told to whoever started the program.
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

/// The records that were told so far.
type Records = Vec<Stored>;

#[cfg(test)]
mod tests;
