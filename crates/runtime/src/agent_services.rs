//! The services behind agents' sessions: models, ledger, router, trust and the session factory.
//!
//! The window, the command line and the ACP server use the same ones.
//! Start at `AgentServices::open`, on a tokio runtime.

mod access;
pub mod rewriting;

use std::sync::Arc;

use agent::budget::BudgetLimits;
use agent::context::{OpenFiles, TrustedFolders};
use agent::engine::{self, SessionChannels, SessionOptions};
use agent::record::SessionMode;
use agent::services::Buffers;
use agent::spending::Spending;
use agent::store::SessionStore;
use agent::trust::{FolderTrust, PendingHooks, PendingMcpServer};
use autocomplete::ModelCandidate;
use autocomplete::engine::{CompletionRequest, TabModel};
use base::AbsPath;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use host::{Clock as _, Dirs, RealClock, RealFiles};
use model::policy::{AgentId, BudgetNotice, Caller, RequestClass, TurnId};
use model::{Effort, ModelId, Price, StreamEvent, Tier, TokenCount};
use project::UnsavedTexts;
use quality::report::QualityReport;
use quality::{AlarmRecord, QualityRecord};
use router::actor::{RequestPayload, RouterEvent, RouterHandle, RouterRequest, RoutingOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::Error;
use crate::folder_changes::SessionReviews;
use crate::indexes::IndexRegistry;
use crate::mcp_pool::ServerWait;
use crate::models::setup::{self, DEMO, KeyState, Setup};
use crate::permissions::Permissions;
use crate::quality_records::{self, QualityTask};
use crate::sample_project;
use crate::sandbox_policy::Confinement;
use crate::session_factory::{self, RoutedModel, SessionFactory, SessionSpec, WindowContext};
use crate::session_titles::SessionTitles;
use crate::usage_store::{self, LedgerUsageStore, OpenedLedger};
use crate::{routing, trust};

/// The services that sessions are started with. Open one per process.
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
    reviews: SessionReviews,
    titles: SessionTitles,
    /// Measures what is kept, as long as the services are open.
    _quality: QualityTask,
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
    /// Whether the model accepts images; `None` if that is unknown.
    pub takes_images: Option<bool>,
    /// Whether the model is known to call tools, or the user named it in the settings; other models
    /// are of little use as agents.
    pub has_tools: bool,
    /// Strength of the model.
    pub tier: Tier,
    /// Price of the model; `None` if it is unknown.
    pub price: Option<Price>,
    /// Maximum tokens of prompt and answer together.
    pub context: TokenCount,
    /// The reasoning efforts that it takes, weakest first.
    pub efforts: Vec<Effort>,
}

impl AgentServices {
    /// Finds models and keys, opens the ledger and starts a router. Takes up to a few seconds.
    /// `unsaved` holds the unsaved texts; `open_files` returns the files of a folder that the
    /// windows show; `indexes` are those that the windows use.
    pub async fn open(
        dirs: &Dirs,
        unsaved: Arc<UnsavedTexts>,
        open_files: impl Fn(&AbsPath) -> OpenFiles + Send + Sync + 'static,
        indexes: Arc<IndexRegistry>,
    ) -> Result<Self, Error> {
        let windows = WindowContext {
            buffers: Arc::new(WindowBuffers(unsaved)),
            open_files: Arc::new(open_files),
            indexes,
        };
        Self::open_with(dirs, trust::trust(dirs), Some(windows), None).await
    }

    /// Opens the services for programs without windows: `trust` decides which folders' instructions
    /// may join prompts, and sessions start with a model that the user named.
    pub async fn open_with(
        dirs: &Dirs,
        trust: TrustedFolders,
        windows: Option<WindowContext>,
        model: Option<&str>,
    ) -> Result<Self, Error> {
        host::process::keep_process_record(&dirs.state.join("processes"));
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
            routing::choose(model, "", &mut setup)?;
            model.clone_into(&mut setup.settings.default);
        }
        let for_tab = setup.tab_candidates();
        let mut routes = setup.routes();
        routes.push(setup::demo()?);
        let known: Vec<RoutedModel> = routes.iter().map(RoutedModel::of).collect();
        let OpenedLedger {
            usage_store,
            ledger,
            notice,
        } = usage_store::open(dirs)?;
        problems.extend(notice);
        // A project's own rules are read when a session starts there.
        let (_, unclear) = Permissions::read(dirs).rules(&dirs.config);
        problems.extend(unclear);
        let titles = SessionTitles::new(&setup);
        let router = routing::start(routes, &setup.settings, usage_store.clone());
        let store = SessionStore::start(ledger).map_err(Error::session)?;
        let gateway = session_factory::model_gateway(router.clone(), &known);
        let factory = SessionFactory::new(gateway, store, dirs, trust, windows);
        let factory = Arc::new(factory.with_effort(setup.settings.effort));
        let is_named = |id: &str| *setup.settings.default == *id || named.iter().any(|it| it == id);
        let models = setup.models.iter().map(|found| {
            let id = found.id.to_string();
            SelectableModel {
                takes_images: found.profile.vision,
                has_tools: found.profile.tools == Some(true) || is_named(&id),
                is_local: found.is_local,
                tier: found.profile.tier,
                price: found.price.clone(),
                context: found.profile.context,
                efforts: found.profile.efforts.keys().copied().collect(),
                id,
            }
        });
        let quality = QualityTask::start(factory.harness(), factory.recorder().clone());
        let reviews = SessionReviews::new(factory.reviews().clone(), factory.store().clone());
        Ok(Self {
            factory,
            dirs: dirs.clone(),
            models: models.collect::<Vec<_>>(),
            missing_keys: missing_keys(&setup),
            default: setup.settings.default,
            problems,
            router,
            usage_store,
            for_tab,
            reviews,
            titles,
            _quality: quality,
        })
    }

    /// Returns the reviews of sessions' changes in the user's folders.
    pub fn reviews(&self) -> &SessionReviews {
        &self.reviews
    }

    /// Returns the factory of sessions.
    pub fn factory(&self) -> &Arc<SessionFactory> {
        &self.factory
    }

    /// Waits until no model request is running and all usage is stored. Fails if the usage cannot
    /// be stored.
    pub async fn wait_idle(&self) -> Result<(), Error> {
        self.router.idle().await;
        self.usage_store.flush()
    }

    /// Returns the problems of the settings and the ledger, as sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the available models, without the demo model.
    pub fn models(&self) -> &[SelectableModel] {
        &self.models
    }

    /// Returns whether the model `id` accepts images; `None` if that is unknown, as for `auto`.
    pub fn takes_images(&self, id: &str) -> Option<bool> {
        let model = self.models.iter().find(|model| model.id == id)?;
        model.takes_images
    }

    /// Returns the name of the default model in the settings: `provider/model` or `auto`. The model
    /// may be unavailable.
    pub fn default_model(&self) -> &str {
        &self.default
    }

    /// Returns the model to use without a choice: the demo model if there is no other.
    pub fn settings_model(&self) -> &str {
        if self.models.is_empty() {
            DEMO
        } else {
            &self.default
        }
    }

    /// Returns environment variables for API keys. Each variable, if set, would make the models of
    /// one more provider available. The list is empty if no key is missing.
    pub fn missing_keys(&self) -> &[String] {
        &self.missing_keys
    }

    /// Returns the model for Tab. `setting` is `auto` or the name of a model. Returns `None` for
    /// `auto` if no model is suitable. Fails if the named model cannot be used.
    pub fn tab_model(&self, setting: &str) -> Result<Option<TabModel>, Error> {
        autocomplete::choose(setting, &self.for_tab).map_err(Error::model)
    }

    /// Sends a Tab request, ahead of all other requests. Dropping the stream closes the socket.
    pub fn ask_for_tab(&self, request: CompletionRequest) -> BoxStream<'static, StreamEvent> {
        let events = self.router.submit(router_request(request));
        let stream_event = |event| async move {
            match event {
                RouterEvent::Event(event) => Some(event),
                _ => None,
            }
        };
        events.filter_map(stream_event).boxed()
    }

    /// Records a measurement in the ledger. Never waits.
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
    ) -> Result<AttachedSession, Error> {
        let root = sample_project::session_root(&model, root, &self.dirs)?;
        let (start, notices) = self.session_start(root.clone(), model, mode).await;
        Ok(AttachedSession {
            opened: engine::start(start),
            root,
            notices,
        })
    }

    /// Resumes an earlier session, in the session's own folder. Fails if no session has this id, or
    /// if the session is open elsewhere.
    pub async fn resume(&self, id: &str) -> Result<AttachedSession, Error> {
        let line = self.summary(id).await?;
        let line = line.ok_or_else(|| Error::Unknown(format!("there is no session {id}")))?;
        let root = AbsPath::new(&line.root)
            .ok_or_else(|| Error::Session(format!("{} is not a folder", line.root)))?;
        let (start, mut notices) = self
            .session_start(root.clone(), line.model, line.mode)
            .await;
        let mut opened = engine::resume(start, id).await.map_err(Error::session)?;
        notices.append(&mut opened.problems);
        Ok(AttachedSession {
            opened,
            root,
            notices,
        })
    }

    /// Returns the records of a session, oldest first. Blocks on the disk. Fails if there is no
    /// such session.
    pub fn records(&self, id: &str) -> Result<Vec<agent::Stored>, Error> {
        let session = self.factory.store().read(id);
        Ok(session.map_err(Error::session)?.records)
    }

    /// Waits until the records that sessions reported are in the ledger, so that `records` returns
    /// them. Records that the disk refuses stay missing; the session says so.
    pub async fn flush_records(&self) {
        if let Err(error) = self.factory.store().flush().await {
            log::warn!("records of sessions are not stored yet: {error}");
        }
    }

    /// Reads the cost of models on the last `days` days, today included. Blocks on the disk.
    pub fn spending(&self, days: u64) -> Result<Spending, Error> {
        self.usage_store.flush()?;
        let now_ms = RealClock::default().wall_ms();
        Spending::read(self.factory.store(), now_ms, days).map_err(Error::session)
    }

    /// Returns the notices of budgets that are nearly or fully used, from now on.
    pub fn budget_notices(&self) -> UnboundedReceiver<BudgetNotice> {
        self.usage_store.budget_notices()
    }

    /// Computes the report on the quality of the last `days` days. Blocks on the disk.
    pub fn quality(&self, days: u64) -> Result<QualityReport, Error> {
        let (experiments, problems) = quality_records::experiments(&self.dirs);
        for problem in problems {
            log::warn!("{problem}");
        }
        let now_ms = RealClock::default().wall_ms();
        let report = self
            .factory
            .store()
            .quality_report(&experiments, now_ms, days);
        report.map_err(Error::session)
    }

    /// Stores rows about quality, each with the time that it is about, in milliseconds since 1970. Never waits.
    pub fn record_quality(&self, rows: Vec<(u64, QualityRecord)>) {
        self.factory.store().record_quality(rows);
    }

    /// Returns the alarms about tools, from now on.
    pub fn tool_alarms(&self) -> UnboundedReceiver<AlarmRecord> {
        self.factory.harness().tool_health().alarms()
    }

    /// Returns the trust state of a folder. Blocks on the disk.
    pub fn folder_trust(&self, root: &AbsPath) -> FolderTrust {
        trust::load(&self.dirs, root)
    }

    /// Stores whether the user trusts a folder; applies to sessions that start later. Blocks on the
    /// disk.
    pub fn set_trusted(&self, root: &AbsPath, is_trusted: bool) -> Result<(), Error> {
        trust::set_trusted(&RealFiles, &self.dirs, root, is_trusted)
    }

    /// Allows the hooks in `shown`, which the user has seen. Fails with `Error::Changed` if a file
    /// has changed since it was shown. Blocks on the disk.
    pub fn allow_hooks(&self, root: &AbsPath, shown: &[PendingHooks]) -> Result<(), Error> {
        trust::consent_to_hooks(&self.dirs, root, shown)
    }

    /// Stores whether the project's server in `shown`, which the user has seen, may run. Fails with
    /// `Error::Changed` if the server's entry has changed since. Blocks on the disk.
    pub fn decide_server(
        &self,
        root: &AbsPath,
        shown: &PendingMcpServer,
        may_run: bool,
    ) -> Result<(), Error> {
        trust::decide_server(&self.dirs, root, shown, may_run)
    }

    /// Returns the program's folders.
    pub(crate) fn dirs(&self) -> &Dirs {
        &self.dirs
    }

    /// Returns the router.
    pub(crate) fn router(&self) -> &RouterHandle {
        &self.router
    }

    /// Returns the usage of this run of the program.
    #[cfg(test)]
    pub(crate) fn usage_store(&self) -> &LedgerUsageStore {
        &self.usage_store
    }

    /// Returns the model for the titles of sessions.
    pub(crate) fn titles(&self) -> &SessionTitles {
        &self.titles
    }

    /// Prepares an attended session in `root` with the hooks that the user allowed. Returns its
    /// options and the notices to show, such as hooks that wait for consent.
    async fn session_start(
        &self,
        root: AbsPath,
        model: String,
        mode: SessionMode,
    ) -> (SessionOptions, Vec<String>) {
        let (hooks, mut problems) = trust::hooks_of(&self.dirs, &root, "let them run in the panel");
        let spec = SessionSpec {
            hooks,
            confinement: Confinement::default(),
            session_root: None,
            root,
            model,
            mode,
            allows_asked: false,
            has_user: true,
            budget: BudgetLimits::default(),
            effort: None,
            servers: Vec::new(),
            waiting: ServerWait::default(),
        };
        let (start, notices) = self.factory.start(spec).await;
        problems.extend(notices);
        (start, problems)
    }
}

/// The unsaved texts of the windows, for tools.
struct WindowBuffers(Arc<UnsavedTexts>);

impl Buffers for WindowBuffers {
    fn text(&self, path: &AbsPath) -> Option<String> {
        self.0.text(path)
    }

    fn unsaved(&self) -> Vec<AbsPath> {
        self.0.paths()
    }
}

/// Converts a Tab request for the router, with the highest priority.
pub fn router_request(request: CompletionRequest) -> RouterRequest {
    match request {
        CompletionRequest::Fim(fim) => RouterRequest::fim(*fim, AgentId(1)),
        CompletionRequest::Chat(request) => RouterRequest {
            payload: RequestPayload::Chat(request),
            options: RoutingOptions::named(),
            caller: Caller {
                class: RequestClass::Tab,
                agent: AgentId(1),
                turn: TurnId(0),
            },
        },
    }
}

fn missing_keys(setup: &Setup) -> Vec<String> {
    let missing = setup.providers.iter().filter_map(|it| match &it.key {
        KeyState::Missing(variables) => variables.first().cloned(),
        _ => None,
    });
    missing.collect()
}
