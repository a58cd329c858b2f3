//! What an editor asks of the agent, answered.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::context::date;
use agent::session::Command;
use agent::store::SessionLine;
use base::AbsPath;
use connect::acp::agent::{About, Editor, Engine, Listed, Opened, Refusal, Replay, Wanted};
use connect::acp::words::{Chosen, ConfigOption, Piece, SessionInfo, TurnEnd};
use futures::future::{BoxFuture, ready};
use host::{Files as _, RealFiles};
use tokio::sync::oneshot;

use super::live::{Awaited, Live};
use super::opening::{Open, Reopening, Shop, Standing, blocking};
use super::options::{MODE, MODEL, mode_named};
use super::prompt::{self, Wish};

/// Sessions that are listed at once.
const PAGE: usize = 50;

/// Burin as an agent. Clones are the same one.
#[derive(Clone)]
pub(super) struct Burin {
    shop: Shop,
    open: Arc<Mutex<HashMap<String, Open>>>,
}

/// What a prompt waits for; nothing, where it is done at once.
type Begun = Option<oneshot::Receiver<TurnEnd>>;

impl Burin {
    pub(super) fn new(shop: Shop) -> Self {
        Self {
            shop,
            open: Arc::default(),
        }
    }

    fn live(&self, session: &str) -> Result<Arc<Live>, Refusal> {
        let live = self.sessions().get(session).map(|open| open.live.clone());
        live.ok_or_else(|| Refusal::NotThere(format!("there is no open session {session}")))
    }

    fn begin(&self, session: &str, pieces: Vec<Piece>) -> Result<Begun, Refusal> {
        let live = self.live(session)?;
        let turn = |prompt| live.begin(Awaited::Turn, Command::Prompt(prompt));
        match prompt::read(pieces, &live.root, &live.slash) {
            None => Err(Refusal::Invalid("the prompt says nothing".to_owned())),
            Some(Wish::Turn(prompt)) => turn(prompt).map(Some),
            Some(Wish::Compact) => live.begin(Awaited::Compaction, Command::Compact).map(Some),
            Some(Wish::Mode(mode, prompt)) => {
                live.set_mode(mode)?;
                match prompt {
                    Some(prompt) => turn(prompt).map(Some),
                    None => {
                        let name = super::options::mode_id(mode);
                        live.say(&format!("From now on in {name} mode."));
                        Ok(None)
                    }
                }
            }
        }
    }

    fn choose(
        &self,
        session: &str,
        option: &str,
        chosen: Chosen,
    ) -> Result<Vec<ConfigOption>, Refusal> {
        let live = self.live(session)?;
        match (option, chosen) {
            (MODEL, Chosen::One(model)) => live.set_model(model)?,
            (MODE, Chosen::One(mode)) => set_mode(&live, &mode)?,
            (MODEL | MODE, Chosen::Truth(_)) => {
                let text = format!("{option} is one of several, not yes or no");
                return Err(Refusal::Invalid(text));
            }
            _ => return Err(Refusal::Invalid(format!("there is no option {option}"))),
        }
        Ok(live.options())
    }

    /// Ends a session; how it stood.
    async fn ended(open: Open) -> Standing {
        // A session that has ended already takes nothing.
        open.live.commands().send(Command::Close).await.ok();
        if let Err(error) = open.follower.await {
            log::error!("session {}: {error}", open.live.id);
        }
        Standing {
            root: open.live.root.clone(),
            model: open.live.model(),
            mode: open.live.mode(),
        }
    }

    // A panic while it was held has left nothing half done.
    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Burin {
    fn about(&self) -> About {
        About {
            name: "burin-agent".to_owned(),
            title: "Burin".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sees: true,
            roams: false,
        }
    }

    fn open(&self, wanted: Wanted, editor: Editor) -> BoxFuture<'static, Result<Opened, Refusal>> {
        let this = self.clone();
        Box::pin(async move {
            let (opened, open) = this.shop.clone().open(wanted, editor).await?;
            this.sessions().insert(opened.session.clone(), open);
            Ok(opened)
        })
    }

    fn reopen(
        &self,
        session: String,
        wanted: Wanted,
        replay: Replay,
        editor: Editor,
    ) -> BoxFuture<'static, Result<Opened, Refusal>> {
        let this = self.clone();
        Box::pin(async move {
            // A session goes on in one place: the editor that asks anew has forgotten the old one.
            let before = this.sessions().remove(&session);
            let before = match before {
                Some(open) => Some(Self::ended(open).await),
                None => None,
            };
            let reopening = Reopening {
                id: session,
                how: replay,
                before,
            };
            let (opened, open) = this.shop.clone().reopen(reopening, wanted, editor).await?;
            this.sessions().insert(opened.session.clone(), open);
            Ok(opened)
        })
    }

    fn list(
        &self,
        folder: Option<PathBuf>,
        cursor: Option<String>,
    ) -> BoxFuture<'static, Result<Listed, Refusal>> {
        let store = self.shop.crew.store().clone();
        Box::pin(async move {
            let lines = blocking(move || store.sessions(usize::MAX)).await?;
            page(lines.map_err(Refusal::Failed)?, folder, cursor)
        })
    }

    fn prompt(
        &self,
        session: String,
        prompt: Vec<Piece>,
    ) -> BoxFuture<'static, Result<TurnEnd, Refusal>> {
        // Here, not later: a cancellation that follows is to find the turn.
        let begun = self.begin(&session, prompt);
        Box::pin(async move {
            match begun? {
                None => Ok(TurnEnd::Done),
                Some(ended) => {
                    let gone =
                        || TurnEnd::Failed("the session has ended; load it again".to_owned());
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

    fn set_mode(&self, session: String, mode: String) -> BoxFuture<'static, Result<(), Refusal>> {
        let set = self.live(&session).and_then(|live| set_mode(&live, &mode));
        Box::pin(ready(set))
    }

    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: Chosen,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, Refusal>> {
        Box::pin(ready(self.choose(&session, &option, chosen)))
    }

    fn close(&self, session: String) -> BoxFuture<'static, Result<(), Refusal>> {
        let open = self.sessions().remove(&session);
        Box::pin(async move {
            if let Some(open) = open {
                Self::ended(open).await;
            }
            Ok(())
        })
    }
}

fn set_mode(live: &Live, mode: &str) -> Result<(), Refusal> {
    let mode =
        mode_named(mode).ok_or_else(|| Refusal::Invalid(format!("there is no mode {mode}")))?;
    live.set_mode(mode)
}

/// The sessions of a folder, or all, from behind the one that the cursor names; without those of subagents.
fn page(
    lines: Vec<SessionLine>,
    folder: Option<PathBuf>,
    cursor: Option<String>,
) -> Result<Listed, Refusal> {
    let folder = folder.map(|folder| {
        let real = AbsPath::new(&folder).and_then(|it| RealFiles.canonicalize(&it).ok());
        real.map_or(folder, |real| real.as_path().to_owned())
    });
    let is_wanted = |line: &SessionLine| {
        let is_there = folder
            .as_ref()
            .is_none_or(|it| it.as_os_str() == line.root.as_str());
        line.parent.is_none() && is_there
    };
    let lines: Vec<SessionLine> = lines.into_iter().filter(is_wanted).collect();
    let first = match cursor {
        None => 0,
        Some(cursor) => {
            let last = lines.iter().position(|line| line.id == cursor);
            let unknown = || Refusal::Invalid(format!("there is no page behind {cursor}"));
            last.ok_or_else(unknown)? + 1
        }
    };
    let mut rest = lines.into_iter().skip(first);
    let sessions: Vec<SessionInfo> = rest.by_ref().take(PAGE).map(info).collect();
    let has_more = rest.next().is_some();
    let last = sessions.last().map(|session| session.id.clone());
    Ok(Listed {
        cursor: last.filter(|_| has_more),
        sessions,
    })
}

fn info(line: SessionLine) -> SessionInfo {
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
    use agent::record::{Mode, Parent};
    use agent::store::SessionState;

    fn line(id: usize, root: &str) -> SessionLine {
        SessionLine {
            id: format!("s{id}"),
            started_ms: 0,
            last_ms: 1_763_769_601_000,
            root: root.to_owned(),
            title: String::new(),
            model: String::new(),
            wanted: String::new(),
            mode: Mode::Build,
            turns: 1,
            cost_nano: 0,
            has_unknown_cost: false,
            state: SessionState::New,
            parent: None,
        }
    }

    #[test]
    fn sessions_are_listed_page_by_page() {
        let mut lines: Vec<SessionLine> = (0..120).map(|id| line(id, "/a")).collect();
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
        assert!(matches!(unknown, Err(Refusal::Invalid(_))));
    }

    #[test]
    fn moments_are_told_in_the_form_of_iso_8601() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(1_763_769_601_999), "2025-11-22T00:00:01Z");
    }
}
