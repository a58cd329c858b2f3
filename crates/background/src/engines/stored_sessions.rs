//! The stored sessions as the panel lists them, and what a change of a running one adds to them.

use std::sync::Arc;

use agent::record::TurnEnd;
use agent::session::SessionChangeKind;
use agent::store::{SessionState, StoreChanges, UnwrittenRecords};
use agent_service::{
    SessionAgent, SessionChange, SessionEntry, SessionMark, SessionStatus, StoredChange,
};
use futures::stream::{self, Stream};
use runtime::agent_services::AgentServices;
use runtime::folder_sessions::FolderSession;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch::Receiver;

/// Returns the entry of a session in the list.
pub(super) fn entry(session: FolderSession) -> SessionEntry {
    let FolderSession {
        summary,
        agent,
        age_ms,
    } = session;
    SessionEntry {
        status: match summary.state {
            SessionState::New => SessionStatus::New,
            SessionState::Open => SessionStatus::Working,
            SessionState::Ended(TurnEnd::Done) => SessionStatus::Done,
            SessionState::Ended(TurnEnd::Stopped) => SessionStatus::Stopped,
            SessionState::Ended(TurnEnd::Interrupted) => SessionStatus::Interrupted,
            SessionState::Ended(end) => SessionStatus::Failed(end.to_string()),
        },
        id: summary.id,
        title: summary.title,
        age_ms,
        model: summary.model,
        cost_nano: (!summary.has_unknown_cost).then_some(summary.cost_nano),
        agent: agent.map(|agent| SessionAgent {
            branch: agent.branch,
            job: agent.job,
        }),
        is_archived: summary.is_archived,
        is_unread: summary.is_unread,
    }
}

/// Returns the changes of the stored sessions from now on.
pub(super) fn changes(changes: Receiver<StoreChanges>) -> impl Stream<Item = StoredChange> {
    let before = *changes.borrow();
    let next = |(mut changes, before): (Receiver<StoreChanges>, StoreChanges)| async move {
        changes.changed().await.ok()?;
        let now = *changes.borrow_and_update();
        let change = if now.marks > before.marks {
            StoredChange::Marks
        } else {
            StoredChange::Records
        };
        Some((change, (changes, now)))
    };
    stream::unfold((changes, before), next)
}

/// Returns a sentence for each state of the records that could not be written, now and from now on.
pub(super) fn unwritten(records: Receiver<UnwrittenRecords>) -> impl Stream<Item = String> {
    let next = |(mut records, before): (Receiver<UnwrittenRecords>, Option<String>)| async move {
        loop {
            let now = records.borrow_and_update().sentence();
            match now {
                Some(sentence) if before.as_ref() != Some(&sentence) => {
                    return Some((sentence.clone(), (records, Some(sentence))));
                }
                _ => records.changed().await.ok()?,
            }
        }
    };
    stream::unfold((records, None), next)
}

/// Follows the running sessions: one that ends a turn or waits without a view becomes unread, and
/// one that ended its first turn gets a title. Ends with the sessions.
pub(super) async fn follow(
    services: Arc<AgentServices>,
    mut changes: UnboundedReceiver<SessionChange>,
) {
    while let Some(change) = changes.recv().await {
        let services = services.clone();
        tokio::spawn(async move {
            if let Err(error) = apply(&services, &change).await {
                log::warn!("session {}: {error}", change.id);
            }
        });
    }
}

/// Applies a change of a running session to the stored ones.
pub(super) async fn apply(
    services: &AgentServices,
    change: &SessionChange,
) -> Result<(), runtime::Error> {
    let is_news = match &change.kind {
        SessionChangeKind::Ended { is_followed, .. } => !is_followed,
        SessionChangeKind::Waits(_) => true,
    };
    if is_news && !change.has_view {
        services
            .mark_session(&change.id, &SessionMark::Unread)
            .await?;
    }
    if matches!(
        change.kind,
        SessionChangeKind::Ended {
            end: TurnEnd::Done,
            ..
        }
    ) {
        services.title_session(&change.id).await?;
    }
    Ok(())
}
