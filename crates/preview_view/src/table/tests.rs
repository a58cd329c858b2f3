//! The table view over a file in memory.

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{Entity, Focusable as _, TestAppContext, VisualTestContext};
use host::{FakeFiles, Files as _};

use super::TablePreview;
use crate::actions::{
    Copy, CopyRecord, Down, End, NextDelimiter, Reload, Right, ToggleHeader, WidenColumn,
};
use crate::loading::Loaded;
use crate::source::PreviewSource;

fn open(
    content: &str,
    cx: &mut TestAppContext,
) -> (Entity<TablePreview>, FakeFiles, VisualTestContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let path = AbsPath::new("/p/a.csv").expect("absolute");
    let files = FakeFiles::new();
    files.write(&path, content);
    let source = PreviewSource {
        files: Arc::new(files.clone()),
        path,
        root: None,
    };
    let window = cx.add_window(|_, cx| TablePreview::new(source, 0, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    cx.update(|window, cx| {
        window.activate_window();
        let focus = view.read(cx).focus_handle(cx);
        focus.focus(window, cx);
    });
    cx.run_until_parked();
    (view, files, cx)
}

fn copied(cx: &mut VisualTestContext) -> Option<String> {
    cx.run_until_parked();
    cx.read_from_clipboard().and_then(|item| item.text())
}

fn status(view: &Entity<TablePreview>, cx: &VisualTestContext) -> Vec<String> {
    view.read_with(cx, |view, _| {
        view.status().iter().map(|it| it.text.to_string()).collect()
    })
}

#[gpui_kit::test]
fn keys_select_a_cell_that_is_copied(cx: &mut TestAppContext) {
    let (view, _, mut cx) = open("a,b\n1,\"x\ty\"\n2,z\n", cx);
    assert_eq!(status(&view, &cx), ["2 rows", "2 columns", "Comma"]);
    cx.dispatch_action(Right);
    cx.dispatch_action(Copy);
    assert_eq!(copied(&mut cx).as_deref(), Some("x\ty"));
    cx.dispatch_action(CopyRecord);
    assert_eq!(copied(&mut cx).as_deref(), Some("1\t\"x\ty\""));
    cx.dispatch_action(Down);
    cx.dispatch_action(Down);
    cx.dispatch_action(Copy);
    assert_eq!(copied(&mut cx).as_deref(), Some("z"));
    cx.dispatch_action(ToggleHeader);
    assert_eq!(status(&view, &cx)[0], "3 rows");
}

#[gpui_kit::test]
fn the_last_of_many_rows_is_read_alone(cx: &mut TestAppContext) {
    let mut text = String::from("n\n");
    for row in 0..100_000 {
        text.push_str(&format!("{row}\n"));
    }
    let (view, _, mut cx) = open(&text, cx);
    assert_eq!(status(&view, &cx)[0], "100,000 rows");
    cx.dispatch_action(End);
    cx.run_until_parked();
    cx.dispatch_action(Copy);
    assert_eq!(copied(&mut cx).as_deref(), Some("99999"));
    view.read_with(&cx, |view, _| {
        let content = view.content.ready().expect("open");
        assert!(
            content.rows.len() < 1_000,
            "only rows around those in sight"
        );
    });
}

#[gpui_kit::test]
fn delimiters_widths_and_reloading_work(cx: &mut TestAppContext) {
    let (view, files, mut cx) = open("a|b\n1|2\n", cx);
    assert_eq!(status(&view, &cx), ["1 row", "2 columns", "Pipe"]);
    cx.dispatch_action(NextDelimiter);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx), ["1 row", "1 column", "Comma"]);
    cx.dispatch_action(WidenColumn);
    view.read_with(&cx, |view, _| {
        let content = view.content.ready().expect("open");
        assert!((content.columns.width(0) - 6.0).abs() < f32::EPSILON);
    });
    files.write(&AbsPath::new("/p/a.csv").expect("absolute"), "a\n1\n2\n");
    cx.dispatch_action(Reload);
    cx.run_until_parked();
    assert_eq!(status(&view, &cx)[0], "2 rows");
}

#[gpui_kit::test]
fn a_deleted_table_is_refused_with_a_sentence(cx: &mut TestAppContext) {
    let (view, files, mut cx) = open("\u{feff}", cx);
    assert_eq!(status(&view, &cx)[0], "0 rows");
    let path = AbsPath::new("/p/a.csv").expect("absolute");
    files.remove(&path).expect("removed");
    cx.dispatch_action(Reload);
    cx.run_until_parked();
    assert!(status(&view, &cx).is_empty());
    view.read_with(&cx, |view, _| {
        assert!(
            matches!(&view.content, Loaded::Refused(reason) if reason.contains("no such file"))
        );
    });
}
