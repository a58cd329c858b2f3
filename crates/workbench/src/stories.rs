//! Whole windows under gpui's scheduler over files in memory: keys are pressed, state is read.

mod a11y;
mod agent_access;
mod agent_prompt;
mod agent_terminals;
mod agents;
mod annotations;
mod automations;
mod board;
mod compaction;
mod comparisons;
mod completions;
mod conflicts;
mod context;
mod documents;
mod dragging;
mod editor_terminals;
mod everything;
mod external_agents;
mod finding;
mod formatting;
mod git_changes;
mod help;
mod here;
mod history;
mod inline_edit;
mod key_cost;
mod keyboard;
mod lifecycle;
mod machines;
mod menus;
mod model_choice;
mod odd_names;
mod palette;
mod panes;
mod peek;
mod plan;
mod previews;
mod problems;
mod prompt_sources;
mod quality;
mod refactoring;
mod restoring;
mod running_sessions;
mod searching;
mod served;
mod session_list;
mod session_settings;
mod settings_files;
mod snippets;
mod spending;
mod starting_sessions;
mod steering;
mod suggestions;
mod symbols;
mod tasks;
mod terminals;
mod test_runs;
mod tree;
mod typing;
mod updates;
mod vim_keys;
mod window;

use std::sync::Arc;

use base::{AbsPath, Platform};
use gpui_kit::{AnyWindowHandle, App, Entity, TestAppContext, VisualTestContext};
use host::{Dirs, FakeClock, FakeFiles};
use project::WalkBackend;

use crate::layout::{PaneNode, TabList};
use crate::windows::{self, OpenRequest};
use crate::{Services, TabItem, Workbench};

/// A window over files in memory.
struct Story {
    files: FakeFiles,
    workbench: Entity<Workbench>,
    cx: VisualTestContext,
}

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn services(files: &FakeFiles) -> Services {
    Services {
        files: Arc::new(files.clone()),
        clock: Arc::new(FakeClock::at(1_700_000_000_000)),
        dirs: Dirs::under(&path("/burin")),
        ground: WalkBackend::Listed(Arc::new(files.clone())),
        home: Some(path("/home/me")),
        agents: None,
        machine_agents: None,
        index: None,
        language_servers: None,
        tab: None,
        rewrite: None,
        terminals: None,
        history: None,
        tests: None,
        git: None,
        task_trust: None,
        unsaved: Arc::default(),
        install: None,
        facts: None,
        program: None,
        working_folder: path("/p"),
    }
}

/// A small project.
fn project() -> FakeFiles {
    let files = FakeFiles::new();
    for (name, text) in [
        ("/p/README.md", "# Title\n\nSome words about old things.\n"),
        (
            "/p/src/main.rs",
            "fn main() {\n    old();\n}\n\nfn old() {}\n",
        ),
        (
            "/p/src/lib.rs",
            "pub fn one() {}\npub fn two() {}\npub fn three() {}\npub fn four() {}\npub fn five() {}\n",
        ),
        ("/p/src/deep/leaf.rs", "// old leaf\n"),
        ("/p/.gitignore", "target\n"),
        ("/p/target/out.txt", "old\n"),
        ("/home/me/notes.txt", "notes\n"),
    ] {
        files.write(&path(name), text);
    }
    files
}

/// Starts the program as `app` does.
fn start(files: &FakeFiles, request: OpenRequest, cx: &mut TestAppContext) -> Vec<Story> {
    start_with(services(files), files, request, cx)
}

fn start_with(
    services: Services,
    files: &FakeFiles,
    request: OpenRequest,
    cx: &mut TestAppContext,
) -> Vec<Story> {
    start_on(Platform::Linux, services, files, request, cx)
}

/// Starts the program as it behaves on a platform.
fn start_on(
    platform: Platform,
    services: Services,
    files: &FakeFiles,
    request: OpenRequest,
    cx: &mut TestAppContext,
) -> Vec<Story> {
    cx.update(|cx| {
        gpui_kit::init(cx);
        // The system shows no notification of a program without a name.
        cx.set_app_identity("dev.burin.Burin", "Burin");
        ui::init(platform, cx);
        services.set(cx);
        // The journal runs on a real thread, whose events must not wake this scheduler.
        let started = crate::init(cx);
        windows::start(request, started.problems, cx);
    });
    cx.run_until_parked();
    let open: Vec<(AnyWindowHandle, Entity<Workbench>)> = cx.update(|cx| windows::all(cx));
    open.into_iter()
        .map(|(window, workbench)| {
            let mut cx = VisualTestContext::from_window(window, cx);
            cx.update(|window, _| window.activate_window());
            cx.run_until_parked();
            Story {
                files: files.clone(),
                workbench,
                cx,
            }
        })
        .collect()
}

/// A window with the small project.
fn open(cx: &mut TestAppContext) -> Story {
    open_with(project(), cx)
}

fn open_with(files: FakeFiles, cx: &mut TestAppContext) -> Story {
    open_on(Platform::Linux, files, cx)
}

/// A window with a project, as the program behaves on a platform.
fn open_on(platform: Platform, files: FakeFiles, cx: &mut TestAppContext) -> Story {
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_on(platform, services(&files), &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    story
}

impl Story {
    /// Lets everything that waits for time or for other work happen.
    fn settle(&mut self) -> &mut Self {
        for _ in 0..4 {
            self.cx.run_until_parked();
            self.cx
                .executor()
                .advance_clock(std::time::Duration::from_millis(600));
        }
        self.cx.run_until_parked();
        self
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        self.cx.simulate_keystrokes(keys);
        self.cx.run_until_parked();
        self
    }

    fn input(&mut self, text: &str) -> &mut Self {
        self.cx.simulate_input(text);
        self.settle();
        self
    }

    /// Types, and lets no time go by.
    fn at_once(&mut self, text: &str) -> &mut Self {
        self.cx.simulate_input(text);
        self.cx.run_until_parked();
        self
    }

    fn act(&mut self, action: impl gpui_kit::Action) -> &mut Self {
        self.cx.dispatch_action(action);
        self.settle();
        self
    }

    fn read<R>(&mut self, read: impl FnOnce(&Workbench, &App) -> R) -> R {
        let workbench = self.workbench.clone();
        self.cx.update(|_, cx| read(workbench.read(cx), cx))
    }

    /// Opens a file by the finder.
    fn open_file(&mut self, name: &str) -> &mut Self {
        self.open_file_with("ctrl-p", name)
    }

    /// Opens a file by the finder, which `keys` show.
    fn open_file_with(&mut self, keys: &str, name: &str) -> &mut Self {
        self.keys(keys).input(name).keys("enter");
        self.settle();
        self
    }

    /// The panes with the titles of their tabs: `main.rs* | (lib.rs)`, the active tab in brackets.
    fn tabs(&mut self) -> String {
        self.read(|workbench, cx| show(workbench, workbench.layout().tree().root(), cx))
    }

    /// The text that shows in the active pane.
    fn text(&mut self) -> String {
        self.read(|workbench, cx| {
            let editor = workbench.active_item().and_then(TabItem::editor);
            editor
                .map(|editor| editor.read(cx).model().read(cx).snapshot().to_string())
                .unwrap_or_default()
        })
    }

    fn on_disk(&self, name: &str) -> String {
        let content = self.files.content(&path(name));
        content
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The text of every report, the newest first.
    fn reports(&mut self) -> Vec<String> {
        self.read(|workbench, cx| {
            workbench
                .notices()
                .read(cx)
                .iter()
                .map(|notice| notice.text.to_string())
                .collect()
        })
    }

    /// Whether a picker or a question is shown.
    fn is_asking(&mut self) -> bool {
        self.read(|workbench, cx| workbench.modal().read(cx).is_open())
    }
}

fn show(workbench: &Workbench, node: &PaneNode, cx: &App) -> String {
    match node {
        PaneNode::Pane(pane) => {
            let tabs = workbench.layout().tabs(*pane);
            let active = tabs.and_then(TabList::active);
            let tabs = tabs.map(TabList::tabs).unwrap_or_default();
            let shown: Vec<String> = tabs
                .iter()
                .map(|tab| {
                    let item = workbench.item(tab.item);
                    let mut title = item
                        .map(|item: &TabItem| item.title(cx).to_string())
                        .unwrap_or_default();
                    if item.is_some_and(|item| item.is_dirty(cx)) {
                        title.push('*');
                    }
                    if tab.pinned {
                        title.push('!');
                    }
                    if tab.preview {
                        title = format!("({title})");
                    }
                    if active == Some(tab.item) {
                        format!("[{title}]")
                    } else {
                        title
                    }
                })
                .collect();
            shown.join(" ")
        }
        PaneNode::Split(split) => {
            let parts: Vec<String> = split
                .children
                .iter()
                .map(|child| show(workbench, child, cx))
                .collect();
            let bar = match split.axis {
                crate::layout::Axis::Row => " | ",
                crate::layout::Axis::Column => " / ",
            };
            parts.join(bar)
        }
    }
}
