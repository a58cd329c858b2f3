//! Tests swatches of colours with a scripted source.

use std::rc::Rc;

use base::Span;
use gpui_kit::TestAppContext;
use lsp::ColorValue;

use super::scripted::{Scene, ScriptedAnnotations, annotation_scene};
use super::suggesting::screen;
use crate::model::{AnnotationExtent, AnnotationSources, DocumentModel};

type Source = ScriptedAnnotations<ColorValue>;

fn scene<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let sources = |colors: Rc<Source>| AnnotationSources {
        colors: Some(colors),
        ..AnnotationSources::default()
    };
    annotation_scene("/a.css", marked, sources, cx)
}

impl Scene<'_, Source> {
    fn answer(&mut self, colors: &[(usize, usize, u8)]) {
        let colors = colors.iter().map(|(start, end, red)| {
            let color = ColorValue {
                red: *red,
                green: 0,
                blue: 0,
                alpha: u8::MAX,
            };
            (Span::from(*start..*end), color)
        });
        self.annotate(colors, AnnotationExtent::Whole);
    }

    fn type_in(&mut self, text: &str) {
        self.cx.simulate_input(text);
        self.cx.run_until_parked();
    }

    /// Returns the rows on screen, with `‹›` around the place of a swatch.
    fn screen(&mut self) -> String {
        screen(&self.editor, self.cx).join("\n")
    }

    /// Returns the red parts of the swatches in the display map, sorted.
    fn reds(&mut self) -> Vec<u8> {
        self.editor.read_with(self.cx, |editor, _| {
            let inlays = editor.map.inlay_offsets().into_iter();
            let colors = inlays.filter_map(|(id, _)| editor.colors.color(id));
            let mut reds: Vec<u8> = colors.map(|color| color.red).collect();
            reds.sort_unstable();
            reds
        })
    }
}

#[gpui_kit::test]
fn a_swatch_precedes_each_color(cx: &mut TestAppContext) {
    let mut scene = scene("a: ˇ#f00;\nb: #00f;", cx);
    scene.answer(&[(3, 7, 255), (12, 16, 0)]);
    assert_eq!(scene.screen(), "a: ‹  ›#f00;\nb: ‹  ›#00f;");
    assert_eq!(scene.reds(), [0, 255]);
    scene.type_in("x");
    assert_eq!(scene.screen(), "a: ‹  ›x#f00;\nb: ‹  ›#00f;");
    scene.rest(300);
    scene.answer(&[(13, 17, 7)]);
    assert_eq!(scene.screen(), "a: x#f00;\nb: ‹  ›#00f;");
    assert_eq!(scene.reds(), [7]);
}

#[gpui_kit::test]
fn text_typed_at_the_edges_of_a_color_becomes_part_of_it(cx: &mut TestAppContext) {
    let mut scene = scene("a: ˇ#f00;", cx);
    scene.answer(&[(3, 7, 255)]);
    scene.type_in(" x");
    assert_eq!(scene.screen(), "a: ‹  › x#f00;");
    for _ in 0.."#f00".len() {
        scene.cx.simulate_keystrokes("right");
    }
    scene.type_in("0");
    assert_eq!(scene.screen(), "a: ‹  › x#f000;");
    // The colour goes with its last character.
    let backspaces = "backspace ".repeat(" x#f000".len() - 1);
    scene.cx.simulate_keystrokes(backspaces.trim());
    assert_eq!(scene.screen(), "a: ‹  › ;");
    scene.cx.simulate_keystrokes("backspace");
    assert_eq!(scene.screen(), "a: ;");
    scene.type_in("y");
    assert_eq!(scene.screen(), "a: y;");
}

#[gpui_kit::test]
fn the_swatch_of_a_deleted_color_goes_at_once(cx: &mut TestAppContext) {
    let mut scene = scene("a: «#f00ˇ»;\nb: #00f;", cx);
    scene.answer(&[(3, 7, 255), (12, 16, 0)]);
    scene.cx.simulate_keystrokes("delete");
    scene.cx.run_until_parked();
    assert_eq!(scene.screen(), "a: ;\nb: ‹  ›#00f;");
    assert_eq!(scene.requests(), 0, "the text is being edited");
}

#[gpui_kit::test]
fn the_setting_and_a_restart_remove_swatches(cx: &mut TestAppContext) {
    let mut scene = scene("ˇa: #f00;", cx);
    scene.answer(&[(3, 7, 255)]);
    let mut switch = |is_on: bool| {
        scene.editor.update(scene.cx, |editor, cx| {
            editor.settings.document_colors = is_on;
            cx.notify();
        });
        scene.cx.run_until_parked();
        scene.rest(50);
        scene.screen()
    };
    assert_eq!(switch(false), "a: #f00;");
    assert_eq!(switch(true), "a: ‹  ›#f00;");
    scene.update_model(DocumentModel::forget_annotations);
    assert_eq!(scene.screen(), "a: #f00;");
    assert_eq!(scene.requests(), 1);
}
