//! What every session of the program is given: models, tools of ours and of others, context, rules and the ledger,
//! put together.
//!
//! This is the one place where the parts of an agent meet.

use std::collections::HashMap;
use std::sync::Arc;

use agent::compact::PlannedCompactor;
use agent::context::{ProjectContexts, SkillTool, Surroundings, Trust};
use agent::engine::{Harness, HarnessParts, Limits, Mind, RouterMind, Start};
use agent::hooks::Hooks;
use agent::leave::{AllowAll, Judge};
use agent::record::Mode;
use agent::rules::{RuleJudge, Rules};
use agent::sources::{Buffers, Sources};
use agent::store::Store;
use agent::tools::{self, Options, Rooms};
use base::AbsPath;
use composer::authored::{Watched, Watchers};
use connect::mcp::ServerEntry;
use host::{Dirs, Files as _, RealClock, RealFiles};
use model::{Cost, Price, Profile, Tier, TokenCount};
use router::actor::{LaneConfig, RouterHandle};
use serde_json::{Value, json};

use crate::confined::{self, Confinement, Ground};
use crate::foreign::Pool;
use crate::indexes::{self, Indexes};

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
}

/// What one session is to be.
pub(crate) struct Wanted {
    /// The folder it works below; a real path without links.
    pub(crate) root: AbsPath,
    pub(crate) model: String,
    pub(crate) mode: Mode,
    /// Whether everything is allowed that would be asked.
    pub(crate) allows_all: bool,
    /// Whether somebody is there to be asked.
    pub(crate) has_person: bool,
    pub(crate) budget: Option<Cost>,
    pub(crate) hooks: Option<Arc<Hooks>>,
    /// What the person says about its sandbox.
    pub(crate) confinement: Confinement,
    /// The worktree that it works in; without, the root is the person's own folder.
    pub(crate) ground: Option<Ground>,
    /// MCP servers beside those of the person and the project.
    pub(crate) servers: Vec<ServerEntry>,
}

impl Crew {
    /// `trust` says whose instructions may join prompts; `buffers` are the texts of windows.
    pub(crate) fn new(
        mind: impl Mind + 'static,
        store: Store,
        dirs: &Dirs,
        trust: Trust,
        buffers: Option<Arc<dyn Buffers>>,
    ) -> Self {
        let rooms: Arc<Rooms> = Arc::default();
        let watchers = Watchers::default();
        Self {
            harness: harness(mind, store, dirs, trust, buffers, (&rooms, &watchers)),
            rooms,
            servers: Pool::new(Arc::new(RealFiles), dirs),
            dirs: dirs.clone(),
            watchers,
        }
    }

    /// The trees in which it is written down who changes what.
    pub(crate) fn watchers(&self) -> &Watchers {
        &self.watchers
    }

    pub(crate) fn store(&self) -> &Store {
        self.harness.store()
    }

    /// What a session is started with, and what the person should know before, in sentences. Waits a few seconds at
    /// most for servers whose tools the session gets.
    pub(crate) async fn start(&self, wanted: Wanted) -> (Start, Vec<String>) {
        let (judge, mut notices) = judge(wanted.allows_all, &self.dirs);
        let ground = wanted
            .ground
            .unwrap_or_else(|| Ground::of_person(&wanted.root));
        let (sandbox, problems) = confined::sandbox(&self.dirs, ground, &wanted.confinement);
        notices.extend(problems);
        let offer = self
            .servers
            .open(&wanted.root, wanted.servers, &self.rooms)
            .await;
        notices.extend(offer.notices);
        let start = Start {
            harness: self.harness.clone(),
            tools: Watched::all(offer.tools, &self.watchers),
            root: wanted.root,
            model: wanted.model,
            mode: wanted.mode,
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

/// Everything that sessions share.
fn harness(
    mind: impl Mind + 'static,
    store: Store,
    dirs: &Dirs,
    trust: Trust,
    buffers: Option<Arc<dyn Buffers>>,
    (rooms, watchers): (&Arc<Rooms>, &Watchers),
) -> Arc<Harness> {
    let sources = Arc::new(Sources {
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
    });
    let config = Some(dirs.config.clone());
    let contexts = ProjectContexts::new(sources.clone(), trust.clone(), config.clone(), |_| {
        Surroundings::of_machine(std::env::var("SHELL").ok().as_deref())
    });
    let options = Options {
        rooms: rooms.clone(),
        variables: confined::command_variables(dirs),
        ..Options::new(&sources)
    };
    let mut tools = tools::all(&options);
    tools.push(Arc::new(SkillTool::new(trust, config)));
    let rooms = rooms.clone();
    Harness::new(HarnessParts {
        store,
        sources,
        mind: Arc::new(mind),
        tools: Watched::all(tools, watchers),
        contexts: Arc::new(contexts),
        compactor: Arc::new(PlannedCompactor),
        limits: Limits::default(),
        farewell: Arc::new(move |session| rooms.leave(session)),
    })
}

/// Who judges the calls of a session: the person's rules, and what they decide meanwhile. What could not be read of
/// the rules comes as sentences.
fn judge(allows_all: bool, dirs: &Dirs) -> (Arc<dyn Judge>, Vec<String>) {
    if allows_all {
        return (Arc::new(AllowAll), Vec::new());
    }
    let path = dirs.config.join("permissions.json");
    let (rules, problems) = match RealFiles.read(&path, MOST_RULES) {
        Ok(text) => {
            let (rules, problems) = Rules::parse(&String::from_utf8_lossy(&text));
            let problems = problems.into_iter().map(|it| format!("{path}: {}", it.0));
            (rules, problems.collect())
        }
        Err(error) if error.is_not_found() => (Rules::default(), Vec::new()),
        Err(error) => (Rules::default(), vec![error.to_string()]),
    };
    let judge = RuleJudge::new(rules, move |more| keep(&path, more));
    (Arc::new(judge), problems)
}

/// The largest file of rules that is read.
const MOST_RULES: u64 = 1 << 20;

/// Adds rules to those that allow, in the person's own file.
fn keep(path: &AbsPath, more: &[String]) -> Result<(), String> {
    let text = match RealFiles.read(path, MOST_RULES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.is_not_found() => "{}".to_owned(),
        Err(error) => return Err(error.to_string()),
    };
    let unreadable = |error| format!("{path} cannot be read, so nothing was added to it: {error}");
    let mut value: Value = serde_json::from_str(&text).map_err(unreadable)?;
    let Some(object) = value.as_object_mut() else {
        return Err(format!(
            "{path} holds no object, so nothing was added to it"
        ));
    };
    let permissions = object.entry("permissions").or_insert_with(|| json!({}));
    let allow = permissions
        .as_object_mut()
        .map(|it| it.entry("allow").or_insert_with(|| json!([])));
    let Some(allow) = allow.and_then(Value::as_array_mut) else {
        return Err(format!(
            "the permissions in {path} have another form, so nothing was added"
        ));
    };
    for rule in more {
        let rule = Value::from(rule.as_str());
        if !allow.contains(&rule) {
            allow.push(rule);
        }
    }
    let text = format!("{value:#}\n");
    let folder = path
        .parent()
        .map_or(Ok(()), |folder| RealFiles.create_folder(&folder));
    folder
        .and_then(|()| RealFiles.write_private(path, text.as_bytes()))
        .map_err(|error| error.to_string())
}
