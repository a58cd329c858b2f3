//! Tests semantic tokens in views with a scripted source.

use std::rc::Rc;

use base::Row;
use gpui_kit::TestAppContext;
use syntax::HighlightKind;

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use crate::model::{
    AnnotationExtent, AnnotationKind, AnnotationQuery, AnnotationSources, DocumentModel,
};

type Source = ScriptedAnnotations<HighlightKind>;

fn scene<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |tokens: Rc<Source>| AnnotationSources {
        tokens: Some(tokens),
        ..AnnotationSources::default()
    };
    annotation_scene(path, marked, sources, cx)
}

impl Scene<'_, Source> {
    /// Answers the only request about the whole text, and returns its query.
    fn answer(&mut self, tokens: &[(usize, usize, HighlightKind)]) -> AnnotationQuery {
        assert_eq!(self.requests(), 1, "one request is under way");
        self.answer_about(tokens, AnnotationExtent::Whole)
    }

    /// Returns the highlights of a row as they are painted.
    fn row(&mut self, row: u32) -> String {
        self.cx.run_until_parked();
        self.editor.read_with(self.cx, |editor, _| {
            let highlights = editor.rows.highlights(Row(row)).unwrap_or_default();
            let text = editor.snapshot.row_text(Row(row)).into_owned();
            let parts = highlights.iter().map(|highlight| {
                let text = &text[highlight.start as usize..highlight.end as usize];
                format!("{text}:{}", highlight.kind.name())
            });
            parts.collect::<Vec<_>>().join(" ")
        })
    }
}

const TYPE: HighlightKind = HighlightKind::Type;
const MODULE: HighlightKind = HighlightKind::Module;

#[gpui_kit::test]
fn tokens_are_painted_over_the_tree(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", "ˇlet a = 1;", cx);
    assert_eq!(
        scene.row(0),
        "let:keyword a:variable =:operator 1:number ;:punctuation.delimiter"
    );
    let query = scene.answer(&[
        (0, 3, HighlightKind::Keyword),
        (4, 5, MODULE),
        (8, 9, HighlightKind::Operator),
    ]);
    assert!(query.prefers_window);
    assert_eq!((query.window.start.0, query.window.end.0), (0, 10));
    assert_eq!(
        scene.row(0),
        "let:keyword a:module =:operator 1:number ;:punctuation.delimiter"
    );
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn tokens_color_a_text_without_a_grammar(cx: &mut TestAppContext) {
    let mut scene = scene("/a.unknown", "ˇfoo bar", cx);
    scene.answer(&[(0, 3, TYPE), (4, 7, MODULE)]);
    assert_eq!(scene.row(0), "foo:type bar:module");
    scene.press("_x");
    assert_eq!(scene.row(0), "foo:type bar:module");
    scene.press("ctrl-end _y");
    assert_eq!(scene.row(0), "foo:type bary:module");
    scene.press("_.z");
    assert_eq!(scene.row(0), "foo:type bary:module");
}

#[gpui_kit::test]
fn tokens_follow_edits_until_the_text_rests(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", "let aˇ = b;\nlet c = 1;", cx);
    scene.answer(&[(4, 5, MODULE), (8, 9, TYPE), (15, 16, MODULE)]);
    scene.press("_b enter");
    assert_eq!(scene.row(0), "let:keyword ab:module");
    assert!(
        scene.row(1).starts_with("=:operator b:type"),
        "{}",
        scene.row(1)
    );
    assert!(
        scene.row(2).starts_with("let:keyword c:module"),
        "{}",
        scene.row(2)
    );
    assert_eq!(scene.requests(), 0, "the text is being edited");
    scene.rest(300);
    let query = scene.answer(&[(4, 6, TYPE)]);
    assert!(!query.prefers_window, "the tokens of the window are known");
    assert_eq!(scene.row(0), "let:keyword ab:type");
    assert!(
        scene.row(2).starts_with("let:keyword c:variable"),
        "{}",
        scene.row(2)
    );
}

#[gpui_kit::test]
fn a_late_answer_is_carried_over_the_edits_since(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", "ˇlet a = b;", cx);
    scene.press("_//x enter");
    scene.rest(300);
    scene.answer(&[(4, 5, MODULE), (8, 9, TYPE)]);
    assert!(
        scene
            .row(1)
            .starts_with("let:keyword a:module =:operator b:type"),
        "{}",
        scene.row(1)
    );
    // The edits since the request are asked about at once: the text rests already.
    scene.answer(&[(8, 9, TYPE)]);
    assert!(
        scene.row(1).starts_with("let:keyword a:type"),
        "{}",
        scene.row(1)
    );
}

#[gpui_kit::test]
fn the_window_comes_first_and_the_whole_text_next(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", &format!("ˇ{}", "let a = b;\n".repeat(2_000)), cx);
    let query = scene.answer_about(&[(4, 5, MODULE)], AnnotationExtent::WindowFirst);
    assert!(query.prefers_window && query.window.end.0 < 11 * 300);
    assert!(
        scene.row(0).starts_with("let:keyword a:module"),
        "{}",
        scene.row(0)
    );
    let query = scene.answer(&[(4, 5, TYPE)]);
    assert!(!query.prefers_window);
    assert!(
        scene.row(0).starts_with("let:keyword a:type"),
        "{}",
        scene.row(0)
    );
    scene
        .editor
        .update(scene.cx, |editor, cx| editor.set_scroll_top(1_000.0, cx));
    scene.rest(50);
    assert_eq!(scene.requests(), 0, "all tokens are known");
}

#[gpui_kit::test]
fn a_source_of_windows_is_asked_after_a_scroll(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", &format!("ˇ{}", "let a = b;\n".repeat(2_000)), cx);
    scene.answer_about(&[(4, 5, MODULE)], AnnotationExtent::WindowOnly);
    assert_eq!(scene.requests(), 0);
    scene
        .editor
        .update(scene.cx, |editor, cx| editor.set_scroll_top(1_000.0, cx));
    scene.rest(50);
    let query = scene.answer_about(&[(11_004, 11_005, TYPE)], AnnotationExtent::WindowOnly);
    assert!(query.prefers_window && query.window.start.0 > 0);
    assert!(
        scene.row(1_000).starts_with("let:keyword a:type"),
        "{}",
        scene.row(1_000)
    );
}

#[gpui_kit::test]
fn a_refresh_asks_again_and_a_restart_clears(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", "ˇlet a = 1;", cx);
    scene.refuse();
    assert_eq!(scene.requests(), 0, "the source is not ready");
    scene.update_model(DocumentModel::retry_annotations);
    scene.answer(&[(4, 5, MODULE)]);
    scene.update_model(|model, cx| model.refresh_annotations(AnnotationKind::Tokens, cx));
    assert!(scene.row(0).starts_with("let:keyword a:module"));
    scene.answer(&[(4, 5, TYPE)]);
    assert!(scene.row(0).starts_with("let:keyword a:type"));
    scene.update_model(DocumentModel::forget_annotations);
    assert!(scene.row(0).starts_with("let:keyword a:variable"));
    assert_eq!(scene.requests(), 1);
}

#[gpui_kit::test]
fn the_setting_turns_tokens_off_and_on(cx: &mut TestAppContext) {
    let mut scene = scene("/a.rs", "ˇlet a = 1;", cx);
    scene.answer(&[(4, 5, MODULE)]);
    let mut switch = |is_on: bool| {
        scene.editor.update(scene.cx, |editor, cx| {
            editor.settings.semantic_highlighting = is_on;
            cx.notify();
        });
        scene.rest(50);
        scene.row(0)
    };
    assert!(switch(false).starts_with("let:keyword a:variable"));
    assert!(switch(true).starts_with("let:keyword a:module"));
    assert_eq!(scene.requests(), 0, "the tokens are known");
}
