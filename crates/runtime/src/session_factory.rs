//! Assembles sessions: models, our own and MCP tools, context, rules and the ledger.
//!
//! This is the one place where the parts of an agent meet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use agent::access::{KeptRule, RuleOrigin};
use agent::budget::BudgetLimits;
use agent::command_feed::CommandFeeds;
use agent::compact::PlannedCompactor;
use agent::context::{OpenFiles, ProjectContexts, SessionEnvironment, SkillTool, TrustedFolders};
use agent::engine::{
    Harness, HarnessParts, ModelGateway, RouterGateway, SessionLimits, SessionOptions,
};
use agent::hooks::Hooks;
use agent::prompt_sources::ServerContent;
use agent::record::SessionMode;
use agent::rules::{PermissionRules, RulePolicy, RuleScope, UnmatchedCalls};
use agent::sandbox::CommandSandbox;
use agent::services::{Buffers, SessionServices};
use agent::store::SessionStore;
use agent::tools::{self, ToolOptions, ToolStates};
use base::AbsPath;
use composer::change_history::TreeWatchers;
use composer::folder_review::FolderReviews;
use composer::retention_recorder::RetentionRecorder;
use connect::mcp::ServerEntry;
use host::environment::Variable;
use host::{Dirs, RealClock, RealFiles};
use model::{Effort, Price, Profile, Tier, TokenCount};
use router::actor::{RouteConfig, RouterHandle};
use settings::ModelEffort;

use crate::Error;
use crate::agent_language::{AgentLanguagePool, AgentTree, SessionCallObserver, TreeSandbox};
use crate::hook_runs;
use crate::indexes::{AgentSearch, IndexRegistry};
use crate::mcp_pool::{McpPool, RunningServer, ServerWait, ToolRequest};
use crate::permissions::{self, PermissionScope, Permissions};
use crate::quality_records;
use crate::sandbox_policy::{self, Confinement, SessionRoot, SessionSandbox};
use crate::session_sources::{SessionSources, WindowFiles};
use crate::trust;

/// Returns the model gateway of sessions: the router with the profiles and prices of its models.
pub fn model_gateway(router: RouterHandle, models: &[RoutedModel]) -> RouterGateway {
    let profiles = models
        .iter()
        .map(|model| (model.name.clone(), model.profile.clone()));
    let prices = models
        .iter()
        .filter_map(|model| Some((model.name.clone(), model.price.clone()?)));
    let mut profiles: HashMap<String, Arc<Profile>> = profiles.collect();
    // A model named like its provider is also known by that name alone.
    for model in models {
        if let Some((provider, name)) = model.name.split_once('/')
            && provider == name
        {
            profiles.insert(provider.to_owned(), model.profile.clone());
        }
    }
    RouterGateway {
        router,
        profiles,
        prices: prices.collect(),
        usual: Arc::new(default_profile(models)),
    }
}

/// A model with its profile and price.
pub struct RoutedModel {
    name: String,
    profile: Arc<Profile>,
    price: Option<Price>,
}

impl RoutedModel {
    /// Returns the model of a route under its name `provider/model`, with the route's profile and
    /// price.
    pub fn of(route: &RouteConfig) -> Self {
        Self {
            name: route.route.model.to_string(),
            profile: Arc::new(route.profile.clone()),
            price: route.price.clone(),
        }
    }
}

/// Returns the profile for `auto`: that of the best capable model, with the smallest context of
/// all capable ones.
fn default_profile(models: &[RoutedModel]) -> Profile {
    let able = models.iter().map(|model| &model.profile);
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
pub struct SessionFactory {
    harness: Arc<Harness>,
    tool_states: Arc<ToolStates>,
    servers: McpPool,
    language: Arc<AgentLanguagePool>,
    trust: TrustedFolders,
    dirs: Dirs,
    watchers: TreeWatchers,
    reviews: FolderReviews,
    recorder: RetentionRecorder,
    checkouts: MainCheckouts,
    /// The files that the windows show.
    window_files: Option<WindowFiles>,
    effort: Option<Effort>,
    /// The policies of sessions, each with its project.
    policies: Mutex<Vec<(AbsPath, Weak<RulePolicy>)>>,
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

/// The texts, open files and indexes of the program's windows.
pub struct WindowContext {
    /// Texts with unsaved edits.
    pub buffers: Arc<dyn Buffers>,
    /// The open files of a folder.
    pub open_files: Arc<dyn Fn(&AbsPath) -> OpenFiles + Send + Sync>,
    /// The indexes of the program.
    pub indexes: Arc<IndexRegistry>,
}

/// The parameters of one session.
pub struct SessionSpec {
    /// The folder it works below; a real path without links.
    pub root: AbsPath,
    pub model: String,
    pub mode: SessionMode,
    /// Whether calls that would need permission are allowed; calls that only the user may permit
    /// still need it.
    pub allows_asked: bool,
    /// Whether a user can answer questions.
    pub has_user: bool,
    pub budget: BudgetLimits,
    /// The models' reasoning effort; `None` uses the settings' value.
    pub effort: Option<Effort>,
    pub hooks: Option<Arc<Hooks>>,
    /// The sandbox options of the session.
    pub confinement: Confinement,
    /// The worktree that the session works in; `None` if the root is the user's own folder.
    pub session_root: Option<SessionRoot>,
    /// MCP servers in addition to those of the user and the project.
    pub servers: Vec<ServerEntry>,
    /// The wait for the session's MCP servers.
    pub waiting: ServerWait,
}

impl SessionFactory {
    /// Creates the factory. `trust` decides which folders' instructions may join prompts; `windows`
    /// provides unsaved texts, if there are windows.
    pub fn new(
        gateway: impl ModelGateway + 'static,
        store: SessionStore,
        dirs: &Dirs,
        trust: TrustedFolders,
        windows: Option<WindowContext>,
    ) -> Self {
        let tool_states: Arc<ToolStates> = Arc::default();
        let recorder = quality_records::recorder(&store);
        let watchers = TreeWatchers::recording(recorder.clone());
        let checkouts = MainCheckouts::default();
        let trust = checkouts.trust(trust);
        let indexes = match &windows {
            Some(windows) => windows.indexes.clone(),
            None => IndexRegistry::new(dirs),
        };
        let window_files = windows.as_ref().map(|it| it.open_files.clone());
        let (buffers, environments) = windows_parts(windows, &checkouts);
        let language = AgentLanguagePool::new(dirs, buffers.clone(), watchers.clone());
        let language = Arc::new(language);
        let reviews = FolderReviews::new(dirs, watchers.clone(), buffers.clone());
        let sources = sources(dirs, indexes, buffers);
        let config = Some(dirs.config.clone());
        let contexts =
            ProjectContexts::new(sources.clone(), trust.clone(), config.clone(), environments);
        let options = ToolOptions {
            states: tool_states.clone(),
            variables: sandbox_policy::command_variables(dirs),
            ..ToolOptions::new(&sources)
        };
        let mut tools = tools::all(&options);
        tools.push(Arc::new(SkillTool::new(trust.clone(), config)));
        let states = tool_states.clone();
        let harness = Harness::new(HarnessParts {
            store,
            sources,
            models: Arc::new(gateway),
            tools,
            observer: Some(Arc::new(SessionCallObserver {
                watchers: watchers.clone(),
                reviews: reviews.clone(),
                language: language.clone(),
            })),
            contexts: Arc::new(contexts),
            compactor: Arc::new(PlannedCompactor),
            limits: SessionLimits::default(),
            on_session_end: Arc::new(move |session| states.close_session(session)),
        });
        Self {
            harness,
            tool_states,
            servers: McpPool::new(Arc::new(RealFiles), dirs),
            language,
            trust,
            dirs: dirs.clone(),
            watchers,
            reviews,
            recorder,
            checkouts,
            window_files,
            effort: None,
            policies: Mutex::default(),
        }
    }

    /// Sets the effort for sessions that do not name an effort. `Auto` leaves the effort to the
    /// provider.
    pub fn with_effort(mut self, effort: ModelEffort) -> Self {
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
    pub fn watchers(&self) -> &TreeWatchers {
        &self.watchers
    }

    /// Returns the reviews of the folders in which sessions work without a worktree.
    pub fn reviews(&self) -> &FolderReviews {
        &self.reviews
    }

    /// Returns the recorder of what is kept of agents' texts.
    pub(crate) fn recorder(&self) -> &RetentionRecorder {
        &self.recorder
    }

    /// Returns whether the instructions of a folder may join prompts.
    pub(crate) fn is_trusted(&self, root: &AbsPath) -> bool {
        self.trust.is_trusted(root)
    }

    /// Returns the program's folders.
    pub fn dirs(&self) -> &Dirs {
        &self.dirs
    }

    /// Returns the store of all sessions.
    pub fn store(&self) -> &SessionStore {
        self.harness.store()
    }

    /// Returns the feeds of the commands that all sessions run.
    pub fn command_feeds(&self) -> &Arc<CommandFeeds> {
        self.tool_states.feeds()
    }

    /// Returns the state that all sessions of this process share.
    pub(crate) fn harness(&self) -> &Arc<Harness> {
        &self.harness
    }

    /// Returns the session's start parameters, and notices for the user as sentences. Waits for the
    /// MCP servers whose tools the session gets.
    pub async fn start(&self, wanted: SessionSpec) -> (SessionOptions, Vec<String>) {
        if wanted.session_root.is_none() {
            self.reviews.add_users_folder(&wanted.root);
        }
        let session_root = wanted
            .session_root
            .unwrap_or_else(|| SessionRoot::for_user_folder(&wanted.root));
        let unasked = if wanted.allows_asked {
            UnmatchedCalls::Ordinary
        } else {
            UnmatchedCalls::Nothing
        };
        let project = session_root.project.clone();
        self.checkouts.insert(&wanted.root, &project);
        let variables = session_root.variables.clone();
        let (sandbox, problems) =
            sandbox_policy::sandbox(&self.dirs, session_root, &wanted.confinement);
        let tree = self.agent_tree(&wanted.root, &project, variables, sandbox.as_ref());
        let (rules, mut notices) = session_rules(&project, problems.first(), &self.dirs);
        let policy = permission_policy(unasked, rules.clone(), &project, &self.dirs);
        self.policies()
            .push((project.clone(), Arc::downgrade(&policy)));
        notices.extend(problems);
        let (variant, problems) = quality_records::session_variant(&self.dirs);
        notices.extend(problems);
        let request = ToolRequest {
            states: &self.tool_states,
            rules: &rules,
            waiting: &wanted.waiting,
        };
        let servers = self
            .servers
            .open((&wanted.root, &project), wanted.servers, &request);
        let (offer, language) = tokio::join!(servers, self.language.offer(tree, &self.tool_states));
        notices.extend(offer.notices);
        let sources = SessionSources {
            windows: self.window_files.clone(),
            language: language.queries,
            servers: offer.servers,
            store: self.store().clone(),
            project: project.clone(),
        };
        let mut tools = language.tools;
        tools.extend(offer.tools);
        let start = SessionOptions {
            harness: self.harness.clone(),
            tools,
            root: wanted.root,
            model: wanted.model,
            mode: wanted.mode,
            effort: wanted.effort.or(self.effort),
            variant,
            call_judge: policy,
            has_user: wanted.has_user,
            budget: wanted.budget,
            hooks: wanted.hooks.map(|hooks| self.observed(&hooks, &project)),
            sandbox: sandbox.map(|it| it as Arc<dyn CommandSandbox>),
            edit_diagnostics: language.edit_diagnostics,
            prompt_sources: Some(Arc::new(sources)),
            parent: None,
        };
        (start, notices)
    }

    /// Returns hooks whose runs are recorded for a project.
    pub(crate) fn observed(&self, hooks: &Hooks, project: &AbsPath) -> Arc<Hooks> {
        let clock = Arc::new(RealClock::default());
        let observer = hook_runs::recorder(self.store().clone(), clock, project);
        Arc::new(hooks.observed_by(observer))
    }

    /// Returns the permission policies of the running sessions of a project.
    pub(crate) fn session_policies(&self, project: &AbsPath) -> Vec<Arc<RulePolicy>> {
        let policies = self.running_policies().into_iter();
        let policies = policies.filter(|(of, _)| of == project);
        policies.map(|(_, policy)| policy).collect()
    }

    /// Stops allowing calls by a rule in the running sessions to which it applies: those of the
    /// project `root` for a rule of a session.
    pub(crate) fn forget_rule(&self, root: &AbsPath, rule: &KeptRule) {
        for (project, policy) in self.running_policies() {
            let applies = match &rule.origin {
                RuleOrigin::User => true,
                RuleOrigin::Project(of) => *of == project.to_string(),
                RuleOrigin::Session => project == *root,
            };
            if applies {
                policy.forget(&rule.rule);
            }
        }
    }

    fn running_policies(&self) -> Vec<(AbsPath, Arc<RulePolicy>)> {
        let mut policies = self.policies();
        policies.retain(|(_, policy)| policy.strong_count() > 0);
        let running = policies.iter();
        running
            .filter_map(|(project, policy)| Some((project.clone(), policy.upgrade()?)))
            .collect()
    }

    fn policies(&self) -> MutexGuard<'_, Vec<(AbsPath, Weak<RulePolicy>)>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the MCP servers of a folder that were started.
    pub(crate) fn running_servers(&self, root: &AbsPath) -> Vec<RunningServer> {
        let servers = self.servers.running(root);
        servers.map(|servers| servers.list()).unwrap_or_default()
    }

    /// Returns the resources and prompts of the MCP servers that run for a folder.
    pub async fn server_contents(&self, root: &AbsPath) -> Vec<ServerContent> {
        match self.servers.running(root) {
            Some(servers) => servers.contents().await,
            None => Vec::new(),
        }
    }

    /// Starts the MCP servers of a folder, or reconnects the one with this name.
    pub(crate) async fn start_server(&self, root: &AbsPath, name: &str) -> Result<(), Error> {
        self.servers.start(root, name).await
    }

    /// Applies changed approvals to the running MCP servers of a folder. Returns problems as
    /// sentences.
    pub(crate) async fn reconnect_servers(&self, root: &AbsPath) -> Vec<String> {
        match self.servers.running(root) {
            Some(servers) => servers.reconnect_servers().await,
            None => Vec::new(),
        }
    }

    /// Returns the tree of a session for its language servers.
    fn agent_tree(
        &self,
        root: &AbsPath,
        checkout: &AbsPath,
        variables: Vec<Variable>,
        sandbox: Option<&Arc<SessionSandbox>>,
    ) -> AgentTree {
        // The sandbox contains the code of a project that the user trusts for this program only.
        let is_trusted = match sandbox {
            Some(_) => self.trust.is_trusted(root),
            None => trust::is_trusted(&RealFiles, &self.dirs, checkout),
        };
        AgentTree {
            root: root.clone(),
            checkout: checkout.clone(),
            is_trusted,
            sandbox: TreeSandbox::of(sandbox),
            variables,
        }
    }

    /// Shuts down the shared services gracefully; takes some seconds at most.
    pub async fn close(&self) {
        self.servers.close().await;
    }
}

/// The world as tools see it.
fn sources(
    dirs: &Dirs,
    indexes: Arc<IndexRegistry>,
    buffers: Option<Arc<dyn Buffers>>,
) -> Arc<SessionServices> {
    Arc::new(SessionServices {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        state: dirs.state.clone(),
        search: Some(Arc::new(AgentSearch::new(indexes, buffers.clone()))),
        buffers,
    })
}

/// Returns the windows' unsaved texts, and the prompt parts about a folder's open files.
fn windows_parts(
    windows: Option<WindowContext>,
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
    let environments = move |root: &AbsPath| {
        let files = open_files.as_ref().map(|of| of(&checkouts.of(root)));
        SessionEnvironment {
            files: files.unwrap_or_default(),
            ..SessionEnvironment::of_machine(std::env::var("SHELL").ok().as_deref())
        }
    };
    (buffers, environments)
}

/// Returns the user's rules for a project. Problems of the permissions are returned as sentences. If
/// there is one, or `problem` names one in the sandbox settings, every call needs permission.
fn session_rules(
    project: &AbsPath,
    problem: Option<&String>,
    dirs: &Dirs,
) -> (PermissionRules, Vec<String>) {
    let (rules, problems) = Permissions::read(dirs).rules(project);
    let rules = match problem {
        Some(problem) => rules.closed(problem.clone()),
        None => rules,
    };
    (rules, problems)
}

/// Returns the permission policy of a session: these rules, extended by later decisions.
fn permission_policy(
    unasked: UnmatchedCalls,
    rules: PermissionRules,
    project: &AbsPath,
    dirs: &Dirs,
) -> Arc<RulePolicy> {
    let (path, project) = (permissions::path(dirs), project.clone());
    let policy = RulePolicy::new(rules, unasked, move |reach, more| {
        let scope = match reach {
            RuleScope::Project => PermissionScope::Project(project.clone()),
            RuleScope::Everywhere => PermissionScope::Everywhere,
        };
        let saved = permissions::save_allow_rules(&path, &scope, more);
        saved.map_err(|error| agent::Error::PermissionNotSaved(error.to_string()))
    });
    Arc::new(policy)
}
