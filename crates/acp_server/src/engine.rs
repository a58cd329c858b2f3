//! Handles the requests of an ACP client: opening, listing, prompting and closing sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::context::date;
use agent::session::SessionCommand;
use agent::store::SessionSummary;
use base::AbsPath;
use connect::acp::agent::{
    AgentBackend, AgentIdentity, EditorClient, HistoryReplay, OpenedSession, RequestRefusal,
    SessionList, SessionRequest,
};
use connect::acp::protocol::{ConfigOption, MessageContent, OptionChoice, PromptStop, SessionInfo};
use futures::future::{BoxFuture, ready};
use host::{Files as _, RealFiles};
use tokio::sync::oneshot;

use crate::error::failed;
use crate::opening::{FollowedSession, Reopening, SessionOpener, SessionSettings, blocking};
use crate::options::{MODE, MODEL, mode_named};
use crate::prompt::{self, PromptCommand};
use crate::session::{AcpSession, Awaited};

/// Sessions that are listed at once.
const PAGE: usize = 50;

/// Burin's agent, which serves an editor's requests: opens sessions and keeps the open ones. Clones
/// share the open sessions.
#[derive(Clone)]
pub(crate) struct AcpEngine {
    opener: SessionOpener,
    open_sessions: Arc<Mutex<HashMap<String, FollowedSession>>>,
}

/// The end that a prompt waits for; `None` if the prompt is done at once.
type Begun = Option<oneshot::Receiver<PromptStop>>;

impl AcpEngine {
    /// Creates the agent without open sessions.
    pub(crate) fn new(opener: SessionOpener) -> Self {
        Self {
            opener,
            open_sessions: Arc::default(),
        }
    }

    /// Returns an open session by its id; fails with `NotFound` if there is none.
    fn live(&self, session: &str) -> Result<Arc<AcpSession>, RequestRefusal> {
        let live = self
            .sessions()
            .get(session)
            .map(|open| open.session.clone());
        live.ok_or_else(|| RequestRefusal::NotFound(format!("there is no open session {session}")))
    }

    /// Starts the turn, the compaction or the change of mode that a prompt requests. Returns the
    /// channel that reports the end; `None` if only the mode changes. Fails if the prompt is empty.
    fn begin_turn(
        &self,
        session: &str,
        pieces: Vec<MessageContent>,
    ) -> Result<Begun, RequestRefusal> {
        let live = self.live(session)?;
        let turn = |prompt| live.start_awaited(Awaited::Turn, SessionCommand::Prompt(prompt));
        match prompt::read(pieces, &live.root, &live.slash) {
            None => Err(RequestRefusal::Invalid("the prompt is empty".to_owned())),
            Some(PromptCommand::Turn(prompt)) => turn(prompt).map(Some),
            Some(PromptCommand::Compact) => live
                .start_awaited(Awaited::Compaction, SessionCommand::Compact)
                .map(Some),
            Some(PromptCommand::Mode(mode, prompt)) => {
                live.set_mode(mode)?;
                match prompt {
                    Some(prompt) => turn(prompt).map(Some),
                    None => {
                        let name = crate::options::mode_id(mode);
                        live.send_text(&format!("From now on in {name} mode."));
                        Ok(None)
                    }
                }
            }
        }
    }

    /// Sets an option of a session and returns all options. Fails if there is no such session or
    /// option, or if the choice is none of its values.
    fn choose(
        &self,
        session: &str,
        option: &str,
        chosen: OptionChoice,
    ) -> Result<Vec<ConfigOption>, RequestRefusal> {
        let live = self.live(session)?;
        match (option, chosen) {
            (MODEL, OptionChoice::One(model)) => live.set_model(model)?,
            (MODE, OptionChoice::One(mode)) => set_mode(&live, &mode)?,
            (MODEL | MODE, OptionChoice::Truth(_)) => {
                let text = format!("{option} is one of several, not yes or no");
                return Err(RequestRefusal::Invalid(text));
            }
            _ => {
                return Err(RequestRefusal::Invalid(format!(
                    "there is no option {option}"
                )));
            }
        }
        Ok(live.options())
    }

    /// Closes a session; returns its settings.
    async fn close_session(open: FollowedSession) -> SessionSettings {
        // A session that has ended already takes nothing.
        open.session
            .commands()
            .send(SessionCommand::Close)
            .await
            .ok();
        if let Err(error) = open.follower.await {
            log::error!("session {}: {error}", open.session.id);
        }
        SessionSettings {
            root: open.session.root.clone(),
            model: open.session.model(),
            mode: open.session.mode(),
        }
    }

    // A panic while it was held has left nothing half done.
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, FollowedSession>> {
        self.open_sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentBackend for AcpEngine {
    fn identity(&self) -> AgentIdentity {
        AgentIdentity {
            name: "burin-agent".to_owned(),
            title: "Burin".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sees: true,
            roams: false,
        }
    }

    fn open(
        &self,
        wanted: SessionRequest,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>> {
        let this = self.clone();
        Box::pin(async move {
            let (opened, open) = this.opener.clone().open(wanted, editor).await?;
            this.sessions().insert(opened.session.clone(), open);
            Ok(opened)
        })
    }

    fn reopen(
        &self,
        session: String,
        wanted: SessionRequest,
        replay: HistoryReplay,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>> {
        let this = self.clone();
        Box::pin(async move {
            // A session is open only once: an editor that loads it again no longer uses the open
            // one.
            let before = this.sessions().remove(&session);
            let before = match before {
                Some(open) => Some(Self::close_session(open).await),
                None => None,
            };
            let reopening = Reopening {
                id: session,
                replay,
                before,
            };
            let (opened, open) = this
                .opener
                .clone()
                .reopen(reopening, wanted, editor)
                .await?;
            this.sessions().insert(opened.session.clone(), open);
            Ok(opened)
        })
    }

    fn list(
        &self,
        folder: Option<PathBuf>,
        cursor: Option<String>,
    ) -> BoxFuture<'static, Result<SessionList, RequestRefusal>> {
        let store = self.opener.factory.store().clone();
        Box::pin(async move {
            let lines = blocking(move || store.sessions(usize::MAX)).await?;
            page(lines.map_err(failed)?, folder, cursor)
        })
    }

    fn prompt(
        &self,
        session: String,
        prompt: Vec<MessageContent>,
    ) -> BoxFuture<'static, Result<PromptStop, RequestRefusal>> {
        // Here, not later: a cancellation that follows is to find the turn.
        let begun = self.begin_turn(&session, prompt);
        Box::pin(async move {
            match begun? {
                None => Ok(PromptStop::Done),
                Some(ended) => {
                    let gone =
                        || PromptStop::Failed("the session has ended; load it again".to_owned());
                    Ok(ended.await.unwrap_or_else(|_| gone()))
                }
            }
        })
    }

    fn cancel(&self, session: String) -> BoxFuture<'static, ()> {
        if let Ok(live) = self.live(&session) {
            live.stop();
        }
        Box::pin(ready(()))
    }

    fn set_mode(
        &self,
        session: String,
        mode: String,
    ) -> BoxFuture<'static, Result<(), RequestRefusal>> {
        let set = self.live(&session).and_then(|live| set_mode(&live, &mode));
        Box::pin(ready(set))
    }

    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: OptionChoice,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, RequestRefusal>> {
        Box::pin(ready(self.choose(&session, &option, chosen)))
    }

    fn close(&self, session: String) -> BoxFuture<'static, Result<(), RequestRefusal>> {
        let open = self.sessions().remove(&session);
        Box::pin(async move {
            if let Some(open) = open {
                Self::close_session(open).await;
            }
            Ok(())
        })
    }
}

/// Sets the mode with this id; fails with `Invalid` if there is none.
fn set_mode(live: &AcpSession, mode: &str) -> Result<(), RequestRefusal> {
    let mode = mode_named(mode)
        .ok_or_else(|| RequestRefusal::Invalid(format!("there is no mode {mode}")))?;
    live.set_mode(mode)
}

/// Returns the page of sessions after the cursor's session, of one folder or of all, without the
/// sessions of subagents.
fn page(
    lines: Vec<SessionSummary>,
    folder: Option<PathBuf>,
    cursor: Option<String>,
) -> Result<SessionList, RequestRefusal> {
    let folder = folder.map(|folder| {
        let real = AbsPath::new(&folder).and_then(|it| RealFiles.canonicalize(&it).ok());
        real.map_or(folder, |real| real.as_path().to_owned())
    });
    let is_wanted = |line: &SessionSummary| {
        let is_there = folder
            .as_ref()
            .is_none_or(|it| it.as_os_str() == line.root.as_str());
        line.parent.is_none() && is_there
    };
    let lines: Vec<SessionSummary> = lines.into_iter().filter(is_wanted).collect();
    let first = match cursor {
        None => 0,
        Some(cursor) => {
            let last = lines.iter().position(|line| line.id == cursor);
            let unknown = || RequestRefusal::Invalid(format!("there is no page after {cursor}"));
            last.ok_or_else(unknown)? + 1
        }
    };
    let mut rest = lines.into_iter().skip(first);
    let sessions: Vec<SessionInfo> = rest.by_ref().take(PAGE).map(info).collect();
    let has_more = rest.next().is_some();
    let last = sessions.last().map(|session| session.id.clone());
    Ok(SessionList {
        cursor: last.filter(|_| has_more),
        sessions,
    })
}

fn info(line: SessionSummary) -> SessionInfo {
    SessionInfo {
        folder: PathBuf::from(line.root),
        title: (!line.title.is_empty()).then_some(line.title),
        updated: Some(iso(line.last_ms)),
        id: line.id,
    }
}

/// Milliseconds since 1970 in the form of ISO 8601, in universal time.
fn iso(wall_ms: u64) -> String {
    let seconds = wall_ms / 1000 % 86_400;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(wall_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::record::{Parent, SessionMode};
    use agent::store::SessionState;

    fn line(id: usize, root: &str) -> SessionSummary {
        SessionSummary {
            id: format!("s{id}"),
            started_ms: 0,
            last_ms: 1_763_769_601_000,
            root: root.to_owned(),
            title: String::new(),
            has_title: false,
            model: String::new(),
            wanted: String::new(),
            mode: SessionMode::Build,
            turns: 1,
            cost_nano: 0,
            has_unknown_cost: false,
            state: SessionState::New,
            parent: None,
            forked_from: None,
            is_archived: false,
            is_unread: false,
            spent_by_day: Default::default(),
        }
    }

    #[test]
    fn sessions_are_listed_page_by_page() {
        let mut lines: Vec<SessionSummary> = (0..120).map(|id| line(id, "/a")).collect();
        lines.push(line(120, "/b"));
        lines[3].parent = Some(Parent {
            session: "s1".to_owned(),
            call: "c".to_owned(),
        });
        let check = |folder: Option<&str>, expected: &[usize]| {
            let (mut cursor, mut counts) = (None, Vec::new());
            loop {
                let folder = folder.map(PathBuf::from);
                let listed = page(lines.clone(), folder, cursor).expect("a page");
                counts.push(listed.sessions.len());
                cursor = listed.cursor;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(counts, expected, "{folder:?}");
        };
        check(None, &[50, 50, 20]);
        check(Some("/a"), &[50, 50, 19]);
        check(Some("/b"), &[1]);
        check(Some("/c"), &[0]);
        let unknown = page(lines.clone(), None, Some("s999".to_owned()));
        assert!(matches!(unknown, Err(RequestRefusal::Invalid(_))));
    }

    #[test]
    fn moments_are_told_in_the_form_of_iso_8601() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(1_763_769_601_999), "2025-11-22T00:00:01Z");
    }
}
