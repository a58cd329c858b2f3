//! An agent of others at work on the command line: it is hosted, shown, asked for and stopped as one of ours.
//!
//! Nothing of it is written into our ledger: it keeps its sessions itself, and says whether it can go on with one.
//! Start at `Job::perform`.

mod changes;
mod person;
mod show;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use ::host::environment::{Recipient, Variable, named, variables};
use ::host::{Dirs, FileKind, Files, RealFiles};
use base::{AbsPath, LineFeeds, printable};
use connect::Variables;
use connect::acp::host::catalog::{self, AgentCommand};
use connect::acp::host::{self, Begin, Command, Event, SignIn, Start};
use connect::acp::words::{Piece, SignInMethod, TurnEnd};
use connect::mcp::{Approval, Approvals, Origin, ServerEntry};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::foreign::{self, Consents};
use crate::run::show::Form;
use crate::{Streams, tell, unwritten};
use changes::Changes;
use person::Person;
use show::Printer;

/// How long no change of a file must be heard before all are counted as heard.
const QUIET: Duration = Duration::from_millis(300);
/// How long an agent may take to leave; its host ends it before that.
const LEAVES: Duration = Duration::from_secs(10);

/// What an agent is to do.
pub(crate) struct Job<'a> {
    /// The id of a known one, or the path of a program.
    pub(crate) agent: &'a str,
    pub(crate) root: AbsPath,
    pub(crate) task: String,
    pub(crate) form: Form,
    /// Whether everything is allowed that it asks for.
    pub(crate) allows_all: bool,
    /// The session to go on with.
    pub(crate) resume: Option<&'a str>,
    /// How to sign in before anything else: `METHOD` or `METHOD={…}`.
    pub(crate) sign_in: Option<&'a str>,
}

/// A program that is an agent.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) command: AgentCommand,
    pub(crate) environment: Variables,
}

/// How a run with an agent went.
enum Went {
    Ended(TurnEnd),
    /// It was stopped before there was a turn.
    Stopped,
    /// It can go on with sessions, but not by telling them again.
    OnlyResumes,
}

/// The agent that is meant. Blocks on the disk.
pub(crate) fn find(name: &str, files: &dyn Files) -> Result<Program, String> {
    let mut environment = passed_on(variables(Recipient::Foreign));
    let known = catalog::known();
    if let Some(entry) = known.iter().find(|entry| entry.id == name) {
        let command = entry.find(files, &environment);
        let missing = || format!("{} is not here. {}", entry.name, entry.install);
        environment.extend(passed_on(named(&entry.keys)));
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
        _ => Err(format!("{path} is no program")),
    }
}

fn passed_on(variables: Vec<Variable>) -> Variables {
    let texts = variables.into_iter();
    texts
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

impl Job<'_> {
    /// Does it.
    pub(crate) async fn perform(
        &self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        dirs.create().map_err(|error| error.to_string())?;
        let program = find(self.agent, &RealFiles)?;
        if self.allows_all {
            let warning = format!("nothing is asked: {} does what it wants", program.name);
            tell(streams, &warning);
        }
        let (servers, problems) = servers(dirs, &self.root);
        problems.iter().for_each(|problem| tell(streams, problem));
        let begin = match self.resume {
            None => Begin::New,
            Some(id) => Begin::Load(id.to_owned()),
        };
        let start = self.start(&program, begin, servers.clone(), dirs)?;
        let went = match (
            self.follow(&program.name, start, streams).await?,
            self.resume,
        ) {
            (Went::OnlyResumes, Some(id)) => {
                let begin = Begin::Resume(id.to_owned());
                let start = self.start(&program, begin, servers, dirs)?;
                self.follow(&program.name, start, streams).await?
            }
            (went, _) => went,
        };
        Ok(match went {
            Went::Ended(end) => exit_code(&end),
            Went::Stopped => ExitCode::from(130),
            Went::OnlyResumes => ExitCode::FAILURE,
        })
    }

    fn start(
        &self,
        program: &Program,
        begin: Begin,
        servers: Vec<ServerEntry>,
        dirs: &Dirs,
    ) -> Result<Start, String> {
        let sign_in = self.sign_in.map(sign_in).transpose()?;
        // An agent that takes facts for a way to sign in wants to hear beforehand that we have such.
        let auth_meta = sign_in.iter().flat_map(|it| it.meta.keys());
        Ok(Start {
            name: program.name.clone(),
            program: program.command.program.clone(),
            arguments: program.command.arguments.clone(),
            environment: program.environment.clone(),
            root: self.root.clone(),
            begin,
            servers,
            auth_meta: auth_meta.map(|key| (key.clone(), true.into())).collect(),
            sign_in,
            has_terminals: true,
            files: Arc::new(RealFiles),
            ignore: Arc::new(|path, _| changes::is_passed_over(path)),
            recovery: dirs.recovery(),
        })
    }

    /// Has it work, and passes on what it tells until its turn ends.
    async fn follow(
        &self,
        name: &str,
        start: Start,
        streams: &mut Streams<'_>,
    ) -> Result<Went, String> {
        let mut changes = Changes::before(&self.root).await;
        let (commands, mut events) = host::start(start);
        let mut person = Person::new(name, commands.clone(), self.form, self.allows_all);
        let mut printer = Printer::new(self.form, name, &self.root);
        let (mut end, mut is_stopped) = (None, false);
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                // What was heard at the end comes soon or not at all.
                () = tokio::time::sleep(QUIET), if end.is_some() => break,
                command = person.next(streams) => {
                    is_stopped |= command == Command::Stop;
                    person.tell(command).await;
                    match is_stopped && !printer.has_begun() {
                        true => {
                            leave(&commands, &mut events).await;
                            return Ok(Went::Stopped);
                        }
                        false => continue,
                    }
                }
            };
            match event.unwrap_or(Event::Closed(None)) {
                Event::Hello(about) if self.resume.is_some() && !about.loads => {
                    leave(&commands, &mut events).await;
                    return match about.resumes {
                        true => Ok(Went::OnlyResumes),
                        false => Err(format!("{name} cannot go on with a session of before")),
                    };
                }
                Event::Began { session, .. } => {
                    printer.began(&session, streams).map_err(unwritten)?;
                    let task = Piece::Text(self.task.clone());
                    person.tell(Command::Prompt(vec![task])).await;
                }
                Event::NeedsSignIn { methods, why } if end.is_none() => {
                    leave(&commands, &mut events).await;
                    return Err(needs_sign_in(name, &methods, &why));
                }
                Event::Changed(paths) => changes.heard(paths),
                // One that did not stop was ended, which is what the person wanted.
                Event::TurnEnded(TurnEnd::Failed(_)) if is_stopped => end = Some(TurnEnd::Stopped),
                Event::TurnEnded(how) => end = Some(how),
                Event::Closed(why) => match &end {
                    Some(_) => break,
                    None => {
                        let why = why.unwrap_or_else(|| "it left".to_owned());
                        return Err(format!("{name}: {}", printable(&why, LineFeeds::Keep)));
                    }
                },
                Event::Asking {
                    number,
                    call,
                    choices,
                } => {
                    printer
                        .asking(number, &call, &choices, streams)
                        .map_err(unwritten)?;
                    let call = printer.whole(&call);
                    person.ask_leave(number, &call, choices, streams).await;
                }
                Event::Form { number, form } => person.fill(number, form),
                Event::Page { number, url, why } => person.open(number, url, why),
                event => printer.print(&event, streams).map_err(unwritten)?,
            }
        }
        leave(&commands, &mut events).await;
        let end = end.ok_or("its turn never ended")?;
        let changed = changes.after().await;
        printer
            .end(self.agent, &end, &changed, streams)
            .map_err(unwritten)?;
        Ok(Went::Ended(end))
    }
}

/// Lets an agent go.
async fn leave(commands: &mpsc::Sender<Command>, events: &mut mpsc::Receiver<Event>) {
    // One that is gone needs no word.
    commands.send(Command::Close).await.ok();
    let gone = async { while !matches!(events.recv().await, None | Some(Event::Closed(_))) {} };
    tokio::time::timeout(LEAVES, gone).await.ok();
}

/// The MCP servers that an agent is told of: those that our own sessions would use, too. Blocks on the disk.
fn servers(dirs: &Dirs, root: &AbsPath) -> (Vec<ServerEntry>, Vec<String>) {
    let (mut entries, problems) = foreign::gather(&RealFiles, dirs, root);
    let consents = Consents::new(Arc::new(RealFiles), &dirs.state);
    entries.retain(|entry| {
        let may = entry.origin == Origin::Person || consents.approval(entry) == Approval::Allowed;
        may && !entry.is_disabled && entry.reach.is_ok()
    });
    (entries, problems)
}

/// `METHOD`, or `METHOD={…}` with what the method needs to know.
fn sign_in(text: &str) -> Result<SignIn, String> {
    let (method, meta) = match text.split_once('=') {
        None => (text, Map::new()),
        Some((method, meta)) => match serde_json::from_str(meta) {
            Ok(Value::Object(meta)) => (method, meta),
            _ => return Err(format!("{meta} is no JSON object; write METHOD={{…}}")),
        },
    };
    Ok(SignIn {
        method: method.to_owned(),
        meta,
    })
}

fn needs_sign_in(name: &str, methods: &[SignInMethod], why: &str) -> String {
    let mut text = format!(
        "{name} wants you to sign in: {}",
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

/// How a turn's end is told to whoever started the program: as with our own agents.
fn exit_code(end: &TurnEnd) -> ExitCode {
    match end {
        TurnEnd::Done => ExitCode::SUCCESS,
        TurnEnd::Stopped => ExitCode::from(130),
        TurnEnd::Refused => ExitCode::FAILURE,
        TurnEnd::TooMany => ExitCode::from(4),
        TurnEnd::TooLong | TurnEnd::Failed(_) => ExitCode::from(97),
    }
}
