//! Windows with language servers: real processes and connections, whose answers a story writes.
//!
//! The scheduler is the one of the other stories; only the answers come from other threads.
//! Start at `ServedFolder`.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::{AbsPath, Platform};
use gpui_kit::TestAppContext;
use host::{Clock as _, FakeFiles, Files as _, RealClock, RealFiles, TempFolder};
use language::{FolderServers, InstalledServers, RunningOptions, ServerState, ServerStatus};
use serde_json::{Map, Value, json};
use settings::SettingsSource;

use super::{Story, path, services, start_on};
use crate::windows::OpenRequest;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/data/answering-server.sh"
);
const SETTINGS: &str = "/burin/config/settings.json";
/// A time that only a failing story reaches.
const WAIT: Duration = Duration::from_secs(60);
/// Time after which a condition is evaluated again without an event. Long, because each evaluation
/// advances the window's clock.
const RECHECK: Duration = Duration::from_secs(2);
/// Maximum length of the messages that a server received, in bytes.
const MAX_RECEIVED: u64 = 16 << 20;

/// A project in memory whose style sheets have scripted servers.
pub(super) struct ServedFolder {
    /// Holds an empty folder, in which the servers run, and a folder for each server.
    temporary: TempFolder,
    files: FakeFiles,
    servers: Vec<&'static str>,
}

/// A window with a served folder.
pub(super) struct ServedStory {
    pub(super) story: Story,
    folder: ServedFolder,
}

impl ServedFolder {
    /// Creates a folder with the servers of these ids.
    pub(super) fn new(servers: &[&'static str]) -> Self {
        let temporary = TempFolder::new().expect("a folder");
        let names = servers.iter().chain(["p"].iter());
        for name in names {
            let folder = temporary.path().join(name);
            RealFiles.create_folder(&folder).expect("a folder");
        }
        Self {
            temporary,
            files: FakeFiles::new(),
            servers: servers.to_vec(),
        }
    }

    fn root(&self) -> AbsPath {
        self.temporary.path().join("p")
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, name: &str, text: &str) {
        self.files.write(&self.root().join(name), text);
    }

    /// Writes the user's settings.
    pub(super) fn configure(&self, settings: &Value) {
        self.files.write(&path(SETTINGS), settings.to_string());
    }

    /// Returns the address of a file of the project.
    pub(super) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.root().join(name))
    }

    /// Lets a server start with these capabilities; it waits for them.
    pub(super) fn start(&self, server: &str, capabilities: &Value) {
        let mut all = json!({ "textDocumentSync": 2 });
        let members = capabilities.as_object().expect("an object");
        members
            .iter()
            .for_each(|(name, value)| all[name] = value.clone());
        self.answer(server, "initialize", &json!({ "capabilities": all }));
    }

    /// Makes a server answer the next requests with a result.
    pub(super) fn answer(&self, server: &str, method: &str, result: &Value) {
        let file = self.folder_of(server).join(method.replace('/', "."));
        let text = result.to_string();
        RealFiles
            .write_private(&file, text.as_bytes())
            .expect("written");
    }

    fn folder_of(&self, server: &str) -> AbsPath {
        self.temporary.path().join(server)
    }

    /// Returns the parameters of the messages with a method that a server received.
    fn received(&self, server: &str, method: &str) -> Vec<Value> {
        let file = self.folder_of(server).join("received");
        let bytes = RealFiles.read(&file, MAX_RECEIVED).unwrap_or_default();
        let text = String::from_utf8(bytes).expect("text");
        let messages = text.lines().map(|line| {
            let message: Value = serde_json::from_str(line).expect("JSON");
            message
        });
        messages
            .filter(|message| message["method"] == method)
            .map(|message| message["params"].clone())
            .collect()
    }

    fn options(&self) -> RunningOptions {
        let servers = self.servers.iter().map(|id| {
            let server = json!({
                "command": SCRIPT,
                "args": [self.folder_of(id).to_string()],
                "languages": ["CSS"],
            });
            ((*id).to_owned(), server)
        });
        let servers: Map<String, Value> = servers.collect();
        let settings = json!({
            "lsp": { "servers": servers, "load_environment": false },
            "languages": { "CSS": { "language_servers": self.servers } },
        });
        let text = settings.to_string();
        let (settings, problems) =
            settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        assert_eq!(problems, []);
        let (root, installed) = (
            self.root(),
            InstalledServers::new(self.temporary.path().join("servers")),
        );
        RunningOptions {
            open: Box::new(move || {
                FolderServers::open(Arc::new(RealFiles), root, settings, installed, true)
            }),
            logs: self.temporary.path().join("logs"),
            clock: Arc::new(RealClock::default()),
        }
    }

    /// Opens the project in a window, and a file in a tab.
    pub(super) fn open(self, name: &str, cx: &mut TestAppContext) -> ServedStory {
        // From here on the threads of the connections may wake tasks.
        cx.executor().allow_parking();
        cx.executor().forbid_parking();
        let options = std::sync::Mutex::new(Some(self.options()));
        let mut services = services(&self.files);
        services.language_servers = Some(Arc::new(move |_: &AbsPath| {
            let mut options = options.lock().expect("one thread");
            options.take().expect("the servers start once")
        }));
        let request = OpenRequest {
            folders: vec![self.root()],
            files: Vec::new(),
        };
        let mut stories = start_on(Platform::Linux, services, &self.files, request, cx);
        let mut story = stories.pop().expect("a window");
        story.settle();
        story.open_file(name);
        ServedStory {
            story,
            folder: self,
        }
    }
}

impl ServedStory {
    /// Returns the folder.
    pub(super) fn folder(&self) -> &ServedFolder {
        &self.folder
    }

    /// Returns the parameters of the messages with a method that a server received.
    pub(super) fn received(&self, server: &str, method: &str) -> Vec<Value> {
        self.folder.received(server, method)
    }

    /// Waits until a number of servers are initialized.
    pub(super) fn until_running(&mut self, count: usize) {
        self.until("running servers", |story| {
            story.read(|workbench, cx| {
                let servers = workbench.language_servers(cx).expect("a folder");
                let statuses = servers.read(cx).statuses().into_iter();
                let is_running =
                    |it: &ServerStatus| matches!(it.state, ServerState::Running { .. });
                statuses.filter(is_running).count() == count
            })
        });
    }

    /// Waits until a server has received a number of messages with a method, which it answers.
    pub(super) fn until_received(&mut self, server: &str, method: &str, count: usize) {
        self.wait(method, |served| {
            served.received(server, method).len() >= count
        });
    }

    /// Waits until an answer has made a condition true.
    pub(super) fn until(&mut self, expected: &str, is_met: impl Fn(&mut Story) -> bool) {
        self.wait(expected, |served| is_met(&mut served.story));
    }

    /// Waits as `until` does. The thread sleeps until a connection wakes a task, or for `RECHECK`: a
    /// condition that acts on the window may itself have taken in the answer that it waits for.
    fn wait(&mut self, expected: &str, is_met: impl Fn(&mut Self) -> bool) {
        let clock = RealClock::default();
        loop {
            self.story.settle();
            if is_met(self) {
                return;
            }
            assert!(clock.elapsed() < WAIT, "no {expected}");
            if !self.story.cx.executor().tick() {
                thread::park_timeout(RECHECK);
            }
        }
    }
}
