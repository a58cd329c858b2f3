//! Tests the completion list in a view with the default keys and a scripted source.
//!
//! The words begin with letters that begin no keyword of Rust.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use base::{ByteOffset, Span};
use gpui_kit::test::{TestQueryExt as _, TestWindowExt as _};
use gpui_kit::{App, Entity, Role, Subscription, Task, TestAppContext, VisualTestContext};
use text::Edit;

use super::state;
use super::suggesting::{Heard, offer_at_caret, open_with_keys};
use crate::{
    CompletionAnswer, CompletionId, CompletionItem, CompletionKind, CompletionQuery,
    CompletionSource, Editor, ShowCompletions,
};

mod documentation;

type Waiting<Q, A> = RefCell<Vec<(Q, async_channel::Sender<A>)>>;

/// A source whose requests wait until the test answers them.
#[derive(Default)]
struct ScriptedSource {
    requests: Waiting<CompletionQuery, CompletionAnswer>,
    resolves: Waiting<CompletionItem, CompletionItem>,
    accepted: RefCell<Vec<String>>,
    can_resolve: Cell<bool>,
}

impl CompletionSource for ScriptedSource {
    fn triggers(&self, _: &App) -> Vec<char> {
        vec!['.']
    }

    fn request(&self, query: CompletionQuery, cx: &mut App) -> Task<Option<CompletionAnswer>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.requests.borrow_mut().push((query, sender));
        cx.spawn(async move |_| receiver.recv().await.ok())
    }

    fn resolve(&self, item: &CompletionItem, cx: &mut App) -> Option<Task<Option<CompletionItem>>> {
        let (sender, receiver) = async_channel::bounded(1);
        self.resolves.borrow_mut().push((item.clone(), sender));
        let task = cx.spawn(async move |_| receiver.recv().await.ok());
        self.can_resolve.get().then_some(task)
    }

    fn accepted(&self, item: &CompletionItem, _: &mut App) {
        self.accepted.borrow_mut().push(item.label.to_string());
    }
}

/// A view with a scripted source.
struct Scene<'a> {
    editor: Entity<Editor>,
    source: Rc<ScriptedSource>,
    cx: &'a mut VisualTestContext,
    _heard: (Heard, Subscription),
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    open_as("/a.rs", marked, cx)
}

fn open_as<'a>(path: &str, marked: &str, cx: &'a mut TestAppContext) -> Scene<'a> {
    let (editor, heard, subscription, cx) = open_with_keys(path, marked, cx);
    let source = Rc::new(ScriptedSource::default());
    editor.update(cx, |editor, cx| {
        editor.set_completion_sources(vec![source.clone()], cx);
    });
    Scene {
        editor,
        source,
        cx,
        _heard: (heard, subscription),
    }
}

impl Scene<'_> {
    /// Presses keys; `_` types the text after it.
    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            match key.strip_prefix('_') {
                Some(text) => self.cx.simulate_input(text),
                None => self.cx.simulate_keystrokes(key),
            }
        }
        self.cx.run_until_parked();
    }

    /// Answers the latest request.
    fn answer(&mut self, items: Vec<CompletionItem>, is_incomplete: bool) {
        let (query, sender) = self.source.requests.borrow_mut().pop().expect("a request");
        let answer = CompletionAnswer {
            items,
            is_incomplete,
            revision: query.snapshot.revision(),
        };
        sender
            .try_send(answer)
            .expect("the request is not cancelled");
        self.cx.run_until_parked();
    }

    fn answer_labels(&mut self, labels: &[&str]) {
        self.answer(items(labels), false);
    }

    /// Answers the latest call to complete an item.
    fn resolve(&mut self, change: impl FnOnce(&mut CompletionItem)) {
        let (mut item, sender) = self.source.resolves.borrow_mut().pop().expect("a call");
        change(&mut item);
        sender.try_send(item).expect("the call is not cancelled");
        self.cx.run_until_parked();
    }

    fn wait(&mut self, millis: u64) {
        self.cx
            .executor()
            .advance_clock(Duration::from_millis(millis));
        self.cx.run_until_parked();
    }

    /// Returns the rows with the selected one in brackets; empty if no list is shown.
    fn rows(&mut self) -> String {
        self.cx.run_until_parked();
        let shown = self
            .editor
            .update(self.cx, |editor, _| editor.shown_completions());
        let Some((labels, selected)) = shown else {
            return String::new();
        };
        let labels = labels.iter().enumerate();
        let rows = labels.map(|(row, label)| match row == selected {
            true => format!("[{label}]"),
            false => label.to_string(),
        });
        rows.collect::<Vec<_>>().join(" ")
    }

    fn text(&mut self) -> String {
        state(&self.editor, self.cx)
    }

    fn shows_suggestion(&mut self) -> bool {
        self.editor
            .update(self.cx, |editor, _| editor.shows_suggestion())
    }

    fn is_drawn(&mut self, id: &'static str) -> bool {
        self.cx.run_until_parked();
        self.cx.update(|window, _| window.try_find(id).is_some())
    }

    fn requests(&self) -> usize {
        self.source.requests.borrow().len()
    }
}

fn item(id: u64, label: &str) -> CompletionItem {
    CompletionItem::new(CompletionId(id), label.to_owned(), CompletionKind::Function)
}

fn items(labels: &[&str]) -> Vec<CompletionItem> {
    (0..)
        .zip(labels)
        .map(|(id, label)| item(id, label))
        .collect()
}

fn import(at: usize) -> Edit {
    Edit::new(Span::at(ByteOffset(at)), "use q;\n")
}

/// Opens a text, presses keys, and compares rows and text.
fn check(before: &str, keys: &str, rows: &str, after: &str, cx: &mut TestAppContext) {
    let mut scene = open(before, cx);
    scene.press(keys);
    assert_eq!(scene.rows(), rows, "{before:?} {keys}");
    assert_eq!(scene.text(), after, "{before:?} {keys}");
}

#[gpui_kit::test]
fn words_are_offered_from_the_first_letter(cx: &mut TestAppContext) {
    let text = "quick quark zebra\nˇ";
    check(text, "_q", "[quark] quick", "quick quark zebra\nqˇ", cx);
    check(text, "_qui", "[quick]", "quick quark zebra\nquiˇ", cx);
    check(text, "_qx", "", "quick quark zebra\nqxˇ", cx);
    check(text, "_quick", "", "quick quark zebra\nquickˇ", cx);
    check(text, "_1q", "", "quick quark zebra\n1qˇ", cx);
}

#[gpui_kit::test]
fn keys_move_in_the_list_and_accept(cx: &mut TestAppContext) {
    let text = "quark quick\nˇ";
    check(text, "_q enter", "", "quark quick\nquickˇ", cx);
    check(text, "_q down enter", "", "quark quick\nquarkˇ", cx);
    check(text, "_q ctrl-n ctrl-n tab", "", "quark quick\nquickˇ", cx);
    check(text, "_q up enter", "", "quark quick\nquarkˇ", cx);
    check(text, "_q pagedown enter", "", "quark quick\nquarkˇ", cx);
    check(text, "_q down _u", "quick [quark]", "quark quick\nquˇ", cx);
}

#[gpui_kit::test]
fn tab_replaces_the_rest_of_the_word_and_enter_keeps_it(cx: &mut TestAppContext) {
    check("quick ˇark", "_q tab", "", "quick quickˇ", cx);
    check("quick ˇark", "_q enter", "", "quick quickˇark", cx);
}

#[gpui_kit::test]
fn the_list_closes_with_its_word(cx: &mut TestAppContext) {
    let text = "quark quick\nˇ";
    check(text, "_q escape", "", "quark quick\nqˇ", cx);
    check(text, "_q escape _u", "", "quark quick\nquˇ", cx);
    check(
        text,
        "_q escape _u space _q",
        "[quick] quark",
        "quark quick\nqu qˇ",
        cx,
    );
    check(
        text,
        "_qu backspace",
        "[quick] quark",
        "quark quick\nqˇ",
        cx,
    );
    check(text, "_q backspace", "", "quark quick\nˇ", cx);
    check(text, "_q left", "", "quark quick\nˇq", cx);
    check(text, "_q space", "", "quark quick\nq ˇ", cx);
    check(text, "_q ctrl-home", "", "ˇquark quick\nq", cx);
}

#[gpui_kit::test]
fn losing_the_focus_closes_the_list(cx: &mut TestAppContext) {
    let mut scene = open("quark\nˇ", cx);
    scene.cx.update(|window, _| window.activate_window());
    scene.press("_q");
    assert_eq!(scene.rows(), "[quark]");
    scene.cx.update(|window, cx| {
        let other = cx.focus_handle();
        other.focus(window, cx);
    });
    assert_eq!(scene.rows(), "");
}

#[gpui_kit::test]
fn comments_strings_and_prose_get_a_list_on_request_only(cx: &mut TestAppContext) {
    let comment = "quark\n// ˇ";
    check(comment, "_q", "", "quark\n// qˇ", cx);
    check(comment, "_q ctrl-space", "[quark]", "quark\n// qˇ", cx);
    check("quark\n\"ˇ\"", "_q", "", "quark\n\"qˇ\"", cx);
    for path in ["/a.txt", "/a.md"] {
        let mut scene = open_as(path, "quark\nˇ", cx);
        scene.press("_q");
        assert_eq!(scene.rows(), "", "{path}");
        scene.press("ctrl-space");
        assert_eq!(scene.rows(), "[quark]", "{path}");
    }
}

#[gpui_kit::test]
fn an_item_that_is_the_typed_word_leaves_enter_to_the_text(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_quark");
    scene.answer_labels(&["quark", "quarks"]);
    assert_eq!(scene.rows(), "[quark] quarks");
    scene.press("enter");
    assert_eq!(scene.text(), "quark\nˇ");
    assert_eq!(scene.rows(), "");
}

#[gpui_kit::test]
fn every_caret_gets_the_item(cx: &mut TestAppContext) {
    check("quark\nˇ\nˇ", "_q enter", "", "quark\nquarkˇ\nquarkˇ", cx);
}

#[gpui_kit::test]
fn accepting_is_one_step_of_undo(cx: &mut TestAppContext) {
    check("quark\nˇ", "_q enter ctrl-z", "", "quark\nqˇ", cx);
}

#[gpui_kit::test]
fn answers_merge_below_the_selected_row(cx: &mut TestAppContext) {
    let mut scene = open("quark quick\nˇ", cx);
    scene.press("_q down");
    assert_eq!(scene.rows(), "quick [quark]");
    scene.answer_labels(&["qa", "quark"]);
    assert_eq!(scene.rows(), "quick [quark] qa");
    scene.press("enter");
    assert_eq!(scene.text(), "quark quick\nquarkˇ");
    assert_eq!(*scene.source.accepted.borrow(), ["quark"]);
}

#[gpui_kit::test]
fn a_trigger_character_asks_its_sources(cx: &mut TestAppContext) {
    let mut scene = open("quark\nzˇ", cx);
    scene.press("_.");
    assert_eq!(scene.rows(), "", "no words after a trigger character");
    scene.answer_labels(&["len", "qlen"]);
    assert_eq!(scene.rows(), "[len] qlen");
    scene.press("_q");
    assert_eq!(scene.rows(), "[qlen]");
    assert_eq!(scene.requests(), 0, "the list was complete");
    scene.press("backspace");
    assert_eq!(scene.rows(), "[len] qlen");
    scene.press("backspace");
    assert_eq!(scene.rows(), "");
}

#[gpui_kit::test]
fn a_snippet_item_starts_its_tab_stops(cx: &mut TestAppContext) {
    let mut scene = open("zebra\nˇ", cx);
    scene.press("_q");
    let mut snippet = item(0, "quote");
    snippet.insert.text = "q(${1:a}, $2)$0".into();
    snippet.insert.is_snippet = true;
    scene.answer(vec![snippet], false);
    scene.press("tab");
    assert_eq!(scene.text(), "zebra\nq(«aˇ», )");
    // In a snippet, Tab accepts the item of an open list; otherwise it goes to the next stop.
    scene.press("_z");
    assert_eq!(scene.rows(), "[zebra]");
    scene.press("tab");
    assert_eq!(scene.text(), "zebra\nq(zebraˇ, )");
    scene.press("tab");
    assert_eq!(scene.text(), "zebra\nq(zebra, ˇ)");
}

#[gpui_kit::test]
fn spans_of_an_answer_follow_the_typed_text(cx: &mut TestAppContext) {
    let check = |keys: &str, after: &str, cx: &mut TestAppContext| {
        let mut scene = open("@ˇz", cx);
        scene.press("_q");
        let mut it = item(0, "quark");
        it.insert.text = "@quark".into();
        it.insert.insert_span = Some(Span::new(ByteOffset(0), ByteOffset(2)));
        it.insert.replace_span = Some(Span::new(ByteOffset(0), ByteOffset(3)));
        scene.answer(vec![it], false);
        scene.press("_ua");
        scene.press(keys);
        assert_eq!(scene.text(), after, "{keys}");
    };
    check("enter", "@quarkˇz", cx);
    check("tab", "@quarkˇ", cx);
}

#[gpui_kit::test]
fn composing_closes_the_list(cx: &mut TestAppContext) {
    let mut scene = open("quark\nˇ", cx);
    scene.press("_q");
    assert_eq!(scene.rows(), "[quark]");
    scene.editor.update_in(scene.cx, |editor, window, cx| {
        use gpui_kit::EntityInputHandler as _;
        editor.replace_and_mark_text_in_range(None, "u", None, window, cx);
    });
    assert_eq!(scene.rows(), "");
}

#[gpui_kit::test]
fn a_click_accepts_and_hover_keeps_the_selection(cx: &mut TestAppContext) {
    let mut scene = open("quark quick\nˇ", cx);
    scene.press("_q");
    let second = ("completion", 1usize);
    scene.cx.update(|window, cx| window.hover(second, cx));
    assert_eq!(scene.rows(), "[quick] quark");
    scene.cx.update(|window, cx| window.click(second, cx));
    assert_eq!(scene.text(), "quark quick\nquarkˇ");
}

#[gpui_kit::test]
fn regression_10_many_items_are_filtered_by_a_key(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    let many = (0..20_000).map(|id| item(id, &format!("q{id}")));
    scene.answer(many.collect(), false);
    scene.press("_1999");
    let rows = scene.rows();
    assert!(rows.starts_with("[q1999] q19990 q19991 q19992"), "{rows}");
}

#[gpui_kit::test]
fn regression_11_a_complete_list_serves_the_whole_word(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    scene.answer_labels(&["quark", "quick"]);
    scene.press("_u _i");
    assert_eq!(scene.rows(), "[quick]");
    scene.press("backspace backspace");
    assert_eq!(scene.rows(), "[quark] quick");
    assert_eq!(scene.requests(), 0);
}

#[gpui_kit::test]
fn a_source_that_saw_another_text_is_asked_again(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q _u");
    scene.answer(Vec::new(), true);
    let word = scene.source.requests.borrow()[0].0.word.clone();
    assert_eq!(word, "qu");
    scene.answer_labels(&["quark", "quick"]);
    assert_eq!(scene.rows(), "[quark] quick");
}

#[gpui_kit::test]
fn regression_12_a_list_stays_until_it_is_replaced(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    scene.answer(items(&["quark", "quick"]), true);
    scene.press("_u");
    assert_eq!(scene.rows(), "[quark] quick");
    assert_eq!(scene.requests(), 1, "an incomplete list is asked for again");
    scene.press("_i");
    assert_eq!(scene.rows(), "[quick]");
    let first_is_cancelled = scene.source.requests.borrow()[0].1.is_closed();
    assert!(first_is_cancelled, "one request is under way");
    scene.answer(items(&["quick", "quill"]), false);
    assert_eq!(scene.rows(), "[quick] quill");
}

#[gpui_kit::test]
fn regression_13_resolved_edits_refer_to_the_text_of_the_answer(cx: &mut TestAppContext) {
    let mut scene = open("ab\nˇ\nend", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer_labels(&["quark"]);
    scene.press("_ua");
    scene.wait(30);
    // The row below begins at offset 5 in the text of the answer, whose word has one letter.
    scene.resolve(|item| {
        let below = Edit::new(Span::at(ByteOffset(5)), "!");
        item.additional_edits = vec![import(0), below];
    });
    scene.press("enter");
    assert_eq!(scene.text(), "use q;\nab\nquarkˇ\n!end");
}

#[gpui_kit::test]
fn regression_14_an_item_is_resolved_once(cx: &mut TestAppContext) {
    let mut scene = open("ab\nˇ", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer_labels(&["quark", "quick"]);
    scene.wait(30);
    assert_eq!(scene.source.resolves.borrow().len(), 2);
    scene.press("down");
    scene.wait(30);
    scene.press("up");
    scene.wait(30);
    assert_eq!(scene.source.resolves.borrow().len(), 2);
    scene.resolve(|_| {});
    scene.resolve(|item| item.additional_edits = vec![import(0)]);
    scene.press("enter");
    scene.wait(1_000);
    assert_eq!(scene.text(), "use q;\nab\nquarkˇ");
    assert!(scene.source.resolves.borrow().is_empty());
    scene.press("ctrl-z");
    assert_eq!(scene.text(), "ab\nqˇ", "one step");
}

/// Accepts an item at once, and completes it after `millis`.
fn accept_and_resolve<'a>(millis: u64, cx: &'a mut TestAppContext) -> Scene<'a> {
    let mut scene = open("ab\nˇ", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer_labels(&["quark"]);
    scene.press("enter");
    scene.wait(millis);
    scene.resolve(|item| item.additional_edits = vec![import(0)]);
    scene
}

#[gpui_kit::test]
fn regression_15_edits_that_come_in_time_are_one_step(cx: &mut TestAppContext) {
    let mut scene = accept_and_resolve(100, cx);
    assert_eq!(scene.text(), "use q;\nab\nquarkˇ");
    scene.press("ctrl-z");
    assert_eq!(scene.text(), "ab\nqˇ");
}

#[gpui_kit::test]
fn regression_15_late_edits_are_added(cx: &mut TestAppContext) {
    let mut scene = accept_and_resolve(200, cx);
    assert_eq!(scene.text(), "use q;\nab\nquarkˇ");
    scene.press("ctrl-z");
    assert_eq!(scene.text(), "ab\nquarkˇ");
}

#[gpui_kit::test]
fn regression_15_typing_does_not_wait_for_edits(cx: &mut TestAppContext) {
    let mut scene = open("ab\nˇ", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer_labels(&["quark"]);
    scene.press("enter _;");
    assert_eq!(scene.text(), "ab\nquark;ˇ");
    scene.resolve(|item| item.additional_edits = vec![import(0)]);
    assert_eq!(scene.text(), "use q;\nab\nquark;ˇ");
}

#[gpui_kit::test]
fn regression_15_late_edits_of_changed_text_are_dropped(cx: &mut TestAppContext) {
    let mut scene = open("ab\nˇ", cx);
    scene.source.can_resolve.set(true);
    scene.press("_q");
    scene.answer_labels(&["quark"]);
    scene.press("enter ctrl-home delete");
    scene.resolve(|item| {
        let old = Span::new(ByteOffset(0), ByteOffset(2));
        item.additional_edits = vec![Edit::new(old, "xy")];
    });
    assert_eq!(scene.text(), "ˇb\nquark");
}

/// Answers with items that `;` commits, presses keys, and compares the text.
fn check_commit(labels: &[&str], keys: &str, after: &str, cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_v");
    let mut items = items(labels);
    for item in &mut items {
        item.commit_characters = vec![';'];
    }
    scene.answer(items, false);
    scene.press(keys);
    assert_eq!(scene.text(), after, "{labels:?} {keys}");
}

#[gpui_kit::test]
fn regression_16_a_commit_character_takes_only_what_was_meant(cx: &mut TestAppContext) {
    let labels = ["values", "value", "vector"];
    check_commit(&labels, "_alue;", "value;ˇ", cx);
    check_commit(&labels, "_e;", "vector;ˇ", cx);
    check_commit(&labels, "_s;", "vs;ˇ", cx);
    check_commit(&labels, "_s down up _;", "values;ˇ", cx);
    // A list that may be older than the word takes nothing.
    let mut scene = open("ˇ", cx);
    scene.press("_v");
    let mut strings = item(0, "values");
    strings.commit_characters = vec![';'];
    scene.answer(vec![strings], true);
    scene.press("_alue;");
    assert_eq!(scene.text(), "value;ˇ");
}

#[gpui_kit::test]
fn a_suggestion_and_the_list_never_share_a_key(cx: &mut TestAppContext) {
    let mut scene = open("quark\nˇ", cx);
    scene.press("_q");
    scene.answer_labels(&["quick"]);
    offer_at_caret(&scene.editor, "uiet", scene.cx);
    assert_eq!(scene.rows(), "[quark] quick");
    assert!(!scene.shows_suggestion(), "the list is open");
    scene.press("tab");
    assert_eq!(scene.text(), "quark\nquarkˇ");
}

#[gpui_kit::test]
fn escape_closes_the_list_and_shows_the_suggestion(cx: &mut TestAppContext) {
    let mut scene = open("quark\nˇ", cx);
    scene.press("_q ctrl-space");
    offer_at_caret(&scene.editor, "uiet", scene.cx);
    assert!(!scene.shows_suggestion());
    scene.press("escape");
    assert_eq!(scene.rows(), "");
    assert!(scene.shows_suggestion());
    scene.press("tab");
    assert_eq!(scene.text(), "quark\nquietˇ");
}

#[gpui_kit::test]
fn a_list_of_words_gives_way_to_a_suggestion(cx: &mut TestAppContext) {
    let mut scene = open("quark\nˇ", cx);
    scene.press("_q");
    assert_eq!(scene.rows(), "[quark]");
    offer_at_caret(&scene.editor, "uiet", scene.cx);
    assert_eq!(scene.rows(), "");
    assert!(scene.shows_suggestion());
    // Typing through the suggestion opens no list; typing something else does.
    scene.press("_u");
    assert_eq!(scene.rows(), "");
    assert!(scene.shows_suggestion());
    scene.press("_a");
    assert!(!scene.shows_suggestion());
    assert_eq!(scene.rows(), "[quark]");
}

#[gpui_kit::test]
fn rows_have_a_role_and_a_name(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q");
    let mut old = item(0, "quark");
    old.detail = Some("fn() -> u8".into());
    old.is_deprecated = true;
    scene.answer(vec![old], false);
    let named = scene.cx.update(|window, _| {
        let rows = window.find_all_by_label("quark, fn() -> u8, deprecated");
        (rows.len(), window.find_all_by_role(Role::ListBox).len())
    });
    assert_eq!(named, (1, 1));
}

#[gpui_kit::test]
fn the_request_names_its_reason(cx: &mut TestAppContext) {
    let mut scene = open("ˇ", cx);
    scene.press("_q ctrl-space");
    scene.cx.dispatch_action(ShowCompletions);
    let queries = scene.source.requests.borrow();
    let reasons: Vec<_> = queries.iter().map(|(query, _)| query.trigger).collect();
    use crate::CompletionTrigger::{Invoked, Typed};
    assert_eq!(reasons, [Typed, Invoked, Invoked]);
    assert_eq!(queries[0].0.word, "q");
}
