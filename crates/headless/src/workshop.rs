//! The way to agents' sessions for a program with windows: the same models, tools and rules as on the command line.
//!
//! Start at `Workshop::open`, on a tokio runtime.

use agent::context::Trust;
use agent::engine::{self, Opened, Start};
use agent::record::Mode;
use agent::store::{SessionLine, Store};
use base::AbsPath;
use host::{Dirs, Files, RealFiles};
use model::ModelId;

use crate::ask;
use crate::crew::{self, Crew, Known, Wanted};
use crate::models::setup::{self, DEMO, KeyState, Setup};

/// The way to sessions.
pub struct Workshop {
    crew: Crew,
    dirs: Dirs,
    models: Vec<Model>,
    default: String,
    missing_keys: Vec<String>,
    problems: Vec<String>,
}

/// A model that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// As `provider/model`.
    pub id: String,
    /// Whether it runs on this machine.
    pub is_local: bool,
    /// Whether it is known to call tools; without, it is little use as an agent.
    pub has_tools: bool,
}

impl Workshop {
    /// Looks at models and keys, opens the ledger and starts a router. Takes up to a few seconds. `trust` says whose
    /// instructions may join prompts.
    pub async fn open(dirs: &Dirs, trust: Trust) -> Result<Self, String> {
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
        let mut lanes = setup.lanes();
        lanes.push(setup::demo()?);
        let known: Vec<Known> = lanes.iter().map(Known::of).collect();
        let (book, ledger, aside) = ask::open_books(dirs)?;
        problems.extend(aside);
        let router = ask::start(lanes, &setup.settings, book);
        let store = Store::start(ledger)?;
        let crew = Crew::new(crew::mind(router, &known), store, dirs, trust);
        let models = setup.models.iter().map(|found| Model {
            id: found.id.to_string(),
            is_local: found.is_local,
            has_tools: found.profile.tools == Some(true),
        });
        Ok(Self {
            crew,
            dirs: dirs.clone(),
            models: models.collect(),
            missing_keys: missing_keys(&setup),
            default: setup.settings.default,
            problems,
        })
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

    /// Variables of the environment of which each would bring models.
    pub fn missing_keys(&self) -> &[String] {
        &self.missing_keys
    }

    /// Starts a session in a folder, a real path without links. The demo model gets a copy of the sample project
    /// instead, unless the folder is one. Nothing is written down before its first prompt. Answers where it works.
    /// Takes a few seconds at most, as servers are waited for whose tools it gets.
    pub async fn start(
        &self,
        root: AbsPath,
        model: String,
        mode: Mode,
    ) -> Result<(Opened, AbsPath), String> {
        let is_sample = RealFiles.exists(&root.join("todo/dates.py"));
        let root = match model == DEMO && !is_sample {
            true => crate::run::sample(&RealFiles, &self.dirs)?,
            false => root,
        };
        let start = self.start_of(root.clone(), model, mode).await;
        Ok((engine::start(start), root))
    }

    /// Opens a session of before, in its own folder. Answers where it works.
    pub async fn resume(&self, id: &str) -> Result<(Opened, AbsPath), String> {
        let store = self.crew.store().clone();
        let name = id.to_owned();
        let lines = tokio::task::spawn_blocking(move || store.sessions(usize::MAX)).await;
        let lines = lines.map_err(|error| format!("the sessions could not be read: {error}"))??;
        let line = lines.into_iter().find(|line| line.id == name);
        let line = line.ok_or_else(|| format!("there is no session {id}"))?;
        let root = AbsPath::new(&line.root).ok_or_else(|| format!("{} is no folder", line.root))?;
        let start = self.start_of(root.clone(), line.model, line.mode).await;
        Ok((engine::resume(start, id).await?, root))
    }

    /// The records of a session. Blocks on the disk.
    pub fn records(&self, id: &str) -> Result<Vec<agent::Stored>, String> {
        self.crew.store().read(id).map(|past| past.records)
    }

    /// The latest sessions, at most `limit`. Blocks on the disk.
    pub fn sessions(&self, limit: usize) -> Result<Vec<SessionLine>, String> {
        self.crew.store().sessions(limit)
    }

    async fn start_of(&self, root: AbsPath, model: String, mode: Mode) -> Start {
        let wanted = Wanted {
            root,
            model,
            mode,
            allows_all: false,
            has_person: true,
            budget: None,
            hooks: None,
        };
        let (start, notices) = self.crew.start(wanted).await;
        notices.iter().for_each(|notice| log::warn!("{notice}"));
        start
    }
}

fn missing_keys(setup: &Setup) -> Vec<String> {
    let missing = setup.providers.iter().filter_map(|it| match &it.key {
        KeyState::Missing(variables) => variables.first().cloned(),
        _ => None,
    });
    missing.collect()
}
