//! A scripted source of annotations, and tests of all kinds of them: when they are requested.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::Span;
use gpui_kit::{App, Entity, Task, TestAppContext, VisualTestContext};
use syntax::HighlightKind;
use text::{Author, Edit, Snapshot};

use super::open;
use crate::Editor;
use crate::model::{
    AnnotationAnswer, AnnotationExtent, AnnotationKind, AnnotationQuery, AnnotationSet,
    AnnotationSource, AnnotationSources, AnnotationsChanged, DocumentModel,
};

/// A source whose requests wait until the test answers them.
pub(super) struct ScriptedAnnotations<T: Clone>(RefCell<Vec<ScriptedRequest<T>>>);

struct ScriptedRequest<T: Clone> {
    query: AnnotationQuery,
    text: Snapshot,
    sender: async_channel::Sender<Option<AnnotationAnswer<T>>>,
}

impl<T: Clone> Default for ScriptedAnnotations<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone + 'static> AnnotationSource<T> for ScriptedAnnotations<T> {
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.0.borrow_mut().push(ScriptedRequest {
            query,
            text: snapshot.clone(),
            sender,
        });
        cx.spawn(async move |_| receiver.recv().await.ok().flatten())
    }
}

impl<T: Clone> ScriptedAnnotations<T> {
    /// Returns the number of requests that wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.borrow().len()
    }

    /// Returns the text of the latest request.
    pub(super) fn text(&self) -> Snapshot {
        let requests = self.0.borrow();
        requests.last().expect("a request").text.clone()
    }

    /// Answers the latest request and returns its query.
    pub(super) fn answer(
        &self,
        annotations: impl IntoIterator<Item = (Span, T)>,
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let request = self.0.borrow_mut().pop().expect("a request");
        let answer = AnnotationAnswer {
            revision: request.text.revision(),
            set: AnnotationSet::new(annotations),
            extent,
        };
        let sent = request.sender.try_send(Some(answer));
        assert!(sent.is_ok(), "the request is not cancelled");
        request.query
    }

    /// Answers the latest request as a server that is not ready.
    pub(super) fn refuse(&self) {
        let request = self.0.borrow_mut().pop().expect("a request");
        assert!(
            request.sender.try_send(None).is_ok(),
            "the request is not cancelled"
        );
    }
}

struct Scene<'a> {
    editor: Entity<Editor>,
    model: Entity<DocumentModel>,
    source: Rc<ScriptedAnnotations<HighlightKind>>,
    cx: &'a mut VisualTestContext,
}

/// Opens a long text with a scripted source of semantic tokens.
fn scene(cx: &mut TestAppContext) -> Scene<'_> {
    let text = format!("ˇ{}", "let a = b;\n".repeat(2_000));
    let (editor, cx) = open("/a.rs", &text, cx);
    let source = Rc::new(ScriptedAnnotations::default());
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, _| {
        model.set_annotation_sources(AnnotationSources {
            tokens: Some(source.clone()),
            ..AnnotationSources::default()
        });
    });
    let mut scene = Scene {
        editor,
        model,
        source,
        cx,
    };
    scene.rest(1_000);
    scene
}

impl Scene<'_> {
    fn rest(&mut self, millis: u64) {
        let executor = self.cx.executor();
        executor.advance_clock(Duration::from_millis(millis));
        self.cx.run_until_parked();
    }

    fn answer(
        &mut self,
        tokens: &[(usize, usize, HighlightKind)],
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let tokens = tokens
            .iter()
            .map(|(start, end, kind)| (Span::from(*start..*end), *kind));
        let query = self.source.answer(tokens, extent);
        self.cx.run_until_parked();
        query
    }

    fn refuse(&mut self) {
        self.source.refuse();
        self.cx.run_until_parked();
    }

    fn scroll(&mut self, row: f64) {
        self.editor
            .update(self.cx, |editor, cx| editor.set_scroll_top(row, cx));
        self.cx.run_until_parked();
        self.rest(50);
    }

    fn insert(&mut self, at: usize, text: &str) {
        self.model.update(self.cx, |model, cx| {
            model.edit(&[Edit::new(Span::from(at..at), text)], Author::Disk, cx);
        });
        self.cx.run_until_parked();
    }
}

#[gpui_kit::test]
fn distant_views_of_a_text_are_answered_once_each(cx: &mut TestAppContext) {
    let mut scene = scene(cx);
    let first = scene.answer(&[(4, 5, HighlightKind::Type)], AnnotationExtent::WindowOnly);
    assert_eq!(scene.source.waiting(), 0);
    let model = scene.model.clone();
    let (second, second_cx) = scene
        .cx
        .add_window_view(|window, cx| Editor::new(model, window, cx));
    second_cx.run_until_parked();
    second.update(second_cx, |editor, cx| editor.set_scroll_top(1_000.0, cx));
    second_cx.run_until_parked();
    second_cx
        .executor()
        .advance_clock(Duration::from_millis(50));
    second_cx.run_until_parked();
    let kind = HighlightKind::Type;
    let at = [(Span::from(11_004..11_005), kind)];
    let query = scene.source.answer(at, AnnotationExtent::WindowOnly);
    second_cx.run_until_parked();
    assert!(!query.window.overlaps(first.window), "{query:?}");
    assert_eq!(scene.source.waiting(), 0, "both windows are known");
}

#[gpui_kit::test]
fn a_source_without_an_answer_is_asked_after_an_edit_or_a_retry(cx: &mut TestAppContext) {
    let mut scene = scene(cx);
    scene.refuse();
    scene.scroll(1_000.0);
    assert_eq!(scene.source.waiting(), 0, "it would have no answer again");
    scene.insert(0, "x");
    scene.rest(300);
    assert_eq!(scene.source.waiting(), 1, "the text is another");
    scene.refuse();
    scene
        .model
        .update(scene.cx, DocumentModel::retry_annotations);
    scene.cx.run_until_parked();
    assert_eq!(scene.source.waiting(), 1, "it may be ready now");
    // The refusal is about an older text.
    scene.insert(0, "x");
    scene.refuse();
    scene.rest(300);
    assert_eq!(scene.source.waiting(), 1);
}

#[gpui_kit::test]
fn equal_annotations_are_not_drawn_again(cx: &mut TestAppContext) {
    let mut scene = scene(cx);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let changes = seen.clone();
    let note = move |_: Entity<DocumentModel>, event: &AnnotationsChanged, _: &mut App| {
        assert_eq!(event.kind, AnnotationKind::Tokens);
        changes.borrow_mut().push(event.has_new_set);
    };
    let _subscription = scene.cx.update(|_, cx| cx.subscribe(&scene.model, note));
    let token = (4, 5, HighlightKind::Type);
    scene.answer(&[token], AnnotationExtent::Whole);
    let refresh = |scene: &mut Scene| {
        scene.model.update(scene.cx, |model, cx| {
            model.refresh_annotations(AnnotationKind::Tokens, cx);
        });
        scene.cx.run_until_parked();
    };
    refresh(&mut scene);
    assert_eq!(seen.take(), [true, false]);
    scene.answer(&[token], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false], "others may wait for the answer");
    scene.insert(0, " ");
    scene.rest(300);
    scene.answer(&[(5, 6, HighlightKind::Type)], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false], "the token followed the edit");
    refresh(&mut scene);
    scene.answer(&[(5, 6, HighlightKind::Module)], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false, true]);
}
