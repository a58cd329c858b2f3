//! The terminal UI for an external agent: permissions, elicitation, cancellation.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use agent::user_prompts::{UserPrompts, UserQuestion};
use base::{LineFeeds, printable};
use connect::acp::host::HostedAgentCommand;
use connect::acp::protocol::{
    CallContent, CallUpdate, Filled, PermissionChoice, PermissionChoiceKind,
};
use connect::mcp;
use runtime::form;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use crate::questions::{self, Questions};
use crate::run::show::OutputFormat;
use crate::run::terminal_ui::{Interrupt, listen};
use crate::{Streams, print_notice};

/// Questions and answered forms that may wait.
const WAITING: usize = 16;

/// Answers an external agent's requests from the input.
pub(super) struct HostedTerminalUi {
    name: String,
    commands: mpsc::Sender<HostedAgentCommand>,
    form: OutputFormat,
    allows_all: bool,
    /// Whether a user can answer.
    has_user: bool,
    lines: Option<mpsc::Receiver<String>>,
    /// Whether the input has ended, so that no answer can arrive.
    input_ended: bool,
    interrupt: Interrupt,
    prompts: UserPrompts,
    questions: mpsc::Receiver<(UserQuestion, oneshot::Sender<Option<String>>)>,
    filled: mpsc::Receiver<HostedAgentCommand>,
    fills: mpsc::Sender<HostedAgentCommand>,
    /// Unanswered prompts; only approvals if a program drives the input.
    open: Questions<PendingPrompt>,
    /// Questions that the program at the input must answer, by number.
    asked: BTreeMap<u64, oneshot::Sender<Option<String>>>,
    last: u64,
}

enum PendingPrompt {
    Leave(u64, Vec<PermissionChoice>),
    Question(oneshot::Sender<Option<String>>),
}

/// A command as a line of JSON.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum HostedJsonCommand {
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

impl HostedTerminalUi {
    pub(super) fn new(
        name: &str,
        commands: mpsc::Sender<HostedAgentCommand>,
        form: OutputFormat,
        allows_all: bool,
    ) -> Self {
        let is_there = form == OutputFormat::Json || std::io::stdin().is_terminal();
        let (asks, questions) = mpsc::channel(WAITING);
        let (fills, filled) = mpsc::channel(WAITING);
        let prompts = UserPrompts::new(move |question| {
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
            has_user: is_there,
            lines: is_there.then(listen),
            input_ended: false,
            interrupt: Interrupt::new(),
            prompts: if is_there && !allows_all {
                prompts
            } else {
                UserPrompts::empty()
            },
            questions,
            filled,
            fills,
            open: Questions::new(),
            asked: BTreeMap::new(),
            last: 0,
        }
    }

    pub(super) async fn send(&self, command: HostedAgentCommand) {
        // The last event of an agent reports its end.
        self.commands.send(command).await.ok();
    }

    /// Waits for the next command of the user.
    pub(super) async fn next(&mut self, streams: &mut Streams<'_>) -> HostedAgentCommand {
        loop {
            if self.input_ended
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
                        self.input_ended = true;
                    }
                    Some(line) => if let Some(command) = self.parse_input(&line, streams) {
                        return command;
                    },
                },
                Some((question, answer)) = self.questions.recv() => {
                    self.ask_question(question, answer, streams);
                }
                Some(command) = self.filled.recv() => return command,
                () = self.interrupt.wait() => return HostedAgentCommand::Stop,
            }
        }
    }

    /// Refuses open requests after the end of the input, because the run would wait for ever.
    fn refuse(&mut self) -> Option<HostedAgentCommand> {
        // Dropping a question's sender declines the question.
        self.asked.clear();
        loop {
            if let PendingPrompt::Leave(number, choices) = self.open.pop()? {
                let choice = choice("n", &choices);
                return Some(HostedAgentCommand::Decide { number, choice });
            }
        }
    }

    /// Parses a line of the input.
    fn parse_input(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<HostedAgentCommand> {
        if self.form == OutputFormat::Json {
            return match serde_json::from_str(line).ok()? {
                HostedJsonCommand::Decide { number, choice } => {
                    self.open.retain(
                        |open| !matches!(open, PendingPrompt::Leave(known, _) if *known == number),
                        &mut std::io::sink(),
                    );
                    Some(HostedAgentCommand::Decide { number, choice })
                }
                HostedJsonCommand::Stop => Some(HostedAgentCommand::Stop),
                HostedJsonCommand::Reply { question, text } => {
                    // The receiver may be gone meanwhile.
                    self.asked.remove(&question)?.send(text).ok();
                    None
                }
            };
        }
        let line = line.trim();
        match self.open.answer(line, streams.errors)? {
            PendingPrompt::Leave(number, choices) => Some(HostedAgentCommand::Decide {
                number,
                choice: choice(line, &choices),
            }),
            PendingPrompt::Question(answer) => {
                answer
                    .send((!line.is_empty()).then(|| line.to_owned()))
                    .ok();
                None
            }
        }
    }

    /// Asks the user or the driving program a question.
    fn ask_question(
        &mut self,
        question: UserQuestion,
        answer: oneshot::Sender<Option<String>>,
        streams: &mut Streams<'_>,
    ) {
        match self.form {
            OutputFormat::Json => {
                self.last += 1;
                let number = self.last;
                self.asked.insert(number, answer);
                let line = json!({
                    "event": "asking", "question": number, "text": question.text, "options": question.options
                });
                // A program that stopped reading does not answer either.
                writeln!(streams.output, "{line}").ok();
                streams.output.flush().ok();
            }
            OutputFormat::Text => {
                let options = if question.options.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", question.options.join(", "))
                };
                let text = format!("{}{options}: ", question.text);
                let question = questions::TerminalQuestion::free_text(&text);
                self.open
                    .ask(PendingPrompt::Question(answer), question, streams.errors);
            }
        }
    }

    /// Asks for permission, or gives the automatic answer.
    pub(super) async fn ask_permission(
        &mut self,
        number: u64,
        call: &CallUpdate,
        choices: Vec<PermissionChoice>,
        streams: &mut Streams<'_>,
    ) {
        let title = title(call);
        if self.allows_all {
            let choice = choice("y", &choices);
            return self
                .send(HostedAgentCommand::Decide { number, choice })
                .await;
        }
        if !self.has_user {
            let text = format!(
                "{} requested permission: {title}. No user is attached; --yes allows everything",
                self.name
            );
            print_notice(streams, &text);
            let choice = choice("n", &choices);
            return self
                .send(HostedAgentCommand::Decide { number, choice })
                .await;
        }
        if self.form == OutputFormat::Text {
            let always = choices
                .iter()
                .any(|it| it.kind == PermissionChoiceKind::AllowAlways);
            let always = if always { ", [a]lways" } else { "" };
            let prompt = format!("  Allow? [y]es{always}, [n]o: ");
            let question = questions::TerminalQuestion::approval(&details(call), prompt);
            let open = PendingPrompt::Leave(number, choices);
            return self.open.ask(open, question, streams.errors);
        }
        // A driving program reads the event itself.
        let question = questions::TerminalQuestion::free_text("");
        let open = PendingPrompt::Leave(number, choices);
        self.open.ask(open, question, &mut std::io::sink());
    }

    /// Fills in a form in a background task.
    pub(super) fn fill(&self, number: u64, form: mcp::ElicitationForm) {
        let (prompts, fills, name) = (self.prompts.clone(), self.fills.clone(), self.name.clone());
        tokio::spawn(async move {
            let filled = form::fill(&prompts, &name, &form).await;
            fills
                .send(HostedAgentCommand::Fill { number, filled })
                .await
                .ok();
        });
    }

    /// Asks the user to open a page in a background task.
    pub(super) fn open(&self, number: u64, url: String, why: String) {
        let (prompts, fills, name) = (self.prompts.clone(), self.fills.clone(), self.name.clone());
        tokio::spawn(async move {
            let filled = if form::open(&prompts, &name, &url, &why).await {
                Filled::Accepted(serde_json::Map::new())
            } else {
                Filled::Declined
            };
            fills
                .send(HostedAgentCommand::Fill { number, filled })
                .await
                .ok();
        });
    }
}

/// Returns a call's title, its input, and its planned changes.
fn details(call: &CallUpdate) -> String {
    let mut text = title(call);
    if let Some(input) = &call.input {
        text.push_str(&agent::permission::arguments(input));
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

/// Returns the id of the choice that a line at the terminal selects. An empty line means no. `None` if there is no
/// such choice; then the question is cancelled.
pub(super) fn choice(line: &str, choices: &[PermissionChoice]) -> Option<String> {
    use PermissionChoiceKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let kinds = match line.to_lowercase().as_str() {
        "y" | "yes" => [AllowOnce, AllowAlways],
        "a" | "always" => [AllowAlways, AllowOnce],
        _ => [RejectOnce, RejectAlways],
    };
    let of = |kind: &PermissionChoiceKind| choices.iter().find(|choice| choice.kind == *kind);
    kinds.iter().find_map(of).map(|choice| choice.id.clone())
}
