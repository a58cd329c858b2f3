//! The person at the terminal, or a program that speaks JSON in their place.

use std::io::BufRead;
use std::sync::Arc;

use agent::ask::{Decision, rules_in_words};
use agent::record::Record;
use agent::session::{Command, Event, Prompt};
use base::{LineFeeds, LogErr, printable};
use serde::Deserialize;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::show::Form;
use crate::Streams;
use crate::questions::{Question, Questions};

/// Lines of the input that may wait; who types faster waits.
const LINES: usize = 16;

/// Answers what the session asks.
pub(super) struct Person {
    commands: mpsc::Sender<Command>,
    form: Form,
    is_there: bool,
    questions: Questions<Open>,
    lines: Option<mpsc::Receiver<String>>,
    /// The input has ended, so nobody answers any more.
    is_gone: bool,
    interrupt: Interrupt,
}

/// Something that waits for an answer: a call or a question, by the subagents it came through.
struct Open {
    through: Vec<Arc<str>>,
    what: Asked,
}

#[derive(Clone)]
enum Asked {
    Leave(String),
    Question(u64),
}

/// A command as a line of JSON.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Prompt { text: String },
    Steer { text: String },
    Decide { call: String, decision: Decision },
    Reply { question: u64, text: Option<String> },
    Stop,
}

impl Person {
    pub(super) fn new(commands: mpsc::Sender<Command>, form: Form, is_there: bool) -> Self {
        let is_heard = form == Form::Json || is_there;
        Self {
            commands,
            form,
            is_there,
            questions: Questions::new(),
            lines: is_heard.then(listen),
            is_gone: false,
            interrupt: Interrupt::new(),
        }
    }

    pub(super) async fn tell(&self, command: Command) {
        // A session that has ended says so by its last event.
        self.commands.send(command).await.ok();
    }

    /// The next thing the person wants.
    pub(super) async fn next(&mut self, streams: &mut Streams<'_>) -> Command {
        loop {
            // What is asked when the input has ended is refused: the run would wait for ever.
            if self.is_gone
                && let Some(open) = self.questions.pop()
            {
                return command_of(open, "");
            }
            let line = async {
                match &mut self.lines {
                    Some(lines) => lines.recv().await,
                    None => std::future::pending().await,
                }
            };
            let line = tokio::select! {
                line = line => line,
                () = self.interrupt.wait() => return Command::Stop,
            };
            match line {
                None => {
                    self.lines = None;
                    self.is_gone = true;
                }
                Some(line) => {
                    let command = match self.form {
                        Form::Json => {
                            let command = read(&line);
                            command.iter().for_each(|command| self.forget(command));
                            command
                        }
                        Form::Text => self.answer(line.trim(), streams),
                    };
                    if let Some(command) = command {
                        return command;
                    }
                }
            }
        }
    }

    /// Notices what is asked, and asks it in words.
    pub(super) fn look(&mut self, event: &Event, streams: &mut Streams<'_>) {
        self.look_through(event, Vec::new(), streams);
    }

    fn look_through(
        &mut self,
        event: &Event,
        mut through: Vec<Arc<str>>,
        streams: &mut Streams<'_>,
    ) {
        let (what, question) = match event {
            Event::Child { session, event } => {
                through.push(session.clone());
                return self.look_through(event, through, streams);
            }
            Event::Recorded(stored) => match &stored.record {
                Record::LeaveAsked {
                    call,
                    title,
                    details,
                    reason,
                    rules,
                } => (
                    Asked::Leave(call.clone()),
                    approval("", (title, details), reason, rules),
                ),
                Record::CallEnded { call, .. } => {
                    // Whoever else decided, or stopped it, did it for the person.
                    return self.questions.retain(
                        |open| !matches!(&open.what, Asked::Leave(it) if it == call),
                        streams.errors,
                    );
                }
                _ => return,
            },
            Event::Idle(_) => {
                // What nobody answered is asked no more.
                if self.questions.clear() && self.form == Form::Text && self.is_there {
                    streams.errors.write_all(b"\n").ok();
                }
                return;
            }
            Event::Asking { number, question } => {
                let options = match question.options.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", question.options.join(", ")),
                };
                let text = format!("{}{options}: ", question.text);
                (Asked::Question(*number), Question::words(&text))
            }
            _ => return,
        };
        let open = Open { through, what };
        match self.form == Form::Text && self.is_there {
            true => self.questions.ask(open, question, streams.errors),
            // A program reads the event and shows what it likes.
            false => self.questions.ask(open, question, &mut std::io::sink()),
        }
    }

    /// Takes note that a command of the input answers something.
    fn forget(&mut self, command: &Command) {
        let is_open = |open: &Open| match (command, &open.what) {
            (Command::Decide { call, .. }, Asked::Leave(known)) => call != known,
            (Command::Reply { question, .. }, Asked::Question(known)) => question != known,
            _ => true,
        };
        self.questions.retain(is_open, &mut std::io::sink());
    }

    /// What a line of the terminal answers.
    fn answer(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<Command> {
        let open = self.questions.answer(line, streams.errors)?;
        Some(command_of(open, line))
    }
}

/// The command that a line means as the answer to what is open; an empty line refuses.
fn command_of(open: Open, line: &str) -> Command {
    let command = match open.what {
        Asked::Question(question) => Command::Reply {
            question,
            text: (!line.is_empty()).then(|| line.to_owned()),
        },
        Asked::Leave(call) => Command::Decide {
            call,
            decision: decision(line),
        },
    };
    through(open.through, command)
}

/// The question whether a call may run. `who` is put before it, and empty where only one agent works. `details` is what
/// is approved; `rules` are what an answer for more than once keeps.
pub(crate) fn approval(
    who: &str,
    (title, details): (&str, &str),
    reason: &str,
    rules: &[String],
) -> Question {
    let details = match details.is_empty() {
        true => title,
        false => details,
    };
    let reason = printable(reason, LineFeeds::Escape);
    let prompt = format!("{who}  {reason}. {}", answers(rules));
    Question::approval(details, prompt)
}

/// The answers that a question for approval takes; `rules` are what an answer for more than once keeps.
pub(super) fn answers(rules: &[String]) -> String {
    let keep = match rules.is_empty() {
        true => String::new(),
        false => format!(
            "; or keep the rule {} for this [s]ession, [a]lways in this project, or [e]verywhere",
            printable(&rules_in_words(rules), LineFeeds::Escape)
        ),
    };
    format!("Allow? [y]es, [n]o, or say what to do instead{keep}: ")
}

/// The words for a decision. Nothing is no.
pub(crate) fn decision(line: &str) -> Decision {
    match line.to_lowercase().as_str() {
        "y" | "yes" => Decision::Once,
        "s" | "session" => Decision::Session,
        "a" | "always" => Decision::Always,
        "e" | "everywhere" => Decision::Everywhere,
        "" | "n" | "no" => Decision::Refuse { instead: None },
        _ => Decision::Refuse {
            instead: Some(line.to_owned()),
        },
    }
}

/// The command for a subagent, by way of all who stand above it.
pub(crate) fn through(sessions: Vec<Arc<str>>, command: Command) -> Command {
    sessions
        .into_iter()
        .rev()
        .fold(command, |command, session| Command::Child {
            session: session.as_ref().to_owned(),
            command: Box::new(command),
        })
}

/// A command in JSON; a line that is none is passed over.
fn read(line: &str) -> Option<Command> {
    let prompt = |text| Prompt {
        text,
        images: Vec::new(),
    };
    Some(match serde_json::from_str(line).ok()? {
        Line::Prompt { text } => Command::Prompt(prompt(text)),
        Line::Steer { text } => Command::Steer(prompt(text)),
        Line::Decide { call, decision } => Command::Decide { call, decision },
        Line::Reply { question, text } => Command::Reply { question, text },
        Line::Stop => Command::Stop,
    })
}

/// The first Ctrl-C. What is pressed while nobody waits is not lost.
pub(crate) struct Interrupt(Option<Signal>);

impl Interrupt {
    pub(crate) fn new() -> Self {
        // Where there are no signals there is no Ctrl-C either.
        Self(signal(SignalKind::interrupt()).log_err())
    }

    /// Waits for it; for ever once it came.
    pub(crate) async fn wait(&mut self) {
        let came = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        self.0 = None;
        if came.is_none() {
            std::future::pending().await
        }
    }
}

/// Reads lines on a thread of its own, since a read of the terminal cannot be given up.
pub(crate) fn listen() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else {
                return;
            };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
