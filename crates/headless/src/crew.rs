//! What every session of the program is given: models, tools of ours and of others, context, rules and the ledger,
//! put together.
//!
//! This is the one place where the parts of an agent meet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::compact::PlannedCompactor;
use agent::context::{OpenFiles, ProjectContexts, SkillTool, Surroundings, Trust};
use agent::engine::{Harness, HarnessParts, Limits, Mind, RouterMind, Start};
use agent::hooks::Hooks;
use agent::leave::Judge;
use agent::record::Mode;
use agent::rules::{Reach, RuleJudge, Unasked};
use agent::sources::{Buffers, Sources};
use agent::store::Store;
use agent::tools::{self, Options, Rooms};
use base::AbsPath;
use composer::authored::{Watched, Watchers};
use connect::mcp::ServerEntry;
use host::{Dirs, RealClock, RealFiles};
use model::{Cost, Effort, Price, Profile, Tier, TokenCount};
use router::actor::{LaneConfig, RouterHandle};
use settings::ModelEffort;

use crate::confined::{self, Confinement, Ground};
use crate::foreign::{Pool, Waiting};
use crate::indexes::{self, Indexes};
use crate::permissions::{self, Permissions, Scope};

/// The way to models for sessions: the router, with what is known of each model it may ask.
pub(crate) fn mind(router: RouterHandle, lanes: &[Known]) -> RouterMind {
    let profiles = lanes
        .iter()
        .map(|known| (known.name.clone(), known.profile.clone()));
    let prices = lanes
        .iter()
        .filter_map(|known| Some((known.name.clone(), known.price.clone()?)));
    let mut profiles: HashMap<String, Arc<Profile>> = profiles.collect();
    // A model that stands for itself is known by its provider alone, too.
    for known in lanes {
        if let Some((provider, model)) = known.name.split_once('/')
            && provider == model
        {
            profiles.insert(provider.to_owned(), known.profile.clone());
        }
    }
    RouterMind {
        router,
        profiles,
        prices: prices.collect(),
        usual: Arc::new(usual(lanes)),
    }
}

/// What is known of a model.
pub(crate) struct Known {
    name: String,
    profile: Arc<Profile>,
    price: Option<Price>,
}

impl Known {
    /// What a way to a model tells of it.
    pub(crate) fn of(lane: &LaneConfig) -> Self {
        Self {
            name: lane.lane.model.to_string(),
            profile: Arc::new(lane.profile.clone()),
            price: lane.price.clone(),
        }
    }
}

/// How whoever `auto` chooses is spoken to: as the models are that it would choose from, and within the smallest
/// context of the good ones.
fn usual(lanes: &[Known]) -> Profile {
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

/// What the sessions of the program are made of.
pub(crate) struct Crew {
    harness: Arc<Harness>,
    rooms: Arc<Rooms>,
    servers: Pool,
    dirs: Dirs,
    watchers: Watchers,
    checkouts: Checkouts,
    effort: Option<Effort>,
}

/// The person's checkouts of worktrees that agents work in, by worktree.
#[derive(Clone, Default)]
struct Checkouts(Arc<Mutex<HashMap<AbsPath, AbsPath>>>);

impl Checkouts {
    fn lock(&self) -> MutexGuard<'_, HashMap<AbsPath, AbsPath>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, root: &AbsPath, checkout: &AbsPath) {
        if root != checkout {
            self.lock().insert(root.clone(), checkout.clone());
        }
    }

    /// The folder that the person decides about when they trust `root`.
    fn of(&self, root: &AbsPath) -> AbsPath {
        self.lock().get(root).unwrap_or(root).clone()
    }

    /// `trust`, with worktrees trusted like their checkouts.
    fn trust(&self, trust: Trust) -> Trust {
        let checkouts = self.clone();
        Trust::new(move |root| trust.of(&checkouts.of(root)))
    }
}

/// What the windows of the program show.
pub(crate) struct Windows {
    /// Texts with unsaved edits.
    pub(crate) buffers: Arc<dyn Buffers>,
    /// The open files of a folder.
    pub(crate) open_files: Arc<dyn Fn(&AbsPath) -> OpenFiles + Send + Sync>,
}

/// What one session is to be.
pub(crate) struct Wanted {
    /// The folder it works below; a real path without links.
    pub(crate) root: AbsPath,
    pub(crate) model: String,
    pub(crate) mode: Mode,
    /// Whether calls that would be asked for are allowed; what only the person may answer is still asked for.
    pub(crate) allows_asked: bool,
    /// Whether somebody is there to be asked.
    pub(crate) has_person: bool,
    pub(crate) budget: Option<Cost>,
    /// How hard models think; the settings decide where it is `None`.
    pub(crate) effort: Option<Effort>,
    pub(crate) hooks: Option<Arc<Hooks>>,
    /// What the person says about its sandbox.
    pub(crate) confinement: Confinement,
    /// The worktree that it works in; without, the root is the person's own folder.
    pub(crate) ground: Option<Ground>,
    /// MCP servers beside those of the person and the project.
    pub(crate) servers: Vec<ServerEntry>,
    /// How long they are waited for.
    pub(crate) waiting: Waiting,
}

impl Crew {
    /// `trust` says whose instructions may join prompts; `windows` is what windows show, where there are some.
    pub(crate) fn new(
        mind: impl Mind + 'static,
        store: Store,
        dirs: &Dirs,
        trust: Trust,
        windows: Option<Windows>,
    ) -> Self {
        let rooms: Arc<Rooms> = Arc::default();
        let watchers = Watchers::default();
        let checkouts = Checkouts::default();
        let trust = checkouts.trust(trust);
        let (buffers, surroundings) = windows_parts(windows, &checkouts);
        let sources = sources(dirs, buffers);
        let config = Some(dirs.config.clone());
        let contexts =
            ProjectContexts::new(sources.clone(), trust.clone(), config.clone(), surroundings);
        let options = Options {
            rooms: rooms.clone(),
            variables: confined::command_variables(dirs),
            ..Options::new(&sources)
        };
        let mut tools = tools::all(&options);
        tools.push(Arc::new(SkillTool::new(trust, config)));
        let left = rooms.clone();
        let harness = Harness::new(HarnessParts {
            store,
            sources,
            mind: Arc::new(mind),
            tools: Watched::all(tools, &watchers),
            contexts: Arc::new(contexts),
            compactor: Arc::new(PlannedCompactor),
            limits: Limits::default(),
            farewell: Arc::new(move |session| left.leave(session)),
        });
        Self {
            harness,
            rooms,
            servers: Pool::new(Arc::new(RealFiles), dirs),
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

    /// The trees in which it is written down who changes what.
    pub(crate) fn watchers(&self) -> &Watchers {
        &self.watchers
    }

    pub(crate) fn dirs(&self) -> &Dirs {
        &self.dirs
    }

    pub(crate) fn store(&self) -> &Store {
        self.harness.store()
    }

    /// What a session is started with, and what the person should know before, in sentences. Waits for servers whose
    /// tools the session gets.
    pub(crate) async fn start(&self, wanted: Wanted) -> (Start, Vec<String>) {
        let ground = wanted
            .ground
            .unwrap_or_else(|| Ground::of_person(&wanted.root));
        let unasked = match wanted.allows_asked {
            true => Unasked::Ordinary,
            false => Unasked::Nothing,
        };
        let project = ground.project.clone();
        self.checkouts.insert(&wanted.root, &project);
        let (sandbox, problems) = confined::sandbox(&self.dirs, ground, &wanted.confinement);
        let (judge, mut notices) = judge(unasked, &project, problems.first(), &self.dirs);
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
        let start = Start {
            harness: self.harness.clone(),
            tools: Watched::all(offer.tools, &self.watchers),
            root: wanted.root,
            model: wanted.model,
            mode: wanted.mode,
            effort: wanted.effort.or(self.effort),
            judge,
            has_person: wanted.has_person,
            budget: wanted.budget,
            hooks: wanted.hooks,
            sandbox,
            parent: None,
        };
        (start, notices)
    }

    /// Lets go of what sessions shared, in good manners: at most some seconds.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
    }
}

/// The world as tools see it.
fn sources(dirs: &Dirs, buffers: Option<Arc<dyn Buffers>>) -> Arc<Sources> {
    Arc::new(Sources {
        files: Arc::new(RealFiles),
        clock: Arc::new(RealClock::default()),
        state: dirs.state.clone(),
        search: Some(Arc::new(indexes::Shared(Indexes::new(
            dirs,
            buffers.clone(),
        )))),
        buffers,
        diagnostics: None,
        web: None,
    })
}

/// The texts of windows, and what the prompts of a folder say about them.
fn windows_parts(
    windows: Option<Windows>,
    checkouts: &Checkouts,
) -> (
    Option<Arc<dyn Buffers>>,
    impl Fn(&AbsPath) -> Surroundings + Send + Sync + 'static,
) {
    let (buffers, open_files) = match windows {
        Some(windows) => (Some(windows.buffers), Some(windows.open_files)),
        None => (None, None),
    };
    let checkouts = checkouts.clone();
    let surroundings = move |root: &AbsPath| {
        let files = open_files.as_ref().map(|of| of(&checkouts.of(root)));
        Surroundings {
            files: files.unwrap_or_default(),
            ..Surroundings::of_machine(std::env::var("SHELL").ok().as_deref())
        }
    };
    (buffers, surroundings)
}

/// The judge of a session's calls: the person's rules for a project, and what they decide meanwhile. Problems of the
/// permissions come as sentences; where there is one, or `problem` with what they say about the sandbox, every call is
/// asked for.
fn judge(
    unasked: Unasked,
    project: &AbsPath,
    problem: Option<&String>,
    dirs: &Dirs,
) -> (Arc<dyn Judge>, Vec<String>) {
    let (mut rules, problems) = Permissions::read(dirs).rules(project);
    if let Some(problem) = problem {
        rules = rules.closed(problem.clone());
    }
    let (path, project) = (permissions::path(dirs), project.clone());
    let judge = RuleJudge::new(rules, unasked, move |reach, more| {
        let scope = match reach {
            Reach::Project => Scope::Project(project.clone()),
            Reach::Everywhere => Scope::Everywhere,
        };
        permissions::keep(&path, &scope, more)
    });
    (Arc::new(judge), problems)
}
