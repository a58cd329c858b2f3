//! `burin-agent automations`: prompts of a project that run by themselves.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use agent_service::{AgentService as _, AutomationChange};
use automation::{AutomationEntry, AutomationFile, OccurrenceEntry, local_time};
use background::{BackgroundAgents, EngineServices, ServerProgram};
use base::{AbsPath, LineFeeds, printable};
use clap::{Args, Subcommand};
use host::{Clock as _, Dirs, RealClock, RealFiles};
use model::Cost;
use runtime::automations;
use runtime::indexes::IndexRegistry;
use serde_json::{Value, json};

use crate::{Streams, agrees, error_text, print_notice, write_error};

/// List, trust and run the automations of a folder
///
/// Automations are files in `.burin/automations`: a condition, such as a schedule, and a prompt. Each is
/// off until you trust its text, and off again when the text changes. They run in the background
/// process, or in a window.
///
/// Exit codes: 0 done; 1 an error.
#[derive(Args)]
pub(crate) struct AutomationsCommand {
    #[command(subcommand)]
    action: AutomationsAction,
    /// The folder; the working directory without it
    #[arg(long, global = true)]
    root: Option<PathBuf>,
}

#[derive(Subcommand)]
enum AutomationsAction {
    /// List the automations with state, next time and last result
    List {
        /// Print an array
        #[arg(long)]
        json: bool,
    },
    /// Show an automation with all that it includes, and turn it on
    Trust {
        /// Its name: that of its file without `.md`
        name: String,
        /// Turn it on without a question
        #[arg(long)]
        yes: bool,
    },
    /// Turn an automation off
    Off {
        /// Its name
        name: String,
    },
    /// Run an automation now, in the background process
    Run {
        /// Its name
        name: String,
    },
    /// List the occurrences of the automations, latest first
    History {
        /// Only those of this automation
        name: Option<String>,
        /// Print an array
        #[arg(long)]
        json: bool,
    },
}

impl AutomationsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let root = crate::folder(self.root.as_deref(), &RealFiles)?;
        let now_ms = RealClock::default().wall_ms();
        let entries = || automations::entries(dirs, &root, now_ms).map_err(error_text);
        let text = match &self.action {
            AutomationsAction::List { json: true } => {
                format!(
                    "{:#}\n",
                    Value::Array(entries()?.iter().map(as_json).collect())
                )
            }
            AutomationsAction::List { json: false } => list(&entries()?, &root),
            AutomationsAction::Trust { name, yes } => trust(dirs, &root, name, *yes, streams)?,
            AutomationsAction::Off { name } => {
                AutomationFile::read(&RealFiles, &root, name).map_err(error_text)?;
                let consents = automations::consents(dirs);
                consents
                    .revoke(&RealFiles, &root, name)
                    .map_err(error_text)?;
                format!("the automation \"{name}\" is off\n")
            }
            AutomationsAction::Run { name } => run_now(dirs, &root, name)?,
            AutomationsAction::History { name, json } => {
                history(&entries()?, name.as_deref(), *json)?
            }
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list(entries: &[AutomationEntry], root: &AbsPath) -> String {
    if entries.is_empty() {
        return format!(
            "there are no automations in {root}/{}\n",
            automation::FOLDER
        );
    }
    entries.iter().map(line).collect()
}

fn line(entry: &AutomationEntry) -> String {
    let mut text = format!("{}  {}", entry.name, entry.state.label());
    if !entry.trigger.is_empty() {
        text.push_str(&format!("  {}", entry.trigger));
    }
    if let Some(next_ms) = entry.next_ms {
        text.push_str(&format!("  next {}", local_time(next_ms)));
    }
    if let Some(last) = entry.history.first() {
        let planned = local_time(last.planned_ms);
        text.push_str(&format!("  last {planned}, {}", last.state.label()));
    }
    let problems = entry.problems.iter();
    let problems = problems.map(|problem| format!("\n    {}: {problem}", entry.path));
    let text = text + &problems.collect::<String>();
    format!("{}\n", printable(&text, LineFeeds::Keep))
}

/// Shows the text of an automation and turns it on.
fn trust(
    dirs: &Dirs,
    root: &AbsPath,
    name: &str,
    is_agreed: bool,
    streams: &mut Streams<'_>,
) -> Result<String, String> {
    let file = AutomationFile::read(&RealFiles, root, name).map_err(error_text)?;
    let shown = printable(&file.text, LineFeeds::Keep).into_owned();
    let written = writeln!(streams.output, "{}\n{}", file.path, shown.trim_end());
    written.map_err(write_error)?;
    let question = format!("Let \"{name}\" run by itself as it is now?");
    if !is_agreed && !agrees(&question, streams)? {
        return Ok(format!("the automation \"{name}\" stays off\n"));
    }
    let now_ms = RealClock::default().wall_ms();
    let consents = automations::consents(dirs);
    let trusted = consents.trust(&RealFiles, root, name, &file.mark, now_ms);
    trusted.map_err(error_text)?;
    print_notice(
        streams,
        "automations run while a window is open, or `burin-agent serve` runs",
    );
    Ok(format!("the automation \"{name}\" is on\n"))
}

/// Runs an automation in the background process, which starts if necessary.
fn run_now(dirs: &Dirs, root: &AbsPath, name: &str) -> Result<String, String> {
    let path = host::own_program();
    let path = path.ok_or("the path of this program is unknown")?;
    let arguments = vec!["serve".into(), "--detached".into()];
    let program = ServerProgram { path, arguments };
    let indexes = IndexRegistry::new(dirs);
    let local = Arc::new(EngineServices::new(dirs.clone(), Arc::default(), indexes));
    let agents = BackgroundAgents::new(dirs.clone(), program, local, Arc::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let change = AutomationChange::Run(name.to_owned());
    let changed = runtime.block_on(agents.change_automation(root.clone(), change));
    changed.map_err(error_text)?;
    Ok(format!(
        "the automation \"{name}\" works; `burin-agent automations history` shows its result\n"
    ))
}

fn history(
    entries: &[AutomationEntry],
    name: Option<&str>,
    is_json: bool,
) -> Result<String, String> {
    let wanted = |entry: &&AutomationEntry| name.is_none_or(|name| entry.name == name);
    let entries: Vec<_> = entries.iter().filter(wanted).collect();
    if let (Some(name), []) = (name, entries.as_slice()) {
        return Err(format!("there is no automation \"{name}\""));
    }
    let of_entry = |entry: &&AutomationEntry| {
        let name = entry.name.clone();
        let history = entry.history.clone().into_iter();
        history
            .map(move |it| (name.clone(), it))
            .collect::<Vec<_>>()
    };
    let mut all: Vec<(String, OccurrenceEntry)> = entries.iter().flat_map(of_entry).collect();
    all.sort_by_key(|(_, it)| std::cmp::Reverse(it.number));
    if is_json {
        let lines = all.iter().map(|(name, it)| occurrence_json(name, it));
        return Ok(format!("{:#}\n", Value::Array(lines.collect())));
    }
    let lines = all.iter().map(|(name, it)| {
        let cost = it
            .cost_nano
            .map_or("unknown".to_owned(), |nano| Cost(nano).to_string());
        let session = it.link.session.as_deref().unwrap_or_default();
        let planned = local_time(it.planned_ms);
        let state = it.state.label();
        let text = format!(
            "{planned}  {name}  {}  {state}  {cost}  {session}",
            it.trigger
        );
        format!("{}\n", printable(text.trim_end(), LineFeeds::Escape))
    });
    Ok(lines.collect())
}

fn as_json(entry: &AutomationEntry) -> Value {
    let history = entry.history.iter();
    json!({
        "name": entry.name,
        "path": entry.path.to_string(),
        "state": entry.state.label(),
        "is_on": entry.state.is_on(),
        "trigger": entry.trigger,
        "next_ms": entry.next_ms,
        "problems": entry.problems,
        "last": history.take(1).map(|it| occurrence_json(&entry.name, it)).next(),
    })
}

fn occurrence_json(name: &str, occurrence: &OccurrenceEntry) -> Value {
    json!({
        "automation": name,
        "trigger": occurrence.trigger,
        "planned_ms": occurrence.planned_ms,
        "state": occurrence.state.label(),
        "session": occurrence.link.session,
        "job": occurrence.link.job,
        "cost_nano": occurrence.cost_nano,
    })
}

#[cfg(test)]
mod tests;
