//! The sessions of another machine.

use agent_service::{AgentService as _, SessionEntry, SessionMark, SessionStatus};
use base::{LineFeeds, printable};
use host::Dirs;
use model::Cost;
use serde_json::json;

use super::{SessionsAction, TranscriptFormat, age};
use crate::machine::MachineAgents;
use crate::{Streams, agrees, error_text};

/// Runs an action on the sessions of a machine and returns its output. Fails for the actions that need
/// the files of the machine.
pub(super) fn run(
    dirs: &Dirs,
    machine: &str,
    action: &SessionsAction,
    streams: &mut Streams<'_>,
) -> Result<String, String> {
    let far = MachineAgents::find(dirs, machine)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        match action {
            SessionsAction::List {
                json,
                limit,
                archived,
            } => {
                let sessions = far.agents.sessions(far.folder.clone()).await;
                let mut sessions = sessions.map_err(error_text)?;
                sessions.retain(|session| session.is_archived == *archived);
                sessions.truncate(*limit);
                Ok(list(&sessions, *json))
            }
            SessionsAction::Show { id }
            | SessionsAction::Export {
                id,
                format: TranscriptFormat::Markdown,
            } => {
                let exported = far.agents.export_session(id.clone()).await;
                exported.map_err(error_text)
            }
            SessionsAction::Rename { id, name } => {
                let title = name.trim().to_owned();
                far.mark(id, SessionMark::Renamed { title }).await?;
                Ok(format!("session {id} has its new name\n"))
            }
            SessionsAction::Archive { id } => {
                far.mark(id, SessionMark::Archived).await?;
                Ok(format!("session {id} is archived\n"))
            }
            SessionsAction::Unarchive { id } => {
                far.mark(id, SessionMark::Unarchived).await?;
                Ok(format!("session {id} is no longer archived\n"))
            }
            SessionsAction::Delete { id, yes } => {
                let question = format!(
                    "Deleting removes session {id} from all lists of the machine, and it cannot be continued. Delete it?"
                );
                if !yes && !agrees(&question, streams)? {
                    return Ok(format!("session {id} was not deleted\n"));
                }
                far.mark(id, SessionMark::Deleted).await?;
                Ok(format!("session {id} is deleted\n"))
            }
            _ => Err(format!(
                "this needs the files of \"{machine}\": run it there. With --machine there are list, show, \
                 export --format markdown, rename, archive, unarchive and delete"
            )),
        }
    })
}

impl MachineAgents {
    async fn mark(&self, id: &str, mark: SessionMark) -> Result<(), String> {
        let marked = self.agents.mark_session(id.to_owned(), mark).await;
        marked.map_err(error_text)
    }
}

fn list(sessions: &[SessionEntry], is_json: bool) -> String {
    if is_json {
        let lines: Vec<_> = sessions.iter().map(json_line).collect();
        return format!("{}\n", serde_json::Value::Array(lines));
    }
    if sessions.is_empty() {
        return "there are no such sessions of the machine's folder\n".to_owned();
    }
    sessions.iter().map(line).collect()
}

fn line(session: &SessionEntry) -> String {
    let cost = match session.cost_nano {
        Some(nano) => Cost(nano).to_string(),
        None => "unknown".to_owned(),
    };
    let line = format!(
        "{}  {:>8} ago  {cost:>8}  {}  {}",
        session.id,
        age(session.age_ms),
        session.model,
        session.title,
    );
    let line = printable(&line, LineFeeds::Escape);
    let state = status(&session.status);
    let state = printable(&state, LineFeeds::Escape);
    format!("{line}\n    {state}\n")
}

fn json_line(session: &SessionEntry) -> serde_json::Value {
    json!({
        "id": session.id,
        "title": session.title,
        "model": session.model,
        "age_ms": session.age_ms,
        "cost_nano": session.cost_nano,
        "state": status(&session.status),
        "branch": session.agent.as_ref().map(|agent| &agent.branch),
        "archived": session.is_archived,
        "unread": session.is_unread,
    })
}

fn status(status: &SessionStatus) -> String {
    match status {
        SessionStatus::New => "nothing asked yet".to_owned(),
        SessionStatus::Working => "works".to_owned(),
        SessionStatus::Done => "done".to_owned(),
        SessionStatus::Stopped => "stopped".to_owned(),
        SessionStatus::Failed(why) => format!("failed: {why}"),
        SessionStatus::Interrupted => "interrupted".to_owned(),
    }
}
