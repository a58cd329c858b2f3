//! The command `sessions`: lists, shows, exports, renames, archives and deletes past sessions, and
//! reviews their changes.

mod changes;
mod comment;
mod machine;

use std::process::ExitCode;

use agent::engine::is_open_elsewhere;
use agent::export::markdown;
use agent::record::Stored;
use agent::store::{SessionMark, SessionState, SessionStore, SessionSummary, title};
use clap::{Args, Subcommand, ValueEnum};
use composer::folder_review::FolderAction;
use futures::executor::block_on;
use host::{Clock, Dirs, RealClock, RealFiles};
use ledger::Ledger;
use model::Cost;
use runtime::usage_store::ledger_path;
use serde_json::json;

use crate::run::show::json_record;
use crate::{Streams, agrees, error_text, print_notice, write_error};

/// List past sessions, show their contents, rename, archive or delete them
#[derive(Args)]
pub(crate) struct SessionsCommand {
    #[command(subcommand)]
    what: SessionsAction,
    /// Use the sessions of this machine of the settings' agents.machines, in its folder
    #[arg(long, global = true, value_name = "NAME")]
    machine: Option<String>,
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
        /// List the archived sessions instead of the others
        #[arg(long)]
        archived: bool,
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
    /// Comment on a change: the session is continued, and its agent answers and mends
    Comment(comment::ChangeComment),
    /// Give a session a name, which no automatic title replaces
    Rename {
        /// The ID of the session
        id: String,
        /// The new name
        name: String,
    },
    /// List a session only among archived ones
    Archive {
        /// The ID of the session
        id: String,
    },
    /// List an archived session among the others again
    Unarchive {
        /// The ID of the session
        id: String,
    },
    /// Remove a session from all lists; its text stays in the ledger file
    Delete {
        /// The ID of the session
        id: String,
        /// Delete without asking
        #[arg(long)]
        yes: bool,
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
        match &self.machine {
            Some(machine) => print(&machine::run(dirs, machine, &self.what, streams)?, streams),
            None => self.perform(dirs, streams),
        }
    }

    /// Runs the command on the sessions of this machine, prints its result and returns its exit code.
    fn perform(&self, dirs: &Dirs, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
        let store = open(dirs, streams)?;
        let text = match &self.what {
            SessionsAction::Comment(comment) => return comment.run(dirs, store, streams),
            SessionsAction::Changes { id, json } => changes::list(dirs, store, id, *json)?,
            SessionsAction::Keep(selection) => selection.keep(dirs, store)?,
            SessionsAction::Reject(selection) => selection.reject(dirs, store)?,
            SessionsAction::Restore { id, turn } => {
                changes::run(dirs, store, id, &FolderAction::Restore(*turn))?
            }
            SessionsAction::UndoRestore { id } => {
                changes::run(dirs, store, id, &FolderAction::UndoLatest)?
            }
            SessionsAction::List {
                json,
                limit,
                archived,
            } => list(&ListedSessions::read(&store, *archived, *limit)?, *json),
            SessionsAction::Show { id } => to_markdown(&store, id, streams)?,
            SessionsAction::Export { id, format } => match format {
                TranscriptFormat::Markdown => to_markdown(&store, id, streams)?,
                TranscriptFormat::Jsonl => {
                    let records = read(&store, id, streams)?;
                    let lines = records
                        .iter()
                        .map(|stored| format!("{}\n", json_record(stored)));
                    lines.collect()
                }
            },
            SessionsAction::Rename { id, name } => rename(&store, id, name)?,
            SessionsAction::Archive { id } => {
                mark(&store, id, &SessionMark::Archived)?;
                format!(
                    "session {id} is archived; `burin-agent sessions unarchive {id}` undoes it\n"
                )
            }
            SessionsAction::Unarchive { id } => {
                mark(&store, id, &SessionMark::Unarchived)?;
                format!("session {id} is no longer archived\n")
            }
            SessionsAction::Delete { id, yes } => delete(&store, id, *yes, dirs, streams)?,
        };
        print(&text, streams)
    }
}

fn print(text: &str, streams: &mut Streams<'_>) -> Result<ExitCode, String> {
    let written = streams.output.write_all(text.as_bytes());
    written.map_err(write_error)?;
    Ok(ExitCode::SUCCESS)
}

/// The sessions to print.
struct ListedSessions {
    lines: Vec<SessionSummary>,
    /// Number of sessions that are archived, or that are not if the archived ones are listed.
    hidden: usize,
    is_archived: bool,
}

impl ListedSessions {
    fn read(store: &SessionStore, is_archived: bool, limit: usize) -> Result<Self, String> {
        let all = store.sessions(usize::MAX).map_err(error_text)?;
        let count = all.len();
        let of_kind = all
            .into_iter()
            .filter(|line| line.is_archived == is_archived);
        let mut lines: Vec<SessionSummary> = of_kind.collect();
        let hidden = count - lines.len();
        lines.truncate(limit);
        Ok(Self {
            lines,
            hidden,
            is_archived,
        })
    }
}

/// Appends a mark to a session. Fails if there is no such session.
fn mark(store: &SessionStore, id: &str, mark: &SessionMark) -> Result<(), String> {
    if store.summary(id).map_err(error_text)?.is_none() {
        return Err(format!(
            "there is no session {id}: `burin-agent sessions list` shows the sessions"
        ));
    }
    let now_ms = RealClock::default().wall_ms();
    block_on(store.mark(id, mark, now_ms)).map_err(error_text)
}

fn rename(store: &SessionStore, id: &str, name: &str) -> Result<String, String> {
    let title = title(name);
    if title.is_empty() {
        return Err(format!(
            "the new name of session {id} is blank; write a word"
        ));
    }
    mark(
        store,
        id,
        &SessionMark::Renamed {
            title: title.clone(),
        },
    )?;
    Ok(format!("session {id} is now \"{title}\"\n"))
}

/// Deletes a session after the user agreed, unless `is_confirmed`.
fn delete(
    store: &SessionStore,
    id: &str,
    is_confirmed: bool,
    dirs: &Dirs,
    streams: &mut Streams<'_>,
) -> Result<String, String> {
    let ledger = ledger_path(dirs);
    if is_open_elsewhere(&RealFiles, &dirs.state, id) {
        return Err(format!(
            "session {id} is open in another program; close it there, then delete it"
        ));
    }
    let question = format!(
        "Deleting removes session {id} from all lists, and it cannot be continued. Its text stays in the ledger file \
         {ledger}. Delete it?"
    );
    if !is_confirmed && !agrees(&question, streams)? {
        return Ok(format!("session {id} was not deleted\n"));
    }
    mark(store, id, &SessionMark::Deleted)?;
    Ok(format!(
        "session {id} is deleted; its text stays in the ledger file {ledger}\n"
    ))
}

/// Returns a session as Markdown.
fn to_markdown(
    store: &SessionStore,
    id: &str,
    streams: &mut Streams<'_>,
) -> Result<String, String> {
    let title = store.summary(id).map_err(error_text)?;
    let title = title.map_or_else(|| id.to_owned(), |line| line.title);
    Ok(markdown(&title, &read(store, id, streams)?))
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

fn list(listed: &ListedSessions, is_json: bool) -> String {
    let lines = &listed.lines;
    if is_json {
        let lines: Vec<_> = lines.iter().map(json_line).collect();
        return format!("{}\n", serde_json::Value::Array(lines));
    }
    let hidden = match (listed.hidden, listed.is_archived) {
        (0, _) | (_, true) => String::new(),
        (1, _) => "1 archived session is hidden; --archived lists it\n".to_owned(),
        (count, _) => format!("{count} archived sessions are hidden; --archived lists them\n"),
    };
    if lines.is_empty() && listed.is_archived {
        return "no session is archived\n".to_owned();
    }
    if lines.is_empty() {
        return format!("there are no sessions yet; `burin-agent run` begins one\n{hidden}");
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
    let lines: String = lines.iter().map(line).collect();
    lines + &hidden
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
        "forked_from": line.forked_from,
        "archived": line.is_archived,
        "unread": line.is_unread,
    })
}

fn state(state: &SessionState) -> String {
    match state {
        SessionState::New => "nothing asked yet".to_owned(),
        SessionState::Open => "runs, or its program died".to_owned(),
        SessionState::Ended(end) => end.to_string(),
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

#[cfg(test)]
mod tests;
