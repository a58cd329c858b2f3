//! Tests code lenses with a scripted source.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::{Row, Span};
use gpui_kit::{Entity, Modifiers, TestAppContext, VisualTestContext, point, px};
use lsp::ServerCommand;

use super::annotations::ScriptedAnnotations;
use super::{open, state};
use crate::model::{AnnotationExtent, AnnotationSources, DocumentModel};
use crate::{Editor, EditorEvent, RunCodeLens};

struct Scene<'a> {
    editor: Entity<Editor>,
    model: Entity<DocumentModel>,
    source: Rc<ScriptedAnnotations<Arc<ServerCommand>>>,
    /// The titles of the lenses that were run, and the refusals.
    heard: Rc<RefCell<Vec<String>>>,
    cx: &'a mut VisualTestContext,
}

fn scene<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, cx) = open("/a.rs", marked, cx);
    let source = Rc::new(ScriptedAnnotations::default());
    let model = editor.read_with(cx, |editor, _| editor.model().clone());
    model.update(cx, |model, _| {
        model.set_annotation_sources(AnnotationSources {
            lenses: Some(source.clone()),
            ..AnnotationSources::default()
        });
    });
    let heard = Rc::new(RefCell::new(Vec::new()));
    let noted = heard.clone();
    let note = move |_: Entity<Editor>, event: &EditorEvent, _: &mut gpui_kit::App| match event {
        EditorEvent::LensClicked(command) => noted.borrow_mut().push(command.title.clone()),
        EditorEvent::Refused(sentence) => noted.borrow_mut().push(sentence.clone()),
        _ => {}
    };
    cx.update(|_, cx| cx.subscribe(&editor, note).detach());
    let mut scene = Scene {
        editor,
        model,
        source,
        heard,
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

    fn turn_on(&mut self) {
        self.editor.update(self.cx, |editor, cx| {
            editor.settings.code_lens = true;
            cx.notify();
        });
        self.cx.run_until_parked();
        self.rest(50);
    }

    fn answer(&mut self, lenses: &[(usize, &str)]) {
        let lenses = lenses.iter().map(|(at, title)| {
            let command = ServerCommand::without_arguments((*title).to_owned(), "run".to_owned());
            (Span::from(*at..*at), Arc::new(command))
        });
        self.source.answer(lenses, AnnotationExtent::Whole);
        self.cx.run_until_parked();
    }

    /// Returns the titles above each row that has lenses, sorted by rows.
    fn shown(&mut self) -> Vec<(u32, String)> {
        self.cx.run_until_parked();
        self.editor.update(self.cx, |editor, cx| {
            let display = editor.display(cx).clone();
            let blocks = display.blocks_in(0.0..display.total_height());
            assert_eq!(blocks.len(), editor.lenses.blocks().len());
            let mut shown: Vec<(u32, String)> = blocks
                .iter()
                .map(|block| {
                    let titles = editor.lenses.titles_of(block.id).join(" | ");
                    (display.buffer_row(block.before).0.0, titles)
                })
                .collect();
            shown.sort();
            shown
        })
    }
}

#[gpui_kit::test]
fn lenses_are_off_until_they_are_wanted(cx: &mut TestAppContext) {
    let mut scene = scene("ˇfn a() {}\nfn b() {}\n", cx);
    assert_eq!(scene.source.waiting(), 0);
    scene.turn_on();
    scene.answer(&[(3, "1 reference"), (3, "Run"), (13, "2 references")]);
    let shown = [(0, "1 reference | Run"), (1, "2 references")];
    assert_eq!(
        scene.shown(),
        shown.map(|(row, titles)| (row, titles.to_owned()))
    );
}

#[gpui_kit::test]
fn lenses_follow_edits_and_equal_ones_stay(cx: &mut TestAppContext) {
    let mut scene = scene("ˇfn a() {}\nfn b() {}\n", cx);
    scene.turn_on();
    scene.answer(&[(3, "A"), (13, "B")]);
    let blocks = |scene: &mut Scene| {
        scene
            .editor
            .read_with(scene.cx, |editor, _| editor.lenses.blocks())
    };
    let before = blocks(&mut scene);
    scene.cx.simulate_keystrokes("enter");
    assert_eq!(scene.shown(), [(1, "A".to_owned()), (2, "B".to_owned())]);
    scene.rest(300);
    scene.answer(&[(4, "A"), (14, "C")]);
    assert_eq!(scene.shown(), [(1, "A".to_owned()), (2, "C".to_owned())]);
    let after = blocks(&mut scene);
    assert_eq!(before[0], after[0], "an equal lens stays");
    assert_ne!(before[1], after[1]);
    scene
        .model
        .update(scene.cx, DocumentModel::forget_annotations);
    assert_eq!(scene.shown(), []);
}

#[gpui_kit::test]
fn a_click_runs_a_lens(cx: &mut TestAppContext) {
    let mut scene = scene("fn a() {}\nˇfn b() {}\n", cx);
    scene.turn_on();
    scene.answer(&[(13, "Run")]);
    let position = scene.editor.read_with(scene.cx, |editor, _| {
        let geometry = editor.geometry.as_ref().expect("a layout");
        point(geometry.x_of(0) + px(6.0), geometry.y_of(1.5))
    });
    scene.cx.simulate_click(position, Modifiers::none());
    scene.cx.run_until_parked();
    assert_eq!(scene.heard.take(), ["Run"]);
    assert_eq!(state(&scene.editor, scene.cx), "fn a() {}\nˇfn b() {}\n");
}

#[gpui_kit::test]
fn the_action_runs_the_lens_of_the_row(cx: &mut TestAppContext) {
    let mut scene = scene("fn a() {}\nfn b() {ˇ}\n", cx);
    scene.turn_on();
    scene.answer(&[(13, "Run"), (13, "Debug")]);
    scene.cx.dispatch_action(RunCodeLens);
    assert_eq!(scene.heard.take(), ["Run"]);
    scene.cx.simulate_keystrokes("up");
    scene.cx.dispatch_action(RunCodeLens);
    assert_eq!(scene.heard.take(), ["No code lens belongs to this line"]);
    let row = scene
        .editor
        .update(scene.cx, |editor, cx| editor.caret_point(cx).row);
    assert_eq!(row, Row(0));
}
