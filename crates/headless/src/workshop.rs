//! The way to agents' sessions for a program with windows: the same models, tools and rules as on the command line.
//!
//! Start at `Workshop::open`, on a tokio runtime.

use std::sync::Arc;

use agent::context::{OpenFiles, Trust};
use agent::engine::{self, Opened, Start};
use agent::house::{HouseRules, WaitingHooks, WaitingServer};
use agent::record::Mode;
use agent::sources::Buffers;
use agent::store::{SessionLine, Store};
use autocomplete::Candidate;
use autocomplete::engine::{Ask as TabAsk, TabModel};
use base::AbsPath;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use host::{Dirs, Files, RealFiles};
use model::{Event, ModelId};
use project::Unsaved;
use router::actor::{RouterHandle, Told};

use crate::ask::{self, LedgerBook};
use crate::complete::remote as tab;
use crate::confined::Confinement;
use crate::crew::{self, Crew, Known, Wanted, Windows};
use crate::foreign::Waiting;
use crate::house;
use crate::models::setup::{self, DEMO, KeyState, Setup};
use crate::permissions::Permissions;

/// The way to sessions.
pub struct Workshop {
    crew: Arc<Crew>,
    dirs: Dirs,
    models: Vec<Model>,
    default: String,
    missing_keys: Vec<String>,
    problems: Vec<String>,
    router: RouterHandle,
    book: Arc<LedgerBook>,
    for_tab: Vec<Candidate>,
}

/// A session that was started or resumed.
pub struct Started {
    /// Its channels.
    pub opened: Opened,
    /// The folder it works in.
    pub root: AbsPath,
    /// Problems that the person should know of before they go on: unreadable settings, servers that did not start.
    pub notices: Vec<String>,
}

/// A model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// As `provider/model`.
    pub id: String,
    /// Whether it runs on this machine.
    pub is_local: bool,
    /// Whether it is known to call tools, or the person named it in the settings; without, it is little use as an
    /// agent.
    pub has_tools: bool,
}

impl Workshop {
    /// Looks at models and keys, opens the ledger and starts a router. Takes up to a few seconds. `unsaved` holds the
    /// texts with edits that are not on the disk; `open_files` answers which files of a folder the windows show.
    pub async fn open(
        dirs: &Dirs,
        unsaved: Arc<Unsaved>,
        open_files: impl Fn(&AbsPath) -> OpenFiles + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let windows = Windows {
            buffers: Arc::new(Open(unsaved)),
            open_files: Arc::new(open_files),
        };
        Self::open_with(dirs, house::trust(dirs), Some(windows), None).await
    }

    /// The same for programs without windows: `trust` says whose instructions may join prompts, and sessions begin
    /// with a model that the person named.
    pub(crate) async fn open_with(
        dirs: &Dirs,
        trust: Trust,
        windows: Option<Windows>,
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
        let known: Vec<Known> = lanes.iter().map(Known::of).collect();
        let (book, ledger, aside) = ask::open_books(dirs)?;
        problems.extend(aside);
        // Rules of single projects are looked at when a session begins there.
        let (_, unclear) = Permissions::read(dirs).rules(&dirs.config);
        problems.extend(unclear);
        let router = ask::start(lanes, &setup.settings, book.clone());
        let store = Store::start(ledger)?;
        let mind = crew::mind(router.clone(), &known);
        let crew = Crew::new(mind, store, dirs, trust, windows);
        let crew = Arc::new(crew.with_effort(setup.settings.effort));
        let is_named = |id: &str| *setup.settings.default == *id || named.iter().any(|it| it == id);
        let models = setup.models.iter().map(|found| {
            let id = found.id.to_string();
            Model {
                has_tools: found.profile.tools == Some(true) || is_named(&id),
                is_local: found.is_local,
                id,
            }
        });
        Ok(Self {
            crew,
            dirs: dirs.clone(),
            models: models.collect::<Vec<_>>(),
            missing_keys: missing_keys(&setup),
            default: setup.settings.default,
            problems,
            router,
            book,
            for_tab,
        })
    }

    /// What sessions are made of.
    pub(crate) fn crew(&self) -> &Arc<Crew> {
        &self.crew
    }

    /// Waits until no model is asked any more and what was spent is written down.
    pub(crate) async fn settle(&self) -> Result<(), String> {
        self.router.idle().await;
        let flushed = self.book.flush();
        flushed.map_err(|error| format!("{error}; what was spent is not written down"))
    }

    /// What could not be read or found on the way, in sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// The models that can be asked, without the demo model.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The model that the settings name where nobody chose one.
    pub fn default_model(&self) -> &str {
        &self.default
    }

    /// The model that is taken where nobody says which: the demo model where there is no other.
    pub(crate) fn usual_model(&self) -> &str {
        match self.models.is_empty() {
            true => DEMO,
            false => &self.default,
        }
    }

    /// Variables of the environment of which each would bring models.
    pub fn missing_keys(&self) -> &[String] {
        &self.missing_keys
    }

    /// The model that Tab asks where the settings say `wanted`; none where there is none to be had.
    pub fn tab_model(&self, wanted: &str) -> Result<Option<TabModel>, String> {
        autocomplete::choose(wanted, &self.for_tab)
    }

    /// Asks for Tab, ahead of everything else. Dropping the stream closes the socket.
    pub fn ask_for_tab(&self, what: TabAsk) -> BoxStream<'static, Event> {
        let told = self.router.submit(tab::question(what));
        let event = |told| async move {
            match told {
                Told::Event(event) => Some(event),
                _ => None,
            }
        };
        told.filter_map(event).boxed()
    }

    /// Writes a measurement down. Never waits.
    pub fn measure(&self, name: &str, value: f64, tags: String) {
        self.book.measure(name, value, tags);
    }

    /// Starts a session in a folder, a real path without links. The demo model gets a copy of the sample project
    /// instead, unless the folder is one. Nothing is written down before its first prompt. Takes a few seconds at most,
    /// as servers are waited for whose tools it gets.
    pub async fn start(&self, root: AbsPath, model: String, mode: Mode) -> Result<Started, String> {
        let root = ground_of(&model, root, &self.dirs)?;
        let (start, notices) = self.start_of(root.clone(), model, mode).await;
        Ok(Started {
            opened: engine::start(start),
            root,
            notices,
        })
    }

    /// Resumes an earlier session, in its own folder.
    pub async fn resume(&self, id: &str) -> Result<Started, String> {
        let store = self.crew.store().clone();
        let name = id.to_owned();
        let lines = tokio::task::spawn_blocking(move || store.sessions(usize::MAX)).await;
        let lines = lines.map_err(|error| format!("the sessions could not be read: {error}"))??;
        let line = lines.into_iter().find(|line| line.id == name);
        let line = line.ok_or_else(|| format!("there is no session {id}"))?;
        let root = AbsPath::new(&line.root).ok_or_else(|| format!("{} is no folder", line.root))?;
        let (start, notices) = self.start_of(root.clone(), line.model, line.mode).await;
        Ok(Started {
            opened: engine::resume(start, id).await?,
            root,
            notices,
        })
    }

    /// The records of a session. Blocks on the disk.
    pub fn records(&self, id: &str) -> Result<Vec<agent::Stored>, String> {
        self.crew.store().read(id).map(|past| past.records)
    }

    /// The latest sessions, at most `limit`. Blocks on the disk.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionLine>, String> {
        self.crew.store().sessions(limit)
    }

    /// What a folder has to say about agents' work in it. Blocks on the disk.
    pub fn house(&self, root: &AbsPath) -> HouseRules {
        house::look(&self.dirs, root)
    }

    /// The person trusts a folder from now on, or does not: it holds for sessions that begin later. Blocks on the
    /// disk.
    pub fn set_trusted(&self, root: &AbsPath, is_trusted: bool) -> Result<(), String> {
        house::set_trusted(&RealFiles, &self.dirs, root, is_trusted)
    }

    /// The person lets hooks of a folder run that they were shown. Blocks on the disk.
    pub fn allow_hooks(&self, root: &AbsPath, shown: &[WaitingHooks]) -> Result<(), String> {
        house::consent_to_hooks(&self.dirs, root, shown)
    }

    /// The person says whether a server of a project that they were shown may run. Blocks on the disk.
    pub fn decide_server(
        &self,
        root: &AbsPath,
        shown: &WaitingServer,
        may_run: bool,
    ) -> Result<(), String> {
        house::decide_server(&self.dirs, root, shown, may_run)
    }

    async fn start_of(&self, root: AbsPath, model: String, mode: Mode) -> (Start, Vec<String>) {
        let (hooks, mut problems) = house::hooks_of(&self.dirs, &root, "let them run in the panel");
        let wanted = Wanted {
            hooks,
            confinement: Confinement::default(),
            ground: None,
            root,
            model,
            mode,
            allows_asked: false,
            has_person: true,
            budget: None,
            effort: None,
            servers: Vec::new(),
            waiting: Waiting::default(),
        };
        let (start, notices) = self.crew.start(wanted).await;
        problems.extend(notices);
        (start, problems)
    }
}

/// The texts of the windows, as tools look at them.
struct Open(Arc<Unsaved>);

impl Buffers for Open {
    fn text(&self, path: &AbsPath) -> Option<String> {
        self.0.text(path)
    }

    fn unsaved(&self) -> Vec<AbsPath> {
        self.0.paths()
    }
}

/// Where a session of a model works: the demo model gets a copy of the sample project, unless the folder is one.
pub(crate) fn ground_of(model: &str, root: AbsPath, dirs: &Dirs) -> Result<AbsPath, String> {
    match model == DEMO && !is_sample(&root) {
        true => crate::run::sample(&RealFiles, dirs),
        false => Ok(root),
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
