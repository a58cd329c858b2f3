//! A scripted source, and a view that shows its answers.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use async_channel::{Receiver, Sender};
use base::Span;
use gpui_kit::{App, Entity, Task, TestAppContext, VisualTestContext};
use text::{Author, Edit, Snapshot};

use super::state;
use super::suggesting::open_with_keys;
use crate::model::{
    AnnotationAnswer, AnnotationExtent, AnnotationQuery, AnnotationSet, AnnotationSource,
    AnnotationSources,
};
use crate::{DocumentModel, Editor, EditorEvent, LanguageSources};

/// A source whose requests wait until the test answers them. Cancelled requests wait, too.
pub(super) struct Scripted<Q, A>(RefCell<Vec<(Q, Sender<A>)>>);

/// A source of annotations; a query comes with the text that it is about.
pub(super) type ScriptedAnnotations<T> =
    Scripted<(AnnotationQuery, Snapshot), Option<AnnotationAnswer<T>>>;

/// A view with the default keys, the events of the view, and the source `S`.
pub(super) struct Scene<'a, S> {
    pub(super) editor: Entity<Editor>,
    pub(super) model: Entity<DocumentModel>,
    pub(super) source: Rc<S>,
    pub(super) heard: Rc<RefCell<Vec<EditorEvent>>>,
    pub(super) cx: &'a mut VisualTestContext,
}

impl<Q, A> Default for Scripted<Q, A> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<Q, A> Scripted<Q, A> {
    /// Stores a query and returns the channel that receives its answer.
    pub(super) fn ask(&self, query: Q) -> Receiver<A> {
        let (sender, receiver) = async_channel::bounded(1);
        self.0.borrow_mut().push((query, sender));
        receiver
    }

    /// Returns the number of requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.borrow().len()
    }

    /// Takes the latest request.
    pub(super) fn take(&self) -> (Q, Sender<A>) {
        self.0.borrow_mut().pop().expect("a request")
    }

    /// Removes all requests.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }

    /// Returns whether the latest request was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        let requests = self.0.borrow();
        requests.last().expect("a request").1.is_closed()
    }

    /// Answers the latest request and returns its query. A cancelled request ignores the answer.
    pub(super) fn answer(&self, answer: A) -> Q {
        let (query, sender) = self.take();
        sender.try_send(answer).ok();
        query
    }
}

impl<T: Clone + 'static> AnnotationSource<T> for ScriptedAnnotations<T> {
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>> {
        let answer = self.ask((query, snapshot.clone()));
        cx.spawn(async move |_| answer.recv().await.ok().flatten())
    }
}

impl<T: Clone> ScriptedAnnotations<T> {
    /// Returns the text of the latest request.
    pub(super) fn text(&self) -> Snapshot {
        let requests = self.0.borrow();
        let ((_, text), _) = requests.last().expect("a request");
        text.clone()
    }

    /// Answers the latest request with annotations of its text, and returns its query.
    pub(super) fn annotate(
        &self,
        annotations: impl IntoIterator<Item = (Span, T)>,
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let ((query, text), sender) = self.take();
        let answer = AnnotationAnswer {
            revision: text.revision(),
            set: AnnotationSet::new(annotations),
            extent,
        };
        let sent = sender.try_send(Some(answer));
        assert!(sent.is_ok(), "the request is not cancelled");
        query
    }
}

/// Opens a marked text in a view.
pub(super) fn scene<'a, S: Default>(
    path: &str,
    marked: &str,
    cx: &'a mut TestAppContext,
) -> Scene<'a, S> {
    let (editor, _, _, cx) = open_with_keys(path, marked, cx);
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    let heard = Rc::new(RefCell::new(Vec::new()));
    let events = heard.clone();
    let hear = move |_: Entity<Editor>, event: &EditorEvent, _: &mut App| {
        events.borrow_mut().push(event.clone());
    };
    cx.update(|_, cx| cx.subscribe(&editor, hear).detach());
    Scene {
        editor,
        model,
        source: Rc::default(),
        heard,
        cx,
    }
}

/// Opens a marked text in a view with a source about its symbols.
pub(super) fn language_scene<'a, S: Default>(
    path: &str,
    marked: &str,
    sources: impl FnOnce(Rc<S>) -> LanguageSources,
    cx: &'a mut TestAppContext,
) -> Scene<'a, S> {
    let scene: Scene<'_, S> = scene(path, marked, cx);
    let sources = sources(scene.source.clone());
    scene
        .editor
        .update(scene.cx, |editor, _| editor.set_language_sources(sources));
    scene
}

/// Opens a marked text with a source of annotations in a view that rests.
pub(super) fn annotation_scene<'a, T: Clone>(
    path: &str,
    marked: &str,
    sources: impl FnOnce(Rc<ScriptedAnnotations<T>>) -> AnnotationSources,
    cx: &'a mut TestAppContext,
) -> Scene<'a, ScriptedAnnotations<T>> {
    let mut scene: Scene<'_, ScriptedAnnotations<T>> = scene(path, marked, cx);
    let sources = sources(scene.source.clone());
    scene
        .model
        .update(scene.cx, |model, _| model.set_annotation_sources(sources));
    scene.rest(1_000);
    scene
}

impl<S> Scene<'_, S> {
    pub(super) fn rest(&mut self, millis: u64) {
        let executor = self.cx.executor();
        executor.advance_clock(Duration::from_millis(millis));
        self.cx.run_until_parked();
    }

    /// Presses keys; `_` types the text after it.
    pub(super) fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            match key.strip_prefix('_') {
                Some(text) => self.cx.simulate_input(text),
                None => self.cx.simulate_keystrokes(key),
            }
        }
        self.cx.run_until_parked();
    }

    /// Presses keys and waits until the caret rests.
    pub(super) fn press_and_rest(&mut self, keys: &str) {
        self.press(keys);
        self.rest(75);
    }

    /// Inserts a text, as another program does.
    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.model.update(self.cx, |model, cx| {
            let edit = Edit::new(Span::from(at..at), text);
            model.edit(&[edit], Author::Disk, cx);
        });
        self.cx.run_until_parked();
    }

    /// Updates the document as its owner does.
    pub(super) fn update_model(
        &mut self,
        update: impl FnOnce(&mut DocumentModel, &mut gpui_kit::Context<DocumentModel>),
    ) {
        self.model.update(self.cx, update);
        self.cx.run_until_parked();
    }

    /// Returns the text with its selections.
    pub(super) fn text(&mut self) -> String {
        state(&self.editor, self.cx)
    }
}

impl<Q, A> Scene<'_, Scripted<Q, A>> {
    pub(super) fn requests(&self) -> usize {
        self.source.waiting()
    }

    /// Answers the latest request, and returns its query.
    pub(super) fn reply(&mut self, answer: A) -> Q {
        let query = self.source.answer(answer);
        self.cx.run_until_parked();
        query
    }
}

impl<T: Clone> Scene<'_, ScriptedAnnotations<T>> {
    /// Answers the latest request with annotations of its text, and returns its query.
    pub(super) fn annotate(
        &mut self,
        annotations: impl IntoIterator<Item = (Span, T)>,
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let query = self.source.annotate(annotations, extent);
        self.cx.run_until_parked();
        query
    }

    /// Answers the latest request as a server that is not ready.
    pub(super) fn refuse(&mut self) {
        self.reply(None);
    }
}
