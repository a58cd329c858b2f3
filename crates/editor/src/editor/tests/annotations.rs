//! Tests when annotations are requested and shown, with a scripted source of semantic tokens.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use base::Span;
use gpui_kit::{App, Entity, TestAppContext};
use syntax::HighlightKind;

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use crate::Editor;
use crate::model::{
    AnnotationExtent, AnnotationKind, AnnotationQuery, AnnotationSources, AnnotationsChanged,
    DocumentModel,
};

type Source = ScriptedAnnotations<HighlightKind>;

/// Opens a long text.
fn scene(cx: &mut TestAppContext) -> Scene<'_, Source> {
    let text = format!("ˇ{}", "let a = b;\n".repeat(2_000));
    let sources = |tokens: Rc<Source>| AnnotationSources {
        tokens: Some(tokens),
        ..AnnotationSources::default()
    };
    annotation_scene("/a.rs", &text, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the latest request, and returns its query.
    pub(super) fn answer_about(
        &mut self,
        tokens: &[(usize, usize, HighlightKind)],
        extent: AnnotationExtent,
    ) -> AnnotationQuery {
        let tokens = tokens.iter();
        let tokens = tokens.map(|(start, end, kind)| (Span::from(*start..*end), *kind));
        self.annotate(tokens, extent)
    }

    fn scroll(&mut self, row: f64) {
        self.editor
            .update(self.cx, |editor, cx| editor.set_scroll_top(row, cx));
        self.cx.run_until_parked();
        self.rest(50);
    }
}

#[gpui_kit::test]
fn distant_views_of_a_text_are_answered_once_each(cx: &mut TestAppContext) {
    let mut scene = scene(cx);
    let first = scene.answer_about(&[(4, 5, HighlightKind::Type)], AnnotationExtent::WindowOnly);
    assert_eq!(scene.requests(), 0);
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
    let query = scene.source.annotate(at, AnnotationExtent::WindowOnly);
    second_cx.run_until_parked();
    assert!(!query.window.overlaps(first.window), "{query:?}");
    assert_eq!(scene.requests(), 0, "both windows are known");
}

#[gpui_kit::test]
fn a_source_without_an_answer_is_asked_after_an_edit_or_a_retry(cx: &mut TestAppContext) {
    let mut scene = scene(cx);
    scene.refuse();
    scene.scroll(1_000.0);
    assert_eq!(scene.requests(), 0, "it would have no answer again");
    scene.insert(0, "x");
    scene.rest(300);
    assert_eq!(scene.requests(), 1, "the text is another");
    scene.refuse();
    scene.update_model(DocumentModel::retry_annotations);
    assert_eq!(scene.requests(), 1, "it may be ready now");
    // The refusal is about an older text.
    scene.insert(0, "x");
    scene.refuse();
    scene.rest(300);
    assert_eq!(scene.requests(), 1);
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
    scene.answer_about(&[token], AnnotationExtent::Whole);
    let refresh = |scene: &mut Scene<'_, Source>| {
        scene.update_model(|model, cx| model.refresh_annotations(AnnotationKind::Tokens, cx));
    };
    refresh(&mut scene);
    assert_eq!(seen.take(), [true, false]);
    scene.answer_about(&[token], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false], "others may wait for the answer");
    scene.insert(0, " ");
    scene.rest(300);
    scene.answer_about(&[(5, 6, HighlightKind::Type)], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false], "the token followed the edit");
    refresh(&mut scene);
    scene.answer_about(&[(5, 6, HighlightKind::Module)], AnnotationExtent::Whole);
    assert_eq!(seen.take(), [false, true]);
}
