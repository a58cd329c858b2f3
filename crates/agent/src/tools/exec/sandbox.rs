//! Commands in the sandbox, and the question to the user after a denial.

use std::sync::Arc;

use base::AbsPath;
use host::process::{Denial, ExitReport, PlantedFile, ProcessExit, SandboxSpawner};
use model::PartContent;

use crate::error::Error;
use crate::outcome::Detail;
use crate::rules::is_read_only;
use crate::sandbox::CommandSandbox;
use crate::tool::{SandboxScope, ToolContext, ToolDisplay, ToolResult};
use crate::user_prompts::{UserQuestion, join_rules};

use super::super::terminal::CommandTerminal;
use super::super::unexpected;
use super::ExecRequest;

/// Maximum number of denials that a question names; the rest is counted.
const NAMED: usize = 3;
const SKIP: &str = "Skip";
const ONCE: &str = "Allow once";
/// Prefix of the answer that is saved; the rules follow.
const ALWAYS: &str = "Always in this project for";
const OUTSIDE: &str = "Run outside the sandbox";

/// The confinement of a command.
pub(super) enum RunMode {
    /// With the user's rights: no sandbox, or the user decided so.
    Unconfined,
    /// In a sandbox that permits these accesses.
    Confined(Vec<Denial>),
    /// In a read-only sandbox, for commands that run without asking.
    ReadOnly,
}

/// The user's decision about a denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DenialChoice {
    Skip,
    Once,
    Always,
    Outside,
}

/// Returns the confinement of the session's commands.
pub(super) fn sandbox_scope(context: &ToolContext) -> SandboxScope {
    match &context.sandbox {
        None => SandboxScope::Unconfined,
        Some(sandbox) if sandbox.has_own_worktree() => SandboxScope::SessionFolder,
        Some(_) => SandboxScope::Project,
    }
}

impl RunMode {
    /// Returns the confinement of a command the user was not asked about.
    pub(super) fn of(context: &ToolContext, request: &ExecRequest) -> Self {
        match &context.sandbox {
            None => RunMode::Unconfined,
            Some(_) if is_read_only(&request.command) => RunMode::ReadOnly,
            Some(sandbox) => RunMode::Confined(sandbox.granted(&request.command)),
        }
    }

    /// Returns the confinement in a few words, for the user.
    pub(super) fn label(&self) -> String {
        match self {
            RunMode::Unconfined => "outside the sandbox".to_owned(),
            RunMode::ReadOnly => "read-only sandbox".to_owned(),
            RunMode::Confined(granted) => match granted.len() {
                0 => "sandbox".to_owned(),
                1 => "sandbox, 1 access allowed".to_owned(),
                count => format!("sandbox, {count} accesses allowed"),
            },
        }
    }

    /// Creates the sandbox; `None` if the command runs unconfined. If the sandbox is unavailable,
    /// the user is asked: a command never runs unconfined silently.
    pub(super) async fn bounds(
        &mut self,
        context: &ToolContext,
        request: &ExecRequest,
    ) -> Result<Option<Arc<dyn SandboxSpawner>>, ToolResult> {
        let Some(sandbox) = &context.sandbox else {
            return Ok(None);
        };
        let made = match self {
            RunMode::Unconfined => return Ok(None),
            RunMode::Confined(granted) => {
                let granted = granted.clone();
                create_sandbox(sandbox, move |sandbox| sandbox.bounds(&granted)).await
            }
            RunMode::ReadOnly => {
                create_sandbox(sandbox, |sandbox| sandbox.read_only_bounds()).await
            }
        };
        let error = match made {
            Ok(bounds) => return Ok(Some(bounds)),
            Err(error) => error,
        };
        let question = UserQuestion {
            text: format!(
                "{} cannot be run in the sandbox: {error}",
                quoted(&request.command)
            ),
            options: [SKIP, OUTSIDE].map(str::to_owned).to_vec(),
        };
        match choice(context.prompts.ask(question).await.as_deref()) {
            DenialChoice::Outside => {
                *self = RunMode::Unconfined;
                Ok(None)
            }
            _ => Err(unexpected(format!("The command was not run: {error}"))
                .with_detail(Detail::SandboxUnavailable)),
        }
    }

    /// Handles the end of a command. If the sandbox denied an access, the user decides. Returns
    /// whether to run the command again with this confinement.
    pub(super) async fn widened(
        &mut self,
        context: &ToolContext,
        request: &ExecRequest,
        terminal: &CommandTerminal,
        ended: ExitReport,
    ) -> bool {
        let denials = terminal.denials();
        let Some(sandbox) = &context.sandbox else {
            return false;
        };
        let mut granted = match self {
            RunMode::Unconfined => return false,
            RunMode::Confined(granted) => granted.clone(),
            RunMode::ReadOnly => Vec::new(),
        };
        let more: Vec<Denial> = denials
            .into_iter()
            .filter(|denial| !granted.contains(denial))
            .collect();
        if ended.exit == ProcessExit::Exited(0) || more.is_empty() {
            return false;
        }
        let rules = sandbox.rules(&request.command);
        let answer = context.prompts.ask(question(request, &more, &rules)).await;
        let chosen = choice(answer.as_deref());
        if chosen == DenialChoice::Always
            && let Err(error) = sandbox.grant(&request.command, &more)
        {
            base::report(&error.to_string());
        }
        match chosen {
            DenialChoice::Skip => return false,
            DenialChoice::Once | DenialChoice::Always => {
                granted.extend(more);
                *self = RunMode::Confined(granted);
            }
            DenialChoice::Outside => *self = RunMode::Unconfined,
        }
        true
    }
}

/// Calls `make` on a blocking thread. Fails with its error, and with `Error::SandboxUnavailable` if
/// it panics.
async fn create_sandbox(
    sandbox: &Arc<dyn CommandSandbox>,
    make: impl FnOnce(&dyn CommandSandbox) -> Result<Arc<dyn SandboxSpawner>, Error> + Send + 'static,
) -> Result<Arc<dyn SandboxSpawner>, Error> {
    let sandbox = Arc::clone(sandbox);
    let made = tokio::task::spawn_blocking(move || make(&*sandbox)).await;
    made.unwrap_or_else(|error| Err(Error::SandboxUnavailable(format!("it broke off: {error}"))))
}

/// Builds the question whether a command may do more. It contains the whole command and every
/// access that would be allowed.
fn question(request: &ExecRequest, denials: &[Denial], rules: &[String]) -> UserQuestion {
    let always = format!("{ALWAYS} {}", join_rules(rules));
    let all: Vec<String> = denials.iter().map(Denial::to_string).collect();
    UserQuestion {
        text: format!(
            "The sandbox did not allow {} {}.",
            quoted(&request.command),
            all.join(", ")
        ),
        options: vec![SKIP.to_owned(), ONCE.to_owned(), always, OUTSIDE.to_owned()],
    }
}

fn quoted(command: &str) -> String {
    format!("\u{201c}{command}\u{201d}")
}

/// Formats denials: `to change /etc/hosts, to reach example.com:443 and 2 more things`.
fn listed(denials: &[Denial]) -> String {
    let named: Vec<String> = denials.iter().take(NAMED).map(Denial::to_string).collect();
    let named = named.join(", ");
    match denials.len().saturating_sub(NAMED) {
        0 => named,
        1 => format!("{named} and one more thing"),
        more => format!("{named} and {more} more things"),
    }
}

/// Interprets the answer; anything but explicit permission means no.
fn choice(answer: Option<&str>) -> DenialChoice {
    match answer.map(str::trim) {
        Some(ONCE) => DenialChoice::Once,
        Some(answer) if answer.starts_with(ALWAYS) => DenialChoice::Always,
        Some(OUTSIDE) => DenialChoice::Outside,
        _ => DenialChoice::Skip,
    }
}

/// Returns the line about denied accesses for the model, and the details; `None` if nothing was
/// denied.
pub(super) fn refusal(terminal: &CommandTerminal) -> Option<(String, Detail)> {
    let denials = terminal.denials();
    let what = match denials.first()? {
        Denial::Write(path) | Denial::Read(path) | Denial::Connect(path) => path.to_string(),
        Denial::Host(host, port) => format!("{host}:{port}"),
        Denial::Call(name) => name.clone(),
    };
    let line = format!(
        "the sandbox did not allow it {}; work without that, or say why it is needed",
        listed(&denials)
    );
    Some((line, Detail::SandboxDenied { what }))
}

/// Maximum number of lines about quarantined files shown to the user; the rest is counted.
const SHOWN: usize = 12;

/// Adds the command's files that other programs would execute, if there are any.
pub(super) fn with_planted(answer: ToolResult, terminal: &CommandTerminal) -> ToolResult {
    let planted = terminal.planted();
    if planted.is_empty() {
        return answer;
    }
    let answer = answer.with_display(ToolDisplay::Text(for_user(&planted)));
    let aside: Vec<&AbsPath> = aside(&planted).map(|one| &one.path).collect();
    let Some(first) = aside.first() else {
        return answer;
    };
    let named: Vec<String> = aside.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match aside.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let line = format!(
        "\n[put aside, because other programs would run it by themselves: {}{more}; go on without it, or ask the \
         user to make it]",
        named.join(", ")
    );
    let what = first.to_string();
    let mut answer = answer.with_detail(Detail::Planted { what });
    answer.content.push(PartContent::Text(line));
    answer
}

fn aside(planted: &[PlantedFile]) -> impl Iterator<Item = &PlantedFile> {
    planted.iter().filter(|one| one.quarantine.is_some())
}

/// Describes the quarantined files and their location, and the files to review.
fn for_user(planted: &[PlantedFile]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let stayed = planted.iter().filter(|one| one.quarantine.is_none());
    for (head, list) in [
        (
            "Put aside before anything could run it:",
            aside(planted).collect::<Vec<_>>(),
        ),
        (
            "To be looked at before other programs use it:",
            stayed.collect(),
        ),
    ] {
        if list.is_empty() {
            continue;
        }
        lines.push(head.to_owned());
        lines.extend(
            list.iter()
                .take(SHOWN)
                .map(|one| format!("- {}", one.sentence)),
        );
        if let more @ 1.. = list.len().saturating_sub(SHOWN) {
            lines.push(format!("- and {more} more"));
        }
    }
    if let Some(folder) = aside(planted).find_map(|one| one.quarantine.as_ref()) {
        lines.push(format!(
            "It lies in {folder}; `burin-agent sandbox --restore {folder}` brings it back."
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
