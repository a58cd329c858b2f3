//! A client of the servers of a project, with the texts that it has open.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use base::{AbsPath, ByteOffset, Span};
use host::{Dirs, RealClock};
use language::{DocumentServer, RunningOptions, RunningServers};
use lsp::{
    CompletionTrigger, DiagnosticSeverity, FormatOptions, LanguageServer, LocationKind, Request,
    WorkspaceEdit, WorkspaceOperation,
};
use runtime::language_servers::{TrustSource, folder_servers};
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::super::{PATIENCE, World};

const FORMAT: FormatOptions = FormatOptions {
    tab_size: 4,
    inserts_spaces: true,
};

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
            fs::write(root.join(name).as_path(), text).expect("a file");
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
            let servers = self.servers.servers_of(&self.root.join(name));
            (!servers.is_empty()).then_some(())
        });
    }

    /// The text of a file, open or not.
    pub(super) fn text(&self, name: &str) -> String {
        match self.buffers.get(name) {
            Some(buffer) => buffer.snapshot().to_string(),
            None => fs::read_to_string(self.root.join(name).as_path()).expect("a file"),
        }
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

    /// Waits until `result` returns something.
    fn until<T>(&self, what: &str, mut result: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(result) = result() {
                return result;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "{what} did not come: {:?}",
                self.servers.statuses()
            );
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    fn servers_of(&self, name: &str) -> Vec<DocumentServer> {
        self.servers.servers_of(&self.root.join(name))
    }

    /// Asks the servers of a text in turn until `read` accepts an answer; again while they are loading.
    fn ask<T, R>(
        &self,
        name: &str,
        what: &str,
        question: impl Fn(&LanguageServer, &AbsPath) -> Option<Request<T>>,
        read: impl Fn(&LanguageServer, T) -> Option<R>,
    ) -> R {
        let path = self.root.join(name);
        self.until(what, || {
            let servers = self.servers_of(name).into_iter();
            servers.map(|server| server.connection).find_map(|server| {
                let answer = question(&server, &path)?.wait(PATIENCE);
                read(&server, answer.ok()?)
            })
        })
    }

    /// Completes the first `prefix` in a text with the item of this label, and makes the edits that belong to it.
    pub(super) fn complete(&mut self, name: &str, prefix: &str, label: &str) {
        let at = ByteOffset(self.find(name, prefix) + prefix.len());
        let item = self.ask(
            name,
            "the completion",
            |server, path| server.completion(path, at, CompletionTrigger::Invoked),
            |server, list| {
                let is_it = |item: &lsp::CompletionItem| {
                    let shown = item.label.trim_start_matches(['\u{2022}', ' ']);
                    shown == label || shown.starts_with(&format!("{label}("))
                };
                let item = list.items.into_iter().find(is_it)?;
                Some(match server.resolve_completion(&item) {
                    Some(request) => request.wait(PATIENCE).expect("the whole item"),
                    None => item,
                })
            },
        );
        let text = if item.insert.is_snippet {
            snippet_text(&item.insert.text)
        } else {
            item.insert.text.clone()
        };
        let word = Span::from(at.0 - prefix.len()..at.0);
        let mut edits = vec![Edit::new(item.insert.insert_span.unwrap_or(word), text)];
        edits.extend(
            item.additional_edits
                .iter()
                .map(|(span, text)| Edit::new(*span, text.clone())),
        );
        edits.sort_by_key(|edit| edit.span.start);
        self.edit(name, &edits);
    }

    /// The label of the signature behind the first `place`.
    pub(super) fn signature(&self, name: &str, place: &str) -> String {
        let at = ByteOffset(self.find(name, place) + place.len());
        self.ask(
            name,
            "the signature",
            |server, path| server.signature_help(path, at, None, false),
            |_, help| {
                let help = help?;
                Some(help.signatures[help.active_signature].label.clone())
            },
        )
    }

    /// The hover text at the first `place`.
    pub(super) fn hover(&self, name: &str, place: &str) -> String {
        let at = ByteOffset(self.find(name, place));
        self.ask(
            name,
            "the hover text",
            |server, path| server.hover(path, at),
            |_, hover| Some(hover?.text.value),
        )
    }

    /// The names of the files with locations related to the first `place`, sorted.
    pub(super) fn locations(&self, kind: LocationKind, name: &str, place: &str) -> Vec<String> {
        let at = ByteOffset(self.find(name, place));
        let mut names = self.ask(
            name,
            "the locations",
            |server, path| server.locations(kind, path, at),
            |_, found| {
                let names = found.iter();
                let names: Vec<String> = names
                    .map(|it| it.path.file_name().to_string_lossy().into_owned())
                    .collect();
                (!names.is_empty()).then_some(names)
            },
        );
        names.sort();
        names
    }

    /// Renames the symbol at the first `place`.
    pub(super) fn rename(&mut self, name: &str, place: &str, new: &str) {
        let at = ByteOffset(self.find(name, place));
        let edit = self.ask(
            name,
            "the rename",
            |server, path| server.rename(path, at, new),
            |_, edit| (!edit.operations.is_empty()).then_some(edit),
        );
        self.apply(edit);
    }

    /// Applies the first fix at the first `place` whose title contains `title`.
    pub(super) fn fix(&mut self, name: &str, place: &str, title: &str) {
        let at = self.find(name, place);
        self.act(name, Span::from(at..at + place.len()), &[], |action| {
            action
                .kind
                .as_deref()
                .is_some_and(|kind| kind.starts_with("quickfix"))
                && action.title.contains(title)
        });
    }

    /// Applies the first action of a kind for a whole text.
    pub(super) fn source_action(&mut self, name: &str, kind: &str) {
        let span = self.snapshot(name).full_span();
        self.act(name, span, &[kind], |action| {
            action
                .kind
                .as_deref()
                .is_some_and(|it| it.starts_with(kind))
        });
    }

    fn act(
        &mut self,
        name: &str,
        span: Span,
        only: &[&str],
        is_wanted: impl Fn(&lsp::CodeAction) -> bool,
    ) {
        let edit = self.ask(
            name,
            "the action",
            |server, path| server.code_actions(path, span, only),
            |server, actions| {
                let action = actions.into_iter().find(&is_wanted)?;
                let resolved = match server.resolve_code_action(&action) {
                    Some(request) if action.needs_resolve() => request.wait(PATIENCE).ok()?,
                    _ => action,
                };
                resolved.edit
            },
        );
        self.apply(edit);
    }

    /// Formats a text.
    pub(super) fn format(&mut self, name: &str) {
        let found = self.ask(
            name,
            "the formatting",
            |server, path| server.format(path, FORMAT),
            |_, found| Some(found),
        );
        let edits: Vec<Edit> = found
            .edits
            .into_iter()
            .map(|(span, text)| Edit::new(span, text))
            .collect();
        self.edit(name, &edits);
    }

    fn snapshot(&self, name: &str) -> Snapshot {
        self.buffers[name].snapshot()
    }

    fn apply(&mut self, edit: WorkspaceEdit) {
        for operation in edit.operations {
            let WorkspaceOperation::Edit(edit) = operation else {
                panic!("an operation on files");
            };
            let name = edit.path.file_name().to_string_lossy().into_owned();
            let text = Snapshot::new(&self.text(&name));
            let edits = edit.spans(&text).expect("edits").edits.into_iter();
            let edits: Vec<Edit> = edits.map(|(span, new)| Edit::new(span, new)).collect();
            if self.buffers.contains_key(&name) {
                self.edit(&name, &edits);
                continue;
            }
            let mut buffer = Buffer::from_snapshot(text);
            buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            fs::write(edit.path.as_path(), buffer.snapshot().to_string()).expect("written");
        }
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
        drop(servers);
        super::super::wait_until("the end of all servers", || {
            world.server_processes().is_empty()
        });
    }
}

/// The text of a snippet without its tab stops, as far as the stories need it.
fn snippet_text(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some(start) = rest.find("${") {
        text.push_str(&rest[..start]);
        let body = &rest[start + 2..];
        let end = body.find('}').expect("the end of a tab stop");
        let inside = body[..end]
            .split_once(':')
            .map_or("", |(_, default)| default);
        text.push_str(inside);
        rest = &body[end + 1..];
    }
    text.push_str(rest);
    for number in 0..10 {
        text = text.replace(&format!("${number}"), "");
    }
    text
}
