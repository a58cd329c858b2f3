//! Assembles sessions: models, our own and MCP tools, context, rules and the ledger.
//!
//! This is the one place where the parts of an agent meet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::compact::PlannedCompactor;
use agent::context::{OpenFiles, ProjectContexts, SessionEnvironment, SkillTool, TrustedFolders};
use agent::engine::{
    Harness, HarnessParts, ModelGateway, RouterGateway, SessionLimits, SessionOptions,
};
use agent::hooks::Hooks;
use agent::permission::PermissionPolicy;
use agent::record::SessionMode;
use agent::rules::{RulePolicy, RuleScope, UnmatchedCalls};
use agent::services::{Buffers, SessionServices};
use agent::store::SessionStore;
use agent::tools::{self, ToolOptions, ToolStates};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use connect::mcp::ServerEntry;
use host::{Dirs, RealClock, RealFiles};
use model::{Cost, Effort, Price, Profile, Tier, TokenCount};
use router::actor::{RouteConfig, RouterHandle};
use settings::ModelEffort;

use crate::indexes::{self, Indexes};
use crate::mcp_pool::{McpPool, ServerWait};
use crate::permissions::{self, PermissionScope, Permissions};
use crate::sandbox_policy::{self, Confinement, SessionRoot};

/// Returns the model gateway of sessions: the router with the profiles and prices of its models.
pub(crate) fn model_gateway(router: RouterHandle, lanes: &[RoutedModel]) -> RouterGateway {
    let profiles = lanes
        .iter()
        .map(|known| (known.name.clone(), known.profile.clone()));
    let prices = lanes
        .iter()
        .filter_map(|known| Some((known.name.clone(), known.price.clone()?)));
    let mut profiles: HashMap<String, Arc<Profile>> = profiles.collect();
    // A model named like its provider is also known by that name alone.
    for known in lanes {
        if let Some((provider, model)) = known.name.split_once('/')
            && provider == model
        {
            profiles.insert(provider.to_owned(), known.profile.clone());
        }
    }
    RouterGateway {
        router,
        profiles,
        prices: prices.collect(),
        usual: Arc::new(default_profile(lanes)),
    }
}

/// A model with its profile and price.
pub(crate) struct RoutedModel {
    name: String,
    profile: Arc<Profile>,
    price: Option<Price>,
}

impl RoutedModel {
    /// Returns the model of a route.
    pub(crate) fn of(lane: &RouteConfig) -> Self {
        Self {
            name: lane.route.model.to_string(),
            profile: Arc::new(lane.profile.clone()),
            price: lane.price.clone(),
        }
    }
}

/// Returns the profile for `auto`: that of the best capable model, with the smallest context of
/// all capable ones.
fn default_profile(lanes: &[RoutedModel]) -> Profile {
    let able = lanes.iter().map(|known| &known.profile);
    let able = able.filter(|profile| profile.tools == Some(true) && profile.tier >= Tier::Standard);
    let least = able.clone().map(|profile| profile.context.0).min();
    let best = able.max_by_key(|profile| profile.tier);
    let mut usual = best.map_or_else(Profile::harmless, |best| best.as_ref().clone());
    usual.tools = Some(true);
    usual.context = TokenCount(least.unwrap_or(128_000).max(32_000));
    usual.max_output = TokenCount(usual.max_output.0.max(8_192));
    usual
}

/// Builds all sessions of the program from shared services.
pub(crate) struct SessionFactory {
    harness: Arc<Harness>,
    rooms: Arc<ToolStates>,
    servers: McpPool,
    dirs: Dirs,
    watchers: TreeWatchers,
    checkouts: MainCheckouts,
    effort: Option<Effort>,
}

/// The main checkouts of the agents' worktrees, by worktree.
#[derive(Clone, Default)]
struct MainCheckouts(Arc<Mutex<HashMap<AbsPath, AbsPath>>>);

impl MainCheckouts {
    fn lock(&self) -> MutexGuard<'_, HashMap<AbsPath, AbsPath>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, root: &AbsPath, checkout: &AbsPath) {
        if root != checkout {
            self.lock().insert(root.clone(), checkout.clone());
        }
    }

    /// Returns the folder whose trust decides about `root`.
    fn of(&self, root: &AbsPath) -> AbsPath {
        self.lock().get(root).unwrap_or(root).clone()
    }

    /// `trust`, with worktrees trusted like their checkouts.
    fn trust(&self, trust: TrustedFolders) -> TrustedFolders {
        let checkouts = self.clone();
        TrustedFolders::new(move |root| trust.is_trusted(&checkouts.of(root)))
    }
}

/// The texts and open files of the program's windows.
pub(crate) struct WindowTexts {
    /// Texts with unsaved edits.
    pub(crate) buffers: Arc<dyn Buffers>,
    /// The open files of a folder.
    pub(crate) open_files: Arc<dyn Fn(&AbsPath) -> OpenFiles + Send + Sync>,
}

/// The parameters of one session.
pub(crate) struct SessionSpec {
    /// The folder it works below; a real path without links.
    pub(crate) root: AbsPath,
    pub(crate) model: String,
    pub(crate) mode: SessionMode,
    /// Whether calls that would need permission are allowed; calls that only the user may permit
    /// still need it.
    pub(crate) allows_asked: bool,
    /// Whether a user can answer questions.
    pub(crate) has_user: bool,
    pub(crate) budget: Option<Cost>,
    /// The models' reasoning effort; `None` uses the settings' value.
    pub(crate) effort: Option<Effort>,
    pub(crate) hooks: Option<Arc<Hooks>>,
    /// The sandbox options of the session.
    pub(crate) confinement: Confinement,
    /// The worktree that the session works in; `None` if the root is the user's own folder.
    pub(crate) session_root: Option<SessionRoot>,
    /// MCP servers in addition to those of the user and the project.
    pub(crate) servers: Vec<ServerEntry>,
    /// The wait for the session's MCP servers.
    pub(crate) waiting: ServerWait,
}

impl SessionFactory {
    /// Creates the factory. `trust` decides which folders' instructions may join prompts; `windows`
    /// provides unsaved texts, if there are windows.
    pub(crate) fn new(
        mind: impl ModelGateway + 'static,
        store: SessionStore,
        dirs: &Dirs,
        trust: TrustedFolders,
        windows: Option<WindowTexts>,
    ) -> Self {
        let rooms: Arc<ToolStates> = Arc::default();
        let watchers = TreeWatchers::default();
        let checkouts = MainCheckouts::default();
        let trust = checkouts.trust(trust);
        let (buffers, surroundings) = windows_parts(windows, &checkouts);
        let sources = sources(dirs, buffers);
        let config = Some(dirs.config.clone());
        let contexts =
            ProjectContexts::new(sources.clone(), trust.clone(), config.clone(), surroundings);
        let options = ToolOptions {
            states: rooms.clone(),
            variables: sandbox_policy::command_variables(dirs),
            ..ToolOptions::new(&sources)
        };
        let mut tools = tools::all(&options);
        tools.push(Arc::new(SkillTool::new(trust, config)));
        let left = rooms.clone();
        let harness = Harness::new(HarnessParts {
            store,
            sources,
            models: Arc::new(mind),
            tools,
            observer: Some(Arc::new(watchers.clone())),
            contexts: Arc::new(contexts),
            compactor: Arc::new(PlannedCompactor),
            limits: SessionLimits::default(),
            on_session_end: Arc::new(move |session| left.close_session(session)),
        });
        Self {
            harness,
            rooms,
            servers: McpPool::new(Arc::new(RealFiles), dirs),
            dirs: dirs.clone(),
            watchers,
            checkouts,
            effort: None,
        }
    }

    /// The same, with the effort of sessions that name none.
    pub(crate) fn with_effort(mut self, effort: ModelEffort) -> Self {
        self.effort = match effort {
            ModelEffort::Auto => None,
            ModelEffort::Minimal => Some(Effort::Minimal),
            ModelEffort::Low => Some(Effort::Low),
            ModelEffort::Medium => Some(Effort::Medium),
            ModelEffort::High => Some(Effort::High),
            ModelEffort::Max => Some(Effort::Max),
        };
        self
    }

    /// Returns the worktrees whose changes are logged by author.
    pub(crate) fn watchers(&self) -> &TreeWatchers {
        &self.watchers
    }

    pub(crate) fn dirs(&self) -> &Dirs {
        &self.dirs
    }

    pub(crate) fn store(&self) -> &SessionStore {
        self.harness.store()
    }

    /// Returns the session's start parameters, and notices for the user as sentences. Waits for the
    /// MCP servers whose tools the session gets.
    pub(crate) async fn start(&self, wanted: SessionSpec) -> (SessionOptions, Vec<String>) {
        let ground = wanted
            .session_root
            .unwrap_or_else(|| SessionRoot::for_user_folder(&wanted.root));
        let unasked = if wanted.allows_asked {
            UnmatchedCalls::Ordinary
        } else {
            UnmatchedCalls::Nothing
        };
        let project = ground.project.clone();
        self.checkouts.insert(&wanted.root, &project);
        let (sandbox, problems) = sandbox_policy::sandbox(&self.dirs, ground, &wanted.confinement);
        let (judge, mut notices) =
            permission_policy(unasked, &project, problems.first(), &self.dirs);
        notices.extend(problems);
        let offer = self
            .servers
            .open(
                (&wanted.root, &project),
                wanted.servers,
                &self.rooms,
                &wanted.waiting,
            )
            .await;
        notices.extend(offer.notices);
        let start = SessionOptions {
            harness: self.harness.clone(),
            tools: offer.tools,
            root: wanted.root,
            model: wanted.model,
            mode: wanted.mode,
            effort: wanted.effort.or(self.effort),
            call_judge: judge,
            has_user: wanted.has_user,
            budget: wanted.budget,
            hooks: wanted.hooks,
            sandbox,
            parent: None,
        };
        (start, notices)
    }

    /// Shuts down the shared services gracefully; takes some seconds at most.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
    }
}

/// The world as tools see it.
fn sources(dirs: &Dirs, buffers: Option<Arc<dyn Buffers>>) -> Arc<SessionServices> {
    Arc::new(SessionServices {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        state: dirs.state.clone(),
        search: Some(Arc::new(indexes::SharedIndexes(Indexes::new(
            dirs,
            buffers.clone(),
        )))),
        buffers,
        diagnostics: None,
    })
}

/// Returns the windows' unsaved texts, and the prompt parts about a folder's open files.
fn windows_parts(
    windows: Option<WindowTexts>,
    checkouts: &MainCheckouts,
) -> (
    Option<Arc<dyn Buffers>>,
    impl Fn(&AbsPath) -> SessionEnvironment + Send + Sync + 'static,
) {
    let (buffers, open_files) = match windows {
        Some(windows) => (Some(windows.buffers), Some(windows.open_files)),
        None => (None, None),
    };
    let checkouts = checkouts.clone();
    let surroundings = move |root: &AbsPath| {
        let files = open_files.as_ref().map(|of| of(&checkouts.of(root)));
        SessionEnvironment {
            files: files.unwrap_or_default(),
            ..SessionEnvironment::of_machine(std::env::var("SHELL").ok().as_deref())
        }
    };
    (buffers, surroundings)
}

/// Returns the permission policy of a session: the user's rules for a project, extended by later
/// decisions. Problems of the permissions are returned as sentences. If there is one, or `problem`
/// names one in the sandbox settings, every call needs permission.
fn permission_policy(
    unasked: UnmatchedCalls,
    project: &AbsPath,
    problem: Option<&String>,
    dirs: &Dirs,
) -> (Arc<dyn PermissionPolicy>, Vec<String>) {
    let (mut rules, problems) = Permissions::read(dirs).rules(project);
    if let Some(problem) = problem {
        rules = rules.closed(problem.clone());
    }
    let (path, project) = (permissions::path(dirs), project.clone());
    let judge = RulePolicy::new(rules, unasked, move |reach, more| {
        let scope = match reach {
            RuleScope::Project => PermissionScope::Project(project.clone()),
            RuleScope::Everywhere => PermissionScope::Everywhere,
        };
        let saved = permissions::save_allow_rules(&path, &scope, more);
        saved.map_err(agent::Error::PermissionNotSaved)
    });
    (Arc::new(judge), problems)
}
