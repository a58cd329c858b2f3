//! `exec_command`: programs, with or without a terminal, to their end or beside the session.
//!
//! What goes on is typed into and heard by `typed`.

mod bounds;
mod typed;
mod variables;

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use futures::future::BoxFuture;
use host::process::{Bounds, End, Ended, Launch, Screen};
use model::{Profile, ToolSpec};
use patch::edit::FileEdit;
use patch::format::Format;
use serde_json::Value;

use crate::outcome::{Detail, Outcome};
use crate::rules::is_read_only;
use crate::tool::{Access, Answer, Call, Scope, Shown, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::cut::{self, Cut};
use super::edit::{carry_out, edits};
use super::glob::folder;
use super::read::sentence;
use super::rooms::{MOST_TERMINALS, Room};
use super::terminal::Terminal;
use super::{Options, blocking, invalid, of, spec, unexpected};

use bounds::Way;

pub(super) use typed::WriteStdin;

/// How long a command is waited for before it goes on beside the session.
const YIELD: u64 = 30_000;
/// The same for one that is meant to go on: time enough to fail at once.
const YIELD_BACKGROUND: u64 = 1000;
/// The longest wait in one call.
const LONGEST: u64 = 600_000;
/// How long a command may take to end by itself when it is stopped.
const GRACE: Duration = Duration::from_millis(100);
const SCREEN: Screen = Screen {
    rows: 40,
    columns: 120,
};

/// Runs commands.
pub(super) struct ExecCommand {
    options: Arc<Options>,
}

impl ExecCommand {
    pub(super) fn new(options: &Arc<Options>) -> Self {
        Self {
            options: Arc::clone(options),
        }
    }
}

/// What a call asks for.
#[derive(Clone, Debug)]
struct Wanted {
    command: String,
    workdir: Option<String>,
    has_screen: bool,
    wait: Duration,
    limit: Option<Duration>,
    tokens: Option<u64>,
    is_background: bool,
}

impl Wanted {
    fn read(call: &Call) -> Result<Self, Answer> {
        let arguments = Arguments::of(call)?;
        let command = command(&arguments)?;
        let is_background = arguments.flag("background")?;
        let limit = arguments.number("timeout_ms")?.filter(|limit| *limit > 0);
        let wait = match (arguments.number("yield_time_ms")?, is_background, limit) {
            (Some(wait), ..) => wait,
            (None, true, _) => YIELD_BACKGROUND,
            // Whoever sets a limit waits for the command until then.
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

    /// The patch that was typed as a command, if that is what it is.
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
        let end = cut::floor(first, 120);
        match lines.next().is_some() || end < first.len() {
            true => format!("{}…", &first[..end]),
            false => first.to_owned(),
        }
    }
}

/// A command as a line; given as words, they are quoted.
fn command(arguments: &Arguments<'_>) -> Result<String, Answer> {
    let command = match arguments.value("command") {
        Some(Value::Array(_)) => {
            let words = arguments.texts("command")?;
            match words.as_slice() {
                // A shell with its line, as some models write it.
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
    match command.trim().is_empty() || command.contains('\0') {
        true => Err(invalid(
            "exec_command: `command` is empty; give a command line",
        )),
        false => Ok(command),
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:@%+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Tool for ExecCommand {
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
                    of("integer", "How long to wait for its end, 30000 if left out"),
                ),
                (
                    "timeout_ms",
                    of("integer", "When it is ended, if it has not by itself"),
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

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let wanted = Wanted::read(call)?;
        if let Some(patch) = wanted.patch() {
            return super::edit::access(context, "patch", &patch_edits(patch)?);
        }
        workdir(context, &wanted)?;
        let all = vec![Scope::Tree(String::new())];
        let (reads, writes) = match is_read_only(&wanted.command) {
            true => (all, Vec::new()),
            false => (Vec::new(), all),
        };
        Ok(Access {
            reads,
            writes,
            kept: bounds::kept(context),
            title: wanted.title(),
            command: Some(wanted.command),
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

fn patch_edits(patch: &str) -> Result<Vec<FileEdit>, Answer> {
    edits("exec_command: apply_patch", patch, Format::ApplyPatch)
}

impl ExecCommand {
    async fn try_run(&self, call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
        let wanted = Wanted::read(call)?;
        let room = self.options.rooms.of(context);
        if *context.stop.borrow() {
            return Err(super::edit::stopped());
        }
        if let Some(patch) = wanted.patch() {
            return Ok(intercepted(context, room, patch_edits(patch)?).await);
        }
        let folder = workdir(context, &wanted)?;
        let mut way = Way::of(context, &wanted);
        loop {
            let bounds = way.bounds(context, &wanted).await?;
            let terminal = self.start(context, &room, &wanted, folder.clone(), bounds)?;
            let terminal = Arc::new(terminal);
            let over = watch(context, &terminal, wanted.wait, wanted.limit).await;
            if let Over::Ended(ended) = over
                && way.widened(context, &wanted, &terminal, ended).await
            {
                continue;
            }
            return become_of(context, &room, terminal, &wanted, over).await;
        }
    }

    fn start(
        &self,
        context: &ToolContext,
        room: &Arc<Room>,
        wanted: &Wanted,
        folder: AbsPath,
        bounds: Option<Arc<dyn Bounds>>,
    ) -> Result<Terminal, Answer> {
        let mut launch = Launch {
            program: "bash".into(),
            arguments: vec!["-c".into(), wanted.command.clone().into()],
            folder,
            variables: variables::for_commands(&self.options.variables, wanted.has_screen),
            screen: wanted.has_screen.then_some(SCREEN),
            bounds,
        };
        let start = |launch: &Launch| {
            Terminal::start(
                launch,
                &wanted.command,
                &context.sources,
                room,
                context.progress.clone(),
            )
        };
        let started = start(&launch).or_else(|error| {
            // Where there is no bash there is a shell of some kind.
            launch.program = "sh".into();
            start(&launch).map_err(|_| error)
        });
        started.map_err(|error| unexpected(sentence(&error.to_string())))
    }
}

/// What becomes of a command now that it is waited for no longer, in this way or that.
async fn become_of(
    context: &ToolContext,
    room: &Arc<Room>,
    terminal: Arc<Terminal>,
    wanted: &Wanted,
    over: Over,
) -> Result<Answer, Answer> {
    match over {
        Over::Ended(ended) => {
            terminal.tell();
            Ok(finished(context, &terminal, wanted.tokens, ended))
        }
        Over::Yielded => go_on(context, room, terminal, wanted).await,
        Over::Late => {
            end(&terminal).await;
            Ok(late(context, &terminal, wanted))
        }
        Over::Stopped => {
            end(&terminal).await;
            Ok(aborted(context, &terminal, wanted.tokens))
        }
    }
}

/// The folder to run in: the root or one below it.
fn workdir(context: &ToolContext, wanted: &Wanted) -> Result<AbsPath, Answer> {
    let Some(workdir) = &wanted.workdir else {
        return Ok(context.root.clone());
    };
    let place = folder(context, workdir)?;
    if !place.is_inside {
        let text = format!(
            "{workdir} lies outside of the project folder {}; commands run in a folder of the project: name one, or leave out `workdir`",
            context.root
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    Ok(place.path)
}

/// A patch that was typed into the shell.
async fn intercepted(context: &ToolContext, room: Arc<Room>, edits: Vec<FileEdit>) -> Answer {
    let context = context.clone();
    let mut answer = blocking(move || carry_out(&context, &room, edits)).await;
    let note = "Note: apply_patch is no program; the patch was taken from the command and applied as an edit. Call the edit tool next time.\n";
    answer
        .content
        .insert(0, model::Content::Text(note.to_owned()));
    answer
}

/// How a wait for a command ended.
enum Over {
    Ended(Ended),
    /// It goes on.
    Yielded,
    /// It took longer than it may.
    Late,
    /// The person wants it to stop.
    Stopped,
}

async fn watch(
    context: &ToolContext,
    terminal: &Terminal,
    wait: Duration,
    limit: Option<Duration>,
) -> Over {
    let mut stop = context.stop.clone();
    let stopped = async {
        if stop.wait_for(|stop| *stop).await.is_err() {
            // Nobody is left who could stop it this way.
            std::future::pending::<()>().await;
        }
    };
    let late = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        ended = terminal.wait() => Over::Ended(ended),
        () = stopped => Over::Stopped,
        () = late => Over::Late,
        () = tokio::time::sleep(wait) => Over::Yielded,
    }
}

/// Ends a command and waits until its output is complete.
async fn end(terminal: &Arc<Terminal>) {
    let ending = Arc::clone(terminal);
    let stopping = tokio::task::spawn_blocking(move || ending.stop(GRACE));
    if stopping.await.is_err() {
        base::report("a command could not be stopped");
    }
    terminal.wait().await;
    terminal.tell();
}

/// A command that is waited for no longer.
async fn go_on(
    context: &ToolContext,
    room: &Arc<Room>,
    terminal: Arc<Terminal>,
    wanted: &Wanted,
) -> Result<Answer, Answer> {
    let Some(number) = room.take_in(Arc::clone(&terminal)) else {
        end(&terminal).await;
        let text = format!(
            "{MOST_TERMINALS} commands run beside this session already, so this one was ended; end some with write_stdin and `stop`."
        );
        return Err(unexpected(text));
    };
    if let Some(limit) = wanted.limit {
        end_at(&terminal, limit.saturating_sub(wanted.wait));
    }
    Ok(still_running(
        context,
        &terminal,
        number,
        wanted.tokens,
        wanted.is_background,
    ))
}

/// Lets a command that goes on be ended at its limit, unless the session lets go of it before.
fn end_at(terminal: &Arc<Terminal>, left: Duration) {
    let weak = Arc::downgrade(terminal);
    tokio::spawn(async move {
        tokio::time::sleep(left).await;
        if let Some(terminal) = weak.upgrade()
            && terminal.end().is_none()
        {
            let stopping = tokio::task::spawn_blocking(move || terminal.stop(GRACE));
            if stopping.await.is_err() {
                base::report("a command could not be stopped");
            }
        }
    });
}

/// The output since the last answer, cut, and whether it was.
fn output(context: &ToolContext, terminal: &Terminal, tokens: Option<u64>) -> (String, bool) {
    let fresh = terminal.fresh();
    let budget = cut::budget(context, tokens);
    match cut::cut(&fresh.text, budget) {
        None => (fresh.text, false),
        Some(found) => {
            let cut = Cut {
                lines: found.lines + fresh.lost,
                ..found
            };
            (cut.shown(terminal.whole().as_deref()), true)
        }
    }
}

/// An answer with output and a line about what became of the command.
fn told(
    context: &ToolContext,
    terminal: &Terminal,
    tokens: Option<u64>,
    outcome: Outcome,
    code: Option<i32>,
    line: &str,
) -> Answer {
    let (output, is_cut) = output(context, terminal, tokens);
    let mut text = output.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[{line}]"));
    let answer = Answer::new(outcome, text).showing(Shown::Command {
        command: terminal.command.clone(),
        code,
        output,
    });
    let answer = match is_cut {
        true => answer.with_detail(Detail::OutputTruncated),
        false => answer,
    };
    bounds::with_planted(answer, terminal)
}

fn finished(
    context: &ToolContext,
    terminal: &Terminal,
    tokens: Option<u64>,
    ended: Ended,
) -> Answer {
    let time = seconds(context, terminal);
    let (code, how) = match ended.end {
        End::Exited(code) => (code, format!("exit code {code} after {time}")),
        End::Signalled(signal) => (
            128 + signal,
            format!("ended by signal {signal} after {time}"),
        ),
        End::TimedOut => (-1, format!("ended after {time}")),
    };
    let left = match ended.left {
        0 => String::new(),
        1 => "; a process that it left running was ended, use `background` for what is to go on"
            .to_owned(),
        left => format!(
            "; {left} processes that it left running were ended, use `background` for what is to go on"
        ),
    };
    let refusal = bounds::refusal(terminal);
    let kept = refusal.as_ref().map(|(line, _)| format!("; {line}"));
    let line = format!("{how}{left}{}", kept.unwrap_or_default());
    let outcome = match code != 0 && refusal.is_some() {
        true => Outcome::UnexpectedEnvironment,
        false => Outcome::Ok,
    };
    let answer = told(context, terminal, tokens, outcome, Some(code), &line);
    match refusal {
        Some((_, detail)) if outcome != Outcome::Ok => answer.with_detail(detail),
        _ => answer,
    }
}

fn still_running(
    context: &ToolContext,
    terminal: &Terminal,
    number: u64,
    tokens: Option<u64>,
    is_background: bool,
) -> Answer {
    let more = match is_background {
        true => "",
        false => ", or end it with `stop`",
    };
    let line = format!(
        "still running after {} as terminal {number}; hear more with write_stdin and `terminal`: {number}{more}",
        seconds(context, terminal)
    );
    told(context, terminal, tokens, Outcome::Ok, None, &line)
}

fn late(context: &ToolContext, terminal: &Terminal, wanted: &Wanted) -> Answer {
    let limit = wanted.limit.unwrap_or(wanted.wait).as_secs_f32();
    let line = format!(
        "ended after its limit of {limit:.1} s with all that it started; give a higher `timeout_ms`, or `background`"
    );
    told(
        context,
        terminal,
        wanted.tokens,
        Outcome::Timeout,
        None,
        &line,
    )
}

fn aborted(context: &ToolContext, terminal: &Terminal, tokens: Option<u64>) -> Answer {
    let line = format!("stopped by the person after {}", seconds(context, terminal));
    told(context, terminal, tokens, Outcome::UserAborted, None, &line)
}

fn seconds(context: &ToolContext, terminal: &Terminal) -> String {
    let time = context
        .sources
        .clock
        .elapsed()
        .saturating_sub(terminal.began);
    format!("{:.1} s", time.as_secs_f32())
}
