//! `write_stdin`: writes to background commands and reads their output.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};

use crate::outcome::CallOutcome;
use crate::tool::{LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

use super::super::arguments::CallArguments;
use super::super::state::ToolState;
use super::super::terminal::CommandTerminal;
use super::super::{ToolOptions, invalid, of, spec, unexpected};
use super::{LONGEST, WaitOutcome, command_result, finished, still_running, terminate, watch};

/// Time to wait for output after input, in milliseconds.
const YIELD_TYPED: u64 = 1000;

/// The answer while the user has the command.
const TAKEN_OVER: &str = "The user has taken over this terminal; wait until it is given back: call this without `chars`.";

/// The tool that writes to running commands and reads their output.
pub(in super::super) struct WriteStdinTool {
    pub(in super::super) options: Arc<ToolOptions>,
}

impl Tool for WriteStdinTool {
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

    fn access(&self, call: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let typed = TypedInput::read(call)?;
        let what = match (typed.is_stop, typed.chars.is_empty()) {
            (true, _) => "end",
            (false, true) => "hear",
            (false, false) => "type into",
        };
        let writes = if typed.chars.is_empty() || typed.is_stop {
            Vec::new()
        } else {
            vec![LockScope::Tree(String::new())]
        };
        let own = LockScope::Own(format!("terminal {}", typed.number));
        Ok(ToolAccess {
            writes: writes.into_iter().chain([own]).collect(),
            title: format!("{what} terminal {}", typed.number),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.try_run(call, context).await {
                Ok(answer) | Err(answer) => answer,
            }
        })
    }
}

/// The parsed arguments of a `write_stdin` call.
struct TypedInput {
    number: u64,
    chars: String,
    wait: Duration,
    tokens: Option<u64>,
    is_stop: bool,
}

impl TypedInput {
    /// Parses the arguments of a call. Fails with the result of the call if one is invalid or
    /// `terminal` is missing. The wait is at most `LONGEST`.
    fn read(call: &ToolCall) -> Result<Self, ToolResult> {
        let arguments = CallArguments::of(call)?;
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

impl WriteStdinTool {
    /// Types into the terminal or stops its command, then waits for its end or the requested time,
    /// and returns the output since the last result. `Err` is the result of a call with invalid
    /// arguments, an unknown terminal or input that is not taken.
    async fn try_run(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolResult> {
        let typed = TypedInput::read(call)?;
        let state = self.options.states.of(context);
        let Some(terminal) = state.terminal(typed.number) else {
            return Err(no_terminal(&state, typed.number));
        };
        if terminal.is_taken() && (typed.is_stop || !typed.chars.is_empty()) {
            return Err(unexpected(TAKEN_OVER));
        }
        if typed.is_stop {
            terminate(&terminal).await;
            state.let_go(typed.number);
            let ended = terminal.wait().await;
            return Ok(finished(context, &terminal, typed.tokens, ended));
        }
        if terminal.exit().is_none() {
            type_into(&terminal, &typed)?;
        }
        match watch(context, &terminal, typed.wait, None).await {
            WaitOutcome::Ended(ended) => {
                terminal.mark_reported();
                state.let_go(typed.number);
                Ok(finished(context, &terminal, typed.tokens, ended))
            }
            // The command continues: only the wait was stopped.
            WaitOutcome::Stopped => {
                let line = format!(
                    "waiting for terminal {} was stopped; the command continues",
                    typed.number
                );
                Ok(command_result(
                    context,
                    &terminal,
                    typed.tokens,
                    CallOutcome::UserAborted,
                    None,
                    &line,
                ))
            }
            WaitOutcome::Yielded | WaitOutcome::Late => Ok(still_running(
                context,
                &terminal,
                typed.number,
                typed.tokens,
                false,
            )),
        }
    }
}

/// Writes `typed.chars` to the command; nothing if empty. A command without a terminal takes only
/// Ctrl-C (`\u{3}`), which interrupts it. Fails with the result of the call if the input is not
/// taken.
fn type_into(terminal: &CommandTerminal, typed: &TypedInput) -> Result<(), ToolResult> {
    if typed.chars.is_empty() {
        return Ok(());
    }
    if terminal.has_screen() {
        return if terminal.write(&typed.chars) {
            Ok(())
        } else {
            Err(unexpected(format!(
                "Terminal {} does not take any more input now; wait for its output first.",
                typed.number
            )))
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

fn no_terminal(state: &ToolState, number: u64) -> ToolResult {
    let numbers: Vec<String> = state.terminals().iter().map(u64::to_string).collect();
    let others = if numbers.is_empty() {
        "no command is running: start one with exec_command".to_owned()
    } else {
        format!("running are {}", numbers.join(", "))
    };
    unexpected(format!(
        "There is no terminal {number}: its command ended and was reported, or it never ran; {others}."
    ))
}
