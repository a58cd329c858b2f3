//! A client of the servers of a project, with the texts that it has open. Names of files are paths below the project.
//!
//! Start at `Client::open`; requests are in `requests`, edits that servers return in `edits`.

mod edits;
mod requests;

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use base::{AbsPath, Span};
use host::{Dirs, RealClock};
use language::{DocumentServer, RunningOptions, RunningServers};
use lsp::{DiagnosticSeverity, FileChangeType, FileEvent};
use runtime::language_servers::{TrustSource, folder_servers};
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::super::{PATIENCE, World, wait_until};

/// The window's part of a story.
pub(super) struct Client {
    world: World,
    root: AbsPath,
    servers: RunningServers,
    /// The open texts, by name.
    buffers: BTreeMap<String, Buffer>,
}

impl Client {
    /// Writes the files of a project and prepares its servers.
    pub(super) fn open(world: World, files: &[(&str, &str)]) -> Self {
        let home = AbsPath::new(world.path(".").canonicalize().expect("real")).expect("absolute");
        let root = home.join("p");
        for (name, text) in files {
            let path = root.join(name);
            let folder = path.parent().expect("a folder");
            fs::create_dir_all(folder.as_path()).expect("a folder");
            fs::write(path.as_path(), text).expect("a file");
        }
        let dirs = Dirs::under(&home);
        let (logs, folder) = (dirs.server_logs(), root.clone());
        let (servers, _changed) = RunningServers::start(RunningOptions {
            open: Box::new(move || folder_servers(&dirs, &folder, TrustSource::Command).0),
            logs,
            clock: std::sync::Arc::new(RealClock::default()),
        });
        Self {
            world,
            root,
            servers,
            buffers: BTreeMap::new(),
        }
    }

    /// Opens a file.
    pub(super) fn show(&mut self, name: &str) {
        let buffer = Buffer::new(&self.text(name));
        self.servers
            .open_document(&self.root.join(name), &buffer.snapshot());
        self.buffers.insert(name.to_owned(), buffer);
        self.until("a server", || {
            (!self.servers_of(name).is_empty()).then_some(())
        });
    }

    /// Writes an open text to its file.
    pub(super) fn save(&self, name: &str) {
        self.write(name, &self.text(name));
        self.servers.save_document(&self.root.join(name));
    }

    /// The text of a file, open or not.
    pub(super) fn text(&self, name: &str) -> String {
        match self.buffers.get(name) {
            Some(buffer) => buffer.snapshot().to_string(),
            None => fs::read_to_string(self.root.join(name).as_path()).expect("a file"),
        }
    }

    /// Replaces the first `old` in an open text.
    pub(super) fn replace(&mut self, name: &str, old: &str, new: &str) {
        let start = self.find(name, old);
        self.edit(
            name,
            &[Edit::new(Span::from(start..start + old.len()), new)],
        );
    }

    /// Types `new` behind the first `place` in an open text.
    pub(super) fn insert_after(&mut self, name: &str, place: &str, new: &str) {
        let at = self.find(name, place) + place.len();
        self.edit(name, &[Edit::new(Span::from(at..at), new)]);
    }

    /// Waits for a diagnostic whose message begins with `message`.
    pub(super) fn wait_for_diagnostic(&self, name: &str, message: &str) {
        self.until(message, || {
            let messages = self.messages(name)?;
            messages
                .iter()
                .any(|it| it.starts_with(message))
                .then_some(())
        });
    }

    /// Waits until the errors and warnings of a text are these.
    pub(super) fn wait_for_diagnostics(&self, name: &str, expected: &[&str]) {
        self.until("the diagnostics", || {
            (self.messages(name)? == expected).then_some(())
        });
    }

    /// Ends all servers and checks that no process is left.
    pub(super) fn end(self) {
        let Self { world, servers, .. } = self;
        assert!(
            !world.server_processes().is_empty(),
            "processes of servers are found"
        );
        drop(servers);
        wait_until("the end of all servers", || {
            world.server_processes().is_empty()
        });
    }

    /// The errors and warnings of a text; `None` until every server has reported about its latest state.
    fn messages(&self, name: &str) -> Option<Vec<String>> {
        let reports = self.servers.diagnostics(&self.root.join(name));
        let is_current = |report: &lsp::DocumentDiagnostics| {
            report.is_current && report.text.revision() == self.snapshot(name).revision()
        };
        if reports.is_empty() || !reports.iter().all(|(_, report)| is_current(report)) {
            return None;
        }
        let items = reports.into_iter().flat_map(|(_, report)| report.items);
        let serious = items.filter(|item| item.severity <= DiagnosticSeverity::Warning);
        Some(serious.map(|item| item.message).collect())
    }

    /// The diagnostics of all open texts, for messages of failures.
    fn diagnostics(&self) -> Vec<(String, lsp::DocumentDiagnostics)> {
        let names = self.buffers.keys();
        let reports = names.map(|name| self.servers.diagnostics(&self.root.join(name)));
        reports.flatten().collect()
    }

    fn servers_of(&self, name: &str) -> Vec<DocumentServer> {
        self.servers.servers_of(&self.root.join(name))
    }

    fn snapshot(&self, name: &str) -> Snapshot {
        self.buffers[name].snapshot()
    }

    /// The path of a file below the project; the whole path of one outside.
    fn name_of(&self, path: &AbsPath) -> String {
        let path = path.relative_to(&self.root).unwrap_or(path.as_path());
        path.to_string_lossy().into_owned()
    }

    /// The offset of the first `text` in a file.
    fn find(&self, name: &str, text: &str) -> usize {
        let whole = self.text(name);
        whole
            .find(text)
            .unwrap_or_else(|| panic!("no {text:?} in {whole:?}"))
    }

    fn edit(&mut self, name: &str, edits: &[Edit]) {
        let path = self.root.join(name);
        let buffer = self.buffers.get_mut(name).expect("an open text");
        let change = buffer.edit(edits, &EditOrigin::user(Timestamp(0)));
        self.servers
            .change_document(&path, &change, &buffer.snapshot());
    }

    /// Writes a file and tells the servers that watch it.
    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::write(path.as_path(), text).expect("written");
        let change = FileChangeType::Changed;
        self.servers.files_changed(&[FileEvent { path, change }]);
    }

    /// Waits until `result` returns something.
    pub(super) fn until<T>(&self, what: &str, mut result: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(result) = result() {
                return result;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{what} did not come: {:?}, {:?}",
                self.servers.statuses(),
                self.diagnostics()
            );
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}
