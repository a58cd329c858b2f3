//! The user at the terminal, or a program that sends JSON.

use std::io::BufRead;
use std::sync::Arc;

use agent::record::SessionRecord;
use agent::session::{AgentEvent, SessionCommand, UserPrompt};
use agent::user_prompts::{PermissionDecision, join_rules};
use base::{LineFeeds, LogErr, printable};
use runtime::live_sessions::through_subagents;
use serde::Deserialize;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::show::OutputFormat;
use crate::Streams;
use crate::questions::{Questions, TerminalQuestion};

/// The maximum number of queued input lines; a full queue blocks the reader.
const LINES: usize = 16;

/// Answers the session's questions from the input.
pub(super) struct TerminalUi {
    commands: mpsc::Sender<SessionCommand>,
    form: OutputFormat,
    has_user: bool,
    questions: Questions<OpenPrompt>,
    lines: Option<mpsc::Receiver<String>>,
    /// Whether the input has ended, so that no answer can arrive.
    input_ended: bool,
    interrupt: Interrupt,
}

/// An open call or question, with the subagents it came through.
struct OpenPrompt {
    through: Vec<Arc<str>>,
    target: PromptTarget,
}

#[derive(Clone)]
enum PromptTarget {
    Leave(String),
    Question(u64),
}

/// A command as a line of JSON.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum JsonInput {
    Prompt {
        text: String,
    },
    Steer {
        text: String,
    },
    Decide {
        call: String,
        decision: PermissionDecision,
    },
    Reply {
        question: u64,
        text: Option<String>,
    },
    Stop,
}

impl TerminalUi {
    pub(super) fn new(
        commands: mpsc::Sender<SessionCommand>,
        form: OutputFormat,
        is_there: bool,
    ) -> Self {
        let is_heard = form == OutputFormat::Json || is_there;
        Self {
            commands,
            form,
            has_user: is_there,
            questions: Questions::new(),
            lines: is_heard.then(listen),
            input_ended: false,
            interrupt: Interrupt::new(),
        }
    }

    pub(super) async fn send(&self, command: SessionCommand) {
        // The last event of a session reports its end.
        self.commands.send(command).await.ok();
    }

    /// Waits for the next command of the user.
    pub(super) async fn next(&mut self, streams: &mut Streams<'_>) -> SessionCommand {
        loop {
            // A question after the end of the input is refused, because the run would wait for
            // ever.
            if self.input_ended
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
                () = self.interrupt.wait() => return SessionCommand::Stop,
            };
            match line {
                None => {
                    self.lines = None;
                    self.input_ended = true;
                }
                Some(line) => {
                    let command = match self.form {
                        OutputFormat::Json => {
                            let command = read(&line);
                            command.iter().for_each(|command| self.forget(command));
                            command
                        }
                        OutputFormat::Text => self.answer(line.trim(), streams),
                    };
                    if let Some(command) = command {
                        return command;
                    }
                }
            }
        }
    }

    /// Tracks a session's questions and prints them.
    pub(super) fn on_event(&mut self, event: &AgentEvent, streams: &mut Streams<'_>) {
        self.look_through(event, Vec::new(), streams);
    }

    fn look_through(
        &mut self,
        event: &AgentEvent,
        mut through: Vec<Arc<str>>,
        streams: &mut Streams<'_>,
    ) {
        let (what, question) = match event {
            AgentEvent::Child { session, event } => {
                through.push(session.clone());
                return self.look_through(event, through, streams);
            }
            AgentEvent::Recorded(stored) => match &stored.record {
                SessionRecord::LeaveAsked {
                    call,
                    title,
                    details,
                    reason,
                    rules,
                } => (
                    PromptTarget::Leave(call.clone()),
                    approval("", (title, details), reason, rules),
                ),
                SessionRecord::CallEnded { call, .. } => {
                    // The decision or the stop came from another source, on the user's behalf.
                    return self.questions.retain(
                        |open| !matches!(&open.target, PromptTarget::Leave(it) if it == call),
                        streams.errors,
                    );
                }
                _ => return,
            },
            AgentEvent::Idle(_) => {
                // Unanswered questions are dropped.
                if self.questions.clear() && self.form == OutputFormat::Text && self.has_user {
                    streams.errors.write_all(b"\n").ok();
                }
                return;
            }
            AgentEvent::Asking { number, question } => {
                let options = if question.options.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", question.options.join(", "))
                };
                let text = format!("{}{options}: ", question.text);
                (
                    PromptTarget::Question(*number),
                    TerminalQuestion::free_text(&text),
                )
            }
            _ => return,
        };
        let open = OpenPrompt {
            through,
            target: what,
        };
        if self.form == OutputFormat::Text && self.has_user {
            self.questions.ask(open, question, streams.errors)
        } else {
            // A driving program reads the event itself.
            self.questions.ask(open, question, &mut std::io::sink())
        }
    }

    /// Marks the question that an input command answers as answered.
    fn forget(&mut self, command: &SessionCommand) {
        let is_open = |open: &OpenPrompt| match (command, &open.target) {
            (SessionCommand::Decide { call, .. }, PromptTarget::Leave(known)) => call != known,
            (SessionCommand::Reply { question, .. }, PromptTarget::Question(known)) => {
                question != known
            }
            _ => true,
        };
        self.questions.retain(is_open, &mut std::io::sink());
    }

    /// Parses a terminal line as the answer to the open question.
    fn answer(&mut self, line: &str, streams: &mut Streams<'_>) -> Option<SessionCommand> {
        let open = self.questions.answer(line, streams.errors)?;
        Some(command_of(open, line))
    }
}

/// Returns the command for a line that answers an open question; an empty line refuses.
fn command_of(open: OpenPrompt, line: &str) -> SessionCommand {
    let command = match open.target {
        PromptTarget::Question(question) => SessionCommand::Reply {
            question,
            text: (!line.is_empty()).then(|| line.to_owned()),
        },
        PromptTarget::Leave(call) => SessionCommand::Decide {
            call,
            decision: decision(line),
        },
    };
    through_subagents(open.through, command)
}

/// Returns the question whether a call may run. `who` names the agent, and is empty if there is
/// only one. `details` is the text to approve; `rules` are the rules that a lasting answer saves.
pub(crate) fn approval(
    who: &str,
    (title, details): (&str, &str),
    reason: &str,
    rules: &[String],
) -> TerminalQuestion {
    let details = if details.is_empty() { title } else { details };
    let reason = printable(reason, LineFeeds::Escape);
    let prompt = format!("{who}  {reason}. {}", answers(rules));
    TerminalQuestion::approval(details, prompt)
}

/// Lists the answers to an approval; `rules` are the rules that a lasting answer saves.
pub(super) fn answers(rules: &[String]) -> String {
    let keep = if rules.is_empty() {
        String::new()
    } else {
        format!(
            "; or keep the rule {} for this [s]ession, [a]lways in this project, or [e]verywhere",
            printable(&join_rules(rules), LineFeeds::Escape)
        )
    };
    format!("Allow? [y]es, [n]o, or say what to do instead{keep}: ")
}

/// Returns the decision that a line means. An empty line refuses. Any unknown text refuses as well,
/// and becomes the instruction for the model.
pub(crate) fn decision(line: &str) -> PermissionDecision {
    match line.to_lowercase().as_str() {
        "y" | "yes" => PermissionDecision::Once,
        "s" | "session" => PermissionDecision::Session,
        "a" | "always" => PermissionDecision::Always,
        "e" | "everywhere" => PermissionDecision::Everywhere,
        "" | "n" | "no" => PermissionDecision::Refuse { instead: None },
        _ => PermissionDecision::Refuse {
            instead: Some(line.to_owned()),
        },
    }
}

/// A command in JSON; a line that is none is passed over.
fn read(line: &str) -> Option<SessionCommand> {
    let prompt = |text| UserPrompt {
        text,
        images: Vec::new(),
    };
    Some(match serde_json::from_str(line).ok()? {
        JsonInput::Prompt { text } => SessionCommand::Prompt(prompt(text)),
        JsonInput::Steer { text } => SessionCommand::Steer(prompt(text)),
        JsonInput::Decide { call, decision } => SessionCommand::Decide { call, decision },
        JsonInput::Reply { question, text } => SessionCommand::Reply { question, text },
        JsonInput::Stop => SessionCommand::Stop,
    })
}

/// Catches the first Ctrl-C and keeps it until `wait` is called.
pub(crate) struct Interrupt(Option<Signal>);

impl Interrupt {
    /// Begins to catch Ctrl-C, which no longer ends the program.
    pub(crate) fn new() -> Self {
        // Where there are no signals there is no Ctrl-C either.
        Self(signal(SignalKind::interrupt()).log_err())
    }

    /// Waits for the first signal. Every later call waits for ever, so that a second signal has no
    /// effect.
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

/// Reads lines of standard input on a thread of its own, because a read of the terminal cannot be
/// cancelled. The channel closes at the end of the input.
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
