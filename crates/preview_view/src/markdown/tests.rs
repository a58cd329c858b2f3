//! The preview of a document in memory: edits, tasks, links, images.

use std::sync::Arc;

use base::AbsPath;
use editor::{DocumentModel, fixture};
use gpui_kit::{Entity, Focusable as _, TestAppContext, VisualTestContext};
use host::{FakeFiles, Files};
use preview::BlockKind;
use text::{Author, Edit};

use super::pictures::Picture;
use super::{MarkdownPreview, PARSE_REST};
use crate::event::PreviewEvent;

struct Shown {
    view: Entity<MarkdownPreview>,
    model: Entity<DocumentModel>,
    files: FakeFiles,
    events: async_channel::Receiver<PreviewEvent>,
    cx: VisualTestContext,
}

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn open(text: &str, cx: &mut TestAppContext) -> Shown {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
    });
    let files = FakeFiles::new();
    files.write(&path("/p/docs/a.md"), text);
    let shared: Arc<dyn Files> = Arc::new(files.clone());
    let environment = fixture::environment_over(shared.clone());
    let model = cx.update(|cx| fixture::model("/p/docs/a.md", text, environment, cx));
    let shown = model.clone();
    let window =
        cx.add_window(|_, cx| MarkdownPreview::new(shown, shared, Some(path("/p")), 0.0, cx));
    let view = window.root(cx).expect("an open window");
    let mut cx = VisualTestContext::from_window(window.into(), cx);
    let events = cx.update(|window, cx| {
        window.activate_window();
        let focus = view.read(cx).focus_handle(cx);
        focus.focus(window, cx);
        let (sender, events) = async_channel::unbounded();
        cx.subscribe(&view, move |_, event: &PreviewEvent, _| {
            sender.try_send(event.clone()).expect("a listener");
        })
        .detach();
        events
    });
    cx.run_until_parked();
    Shown {
        view,
        model,
        files,
        events,
        cx,
    }
}

impl Shown {
    /// Returns the texts of the paragraphs and headings.
    fn texts(&self) -> Vec<String> {
        self.view.read_with(&self.cx, |view, _| {
            let document = view.content.ready().expect("parsed");
            let texts = document
                .blocks()
                .iter()
                .filter_map(|block| match &block.kind {
                    BlockKind::Heading { text, .. } | BlockKind::Paragraph(text) => {
                        Some(text.text.clone())
                    }
                    _ => None,
                });
            texts.collect()
        })
    }

    fn source(&self) -> String {
        self.model
            .read_with(&self.cx, |model, _| model.snapshot().to_string())
    }

    fn settle(&mut self) {
        self.cx.run_until_parked();
        self.cx.executor().advance_clock(PARSE_REST * 2);
        self.cx.run_until_parked();
    }

    /// Returns the requests since the last call, except those about the status bar.
    fn requests(&self) -> Vec<PreviewEvent> {
        let events = std::iter::from_fn(|| self.events.try_recv().ok());
        events
            .filter(|event| *event != PreviewEvent::StatusChanged)
            .collect()
    }

    fn open_link(&mut self, target: &str) -> Vec<PreviewEvent> {
        self.view
            .update(&mut self.cx, |view, cx| view.open_link(target, cx));
        self.cx.run_until_parked();
        self.requests()
    }
}

#[gpui_kit::test]
fn an_edit_appears_once_typing_rests(cx: &mut TestAppContext) {
    let mut shown = open("# Title\n\nold\n", cx);
    assert_eq!(shown.texts(), ["Title", "old"]);
    let span = base::Span::new(base::ByteOffset(9), base::ByteOffset(12));
    shown.model.update(&mut shown.cx, |model, cx| {
        model.edit(&[Edit::new(span, "new **words**")], Author::User, cx);
    });
    assert_eq!(shown.texts(), ["Title", "old"]);
    shown.settle();
    assert_eq!(shown.texts(), ["Title", "new words"]);
    let count = shown
        .view
        .read_with(&shown.cx, |view, _| view.list.item_count());
    assert_eq!(count, 2);
}

#[gpui_kit::test]
fn a_click_on_a_task_edits_the_text(cx: &mut TestAppContext) {
    let mut shown = open("- [ ] one\n- [x] two [ ]\n", cx);
    for row in [0, 1] {
        shown
            .view
            .update(&mut shown.cx, |view, cx| view.toggle_task(row, cx));
    }
    shown.settle();
    assert_eq!(shown.source(), "- [x] one\n- [ ] two [ ]\n");
    shown
        .view
        .update(&mut shown.cx, |view, cx| view.toggle_task(9, cx));
    shown.settle();
    let told = shown.requests();
    assert!(matches!(told[..], [PreviewEvent::Tell(_)]), "{told:?}");
}

#[gpui_kit::test]
fn links_are_requests_to_the_window(cx: &mut TestAppContext) {
    let mut shown = open("# A b\n\ntext\n", cx);
    let address = PreviewEvent::OpenAddress("https://a.b/c".to_owned());
    assert_eq!(shown.open_link("https://a.b/c"), [address]);
    let file = PreviewEvent::OpenFile {
        path: path("/p/src/x.rs"),
        line: Some(7),
    };
    assert_eq!(shown.open_link("../src/x.rs#L7"), [file]);
    assert!(shown.open_link("#a-b").is_empty());
    for refused in ["javascript:alert(1)", "file:///etc/passwd", "#missing", ""] {
        let told = shown.open_link(refused);
        assert!(
            matches!(told[..], [PreviewEvent::Tell(_)]),
            "{refused}: {told:?}"
        );
    }
}

#[gpui_kit::test]
fn only_images_below_the_folder_are_read(cx: &mut TestAppContext) {
    let mut shown = open("text\n", cx);
    let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>";
    shown.files.write(&path("/p/a.svg"), drawing);
    shown.files.write(&path("/secret.svg"), drawing);
    let mut picture = |target: &str| {
        for _ in 0..2 {
            shown
                .view
                .update(&mut shown.cx, |view, cx| view.picture(target, cx));
            shown.cx.run_until_parked();
        }
        match shown
            .view
            .update(&mut shown.cx, |view, cx| view.picture(target, cx))
        {
            Picture::Ready(ready) => format!("{}", ready.width),
            Picture::Refused(reason) => reason.to_string(),
            Picture::Waiting => "waiting".to_owned(),
        }
    };
    assert_eq!(picture("../a.svg"), "4");
    assert_eq!(picture("/a.svg"), "4");
    assert_eq!(picture("../../secret.svg"), "It lies outside of the folder");
    assert_eq!(
        picture("https://a.b/c.png"),
        "Images of the web are not loaded"
    );
    assert_eq!(
        picture("file:///secret.svg"),
        "It is no file of this folder"
    );
    assert!(picture("missing.png").contains("no such file"));
}
