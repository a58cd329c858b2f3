//! `exec_command`: runs programs, with or without a terminal, to their end or in the background.
//!
//! `write_stdin` writes to running commands and reads their output; `run_tests` runs the commands of tests.

mod sandbox;
mod testing;
pub(super) mod variables;
mod write_stdin;

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use futures::future::BoxFuture;
use host::process::{ExitReport, LaunchRequest, ProcessExit, SandboxSpawner, TerminalSize};
use model::{Profile, ToolSpec};
use patch::edit::FileEdit;
use patch::format::EditFormat;
use serde_json::Value;

use crate::command_feed::NewCommand;
use crate::error::sentence;
use crate::outcome::{CallOutcome, Detail};
use crate::rules::is_read_only;
use crate::tool::{
    LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolDisplay, ToolResult,
};

use super::arguments::CallArguments;
use super::edit::{apply, edits};
use super::glob::folder;
use super::state::{MAX_TERMINALS, ToolState};
use super::terminal::{CommandTerminal, FeedOfCommand};
use super::truncate::{self, TruncatedText};
use super::{ToolOptions, blocking, invalid, of, spec, unexpected};

use sandbox::RunMode;

pub(super) use testing::RunTestsTool;
pub(super) use write_stdin::WriteStdinTool;

/// Time to wait for a command before it continues in the background, in milliseconds.
const YIELD: u64 = 30_000;
/// The same for a command started in the background: long enough to see an immediate failure.
const YIELD_BACKGROUND: u64 = 1000;
/// Maximum wait in one call, in milliseconds.
const LONGEST: u64 = 600_000;
/// Time a stopped command has to end before it is killed.
const GRACE: Duration = Duration::from_millis(100);
/// The size of a terminal until a watcher sets another one.
pub(super) const SCREEN: TerminalSize = TerminalSize {
    rows: 40,
    columns: 120,
};

/// The tool that runs commands.
pub(super) struct ExecCommandTool {
    pub(super) options: Arc<ToolOptions>,
}

/// The parsed arguments of a call.
#[derive(Clone, Debug)]
struct ExecRequest {
    command: String,
    workdir: Option<String>,
    has_screen: bool,
    wait: Duration,
    limit: Option<Duration>,
    tokens: Option<u64>,
    is_background: bool,
}

impl ExecRequest {
    /// Parses the arguments of a call. Fails with the result of the call if one is invalid. The
    /// wait is at most `LONGEST`; a time limit of 0 counts as none.
    fn read(call: &ToolCall) -> Result<Self, ToolResult> {
        let arguments = CallArguments::of(call)?;
        let command = command(&arguments)?;
        let is_background = arguments.flag("background")?;
        let limit = arguments.number("timeout_ms")?.filter(|limit| *limit > 0);
        let wait = match (arguments.number("yield_time_ms")?, is_background, limit) {
            (Some(wait), ..) => wait,
            (None, true, _) => YIELD_BACKGROUND,
            // A call with a time limit waits for the command until then.
            (None, false, Some(limit)) => limit.saturating_add(1000),
            (None, false, None) => YIELD,
        };
        Ok(Self {
            command,
            workdir: arguments.text("workdir")?.map(str::to_owned),
            has_screen: arguments.flag("tty")?,
            wait: Duration::from_millis(wait.min(LONGEST)),
            limit: limit.map(Duration::from_millis),
            tokens: arguments.number("max_output_tokens")?,
            is_background,
        })
    }

    /// Returns the patch if the command is one, as some models type it.
    fn patch(&self) -> Option<&str> {
        let text = self.command.trim_start();
        let is_patch = ["apply_patch", "applypatch"].iter().any(|name| {
            text.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([' ', '\n', '<', '"', '\'', '\t']))
        });
        let start = text.find("*** Begin Patch").filter(|_| is_patch)?;
        let end = text
            .find("*** End Patch")
            .map_or(text.len(), |at| at + "*** End Patch".len());
        text.get(start..end)
    }

    fn title(&self) -> String {
        let mut lines = self.command.trim().lines();
        let first = lines.next().unwrap_or_default();
        let end = truncate::floor(first, 120);
        if lines.next().is_some() || end < first.len() {
            format!("{}…", &first[..end])
        } else {
            first.to_owned()
        }
    }
}

/// Returns the command line; a list of words is quoted.
fn command(arguments: &CallArguments<'_>) -> Result<String, ToolResult> {
    let command = match arguments.value("command") {
        Some(Value::Array(_)) => {
            let words = arguments.texts("command")?;
            match words.as_slice() {
                // A shell with its command line, as some models write it.
                [shell, flag, line]
                    if flag.starts_with('-') && flag.ends_with('c') && shell.ends_with("sh") =>
                {
                    line.clone()
                }
                words => words
                    .iter()
                    .map(|word| quoted(word))
                    .collect::<Vec<_>>()
                    .join(" "),
            }
        }
        _ => arguments.needed("command")?.to_owned(),
    };
    if command.trim().is_empty() || command.contains('\0') {
        Err(invalid(
            "exec_command: `command` is empty; give a command line",
        ))
    } else {
        Ok(command)
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Tool for ExecCommandTool {
    fn name(&self) -> &str {
        "exec_command"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Runs a command line with bash in the project folder and answers with what it prints, cut in the middle where it is long, and its exit code. A command that is still running after `yield_time_ms` goes on as a terminal with a number: see write_stdin. What a command leaves running without `background` ends with it. There is no input without `tty`.";
        Some(spec(
            "exec_command",
            profile,
            description,
            1,
            &[
                ("command", of("string", "The command line")),
                (
                    "workdir",
                    of(
                        "string",
                        "The folder to run it in, relative to the project folder",
                    ),
                ),
                (
                    "yield_time_ms",
                    of("integer", "How long to wait for its end, 30000 if omitted"),
                ),
                (
                    "timeout_ms",
                    of("integer", "Timeout after which it is ended"),
                ),
                (
                    "max_output_tokens",
                    of("integer", "How much of its output to show"),
                ),
                (
                    "tty",
                    of(
                        "boolean",
                        "Run it in a terminal, so that it can be typed into",
                    ),
                ),
                (
                    "background",
                    of("boolean", "Let it run beside the session, such as a server"),
                ),
            ],
        ))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn access(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let request = ExecRequest::read(call)?;
        if let Some(patch) = request.patch() {
            return super::edit::access(context, "patch", patch_edits(patch)?);
        }
        workdir(context, &request)?;
        let all = vec![LockScope::Tree(String::new())];
        let (reads, writes) = if is_read_only(&request.command) {
            (all, Vec::new())
        } else {
            (Vec::new(), all)
        };
        Ok(ToolAccess {
            reads,
            writes,
            sandbox_scope: sandbox::sandbox_scope(context),
            title: request.title(),
            command: Some(request.command),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.try_run(call, access, context).await {
                Ok(answer) | Err(answer) => answer,
            }
        })
    }
}

/// Parses a patch that was typed as a command. Fails with the result of the call if any part cannot
/// be parsed.
fn patch_edits(patch: &str) -> Result<Vec<FileEdit>, ToolResult> {
    edits("exec_command: apply_patch", patch, EditFormat::ApplyPatch)
}

impl ExecCommandTool {
    /// Runs the command until it ends, reaches its time limit, is stopped, or continues in the
    /// background; runs it again if the user widens its sandbox after a denial. `Err` is the result
    /// of a call that was not run, or that was ended because too many run already.
    async fn try_run(
        &self,
        call: &ToolCall,
        access: &ToolAccess,
        context: &ToolContext,
    ) -> Result<ToolResult, ToolResult> {
        let request = ExecRequest::read(call)?;
        let state = self.options.states.of(context);
        if *context.stop.borrow() {
            return Err(super::edit::stopped());
        }
        if !access.edits.is_empty() {
            return Ok(intercepted(context, state, Arc::clone(&access.edits)).await);
        }
        let folder = workdir(context, &request)?;
        let mut way = RunMode::of(context, &request);
        loop {
            let bounds = way.bounds(context, &request).await?;
            let feed = self.open_feed(call, context, &request, &folder, way.label());
            let launch = self.launch(&request, folder.clone(), bounds);
            let terminal = start(launch, context, &state, &request, feed)?;
            let terminal = Arc::new(terminal);
            let over = watch(context, &terminal, request.wait, request.limit).await;
            if let WaitOutcome::Ended(ended) = over
                && way.widened(context, &request, &terminal, ended).await
            {
                continue;
            }
            return become_of(context, &state, terminal, &request, over).await;
        }
    }

    /// Opens the feed in which users watch the command; `None` if there are too many.
    fn open_feed(
        &self,
        call: &ToolCall,
        context: &ToolContext,
        request: &ExecRequest,
        folder: &AbsPath,
        sandbox: String,
    ) -> Option<FeedOfCommand> {
        let feeds = self.options.states.feeds();
        let feed = feeds.open(NewCommand {
            session: &context.session,
            call: &call.id,
            command: &request.command,
            folder,
            sandbox,
            has_terminal: request.has_screen,
            size: SCREEN,
            changes: context.control_changes.clone(),
        })?;
        Some((Arc::clone(feeds), feed))
    }

    /// Returns the launch of the command with bash; `bounds` is its sandbox, if any.
    fn launch(
        &self,
        request: &ExecRequest,
        folder: AbsPath,
        bounds: Option<Arc<dyn SandboxSpawner>>,
    ) -> LaunchRequest {
        LaunchRequest {
            program: "bash".into(),
            arguments: vec!["-c".into(), request.command.clone().into()],
            folder,
            variables: variables::for_commands(&self.options.variables, request.has_screen),
            terminal: request.has_screen.then_some(SCREEN),
            sandbox: bounds,
        }
    }
}

/// Starts the command with bash or, if that fails, with sh. Fails with the result of the call, which
/// names the error of bash, if neither starts.
fn start(
    mut launch: LaunchRequest,
    context: &ToolContext,
    state: &Arc<ToolState>,
    request: &ExecRequest,
    feed: Option<FeedOfCommand>,
) -> Result<CommandTerminal, ToolResult> {
    let start = |launch: &LaunchRequest| {
        CommandTerminal::start(
            launch,
            &request.command,
            &context.sources,
            state,
            context.progress.clone(),
            feed.clone(),
        )
    };
    let started = start(&launch).or_else(|error| {
        // Systems without bash have another shell.
        launch.program = "sh".into();
        start(&launch).map_err(|_| error)
    });
    started.map_err(|error| {
        if let Some((feeds, feed)) = &feed {
            feeds.remove(feed);
        }
        unexpected(sentence(&error))
    })
}

/// Handles a command after the wait ended.
async fn become_of(
    context: &ToolContext,
    state: &Arc<ToolState>,
    terminal: Arc<CommandTerminal>,
    request: &ExecRequest,
    over: WaitOutcome,
) -> Result<ToolResult, ToolResult> {
    match over {
        WaitOutcome::Ended(ended) => {
            terminal.mark_reported();
            Ok(finished(context, &terminal, request.tokens, ended))
        }
        WaitOutcome::Yielded => go_on(context, state, terminal, request).await,
        WaitOutcome::Late => {
            terminate(&terminal).await;
            Ok(late(context, &terminal, request))
        }
        WaitOutcome::Stopped => {
            terminate(&terminal).await;
            Ok(aborted(context, &terminal, request.tokens))
        }
    }
}

/// Returns the folder to run in: the root or a folder below it.
fn workdir(context: &ToolContext, request: &ExecRequest) -> Result<AbsPath, ToolResult> {
    let Some(workdir) = &request.workdir else {
        return Ok(context.root.clone());
    };
    let place = folder(context, workdir)?;
    if !place.is_inside {
        let text = format!(
            "{workdir} is outside the project folder {}; commands run in a folder of the project: name one, or leave out `workdir`",
            context.root
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    Ok(place.path)
}

/// Applies a patch that was typed into the shell.
async fn intercepted(
    context: &ToolContext,
    state: Arc<ToolState>,
    edits: Arc<[FileEdit]>,
) -> ToolResult {
    let context = context.clone();
    let mut answer = blocking(move || apply(&context, &state, &edits)).await;
    let note = "Note: apply_patch is not a program; the patch was taken from the command and applied as an edit. Call the edit tool next time.\n";
    answer
        .content
        .insert(0, model::PartContent::Text(note.to_owned()));
    answer
}

/// The reason a wait for a command ended.
enum WaitOutcome {
    Ended(ExitReport),
    /// The command continues in the background.
    Yielded,
    /// The command exceeded its time limit.
    Late,
    /// The user wants it to stop.
    Stopped,
}

/// Waits for the end of a command, at most for `wait`. Time in which the user has the command does not count.
async fn watch(
    context: &ToolContext,
    terminal: &CommandTerminal,
    wait: Duration,
    limit: Option<Duration>,
) -> WaitOutcome {
    let mut stop = context.stop.clone();
    let stopped = async {
        if stop.wait_for(|stop| *stop).await.is_err() {
            // The sender is gone, so no stop request can come.
            std::future::pending::<()>().await;
        }
    };
    let late = async {
        match limit {
            Some(limit) => terminal.sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        ended = terminal.wait() => WaitOutcome::Ended(ended),
        () = stopped => WaitOutcome::Stopped,
        () = late => WaitOutcome::Late,
        () = terminal.sleep(wait) => WaitOutcome::Yielded,
    }
}

/// Stops a command and waits until its output is complete.
async fn terminate(terminal: &Arc<CommandTerminal>) {
    let ending = Arc::clone(terminal);
    let stopping = tokio::task::spawn_blocking(move || ending.stop(GRACE));
    if stopping.await.is_err() {
        base::report("a command could not be stopped");
    }
    terminal.wait().await;
    terminal.mark_reported();
}

/// Moves a running command to the background.
async fn go_on(
    context: &ToolContext,
    state: &Arc<ToolState>,
    terminal: Arc<CommandTerminal>,
    request: &ExecRequest,
) -> Result<ToolResult, ToolResult> {
    let Some(number) = state.take_in(Arc::clone(&terminal)) else {
        terminate(&terminal).await;
        let text = format!(
            "{MAX_TERMINALS} commands run beside this session already, so this one was ended; end some with write_stdin and `stop`."
        );
        return Err(unexpected(text));
    };
    if let Some(limit) = request.limit {
        end_at(&terminal, limit.saturating_sub(request.wait));
    }
    Ok(still_running(
        context,
        &terminal,
        number,
        request.tokens,
        request.is_background,
    ))
}

/// Stops a background command at its time limit, unless the session dropped it before. Time in which the
/// user has the command does not count.
fn end_at(terminal: &Arc<CommandTerminal>, left: Duration) {
    let weak = Arc::downgrade(terminal);
    let limit = terminal.sleep(left);
    tokio::spawn(async move {
        limit.await;
        if let Some(terminal) = weak.upgrade()
            && terminal.exit().is_none()
        {
            let stopping = tokio::task::spawn_blocking(move || terminal.stop(GRACE));
            if stopping.await.is_err() {
                base::report("a command could not be stopped");
            }
        }
    });
}

/// Returns the output since the last result, truncated, and whether it was.
fn output(
    context: &ToolContext,
    terminal: &CommandTerminal,
    tokens: Option<u64>,
) -> (String, bool) {
    let fresh = terminal.fresh();
    let budget = truncate::budget(context, tokens);
    match truncate::truncate(&fresh.text, budget) {
        None => (fresh.text, false),
        Some(found) => {
            let cut = TruncatedText {
                lines: found.lines + fresh.lost,
                ..found
            };
            (cut.render(terminal.output_handle().as_deref()), true)
        }
    }
}

/// Builds a result from the output and a line about the command's state.
fn command_result(
    context: &ToolContext,
    terminal: &CommandTerminal,
    tokens: Option<u64>,
    outcome: CallOutcome,
    code: Option<i32>,
    line: &str,
) -> ToolResult {
    let (output, is_cut) = output(context, terminal, tokens);
    let mut text = output.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[{line}]"));
    let answer = ToolResult::new(outcome, text).with_display(ToolDisplay::Command {
        command: terminal.command.clone(),
        code,
        output,
    });
    let answer = if is_cut {
        answer.with_detail(Detail::OutputTruncated)
    } else {
        answer
    };
    sandbox::with_planted(answer, terminal)
}

/// Returns the exit code of a command, and a sentence about its end.
fn exit_line(
    context: &ToolContext,
    terminal: &CommandTerminal,
    ended: ExitReport,
) -> (i32, String) {
    let time = seconds(context, terminal);
    let (code, how) = match ended.exit {
        ProcessExit::Exited(code) => (code, format!("exit code {code} after {time}")),
        ProcessExit::Signalled(signal) => (
            128 + signal,
            format!("ended by signal {signal} after {time}"),
        ),
        ProcessExit::TimedOut => (-1, format!("ended after {time}")),
    };
    let left = match ended.orphans {
        0 => String::new(),
        1 => "; a process that it left running was ended, use `background` for what is to go on"
            .to_owned(),
        left => format!(
            "; {left} processes that it left running were ended, use `background` for what is to go on"
        ),
    };
    (code, how + &left)
}

fn finished(
    context: &ToolContext,
    terminal: &CommandTerminal,
    tokens: Option<u64>,
    ended: ExitReport,
) -> ToolResult {
    let (code, how) = exit_line(context, terminal, ended);
    let refusal = sandbox::refusal(terminal);
    let kept = refusal.as_ref().map(|(line, _)| format!("; {line}"));
    let line = format!("{how}{}", kept.unwrap_or_default());
    let outcome = if code != 0 && refusal.is_some() {
        CallOutcome::UnexpectedEnvironment
    } else {
        CallOutcome::Ok
    };
    let answer = command_result(context, terminal, tokens, outcome, Some(code), &line);
    match refusal {
        Some((_, detail)) if outcome != CallOutcome::Ok => answer.with_detail(detail),
        _ => answer,
    }
}

fn still_running(
    context: &ToolContext,
    terminal: &CommandTerminal,
    number: u64,
    tokens: Option<u64>,
    is_background: bool,
) -> ToolResult {
    let more = if is_background {
        ""
    } else {
        ", or end it with `stop`"
    };
    let line = format!(
        "still running after {} as terminal {number}; read more with write_stdin and `terminal`: {number}{more}",
        seconds(context, terminal)
    );
    command_result(context, terminal, tokens, CallOutcome::Ok, None, &line)
}

fn late(context: &ToolContext, terminal: &CommandTerminal, request: &ExecRequest) -> ToolResult {
    let limit = request.limit.unwrap_or(request.wait).as_secs_f32();
    let line = format!(
        "ended after its limit of {limit:.1} s with all that it started; give a higher `timeout_ms`, or `background`"
    );
    command_result(
        context,
        terminal,
        request.tokens,
        CallOutcome::Timeout,
        None,
        &line,
    )
}

fn aborted(context: &ToolContext, terminal: &CommandTerminal, tokens: Option<u64>) -> ToolResult {
    let line = format!("stopped by the user after {}", seconds(context, terminal));
    command_result(
        context,
        terminal,
        tokens,
        CallOutcome::UserAborted,
        None,
        &line,
    )
}

fn seconds(context: &ToolContext, terminal: &CommandTerminal) -> String {
    let time = context
        .sources
        .clock
        .elapsed()
        .saturating_sub(terminal.began);
    format!("{:.1} s", time.as_secs_f32())
}
