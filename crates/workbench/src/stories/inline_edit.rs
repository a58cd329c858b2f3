//! Inline edits and the selection for the prompt, by the keyboard alone.

use std::sync::{Arc, Mutex};

use agent::SessionCommand;
use agent::session::UserPrompt;
use base::{ByteOffset, Span};
use composer_panel::agents::FakeAgents;
use editor::Editor;
use futures::channel::mpsc;
use futures::stream::{BoxStream, StreamExt as _};
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{Entity, Focusable as _, TestAppContext};
use rewrite::{RewriteEvent, RewriteQuery};
use text::{Author, Edit};

use super::{Story, path, project, services, start_with};
use crate::documents::Documents;
use crate::windows::OpenRequest;
use crate::workbench::inline_edit;
use crate::{RewriteModels, TabItem};

/// Models whose events come from the test.
#[derive(Clone, Default)]
struct FakeModels(Arc<Mutex<Vec<AskedRewrite>>>);

/// A request, and the sender of its events.
type AskedRewrite = (RewriteQuery, mpsc::UnboundedSender<RewriteEvent>);

impl RewriteModels for FakeModels {
    fn rewrite(&self, query: RewriteQuery) -> BoxStream<'static, RewriteEvent> {
        let (sender, events) = mpsc::unbounded();
        self.0.lock().expect("a lock").push((query, sender));
        events.boxed()
    }
}

impl FakeModels {
    /// Returns the number of requests so far.
    fn count(&self) -> usize {
        self.0.lock().expect("a lock").len()
    }

    /// Returns the latest request.
    fn query(&self) -> RewriteQuery {
        let asked = self.0.lock().expect("a lock");
        asked.last().expect("a request").0.clone()
    }

    /// Returns whether the latest request was cancelled.
    fn is_cancelled(&self) -> bool {
        let asked = self.0.lock().expect("a lock");
        asked.last().expect("a request").1.is_closed()
    }

    fn send(&self, event: RewriteEvent, story: &mut Story) {
        let sender = {
            let asked = self.0.lock().expect("a lock");
            asked.last().expect("a request").1.clone()
        };
        sender.unbounded_send(event).ok();
        story.settle();
    }
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn open(cx: &mut TestAppContext) -> (Story, FakeModels) {
    let (files, models) = (project(), FakeModels::default());
    let services = crate::Services {
        agents: Some(Arc::new(FakeAgents::default())),
        rewrite: Some(Arc::new(models.clone())),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut story = start_with(services, &files, request, cx)
        .pop()
        .expect("a window");
    story.settle();
    story.open_file("main.rs");
    (story, models)
}

fn host(story: &mut Story) -> Entity<Editor> {
    story.read(|workbench, _| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        editor.cloned().expect("a text")
    })
}

/// Returns the line below the field; `None` if no box is open.
fn note(story: &mut Story) -> Option<String> {
    let view = story.read(|workbench, _| inline_edit::open_view(workbench))?;
    let is_drawn = |window: &mut gpui_kit::Window, _: &mut gpui_kit::App| {
        window.try_find("inline-edit").is_some()
    };
    assert!(story.cx.update(is_drawn), "it is drawn");
    Some(story.cx.update(|_, cx| view.read(cx).shown_note()))
}

/// Returns the height of the text with its blocks, in rows, rounded down.
fn height(story: &mut Story) -> u32 {
    let editor = host(story);
    let height =
        |editor: &mut Editor, cx: &mut gpui_kit::Context<Editor>| editor.display(cx).total_height();
    story.cx.update(|_, cx| editor.update(cx, height)) as u32
}

fn has_focus(story: &mut Story) -> bool {
    let editor = host(story);
    let focus = story.cx.update(|_, cx| editor.focus_handle(cx));
    story.cx.update(|window, _| focus.is_focused(window))
}

const TEXT: &str = "fn main() {\n    old();\n}\n\nfn old() {}\n";
const NEW: &str = "fn main() {\n    new();\n    newer();\n}\n\nfn old() {}\n";

/// Asks for a change of the second row, up to the request.
fn ask(story: &mut Story) {
    story.keys("ctrl-home down ctrl-i").settle();
    assert_eq!(note(story).as_deref(), Some(""));
    assert!(!has_focus(story));
    story.input("call new").keys("enter").settle();
}

#[gpui_kit::test]
fn an_accepted_change_is_one_undo_step(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    let rows = height(&mut story);
    ask(&mut story);
    let query = models.query();
    assert_eq!(query.rewrite.instruction, "call new");
    assert_eq!(query.rewrite.path, "src/main.rs");
    assert_eq!(query.rewrite.region.lines(), ["    old();"]);
    assert_eq!(query.root, Some(path("/p")));
    let asked = height(&mut story);
    models.send(RewriteEvent::Lines(lines(&["    new();"])), &mut story);
    assert_eq!(height(&mut story), asked + 1, "the row that comes is shown");
    assert_eq!(story.text(), TEXT, "the text is as it was");
    let all = lines(&["    new();", "    newer();"]);
    models.send(RewriteEvent::Done(all), &mut story);
    assert_eq!(story.text(), TEXT);
    story.keys("enter").settle();
    assert_eq!(story.text(), NEW);
    assert_eq!(note(&mut story), None);
    assert_eq!(height(&mut story), rows + 1, "no block is left");
    assert!(has_focus(&mut story), "the focus returns");
    story.keys("ctrl-z").settle();
    assert_eq!(story.text(), TEXT);
    story.keys("ctrl-shift-z").settle();
    assert_eq!(story.text(), NEW);
}

#[gpui_kit::test]
fn a_rejected_change_leaves_the_text(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    let rows = height(&mut story);
    ask(&mut story);
    models.send(RewriteEvent::Done(lines(&["    new();"])), &mut story);
    story.keys("escape").settle();
    assert_eq!(note(&mut story).as_deref(), Some(""), "the box stays");
    story.keys("escape").settle();
    assert_eq!(note(&mut story), None);
    assert_eq!((story.text(), height(&mut story)), (TEXT.to_owned(), rows));
    assert!(has_focus(&mut story));
    story.keys("ctrl-z").settle();
    assert_eq!(story.text(), TEXT, "there is nothing to undo");
}

#[gpui_kit::test]
fn escape_stops_the_model(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    models.send(RewriteEvent::Lines(lines(&["    ne"])), &mut story);
    assert!(!models.is_cancelled());
    story.keys("escape").settle();
    assert!(models.is_cancelled());
    assert!(note(&mut story).expect("a box").starts_with("Stopped"));
    // The instruction is in the field again.
    story.keys("enter").settle();
    assert_eq!(models.count(), 2);
    assert_eq!(models.query().rewrite.instruction, "call new");
    models.send(RewriteEvent::Failed("no network".to_owned()), &mut story);
    assert_eq!(note(&mut story).as_deref(), Some("no network"));
    assert_eq!(story.text(), TEXT);
}

#[gpui_kit::test]
fn a_further_instruction_refines_the_change(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    models.send(RewriteEvent::Done(lines(&["    new();"])), &mut story);
    story.input("twice").keys("enter").settle();
    let earlier = models.query().rewrite.earlier;
    assert_eq!(earlier.len(), 1);
    assert_eq!(earlier[0].lines, ["    new();"]);
    // A failure keeps the first change.
    models.send(RewriteEvent::Failed("no network".to_owned()), &mut story);
    story.keys("enter").settle();
    assert_eq!(models.count(), 3, "the instruction was in the field");
    let all = lines(&["    new();", "    newer();"]);
    models.send(RewriteEvent::Done(all), &mut story);
    story.keys("ctrl-enter").settle();
    assert_eq!(story.text(), NEW);
}

/// Edits the text as another view of it would.
fn insert(at: usize, text: &str, story: &mut Story) {
    let editor = host(story);
    story.cx.update(|_, cx| {
        let model = editor.read(cx).model().clone();
        let edit = Edit::new(Span::at(ByteOffset(at)), text);
        model.update(cx, |model, cx| model.edit(&[edit], Author::User, cx));
    });
    story.settle();
}

#[gpui_kit::test]
fn edits_elsewhere_move_the_change(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    insert(0, "// one\n// two\n", &mut story);
    models.send(RewriteEvent::Lines(lines(&["    new();"])), &mut story);
    insert(TEXT.len() + 14, "// end\n", &mut story);
    let all = lines(&["    new();", "    newer();"]);
    models.send(RewriteEvent::Done(all), &mut story);
    insert(0, "// zero\n", &mut story);
    story.keys("enter").settle();
    let expected = format!("// zero\n// one\n// two\n{NEW}// end\n");
    assert_eq!(story.text(), expected);
}

#[gpui_kit::test]
fn an_edit_of_the_lines_ends_the_change(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    insert(16, "very_", &mut story);
    assert!(models.is_cancelled());
    assert!(note(&mut story).expect("a box").contains("were edited"));
    let edited = "fn main() {\n    very_old();\n}\n\nfn old() {}\n";
    assert_eq!(story.text(), edited);
    story.keys("enter").settle();
    assert_eq!(models.query().rewrite.region.lines(), ["    very_old();"]);
    models.send(RewriteEvent::Done(lines(&["    new();"])), &mut story);
    insert(12, "\t", &mut story);
    story.keys("ctrl-enter").settle();
    assert_eq!(story.text(), edited.replace("    very", "\t    very"));
}

#[gpui_kit::test]
fn an_equal_answer_is_a_sentence(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    models.send(RewriteEvent::Done(lines(&["    old();"])), &mut story);
    assert!(
        note(&mut story)
            .expect("a box")
            .contains("nothing to change")
    );
    assert_eq!(story.text(), TEXT);
}

#[gpui_kit::test]
fn a_closed_file_ends_its_inline_edit(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    ask(&mut story);
    models.send(RewriteEvent::Lines(lines(&["    new();"])), &mut story);
    story.keys("ctrl-w").settle();
    assert_eq!(story.text(), "");
    assert!(models.is_cancelled());
    models.send(RewriteEvent::Done(lines(&["    new();"])), &mut story);
    let open_texts = story.read(|_, cx| Documents::all(cx).len());
    assert_eq!(open_texts, 0);
}

#[gpui_kit::test]
fn rows_of_the_first_selection_are_edited(cx: &mut TestAppContext) {
    let (mut story, models) = open(cx);
    // The selection ends at the start of the third row.
    story
        .keys("ctrl-home shift-down shift-down ctrl-i")
        .settle();
    story.input("x").keys("enter").settle();
    let first = models.query().rewrite.region.lines().to_vec();
    assert_eq!(first, ["fn main() {", "    old();"]);
    story
        .keys("escape escape ctrl-home ctrl-end ctrl-i")
        .settle();
    story.input("x").keys("enter").settle();
    assert!(models.query().rewrite.region.is_blank());
}

#[gpui_kit::test]
fn the_selection_joins_the_prompt_after_the_draft(cx: &mut TestAppContext) {
    let (mut story, fake) = super::agents::open(cx);
    story.open_file("main.rs");
    story.keys("ctrl-alt-i").settle();
    story.input("draft").keys("ctrl-alt-i").settle();
    story
        .keys("ctrl-home shift-down shift-down ctrl-shift-.")
        .settle();
    assert!(!has_focus(&mut story), "the prompt has the focus");
    story.keys("enter").settle();
    let quoted = "src/main.rs:1-2\n```rust\nfn main() {\n    old();\n```";
    let prompt = SessionCommand::Prompt(UserPrompt {
        text: format!("draft\n\n{quoted}"),
        images: Vec::new(),
    });
    assert_eq!(fake.take_commands(), [prompt]);
    // The session stays, and gets the next lines as well.
    story
        .keys("ctrl-alt-i ctrl-home ctrl-shift-. enter")
        .settle();
    let sent = fake.take_commands();
    let [SessionCommand::Prompt(next) | SessionCommand::Steer(next)] = sent.as_slice() else {
        panic!("{sent:?}");
    };
    assert_eq!(next.text, "src/main.rs:1\n```rust\nfn main() {\n```");
    assert_eq!(fake.started().len(), 1);
}
