//! `write_stdin`: typing into commands that run beside the session, and hearing what they print.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};

use crate::outcome::Outcome;
use crate::tool::{Access, Answer, Call, Scope, Tool, ToolClass, ToolContext};

use super::super::arguments::Arguments;
use super::super::rooms::Room;
use super::super::terminal::Terminal;
use super::super::{Options, invalid, of, spec, unexpected};
use super::{LONGEST, Over, end, finished, still_running, told, watch};

/// How long to wait for output after something was typed.
const YIELD_TYPED: u64 = 1000;

/// Types into commands that run, and hears what they print.
pub(in super::super) struct WriteStdin {
    options: Arc<Options>,
}

impl WriteStdin {
    pub(in super::super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

impl Tool for WriteStdin {
    fn name(&self) -> &str {
        "write_stdin"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Types into a command that is still running as a terminal, and answers with what it printed since. Without `chars` it only waits. \\u0003 in `chars` interrupts it.";
        Some(spec(
            "write_stdin",
            profile,
            description,
            1,
            &[
                ("terminal", of("integer", "The terminal's number")),
                ("chars", of("string", "What to type; end a line with \\n")),
                (
                    "yield_time_ms",
                    of(
                        "integer",
                        "How long to wait for more output or its end; 1000 if left out",
                    ),
                ),
                (
                    "max_output_tokens",
                    of("integer", "How much of the output to show"),
                ),
                ("stop", of("boolean", "End the command and all it started")),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        let typed = Typed::read(call)?;
        let what = match (typed.is_stop, typed.chars.is_empty()) {
            (true, _) => "end",
            (false, true) => "hear",
            (false, false) => "type into",
        };
        let writes = match typed.chars.is_empty() || typed.is_stop {
            true => Vec::new(),
            false => vec![Scope::Tree(String::new())],
        };
        let own = Scope::Own(format!("terminal {}", typed.number));
        Ok(Access {
            writes: writes.into_iter().chain([own]).collect(),
            title: format!("{what} terminal {}", typed.number),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self.try_run(call, context).await {
                Ok(answer) | Err(answer) => answer,
            }
        })
    }
}

/// What a call of `write_stdin` asks for.
struct Typed {
    number: u64,
    chars: String,
    wait: Duration,
    tokens: Option<u64>,
    is_stop: bool,
}

impl Typed {
    fn read(call: &Call) -> Result<Self, Answer> {
        let arguments = Arguments::of(call)?;
        let number = arguments.number("terminal")?;
        let wait = arguments.number("yield_time_ms")?.unwrap_or(YIELD_TYPED);
        Ok(Self {
            number: number.ok_or_else(|| arguments.missing("terminal"))?,
            chars: arguments.text("chars")?.unwrap_or_default().to_owned(),
            wait: Duration::from_millis(wait.min(LONGEST)),
            tokens: arguments.number("max_output_tokens")?,
            is_stop: arguments.flag("stop")?,
        })
    }
}

impl WriteStdin {
    async fn try_run(&self, call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
        let typed = Typed::read(call)?;
        let room = self.options.rooms.of(context);
        let Some(terminal) = room.terminal(typed.number) else {
            return Err(no_terminal(&room, typed.number));
        };
        if typed.is_stop {
            end(&terminal).await;
            room.let_go(typed.number);
            let ended = terminal.wait().await;
            return Ok(finished(context, &terminal, typed.tokens, ended));
        }
        if terminal.end().is_none() {
            type_into(&terminal, &typed)?;
        }
        match watch(context, &terminal, typed.wait, None).await {
            Over::Ended(ended) => {
                terminal.tell();
                room.let_go(typed.number);
                Ok(finished(context, &terminal, typed.tokens, ended))
            }
            // The command goes on: it was the wait that was stopped.
            Over::Stopped => {
                let line = format!(
                    "waiting for terminal {} was stopped; the command goes on",
                    typed.number
                );
                Ok(told(
                    context,
                    &terminal,
                    typed.tokens,
                    Outcome::UserAborted,
                    None,
                    &line,
                ))
            }
            Over::Yielded | Over::Late => Ok(still_running(
                context,
                &terminal,
                typed.number,
                typed.tokens,
                false,
            )),
        }
    }
}

fn type_into(terminal: &Terminal, typed: &Typed) -> Result<(), Answer> {
    if typed.chars.is_empty() {
        return Ok(());
    }
    if terminal.has_screen() {
        return match terminal.write(&typed.chars) {
            true => Ok(()),
            false => Err(unexpected(format!(
                "Terminal {} does not take any more input now; wait for its output first.",
                typed.number
            ))),
        };
    }
    if typed.chars == "\u{3}" {
        terminal.interrupt();
        return Ok(());
    }
    Err(invalid(format!(
        "write_stdin: the command of terminal {} has no input; start it again with `tty` to type into it",
        typed.number
    )))
}

fn no_terminal(room: &Room, number: u64) -> Answer {
    let numbers: Vec<String> = room.terminals().iter().map(u64::to_string).collect();
    let others = match numbers.is_empty() {
        true => "no command is running: start one with exec_command".to_owned(),
        false => format!("running are {}", numbers.join(", ")),
    };
    unexpected(format!(
        "There is no terminal {number}: its command is over and was told of, or it never was; {others}."
    ))
}
