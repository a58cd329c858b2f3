//! A whole window over a project on the disk: file tree, tabs, the board of agents at work, and an index at work.

use std::sync::Arc;
use std::time::Duration;

use autocomplete::Suggestion;
use base::AbsPath;
use composer_panel::agents::FakeAgents;
use editor::Editor;
use git_history::OpenHistory;
use gpui_kit::{Action, App, Entity, Focusable as _, Keystroke};
use host::{Dirs, FakeClock, RealFiles};
use project::WalkBackend;
use workbench::services::{OpenGit, OpenLanguageServers, OpenTerminals};
use workbench::target::LineColumn;
use workbench::{CodeIndex, Services, TabItem, TabModels, Workbench, windows};

use crate::agents::Agents;
use crate::index_beside::IndexBeside;
use crate::known_model::Knowing;
use crate::project_folder::{EditedFile, Project};
use crate::stage::{Pace, Stage, context};

/// Numbers of clock steps after which an agent begins another activity, and after which the index reports progress.
const AGENT_TICKS: u32 = 2;
const INDEX_TICKS: u32 = 10;

/// Models that suggest in addition to the local tier.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Models {
    /// No model at all.
    None,
    /// A model that knows the text to be typed.
    Known,
}

/// Whether anything is suggested.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tab {
    On,
    Off,
}

/// Whether the agents and the index of a window work.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Surroundings {
    Working,
    Idle,
}

/// Services that only some windows have.
#[derive(Default)]
pub(crate) struct MoreServices {
    pub(crate) servers: Option<OpenLanguageServers>,
    pub(crate) terminals: Option<OpenTerminals>,
    pub(crate) git: Option<OpenGit>,
    pub(crate) history: Option<OpenHistory>,
}

/// A window.
pub(crate) struct World {
    pub(crate) stage: Stage,
    workbench: Entity<Workbench>,
    pub(crate) model: Option<Arc<Knowing>>,
    agents: Agents,
    index: Arc<IndexBeside>,
    pub(crate) surroundings: Surroundings,
    project: Project,
}

impl World {
    /// Opens a window with the edited file in its active tab, and without services that only some windows have.
    pub(crate) fn open(models: Models, tab: Tab, file: &EditedFile<'_>) -> Self {
        Self::open_with(models, tab, MoreServices::default(), file)
    }

    /// Opens a window with the edited file in its active tab.
    pub(crate) fn open_with(
        models: Models,
        tab: Tab,
        more: MoreServices,
        file: &EditedFile<'_>,
    ) -> Self {
        let project = Project::new(file);
        let dirs = Dirs::under(&project.own);
        if tab == Tab::Off {
            std::fs::create_dir_all(dirs.config.as_path()).expect("a folder");
            let settings = dirs.config.join("settings.json");
            std::fs::write(settings.as_path(), r#"{ "tab": { "show": "off" } }"#).expect("a file");
        }
        let clock = Arc::new(FakeClock::at(1_700_000_000_000));
        let model = (models == Models::Known).then(Arc::<Knowing>::default);
        let agents = Agents::new();
        let index = IndexBeside::open(project.root.clone(), &dirs.cache);
        let for_window = index.clone();
        let services = Services {
            files: Arc::new(RealFiles),
            clock: clock.clone(),
            dirs,
            ground: WalkBackend::Disk,
            home: None,
            agents: Some(agents.service()),
            machine_agents: None,
            language_servers: more.servers,
            index: Some(Arc::new(move |_| for_window.clone() as Arc<dyn CodeIndex>)),
            tab: model.clone().map(|model| model as Arc<dyn TabModels>),
            rewrite: None,
            terminals: more.terminals,
            history: more.history,
            tests: None,
            git: more.git,
            task_trust: None,
            unsaved: Arc::default(),
            install: None,
            facts: None,
            program: None,
            working_folder: project.root.clone(),
        };
        let mut cx = context();
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            services.set(cx);
            let started = workbench::init(cx);
            let request = windows::OpenRequest {
                folders: vec![project.root.clone()],
                files: project.others.iter().map(|it| (it.clone(), None)).collect(),
            };
            windows::start(request, started.problems, cx);
        });
        cx.run_until_parked();
        let open = cx.update(|cx| windows::all(cx));
        let (window, workbench) = open.into_iter().next().expect("a window");
        let mut world = Self {
            stage: Stage { cx, window, clock },
            workbench,
            model,
            agents,
            index,
            surroundings: Surroundings::Working,
            project,
        };
        world.enter(file);
        world
    }

    /// Shows the board and the edited file, and focuses the text.
    fn enter(&mut self, file: &EditedFile<'_>) {
        let edited = self.edited();
        let window = self.stage.window;
        let shown = self.stage.cx.update_window(window, |_, window, cx| {
            window.activate_window();
            window.dispatch_action(Box::new(composer_panel::actions::ShowBoard), cx);
        });
        shown.expect("the window is open");
        self.stage.cx.run_until_parked();
        self.show(edited.clone(), file.place);
        let editor = self.editor();
        let workbench = self.workbench.clone();
        self.stage.cx.update(|cx| {
            let workbench = workbench.read(cx);
            let board = workbench.agents().read(cx).board();
            let agents = board.map_or(0, |board| board.jobs.len());
            assert_eq!(agents, 8, "the board shows the agents");
            let item = workbench.active_item().and_then(|item| item.path(cx));
            assert_eq!(item, Some(edited), "the edited file is in front");
            let marks = editor.read(cx).model().read(cx).hunks().len();
            assert!(marks > 0, "Git marks are there");
        });
    }

    /// Shows a text in the active tab and focuses it.
    pub(crate) fn show(&mut self, path: AbsPath, place: LineColumn) {
        self.stage.cx.update(|cx| {
            let request = windows::OpenRequest {
                folders: Vec::new(),
                files: vec![(path, Some(place))],
            };
            windows::open_request(request, cx);
        });
        // The watcher has a thread of its own.
        self.pass(Duration::from_millis(500), Pace::Real);
        self.focus_text();
        self.pass(Duration::from_secs(2), Pace::Free);
    }

    /// The edited file.
    pub(crate) fn edited(&self) -> AbsPath {
        self.project.edited.clone()
    }

    /// The engine of the agents.
    pub(crate) fn engine(&self) -> FakeAgents {
        self.agents.engine().clone()
    }

    /// The folder of the window.
    pub(crate) fn root(&self) -> AbsPath {
        self.project.root.clone()
    }

    /// Carries out an action in the window.
    pub(crate) fn act(&mut self, action: impl Action) {
        let action = Box::new(action);
        let window = self.stage.window;
        let done = self.stage.cx.update_window(window, |_, window, cx| {
            window.dispatch_action(action, cx);
        });
        done.expect("the window is open");
    }

    /// Moves the keyboard focus to the text.
    pub(crate) fn focus_text(&mut self) {
        let editor = self.editor();
        let window = self.stage.window;
        let focused = self.stage.cx.update_window(window, |_, window, cx| {
            let focus = editor.read(cx).focus_handle(cx);
            window.focus(&focus, cx);
        });
        focused.expect("the window is open");
    }

    /// Returns the number of rows of the transcript that the panel shows; `None` if it shows none.
    pub(crate) fn transcript_rows(&mut self) -> Option<usize> {
        let workbench = self.workbench.clone();
        self.stage.cx.update(|cx| {
            let panel = workbench.read(cx).agents().read(cx);
            panel.transcript().map(|it| it.items().len())
        })
    }

    /// Returns the view of the active tab.
    pub(crate) fn editor(&mut self) -> Entity<Editor> {
        let workbench = self.workbench.clone();
        let editor = self.stage.cx.update(|cx| {
            let item = workbench.read(cx).active_item().and_then(TabItem::editor);
            item.cloned()
        });
        editor.expect("a text is in front")
    }

    /// Presses a key; returns this thread's CPU milliseconds up to the end of the frame.
    pub(crate) fn press(&mut self, keystroke: Keystroke) -> f64 {
        self.stage.press(keystroke)
    }

    /// Advances the clock, with agents and index at work.
    pub(crate) fn pass(&mut self, time: Duration, pace: Pace) {
        let (agents, index) = (&mut self.agents, &self.index);
        let works = self.surroundings == Surroundings::Working;
        self.stage.pass(time, pace, |tick| {
            if works && tick.is_multiple_of(AGENT_TICKS) {
                agents.go_on();
            }
            if works && tick.is_multiple_of(INDEX_TICKS) {
                index.go_on();
            }
        });
    }

    /// Waits until the index has followed the text.
    pub(crate) fn settle_index(&self) {
        self.index.settle();
    }

    /// Returns the suggestion in the last frame, if that frame shows the current text.
    pub(crate) fn painted(&mut self) -> Option<Suggestion> {
        self.read(|editor, cx| {
            let revision = editor.model().read(cx).snapshot().revision();
            let suggestion = editor.suggestion()?;
            let is_painted = editor.last_painted() == Some((suggestion.id, revision));
            (is_painted && editor.shows_suggestion()).then(|| suggestion.clone())
        })
    }

    /// Returns the number of requests to the model.
    pub(crate) fn asked(&self) -> usize {
        self.model.as_ref().map_or(0, |model| model.asked())
    }

    pub(crate) fn text(&mut self) -> String {
        self.read(|editor, cx| editor.model().read(cx).snapshot().to_string())
    }

    fn read<R>(&mut self, read: impl FnOnce(&Editor, &App) -> R) -> R {
        let editor = self.editor();
        self.stage.cx.update(|cx| read(editor.read(cx), cx))
    }
}
