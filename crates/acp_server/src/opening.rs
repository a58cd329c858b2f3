//! Opens and resumes sessions for an editor: their folder, models, hooks and permission policy.

use std::path::PathBuf;
use std::sync::Arc;

use agent::budget::BudgetLimits;
use agent::context::Skills;
use agent::engine::{self, SessionOptions};
use agent::hooks::Hooks;
use agent::record::SessionMode;
use base::AbsPath;
use connect::acp::agent::{
    EditorClient, HistoryReplay, OpenedSession, RequestRefusal, SessionRequest,
};
use connect::acp::protocol::{SlashCommand, Update};
use connect::mcp::ServerEntry;
use host::{Dirs, Files as _, RealFiles};
use runtime::agent_services::SelectableModel;
use runtime::mcp_pool::ServerWait;
use runtime::sandbox_policy::Confinement;
use runtime::session_factory::{self, SessionFactory};
use runtime::{sample_project, trust};

use crate::error::failed;
use crate::session::{AcpSession, AcpSessionParts, agent_message};
use crate::update_mapper::UpdateMapper;
use crate::{follow, options, replay};

/// The shared services and settings that sessions are opened with.
#[derive(Clone)]
pub(crate) struct SessionOpener {
    /// The factory that all sessions share.
    pub(crate) factory: Arc<SessionFactory>,
    /// The folders for Burin's own files.
    pub(crate) dirs: Dirs,
    /// The models that were available at the program's start.
    pub(crate) models: Vec<SelectableModel>,
    /// The model of new sessions.
    pub(crate) default: String,
    /// Whether calls that need permission are allowed without asking.
    pub(crate) allows_asked: bool,
    /// The sandbox options of the command line.
    pub(crate) confinement: Confinement,
}

/// An open session and the task that forwards its events.
pub(crate) struct FollowedSession {
    pub(crate) session: Arc<AcpSession>,
    pub(crate) follower: tokio::task::JoinHandle<()>,
}

/// A request to open a stored session again.
pub(crate) struct Reopening {
    pub(crate) id: String,
    pub(crate) replay: HistoryReplay,
    /// The session's settings from before, if it was open until now.
    pub(crate) before: Option<SessionSettings>,
}

/// The root, model and mode of a session.
pub(crate) struct SessionSettings {
    pub(crate) root: AbsPath,
    pub(crate) model: String,
    pub(crate) mode: SessionMode,
}

/// The folder that a session works in, and its hooks and slash commands.
struct SessionFolder {
    root: AbsPath,
    hooks: Option<Arc<Hooks>>,
    slash: Vec<SlashCommand>,
    /// Notices for the user, as sentences.
    notices: Vec<String>,
}

impl SessionOpener {
    /// Starts a new session in a folder, with the default model in build mode. Refuses a path that
    /// is not an absolute folder.
    pub(crate) async fn open(
        self,
        wanted: SessionRequest,
        editor: EditorClient,
    ) -> Result<(OpenedSession, FollowedSession), RequestRefusal> {
        let (model, mode) = (self.default.clone(), SessionMode::Build);
        let folder = absolute(&wanted.folder)?;
        let (mut place, is_copy) = self.clone().begin_in(folder, model.clone()).await?;
        let start = self.start(&mut place, model, mode, &wanted.servers).await;
        let opened = engine::start(start.clone());
        let made = self.session_parts(&opened, &place, is_copy, &start);
        let open = start_follower(made, opened, UpdateMapper::new(place.root.clone()), editor);
        Ok(self.finish_opening(open, place, wanted))
    }

    /// Opens a stored session in the session's own folder, with its model and mode. With
    /// `HistoryReplay::All`, sends the session's history to the editor before this method returns.
    /// Refuses an unknown session.
    pub(crate) async fn reopen(
        self,
        reopening: Reopening,
        wanted: SessionRequest,
        editor: EditorClient,
    ) -> Result<(OpenedSession, FollowedSession), RequestRefusal> {
        let Reopening {
            id,
            replay: how,
            before,
        } = reopening;
        let (now, is_written) = self.clone().stored_settings(&id, before).await?;
        let is_copy = now.root.is_within(&self.dirs.state);
        let mut place = self.clone().inspect_folder(now.root).await?;
        if RealFiles.canonicalize(&absolute(&wanted.folder)?).ok() != Some(place.root.clone()) {
            place.notices.push(format!(
                "this session works in {}, where it began",
                place.root
            ));
        }
        let start = self
            .start(&mut place, now.model, now.mode, &wanted.servers)
            .await;
        let (opened, updates, mapper) = if is_written {
            self.resumed(start.clone(), id, &place).await?
        } else {
            let opened = engine::start_with_id(id.into(), start.clone());
            (opened, Vec::new(), UpdateMapper::new(place.root.clone()))
        };
        place.notices.extend(opened.problems.iter().cloned());
        let made = self.session_parts(&opened, &place, is_copy, &start);
        let open = start_follower(made, opened, mapper, editor);
        if how == HistoryReplay::All {
            updates
                .into_iter()
                .for_each(|it| open.session.send_update(it));
        }
        Ok(self.finish_opening(open, place, wanted))
    }

    /// Resumes a stored session; returns the updates of its past, and the mapper for what follows.
    async fn resumed(
        &self,
        start: SessionOptions,
        id: String,
        place: &SessionFolder,
    ) -> Result<(engine::SessionChannels, Vec<Update>, UpdateMapper), RequestRefusal> {
        let opened = engine::resume(start, &id).await;
        let opened = opened.map_err(failed)?;
        // Read after opening, because opening may repair the stored session.
        let store = self.factory.store().clone();
        let past = blocking(move || replay::read(&store, &id)).await?;
        let past = past?;
        let (updates, mapper) =
            replay::replay_updates(&past, UpdateMapper::new(place.root.clone()));
        Ok((opened, updates, mapper))
    }

    /// Returns the stored settings of a session and whether any record of it exists. A session has
    /// no records before its first prompt; then the settings of the open session apply.
    async fn stored_settings(
        self,
        id: &str,
        before: Option<SessionSettings>,
    ) -> Result<(SessionSettings, bool), RequestRefusal> {
        let lines = blocking(move || self.factory.store().sessions(usize::MAX)).await?;
        let mut lines = lines.map_err(failed)?.into_iter();
        match (lines.find(|line| line.id == id), before) {
            (Some(line), _) => {
                let now = SessionSettings {
                    root: absolute(&PathBuf::from(&line.root))?,
                    model: line.wanted,
                    mode: line.mode,
                };
                Ok((now, true))
            }
            (None, Some(before)) => Ok((before, false)),
            (None, None) => Err(RequestRefusal::NotFound(format!(
                "there is no session {id}"
            ))),
        }
    }

    /// Inspects the folder of a new session, or the sample project if the model needs that.
    async fn begin_in(
        self,
        folder: AbsPath,
        model: String,
    ) -> Result<(SessionFolder, bool), RequestRefusal> {
        let dirs = self.dirs.clone();
        let wanted = folder.clone();
        let root = blocking(move || sample_project::session_root(&model, wanted, &dirs)).await?;
        let root = root.map_err(failed)?;
        let is_copy = root != folder;
        let mut place = self.inspect_folder(root).await?;
        if is_copy {
            place.notices.push(format!(
                "the demo model works on a sample project in {}; nothing in {folder} is changed",
                place.root
            ));
        }
        Ok((place, is_copy))
    }

    /// Reads the hooks and slash commands of a folder.
    async fn inspect_folder(self, folder: AbsPath) -> Result<SessionFolder, RequestRefusal> {
        let inspected = blocking(move || {
            let root = RealFiles.canonicalize(&folder);
            let root = root.map_err(|error| RequestRefusal::Invalid(error.to_string()))?;
            let how = "use `burin-agent run --trust-hooks` once";
            let (hooks, notes) = trust::hooks_of(&self.dirs, &root, how);
            let skills = Skills::find(&RealFiles, &root, true, Some(&self.dirs.config));
            Ok(SessionFolder {
                hooks,
                slash: options::commands(&skills),
                notices: notes,
                root,
            })
        });
        inspected.await?
    }

    async fn start(
        &self,
        place: &mut SessionFolder,
        model: String,
        mode: SessionMode,
        servers: &[ServerEntry],
    ) -> SessionOptions {
        let wanted = session_factory::SessionSpec {
            root: place.root.clone(),
            model,
            mode,
            allows_asked: self.allows_asked,
            has_user: true,
            budget: BudgetLimits::default(),
            effort: None,
            hooks: place.hooks.clone(),
            confinement: self.confinement.clone(),
            session_root: None,
            servers: servers.to_vec(),
            waiting: ServerWait::default(),
        };
        let (start, notices) = self.factory.start(wanted).await;
        place.notices.extend(notices);
        start
    }

    fn session_parts(
        &self,
        opened: &engine::SessionChannels,
        place: &SessionFolder,
        is_copy: bool,
        start: &SessionOptions,
    ) -> AcpSessionParts {
        AcpSessionParts {
            id: opened.id.as_ref().to_owned(),
            root: place.root.clone(),
            is_copy,
            slash: place.slash.clone(),
            models: self.models.clone(),
            commands: opened.commands.clone(),
            model: start.model.clone(),
            mode: start.mode,
        }
    }

    /// Returns the answer to the client, with the notices and commands to send after it, and the
    /// session itself unchanged.
    fn finish_opening(
        &self,
        open: FollowedSession,
        place: SessionFolder,
        wanted: SessionRequest,
    ) -> (OpenedSession, FollowedSession) {
        let mut notes = place.notices;
        notes.extend(unused_folders(&wanted.more));
        let mut after = vec![Update::Commands(place.slash)];
        after.extend(
            notes
                .into_iter()
                .map(|text| notice_update(&open.session.editor, text)),
        );
        let opened = OpenedSession {
            session: open.session.id.clone(),
            modes: Some(options::modes(open.session.mode())),
            options: open.session.options(),
            after,
        };
        (opened, open)
    }
}

/// Starts the task that forwards a session's events.
fn start_follower(
    made: AcpSessionParts,
    opened: engine::SessionChannels,
    mapper: UpdateMapper,
    editor: EditorClient,
) -> FollowedSession {
    let live = Arc::new(AcpSession::new(made, editor));
    let follower = tokio::spawn(follow::follow(live.clone(), opened.events, mapper));
    FollowedSession {
        session: live,
        follower,
    }
}

/// Returns a notice that lists the further folders that the client asked for; `None` if there are
/// none.
fn unused_folders(more: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = more.iter().map(|it| it.display().to_string()).collect();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!("a session works below one folder; these are not part of it: {names}")
    })
}

/// Returns an update with a notice, or with a message if the editor cannot show notices.
fn notice_update(editor: &EditorClient, text: String) -> Update {
    if editor.abilities().notices {
        Update::Notice {
            is_warning: true,
            text,
        }
    } else {
        agent_message(&format!("{text}\n\n"))
    }
}

/// Returns a path that the editor sent, which must be absolute.
fn absolute(folder: &std::path::Path) -> Result<AbsPath, RequestRefusal> {
    AbsPath::new(folder).ok_or_else(|| {
        RequestRefusal::Invalid(format!("{} is not an absolute path", folder.display()))
    })
}

/// Runs `work`, which blocks on the disk, on a thread for blocking work, and returns its result. A
/// panic becomes a refusal.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RequestRefusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| RequestRefusal::Failed(format!("it broke off: {error}")))
}
