//! The command `sessions`: lists, shows and exports past sessions, and reviews their changes.

mod changes;

use std::process::ExitCode;

use agent::record::{SessionRecord, Stored};
use agent::store::{SessionState, SessionStore, SessionSummary};
use clap::{Args, Subcommand, ValueEnum};
use composer::folder_review::FolderAction;
use host::{Clock, Dirs, RealClock};
use ledger::Ledger;
use model::Cost;
use runtime::usage_store::ledger_path;
use serde_json::json;

use crate::run::show::{end_text, json_record};
use crate::{Streams, error_text, print_notice, write_error};

/// List past sessions, and show their contents
#[derive(Args)]
pub(crate) struct SessionsCommand {
    #[command(subcommand)]
    what: SessionsAction,
}

#[derive(Subcommand)]
enum SessionsAction {
    /// List the latest sessions, one a line
    List {
        /// Print an array of objects
        #[arg(long)]
        json: bool,
        /// The most sessions to list
        #[arg(long, default_value_t = 30)]
        limit: usize,
    },
    /// Show the messages and calls of a session
    Show {
        /// The ID of the session
        id: String,
    },
    /// Export all records of a session
    Export {
        /// The ID of the session
        id: String,
        /// Format of the export
        #[arg(long, value_enum, default_value_t = TranscriptFormat::Jsonl)]
        format: TranscriptFormat,
    },
    /// List the changes of a session in its folder that are neither kept nor rejected
    Changes {
        /// The ID of the session
        id: String,
        /// Print an object
        #[arg(long)]
        json: bool,
    },
    /// Keep changes of a session for good: they are not listed any more
    Keep(changes::ChangeSelection),
    /// Take changes of a session out of its folder; changes of others stay
    Reject(changes::ChangeSelection),
    /// Restore the files to a message: take back what the session changed since
    Restore {
        /// The ID of the session
        id: String,
        /// The number of the message, from 1
        turn: u64,
    },
    /// Undo the latest restore or rejection in the folder of a session
    UndoRestore {
        /// The ID of the session
        id: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TranscriptFormat {
    /// A record a line
    Jsonl,
    /// Markdown text for human readers
    Markdown,
}

impl SessionsCommand {
    /// Runs the command, prints its result and returns its exit code. On failure, returns a
    /// sentence that the caller prints.
    pub(crate) fn run(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let store = open(dirs, streams)?;
        let text = match &self.what {
            SessionsAction::Changes { id, json } => changes::list(dirs, store, id, *json)?,
            SessionsAction::Keep(selection) => selection.keep(dirs, store)?,
            SessionsAction::Reject(selection) => selection.reject(dirs, store)?,
            SessionsAction::Restore { id, turn } => {
                changes::run(dirs, store, id, &FolderAction::Restore(*turn))?
            }
            SessionsAction::UndoRestore { id } => {
                changes::run(dirs, store, id, &FolderAction::UndoLatest)?
            }
            SessionsAction::List { json, limit } => {
                list(&store.sessions(*limit).map_err(error_text)?, *json)
            }
            SessionsAction::Show { id } => to_markdown(&read(&store, id, streams)?),
            SessionsAction::Export { id, format } => {
                let records = read(&store, id, streams)?;
                match format {
                    TranscriptFormat::Markdown => to_markdown(&records),
                    TranscriptFormat::Jsonl => {
                        let lines = records
                            .iter()
                            .map(|stored| format!("{}\n", json_record(stored)));
                        lines.collect()
                    }
                }
            }
        };
        streams
            .output
            .write_all(text.as_bytes())
            .map_err(write_error)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Opens the store of sessions, and creates the ledger if it is missing. If the ledger is damaged,
/// moves it aside and prints a notice for the user.
pub(crate) fn open(dirs: &Dirs, streams: &mut Streams<'_>) -> Result<SessionStore, String> {
    dirs.create().map_err(|error| error.to_string())?;
    let now_ms = RealClock::default().wall_ms();
    let opened = Ledger::open(&ledger_path(dirs), now_ms).map_err(|error| error.to_string())?;
    if let Some(aside) = &opened.quarantined {
        print_notice(streams, &aside.to_string());
    }
    SessionStore::start(opened.ledger).map_err(error_text)
}

/// Reads the records of a session, and prints the problems with them as notices.
fn read(store: &SessionStore, id: &str, streams: &mut Streams<'_>) -> Result<Vec<Stored>, String> {
    let past = store.read(id).map_err(error_text)?;
    for problem in &past.problems {
        print_notice(streams, problem);
    }
    Ok(past.records)
}

fn list(lines: &[SessionSummary], is_json: bool) -> String {
    if is_json {
        let lines: Vec<_> = lines.iter().map(json_line).collect();
        return format!("{}\n", serde_json::Value::Array(lines));
    }
    if lines.is_empty() {
        return "there are no sessions yet; `burin-agent run` begins one\n".to_owned();
    }
    let now_ms = RealClock::default().wall_ms();
    let line = |line: &SessionSummary| {
        let cost = if line.has_unknown_cost {
            "unknown".to_owned()
        } else {
            Cost(line.cost_nano).to_string()
        };
        format!(
            "{}  {:>8} ago  {:>3} turns  {cost:>8}  {}  {}\n    {}\n    {}, in {}\n",
            line.id,
            age(now_ms.saturating_sub(line.last_ms)),
            line.turns,
            line.model,
            if line.parent.is_some() {
                "(subagent)"
            } else {
                ""
            },
            line.title,
            state(&line.state),
            line.root,
        )
    };
    lines.iter().map(line).collect()
}

fn json_line(line: &SessionSummary) -> serde_json::Value {
    json!({
        "id": line.id,
        "title": line.title,
        "root": line.root,
        "model": line.model,
        "mode": line.mode,
        "turns": line.turns,
        "started_ms": line.started_ms,
        "last_ms": line.last_ms,
        "cost_nano": (!line.has_unknown_cost).then_some(line.cost_nano),
        "state": state(&line.state),
        "parent": line.parent,
    })
}

fn state(state: &SessionState) -> String {
    match state {
        SessionState::New => "nothing asked yet".to_owned(),
        SessionState::Open => "runs, or its program died".to_owned(),
        SessionState::Ended(end) => end_text(end),
    }
}

fn age(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// A session as a text that can be read.
fn to_markdown(records: &[Stored]) -> String {
    let mut text = String::new();
    for stored in records {
        match &stored.record {
            SessionRecord::Began { root, model, .. } => {
                text.push_str(&format!("# {model} in {root}\n"))
            }
            SessionRecord::Prompted { parts, .. } => {
                text.push_str(&format!("\n## {}\n", agent::stored_parts::texts(parts)));
            }
            SessionRecord::Answered { parts, .. } => {
                let texts = agent::stored_parts::texts(parts);
                if !texts.trim().is_empty() {
                    text.push_str(&format!("\n{texts}\n"));
                }
            }
            SessionRecord::CallEnded {
                tool,
                outcome,
                content,
                millis,
                ..
            } => {
                let texts = agent::stored_parts::texts(content).replace('\n', "\n    ");
                text.push_str(&format!(
                    "\n    {tool}: {}, {millis} ms\n    {texts}\n",
                    outcome.name()
                ));
            }
            SessionRecord::CallBegan { title, .. } => text.push_str(&format!("\n- {title}\n")),
            SessionRecord::Failed { message, .. } => text.push_str(&format!("\n*{message}*\n")),
            SessionRecord::Noted { text: note } => text.push_str(&format!("\n*{note}*\n")),
            SessionRecord::Compacted { summary, .. } => {
                text.push_str(&format!(
                    "\n*The conversation was made shorter.*\n{summary}\n"
                ));
            }
            SessionRecord::TurnEnded { end, .. } => {
                text.push_str(&format!("\n*{}*\n", end_text(end)))
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests;
