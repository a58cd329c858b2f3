//! The person beside an agent of others: leave, forms, pages, and the wish to stop.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use agent::ask::{Desk, Question};
use base::{LineFeeds, printable};
use connect::acp::host::Command;
use connect::acp::words::{CallContent, CallUpdate, Filled, LeaveChoice, LeaveKind};
use connect::mcp;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::form;
use crate::questions::{self, Questions};
use crate::run::person::{Interrupt, listen};
use crate::run::show::Form;
use crate::{Streams, tell};

/// Questions and answered forms that may wait.
const WAITING: usize = 16;

/// Answers what an agent asks.
pub(super) struct Person {
    name: String,
    commands: mpsc::Sender<Command>,
    form: Form,
    allows_all: bool,
    /// Whether somebody can be asked.
    is_there: bool,
    lines: Option<mpsc::Receiver<String>>,
    /// The input has ended, so nobody answers any more.
    is_gone: bool,
    interrupt: Interrupt,
    desk: Desk,
    questions: mpsc::Receiver<(Question, oneshot::Sender<Option<String>>)>,
    filled: mpsc::Receiver<Command>,
    fills: mpsc::Sender<Command>,
    /// What was asked and not answered; of a program only approvals.
    open: Questions<Open>,
    /// What was asked of a program in the person's place.
    asked: BTreeMap<u64, oneshot::Sender<Option<String>>>,
    last: u64,
}

enum Open {
    Leave(u64, Vec<LeaveChoice>),
    Question(oneshot::Sender<Option<String>>),
}

/// A command as a line of JSON.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// One of the choices, or none of them.
    Decide {
        number: u64,
        choice: Option<String>,
    },
    Reply {
        question: u64,
        text: Option<String>,
    },
    Stop,
}

impl Person {
    pub(super) fn new(
        name: &str,
        commands: mpsc::Sender<Command>,
        form: Form,
        allows_all: bool,
    ) -> Self {
        let is_there = form == Form::Json || std::io::stdin().is_terminal();
        let (asks, questions) = mpsc::channel(WAITING);
        let (fills, filled) = mpsc::channel(WAITING);
        let desk = Desk::new(move |question| {
            let asks = asks.clone();
            Box::pin(async move {
                let (answer, answered) = oneshot::channel();
                asks.send((question, answer)).await.ok()?;
                answered.await.ok().flatten()
            })
        });
        Self {
            name: name.to_owned(),
            commands,
            form,
            allows_all,
            is_there,
            lines: is_there.then(listen),
            is_gone: false,
            interrupt: Interrupt::new(),
            desk: match is_there && !allows_all {
                true => desk,
                false => Desk::empty(),
            },
            questions,
            filled,
            fills,
            open: Questions::new(),
            asked: BTreeMap::new(),
            last: 0,
        }
    }

    pub(super) async fn tell(&self, command: Command) {
        // An agent that is gone says so by its last event.
        self.commands.send(command).await.ok();
    }

    /// The next thing the person wants.
    pub(super) async fn next(&mut self, streams: &mut Streams<'_>) -> Command {
        loop {
            if self.is_gone
                && let Some(command) = self.refuse()
            {
                return command;
            }
            let line = async {
                match &mut self.lines {
                    Some(lines) => lines.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                line = line => match line {
                    None => {
                        self.lines = None;
                        self.is_gone = true;
                    }
                    Some(line) => if let Some(command) = self.heard(&line, streams) {
                        return command;
                    },
                },
                Some((question, answer)) = self.questions.recv() => {
                    self.put(question, answer, streams);
                }
                Some(command) = self.filled.recv() => return command,
                () = self.interrupt.wait() => return Command::Stop,
            }
        }
    }

    /// Refuses what was asked when the input has ended: the run would wait for ever.
    fn refuse(&mut self) -> Option<Command> {
        // A question whose answer is dropped has none.
        self.asked.clear();
        loop {
            if let Open::Leave(number, choices) = self.open.pop()? {
                let choice = choice("n", &choices);
                return Some(Command::Decide { number, choice });
            }
        }
    }

    /// What a line means.
    fn heard(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<Command> {
        if self.form == Form::Json {
            return match serde_json::from_str(line).ok()? {
                Line::Decide { number, choice } => {
                    self.open.retain(
                        |open| !matches!(open, Open::Leave(known, _) if *known == number),
                        &mut std::io::sink(),
                    );
                    Some(Command::Decide { number, choice })
                }
                Line::Stop => Some(Command::Stop),
                Line::Reply { question, text } => {
                    // Whoever asked may have gone meanwhile.
                    self.asked.remove(&question)?.send(text).ok();
                    None
                }
            };
        }
        let line = line.trim();
        match self.open.answer(line, streams.errors)? {
            Open::Leave(number, choices) => Some(Command::Decide {
                number,
                choice: choice(line, &choices),
            }),
            Open::Question(answer) => {
                answer
                    .send((!line.is_empty()).then(|| line.to_owned()))
                    .ok();
                None
            }
        }
    }

    /// Puts a question to whoever is there.
    fn put(
        &mut self,
        question: Question,
        answer: oneshot::Sender<Option<String>>,
        streams: &mut Streams<'_>,
    ) {
        match self.form {
            Form::Json => {
                self.last += 1;
                let number = self.last;
                self.asked.insert(number, answer);
                let line = json!({
                    "event": "asking", "question": number, "text": question.text, "options": question.options
                });
                // Whoever does not read any more does not answer either.
                writeln!(streams.output, "{line}").ok();
                streams.output.flush().ok();
            }
            Form::Text => {
                let options = match question.options.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", question.options.join(", ")),
                };
                let text = format!("{}{options}: ", question.text);
                let question = questions::Question::words(&text);
                self.open
                    .ask(Open::Question(answer), question, streams.errors);
            }
        }
    }

    /// Asks for leave, or gives the answer that goes without asking.
    pub(super) async fn ask_leave(
        &mut self,
        number: u64,
        call: &CallUpdate,
        choices: Vec<LeaveChoice>,
        streams: &mut Streams<'_>,
    ) {
        let title = title(call);
        if self.allows_all {
            let choice = choice("y", &choices);
            return self.tell(Command::Decide { number, choice }).await;
        }
        if !self.is_there {
            let text = format!(
                "{} asked for leave: {title}. Nobody is there to give it; --yes allows everything",
                self.name
            );
            tell(streams, &text);
            let choice = choice("n", &choices);
            return self.tell(Command::Decide { number, choice }).await;
        }
        if self.form == Form::Text {
            let always = choices.iter().any(|it| it.kind == LeaveKind::AllowAlways);
            let always = if always { ", [a]lways" } else { "" };
            let prompt = format!("  Allow? [y]es{always}, [n]o: ");
            let question = questions::Question::approval(&details(call), prompt);
            let open = Open::Leave(number, choices);
            return self.open.ask(open, question, streams.errors);
        }
        // A program reads the event and shows what it likes.
        let question = questions::Question::words("");
        let open = Open::Leave(number, choices);
        self.open.ask(open, question, &mut std::io::sink());
    }

    /// Has a form filled in, beside everything else.
    pub(super) fn fill(&self, number: u64, form: mcp::Form) {
        let (desk, fills, name) = (self.desk.clone(), self.fills.clone(), self.name.clone());
        tokio::spawn(async move {
            let filled = form::fill(&desk, &name, &form).await;
            fills.send(Command::Fill { number, filled }).await.ok();
        });
    }

    /// Has a page looked at, beside everything else.
    pub(super) fn open(&self, number: u64, url: String, why: String) {
        let (desk, fills, name) = (self.desk.clone(), self.fills.clone(), self.name.clone());
        tokio::spawn(async move {
            let filled = match form::open(&desk, &name, &url, &why).await {
                true => Filled::Accepted(serde_json::Map::new()),
                false => Filled::Declined,
            };
            fills.send(Command::Fill { number, filled }).await.ok();
        });
    }
}

/// Everything that is told of a call: its title, what it was given, and what it is about to change.
fn details(call: &CallUpdate) -> String {
    let mut text = title(call);
    if let Some(input) = &call.input {
        text.push_str(&agent::leave::arguments(input));
    }
    for content in call.content.iter().flatten() {
        match content {
            CallContent::Piece(piece) => text.push_str(&format!("\n{}", piece.text())),
            CallContent::Diff { path, old, new } => {
                text.push_str(&format!("\n{}", path.display()));
                let rows = |sign, text: &str| -> String {
                    text.lines().map(|line| format!("\n{sign}{line}")).collect()
                };
                text.push_str(&rows('-', old.as_deref().unwrap_or_default()));
                text.push_str(&rows('+', new));
            }
            CallContent::Terminal(_) => {}
        }
    }
    text
}

fn title(call: &CallUpdate) -> String {
    let title = call.title.as_deref().unwrap_or("something without a title");
    printable(title, LineFeeds::Escape).into_owned()
}

/// The choice that a line at the terminal means. Nothing is no; where there is no such choice, the question is taken
/// back.
pub(super) fn choice(line: &str, choices: &[LeaveChoice]) -> Option<String> {
    use LeaveKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let kinds = match line.to_lowercase().as_str() {
        "y" | "yes" => [AllowOnce, AllowAlways],
        "a" | "always" => [AllowAlways, AllowOnce],
        _ => [RejectOnce, RejectAlways],
    };
    let of = |kind: &LeaveKind| choices.iter().find(|choice| choice.kind == *kind);
    kinds.iter().find_map(of).map(|choice| choice.id.clone())
}
