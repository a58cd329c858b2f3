//! The tests of open texts: read at rest, with marks in the gutter.
//!
//! Invariant: a key costs nothing here; a text is read in the background when typing rests.

use std::collections::BTreeSet;

use base::{AbsPath, Revision};
use editor::{DocumentModel, GutterIcon, GutterMark, ModelEvent};
use gpui_kit::{AppContext as _, Context, Entity, EntityId, Subscription, Task, WeakEntity};
use test_runner::{FileTests, TestItem, TestKind, TestStatus, discover, may_have_tests};

use super::session::WindowTests;

/// An open text whose tests are known.
pub(crate) struct WatchedTestDocument {
    model: WeakEntity<DocumentModel>,
    /// The revision whose tests are known.
    pub(super) revision: Option<Revision>,
    _reading: Option<Task<()>>,
    _subscriptions: [Subscription; 2],
}

impl WatchedTestDocument {
    /// Returns the model, if it is still open.
    pub(super) fn model(&self) -> Option<Entity<DocumentModel>> {
        self.model.upgrade()
    }
}

impl WindowTests {
    /// Follows an open text, unless it is followed already.
    pub(crate) fn watch(&mut self, model: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        let id = model.entity_id();
        if self.documents.contains_key(&id) {
            return;
        }
        let subscriptions = [
            cx.subscribe(model, Self::document_event),
            cx.observe_release(model, move |this, _, _| {
                this.documents.remove(&id);
            }),
        ];
        let document = WatchedTestDocument {
            model: model.downgrade(),
            revision: None,
            _reading: None,
            _subscriptions: subscriptions,
        };
        self.documents.insert(id, document);
        self.read_document(model, cx);
    }

    /// Returns the path of a text that may have tests.
    fn path_with_tests(&self, model: &DocumentModel) -> Option<AbsPath> {
        let path = model.path()?;
        let relative = path.relative_to(&self.root)?;
        may_have_tests(relative).then(|| path.clone())
    }

    fn document_event(
        &mut self,
        model: Entity<DocumentModel>,
        event: &ModelEvent,
        cx: &mut Context<Self>,
    ) {
        match event {
            ModelEvent::Rested => {
                let path = self.path_with_tests(model.read(cx));
                if path.is_some_and(|path| self.state.mark_stale(&path)) {
                    cx.notify();
                }
                self.read_document(&model, cx);
            }
            ModelEvent::SyntaxUpdated if !model.read(cx).is_being_edited() => {
                self.read_document(&model, cx);
            }
            ModelEvent::Saved => {
                if let Some(path) = model.read(cx).path().cloned() {
                    self.file_saved(&path, cx);
                }
            }
            ModelEvent::Edited(_)
            | ModelEvent::StateChanged
            | ModelEvent::SyntaxUpdated
            | ModelEvent::HunksUpdated
            | ModelEvent::DiagnosticsUpdated
            | ModelEvent::GutterMarksUpdated => {}
        }
    }

    /// Reads the tests of a text in the background, once its tree is that of the present text.
    fn read_document(&mut self, model: &Entity<DocumentModel>, cx: &mut Context<Self>) {
        let id = model.entity_id();
        let text = model.read(cx);
        let (snapshot, path) = (text.snapshot(), self.path_with_tests(text));
        let revision = snapshot.revision();
        let syntax = text.syntax().cloned();
        let syntax = syntax.filter(|syntax| syntax.parsed_revision() == Some(revision));
        let (Some(syntax), Some(path)) = (syntax, path) else {
            return;
        };
        let Some(document) = self.documents.get_mut(&id) else {
            return;
        };
        if document.revision == Some(revision) {
            return;
        }
        let (reader, root) = (super::scan::manifest_reader(&self.files), self.root.clone());
        let file = path.clone();
        let reading = cx.background_spawn(async move {
            let project = reader.project(&file, &root)?;
            let items = discover(syntax.root()?, &snapshot, &file, project.framework);
            Some(FileTests {
                file,
                project,
                items,
            })
        });
        document._reading = Some(cx.spawn(async move |this, cx| {
            let tests = reading.await;
            // The window may have been closed.
            this.update(cx, |this, cx| {
                this.take_document(id, revision, &path, tests, cx)
            })
            .ok();
        }));
    }

    fn take_document(
        &mut self,
        id: EntityId,
        revision: Revision,
        path: &AbsPath,
        tests: Option<FileTests>,
        cx: &mut Context<Self>,
    ) {
        let Some(document) = self.documents.get_mut(&id) else {
            return;
        };
        document.revision = Some(revision);
        match tests {
            Some(tests) => self.state.set_file(tests),
            None => self.state.remove_file(path),
        }
        self.show_marks(&BTreeSet::from([path.clone()]), cx);
        cx.notify();
    }

    /// Returns the open texts of a file.
    pub(super) fn models_of(
        &self,
        file: &AbsPath,
        cx: &Context<Self>,
    ) -> Vec<(Entity<DocumentModel>, Option<Revision>)> {
        let documents = self.documents.values();
        let open = documents.filter_map(|document| Some((document.model()?, document.revision)));
        let open = open.filter(|(model, _)| model.read(cx).path() == Some(file));
        open.collect()
    }

    /// Replaces the marks in the gutters of files.
    pub(super) fn show_marks(&self, files: &BTreeSet<AbsPath>, cx: &mut Context<Self>) {
        for file in files {
            for (model, revision) in self.models_of(file, cx) {
                let Some(revision) = revision else {
                    continue;
                };
                let statuses = self.state.statuses(file).into_iter().enumerate();
                let marks = statuses
                    .map(|(key, (item, status))| (item.name_span, mark_of(key, item, status)));
                let marks: Vec<_> = marks.collect();
                model.update(cx, |model, cx| model.set_gutter_marks(revision, marks, cx));
            }
        }
    }

    /// Returns the item of a mark in the gutter of a text.
    pub(crate) fn marked_item(&self, model: &DocumentModel, key: usize) -> Option<&TestItem> {
        self.state.file(model.path()?)?.items.get(key)
    }
}

/// Returns the mark of an item.
fn mark_of(key: usize, item: &TestItem, status: Option<TestStatus>) -> GutterMark {
    let (icon, state) = match status {
        None => (GutterIcon::Run, ""),
        Some(TestStatus::Running) => (GutterIcon::Running, ", running"),
        Some(TestStatus::Passed) => (GutterIcon::Passed, ", passed"),
        Some(TestStatus::Failed) => (GutterIcon::Failed, ", failed"),
        Some(TestStatus::Skipped) => (GutterIcon::Skipped, ", skipped"),
        Some(TestStatus::NotRun) => (GutterIcon::Skipped, ", not run"),
    };
    let kind = match item.kind {
        TestKind::Suite => "tests of",
        TestKind::Test | TestKind::Parameterized => "test",
    };
    GutterMark {
        icon,
        label: ui::foreign::one_line(format!("Run {kind} {}{state}", item.label)),
        key,
    }
}
