//! The way to agents' sessions for a program with windows: the same models, tools and rules as on the command line.
//!
//! Start at `Workshop::open`, on a tokio runtime.

use std::sync::Arc;

use agent::context::{OpenFiles, TrustedFolders};
use agent::engine::{self, SessionChannels, SessionOptions};
use agent::record::SessionMode;
use agent::services::Buffers;
use agent::store::{SessionStore, SessionSummary};
use agent::trust::{FolderTrust, PendingHooks, PendingMcpServer};
use autocomplete::ModelCandidate;
use autocomplete::engine::{CompletionRequest as TabAsk, TabModel};
use base::AbsPath;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use host::{Dirs, Files, RealFiles};
use model::{ModelId, StreamEvent};
use project::UnsavedTexts;
use router::actor::{RouterEvent, RouterHandle};

use crate::ask::{self, LedgerUsageStore};
use crate::complete::remote as tab;
use crate::mcp_pool::ServerWait;
use crate::models::setup::{self, DEMO, KeyState, Setup};
use crate::permissions::Permissions;
use crate::sandbox_policy::Confinement;
use crate::session_factory::{self, RoutedModel, SessionFactory, SessionSpec, WindowTexts};
use crate::trust;

/// The way to sessions.
pub struct AgentServices {
    factory: Arc<SessionFactory>,
    dirs: Dirs,
    models: Vec<SelectableModel>,
    default: String,
    missing_keys: Vec<String>,
    problems: Vec<String>,
    router: RouterHandle,
    usage_store: Arc<LedgerUsageStore>,
    for_tab: Vec<ModelCandidate>,
}

/// A session that was started or resumed.
pub struct AttachedSession {
    /// The session's command and event channels.
    pub opened: SessionChannels,
    /// The folder it works in.
    pub root: AbsPath,
    /// Problems that the user should know of: unreadable settings, servers that did not start.
    pub notices: Vec<String>,
}

/// A model that the user can select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectableModel {
    /// The id, as `provider/model`.
    pub id: String,
    /// Whether it runs on this machine.
    pub is_local: bool,
    /// Whether the model is known to call tools, or the user named it in the settings; other models
    /// are of little use as agents.
    pub has_tools: bool,
}

impl AgentServices {
    /// Finds models and keys, opens the ledger and starts a router. Takes up to a few seconds.
    /// `unsaved` holds the unsaved texts; `open_files` returns the files of a folder that the
    /// windows show.
    pub async fn open(
        dirs: &Dirs,
        unsaved: Arc<UnsavedTexts>,
        open_files: impl Fn(&AbsPath) -> OpenFiles + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let windows = WindowTexts {
            buffers: Arc::new(WindowBuffers(unsaved)),
            open_files: Arc::new(open_files),
        };
        Self::open_with(dirs, trust::trust(dirs), Some(windows), None).await
    }

    /// Opens the services for programs without windows: `trust` decides which folders' instructions
    /// may join prompts, and sessions start with a model that the user named.
    pub(crate) async fn open_with(
        dirs: &Dirs,
        trust: TrustedFolders,
        windows: Option<WindowTexts>,
        model: Option<&str>,
    ) -> Result<Self, String> {
        let mut setup = Setup::find(&RealFiles, dirs).await;
        let mut problems = std::mem::take(&mut setup.problems);
        let named = setup.settings.auto.clone();
        for named in named.iter().chain([&setup.settings.default.clone()]) {
            if let Some(id) = ModelId::parse(named)
                && setup.add_named(&id).is_none()
            {
                problems.push(format!(
                    "there is no provider \"{}\" for {named}",
                    id.provider
                ));
            }
        }
        if let Some(model) = model {
            ask::choose(model, "", &mut setup)?;
            model.clone_into(&mut setup.settings.default);
        }
        let for_tab = setup.tab_candidates();
        let mut lanes = setup.lanes();
        lanes.push(setup::demo()?);
        let known: Vec<RoutedModel> = lanes.iter().map(RoutedModel::of).collect();
        let (book, ledger, aside) = ask::open_books(dirs)?;
        problems.extend(aside);
        // A project's own rules are read when a session starts there.
        let (_, unclear) = Permissions::read(dirs).rules(&dirs.config);
        problems.extend(unclear);
        let router = ask::start(lanes, &setup.settings, book.clone());
        let store = SessionStore::start(ledger)?;
        let mind = session_factory::model_gateway(router.clone(), &known);
        let crew = SessionFactory::new(mind, store, dirs, trust, windows);
        let crew = Arc::new(crew.with_effort(setup.settings.effort));
        let is_named = |id: &str| *setup.settings.default == *id || named.iter().any(|it| it == id);
        let models = setup.models.iter().map(|found| {
            let id = found.id.to_string();
            SelectableModel {
                has_tools: found.profile.tools == Some(true) || is_named(&id),
                is_local: found.is_local,
                id,
            }
        });
        Ok(Self {
            factory: crew,
            dirs: dirs.clone(),
            models: models.collect::<Vec<_>>(),
            missing_keys: missing_keys(&setup),
            default: setup.settings.default,
            problems,
            router,
            usage_store: book,
            for_tab,
        })
    }

    /// Returns the factory of sessions.
    pub(crate) fn factory(&self) -> &Arc<SessionFactory> {
        &self.factory
    }

    /// Waits until no model request is running and all usage is stored.
    pub(crate) async fn wait_idle(&self) -> Result<(), String> {
        self.router.idle().await;
        let flushed = self.usage_store.flush();
        flushed.map_err(|error| format!("{error}; what was spent is not written down"))
    }

    /// Returns the problems found on the way, as sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the available models, without the demo model.
    pub fn models(&self) -> &[SelectableModel] {
        &self.models
    }

    /// Returns the default model of the settings.
    pub fn default_model(&self) -> &str {
        &self.default
    }

    /// Returns the model to use without a choice: the demo model if there is no other.
    pub(crate) fn settings_model(&self) -> &str {
        if self.models.is_empty() {
            DEMO
        } else {
            &self.default
        }
    }

    /// Variables of the environment of which each would bring models.
    pub fn missing_keys(&self) -> &[String] {
        &self.missing_keys
    }

    /// Returns the model for Tab with the setting `wanted`; `None` if there is none.
    pub fn tab_model(&self, wanted: &str) -> Result<Option<TabModel>, String> {
        autocomplete::choose(wanted, &self.for_tab)
    }

    /// Sends a Tab request, ahead of all other requests. Dropping the stream closes the socket.
    pub fn ask_for_tab(&self, what: TabAsk) -> BoxStream<'static, StreamEvent> {
        let told = self.router.submit(tab::router_request(what));
        let event = |told| async move {
            match told {
                RouterEvent::Event(event) => Some(event),
                _ => None,
            }
        };
        told.filter_map(event).boxed()
    }

    /// Writes a measurement down. Never waits.
    pub fn record_metric(&self, name: &str, value: f64, tags: String) {
        self.usage_store.record_metric(name, value, tags);
    }

    /// Starts a session in a folder, a real path without links. The demo model gets a copy of the
    /// sample project instead, unless the folder is one. Nothing is stored before the first prompt.
    /// Takes a few seconds at most, because it waits for the session's MCP servers.
    pub async fn start(
        &self,
        root: AbsPath,
        model: String,
        mode: SessionMode,
    ) -> Result<AttachedSession, String> {
        let root = ground_of(&model, root, &self.dirs)?;
        let (start, notices) = self.session_start(root.clone(), model, mode).await;
        Ok(AttachedSession {
            opened: engine::start(start),
            root,
            notices,
        })
    }

    /// Resumes an earlier session, in its own folder.
    pub async fn resume(&self, id: &str) -> Result<AttachedSession, String> {
        let store = self.factory.store().clone();
        let name = id.to_owned();
        let lines = tokio::task::spawn_blocking(move || store.sessions(usize::MAX)).await;
        let lines = lines.map_err(|error| format!("the sessions could not be read: {error}"))??;
        let line = lines.into_iter().find(|line| line.id == name);
        let line = line.ok_or_else(|| format!("there is no session {id}"))?;
        let root = AbsPath::new(&line.root).ok_or_else(|| format!("{} is no folder", line.root))?;
        let (start, notices) = self
            .session_start(root.clone(), line.model, line.mode)
            .await;
        Ok(AttachedSession {
            opened: engine::resume(start, id).await?,
            root,
            notices,
        })
    }

    /// The records of a session. Blocks on the disk.
    pub fn records(&self, id: &str) -> Result<Vec<agent::Stored>, String> {
        self.factory.store().read(id).map(|past| past.records)
    }

    /// The latest sessions, at most `limit`. Blocks on the disk.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionSummary>, String> {
        self.factory.store().sessions(limit)
    }

    /// Returns the trust state of a folder. Blocks on the disk.
    pub fn folder_trust(&self, root: &AbsPath) -> FolderTrust {
        trust::load(&self.dirs, root)
    }

    /// Stores whether the user trusts a folder; applies to sessions that start later. Blocks on the
    /// disk.
    pub fn set_trusted(&self, root: &AbsPath, is_trusted: bool) -> Result<(), String> {
        trust::set_trusted(&RealFiles, &self.dirs, root, is_trusted)
    }

    /// Allows hooks of a folder that the user has seen. Blocks on the disk.
    pub fn allow_hooks(&self, root: &AbsPath, shown: &[PendingHooks]) -> Result<(), String> {
        trust::consent_to_hooks(&self.dirs, root, shown)
    }

    /// Stores the user's decision about a project's server they have seen. Blocks on the disk.
    pub fn decide_server(
        &self,
        root: &AbsPath,
        shown: &PendingMcpServer,
        may_run: bool,
    ) -> Result<(), String> {
        trust::decide_server(&self.dirs, root, shown, may_run)
    }

    async fn session_start(
        &self,
        root: AbsPath,
        model: String,
        mode: SessionMode,
    ) -> (SessionOptions, Vec<String>) {
        let (hooks, mut problems) = trust::hooks_of(&self.dirs, &root, "let them run in the panel");
        let wanted = SessionSpec {
            hooks,
            confinement: Confinement::default(),
            session_root: None,
            root,
            model,
            mode,
            allows_asked: false,
            has_user: true,
            budget: None,
            effort: None,
            servers: Vec::new(),
            waiting: ServerWait::default(),
        };
        let (start, notices) = self.factory.start(wanted).await;
        problems.extend(notices);
        (start, problems)
    }
}

/// The texts of the windows, as tools look at them.
struct WindowBuffers(Arc<UnsavedTexts>);

impl Buffers for WindowBuffers {
    fn text(&self, path: &AbsPath) -> Option<String> {
        self.0.text(path)
    }

    fn unsaved(&self) -> Vec<AbsPath> {
        self.0.paths()
    }
}

/// Returns the root for a session of a model. The demo model gets a copy of the sample project,
/// unless the folder is one.
pub(crate) fn ground_of(model: &str, root: AbsPath, dirs: &Dirs) -> Result<AbsPath, String> {
    if model == DEMO && !is_sample(&root) {
        crate::run::sample_project(&RealFiles, dirs)
    } else {
        Ok(root)
    }
}

/// Whether a folder holds the sample project.
pub(crate) fn is_sample(root: &AbsPath) -> bool {
    RealFiles.exists(&root.join("todo/dates.py"))
}

fn missing_keys(setup: &Setup) -> Vec<String> {
    let missing = setup.providers.iter().filter_map(|it| match &it.key {
        KeyState::Missing(variables) => variables.first().cloned(),
        _ => None,
    });
    missing.collect()
}
