//! Tab in a whole window: when suggestions appear, how they are accepted, and when they are suppressed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autocomplete::engine::{CompletionRequest, TabKind, TabModel};
use base::AbsPath;
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::BoxStream;
use gpui_kit::{Keystroke, TestAppContext};
use host::{FakeClock, FakeFiles};
use lsp::DiagnosticSeverity;
use model::{ModelId, NextEditFormat, StopReason, StreamEvent};

use super::problems::report_open;
use super::{Story, open_with, path, services, start_with};
use crate::actions::suggestions::{Snooze, Toggle};
use crate::windows::OpenRequest;
use crate::{Services, TabItem, TabModels, TextNews};

const CALLS: &str =
    "fn a() {\n    info(1);\n}\n\nfn b() {\n    info(2);\n}\n\nfn c() {\n    info(3);\n}\n";

fn calls() -> FakeFiles {
    let files = FakeFiles::new();
    files.write(&path("/p/src/calls.rs"), CALLS);
    files
}

/// Returns the new text of the first edit of the suggestion.
fn offered(story: &mut Story) -> Option<String> {
    story.settle();
    story.read(|workbench, cx| {
        let editor = workbench.active_item().and_then(TabItem::editor)?.read(cx);
        let suggestion = editor.suggestion().filter(|_| editor.shows_suggestion())?;
        Some(suggestion.edits.first()?.new.to_string())
    })
}

fn bar(story: &mut Story) -> String {
    story.settle();
    story.read(|workbench, cx| workbench.prediction().read(cx).short(cx).0.to_string())
}

/// Writes `warn` over the `info` of a line.
fn rename(story: &mut Story, line: u32) {
    story.open_file(&format!("calls.rs:{line}:5"));
    story.keys("shift-right shift-right shift-right shift-right");
    story.input("warn");
}

#[gpui_kit::test]
fn after_two_like_edits_tab_makes_the_third(cx: &mut TestAppContext) {
    let mut story = open_with(calls(), cx);
    rename(&mut story, 2);
    assert_ne!(offered(&mut story).as_deref(), Some("warn"), "one is none");
    rename(&mut story, 6);
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    assert_eq!(bar(&mut story), "Tab: your edits");
    story.keys("tab");
    story.settle();
    assert_eq!(story.text(), CALLS.replace("info", "warn"));
    assert_eq!(offered(&mut story), None, "nothing is left");
    story.keys("ctrl-z");
    story.settle();
    assert_eq!(story.text().matches("warn").count(), 2);
    assert_eq!(
        offered(&mut story),
        None,
        "what was taken back is not offered again"
    );
}

const TWO: &str = "fn a() {\n    info(1);\n}\n\nfn b() {\n    info(2);\n}\n";
const THIRD: &str = "//! Rows before it.\n\nfn c() {\n    info(3);\n    call();\n    info(4);\n}\n";

/// A project in which the third place of an edit lies in a file that is not open.
fn split() -> FakeFiles {
    let files = FakeFiles::new();
    for (name, text) in [
        ("/p/src/calls.rs", TWO),
        ("/p/src/third.rs", THIRD),
        ("/p/src/words.rs", "// info: nothing to be changed\n"),
        ("/p/src/secrets/more.rs", "fn d() {\n    info(5);\n}\n"),
    ] {
        files.write(&path(name), text);
    }
    files
}

/// The file that a suggestion leads to.
fn leads_to(story: &mut Story) -> Option<String> {
    story.settle();
    story.read(|workbench, cx| {
        let editor = workbench.active_item().and_then(TabItem::editor)?.read(cx);
        let suggestion = editor.suggestion().filter(|_| editor.shows_suggestion())?;
        Some(suggestion.file.as_ref()?.to_string())
    })
}

#[gpui_kit::test]
fn tab_jumps_to_an_edit_in_an_unopened_file(cx: &mut TestAppContext) {
    let mut story = open_with(split(), cx);
    rename(&mut story, 2);
    assert_eq!(leads_to(&mut story), None, "one is none");
    rename(&mut story, 6);
    assert_eq!(leads_to(&mut story).as_deref(), Some("/p/src/third.rs"));
    story.keys("tab");
    story.settle();
    assert_eq!(story.text(), THIRD, "Tab opens it, and changes nothing");
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.keys("tab");
    assert_eq!(story.text(), THIRD.replacen("info", "warn", 1));
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.keys("tab");
    assert_eq!(story.text(), THIRD.replace("info", "warn"));
    assert_eq!(offered(&mut story), None, "a secret is not looked into");
    assert_eq!(leads_to(&mut story), None);
}

#[gpui_kit::test]
fn a_deleted_file_is_not_a_jump_target(cx: &mut TestAppContext) {
    let files = split();
    let mut story = open_with(files.clone(), cx);
    rename(&mut story, 2);
    rename(&mut story, 6);
    assert_eq!(leads_to(&mut story).as_deref(), Some("/p/src/third.rs"));
    files.write(&path("/p/src/third.rs"), THIRD.replace("info", "warn"));
    assert_eq!(leads_to(&mut story), None);
    files.write(&path("/p/src/late.rs"), THIRD);
    assert_eq!(leads_to(&mut story).as_deref(), Some("/p/src/late.rs"));
}

#[gpui_kit::test]
fn expand_word_uses_the_text_and_open_files(cx: &mut TestAppContext) {
    let files = FakeFiles::new();
    files.write(
        &path("/p/src/one.rs"),
        "fn remember() {}\n\nfn a() {\n    \n}\n",
    );
    files.write(&path("/p/src/two.rs"), "fn rewind() {}\n");
    let mut story = open_with(files, cx);
    story.open_file("two.rs");
    story.open_file("one.rs:4:5");
    story.settle();
    story.input("re");
    let mut seen = Vec::new();
    for _ in 0..3 {
        story.keys("alt-/");
        let text = story.text();
        seen.push(text.lines().nth(3).unwrap_or_default().trim().to_owned());
    }
    assert!(seen.contains(&"remember".to_owned()), "{seen:?}");
    assert!(seen.contains(&"rewind".to_owned()), "{seen:?}");
    story.input("zqxj");
    let before = story.text();
    story.keys("alt-/");
    assert_eq!(story.text(), before);
    let reports = story.reports();
    assert!(reports.iter().any(|it| it.contains("zqxj”")), "{reports:?}");
}

#[gpui_kit::test]
fn escape_sends_it_away_and_tab_indents_again(cx: &mut TestAppContext) {
    let mut story = open_with(calls(), cx);
    rename(&mut story, 2);
    rename(&mut story, 6);
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.keys("escape");
    assert_eq!(offered(&mut story), None);
    story.keys("tab");
    story.settle();
    assert_eq!(story.text().matches("warn").count(), 2);
}

#[gpui_kit::test]
fn the_person_rests_it_and_turns_it_off(cx: &mut TestAppContext) {
    let mut story = open_with(calls(), cx);
    rename(&mut story, 2);
    rename(&mut story, 6);
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.act(Snooze);
    assert_eq!(offered(&mut story), None);
    assert_eq!(bar(&mut story), "Tab rests 5 min");
    story.act(Snooze);
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.act(Toggle);
    assert_eq!(offered(&mut story), None);
    assert_eq!(bar(&mut story), "Tab off");
    let settings = story.on_disk("/burin/config/settings.json");
    assert!(settings.contains("\"show\": \"off\""), "{settings}");
}

#[gpui_kit::test]
fn nothing_of_a_secret_file_is_looked_at(cx: &mut TestAppContext) {
    let files = calls();
    files.write(&path("/p/src/secrets/keys.rs"), "const A: u8 = 1;\n");
    let models = Arc::new(Models::default());
    let (mut story, clock) = open_asking(files, &models, cx);
    story.open_file("keys.rs:1:17");
    story.input("2");
    clock.advance(Duration::from_secs(2));
    assert_eq!(offered(&mut story), None);
    assert_eq!(bar(&mut story), "Tab off here");
    assert_eq!(models.asked().len(), 0);
}

/// Presses a key; what comes in by the suggestion that is in the frame which that key ends with. Nothing that runs
/// beside has gone on by then.
fn painted_at(story: &mut Story, key: &'static str) -> Option<String> {
    press(story, key);
    painted(story)
}

/// Presses a key; nothing that runs beside has gone on when it returns.
fn press(story: &mut Story, key: &'static str) {
    let keystroke = Keystroke::parse(key).expect("a key");
    story
        .cx
        .update(|window, cx| window.dispatch_keystroke(keystroke, cx));
}

/// Returns what the suggestion in the latest frame inserts.
fn painted(story: &mut Story) -> Option<String> {
    story.read(|workbench, cx| {
        let editor = workbench.active_item().and_then(TabItem::editor)?.read(cx);
        let revision = editor.model().read(cx).snapshot().revision();
        let suggestion = editor.suggestion()?;
        let is_painted = editor.last_painted() == Some((suggestion.id, revision));
        is_painted.then(|| suggestion.edits[0].new.to_string())
    })
}

#[gpui_kit::test]
fn propagated_edits_appear_right_after_the_frame_of_the_key(cx: &mut TestAppContext) {
    let mut story = open_with(calls(), cx);
    rename(&mut story, 2);
    story.open_file("calls.rs:6:5");
    story.keys("shift-right shift-right shift-right shift-right");
    for key in ["w", "a", "r"] {
        assert_ne!(painted_at(&mut story, key).as_deref(), Some("warn"));
    }
    // The local tier does not delay the key, and waits for nothing else.
    assert_eq!(painted_at(&mut story, "n"), None);
    story.cx.run_until_parked();
    assert_eq!(painted(&mut story).as_deref(), Some("warn"));
}

#[gpui_kit::test]
fn project_completions_appear_in_the_frame_of_the_key(cx: &mut TestAppContext) {
    let files = calls();
    let text = "fn show() {\n    let painter = Painter::opened_on(screen);\n}\n".repeat(3);
    for number in 1..5 {
        files.write(&path(&format!("/p/src/like{number}.rs")), &text);
    }
    files.write(&path("/p/src/new.rs"), "fn new() {\n    \n}\n");
    let mut story = open_with(files, cx);
    story.open_file("new.rs:2:5");
    story.input("let painter = Painter::");
    let painted = painted_at(&mut story, "o");
    let rest = painted.expect("what followed the like");
    assert!(rest.starts_with("pened_on"), "{rest}");
    for (key, left) in [("p", 1), ("e", 2), ("n", 3)] {
        let painted = painted_at(&mut story, key);
        assert_eq!(painted.as_deref(), Some(&rest[left..]), "typed through");
    }
}

#[gpui_kit::test]
fn cached_model_suggestions_appear_in_the_frame_of_the_key(cx: &mut TestAppContext) {
    let models = Arc::new(Models::default());
    let (mut story, clock) = open_asking(calls(), &models, cx);
    story.open_file("calls.rs:2:5");
    story.input("let ");
    clock.advance(Duration::from_secs(1));
    story.keys("alt-\\");
    let answer = "answer = 42;";
    assert_eq!(offered(&mut story).as_deref(), Some(answer));
    assert_eq!(painted_at(&mut story, "a").as_deref(), Some(&answer[1..]));
    story.settle();
    let asked = models.asked().len();
    assert_eq!(painted_at(&mut story, "left"), None);
    let painted = painted_at(&mut story, "right");
    assert_eq!(painted.as_deref(), Some(&answer[1..]), "it is known");
    assert_eq!(models.asked().len(), asked);
}

#[gpui_kit::test]
fn prefetched_suggestions_appear_in_the_frame_of_the_tab(cx: &mut TestAppContext) {
    let models = Arc::new(Models::default());
    let (mut story, clock) = open_asking(calls(), &models, cx);
    story.open_file("calls.rs:2:5");
    story.input("let ");
    clock.advance(Duration::from_secs(1));
    story.keys("alt-\\");
    assert_eq!(offered(&mut story).as_deref(), Some("answer = 42;"));
    let behind = |ask: &CompletionRequest| match ask {
        CompletionRequest::Fim(fim) => fim.prefix.ends_with("let answer = 42;"),
        CompletionRequest::Chat(_) => false,
    };
    assert!(!models.asked().iter().any(behind));
    // A suggestion that was visible this long may be accepted.
    clock.advance(Duration::from_secs(1));
    story.settle();
    let asked = models.asked();
    assert_eq!(asked.iter().filter(|ask| behind(ask)).count(), 1);
    let painted = painted_at(&mut story, "tab");
    assert!(story.text().contains("    let answer = 42;info(1);"));
    assert_eq!(painted.as_deref(), Some(" again"));
    assert_eq!(models.asked().len(), asked.len(), "it was there");
}

#[gpui_kit::test]
fn several_carets_get_what_the_local_tier_says(cx: &mut TestAppContext) {
    let files = calls();
    let arms = "    match kind {\n        Kind::One => 1,\n        here\n    }\n";
    let text = format!(
        "enum Kind {{ One, Two }}\n\nfn a(kind: Kind) -> u8 {{\n{arms}}}\n\nfn b(kind: Kind) -> u8 {{\n{arms}}}\n"
    );
    files.write(&path("/p/src/kinds.rs"), &text);
    let mut story = open_with(files, cx);
    story.open_file("kinds.rs:6:9");
    story.keys("shift-right shift-right shift-right shift-right ctrl-d");
    story.input("K");
    let rest = painted_at(&mut story, "i").expect("the next arm");
    assert_eq!(rest, "nd::Two => ");
    story.keys("tab");
    assert_eq!(story.text(), text.replace("here", "Kind::Two => "));
}

#[gpui_kit::test]
fn what_two_carets_did_is_offered_at_the_third_place(cx: &mut TestAppContext) {
    let mut story = open_with(calls(), cx);
    story.open_file("calls.rs:2:5");
    story.keys("shift-right shift-right shift-right shift-right ctrl-d");
    story.input("warn");
    assert_eq!(story.text().matches("warn").count(), 2, "{}", story.text());
    assert_eq!(offered(&mut story).as_deref(), Some("warn"));
    story.keys("tab");
    assert_eq!(story.text(), CALLS.replace("info", "warn"));
}

/// A model that goes on with the same words.
#[derive(Default)]
struct Models {
    asked: Mutex<Vec<CompletionRequest>>,
    /// The format of a next-edit model; `None` for one that fills gaps.
    format: Option<NextEditFormat>,
    /// The news of texts: how each was changed, or that it was opened or closed.
    news: Mutex<Vec<String>>,
}

impl Models {
    fn asked(&self) -> Vec<CompletionRequest> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl TabModels for Models {
    fn choose(&self, wanted: String) -> BoxFuture<'static, Result<Option<TabModel>, crate::Error>> {
        let model = TabModel {
            id: ModelId::parse("local/small").expect("a name"),
            kind: self.format.map_or(TabKind::Gap, TabKind::NextEdit),
            is_serial: false,
        };
        assert_eq!(wanted, "auto");
        std::future::ready(Ok(Some(model))).boxed()
    }

    fn ask(&self, what: CompletionRequest) -> BoxStream<'static, StreamEvent> {
        let asked = self.asked.lock();
        let answer = match &what {
            CompletionRequest::Fim(fim) if fim.prefix.ends_with(';') => " again",
            _ => "answer = 42;",
        };
        asked.unwrap_or_else(PoisonError::into_inner).push(what);
        let events = [
            StreamEvent::TextDelta(answer.to_owned()),
            StreamEvent::Stop {
                reason: StopReason::EndTurn,
                raw: "stop".to_owned(),
            },
        ];
        futures::stream::iter(events).boxed()
    }

    fn record_metric(&self, name: &'static str, _: f64, tags: String) {
        assert!(name.starts_with("tab."), "{name}");
        assert!(tags.contains("\"source\":"), "{tags}");
    }

    fn record_text(&self, path: AbsPath, news: TextNews) {
        let news = match news {
            TextNews::Opened(text) => format!("opened {}", text.len().0),
            TextNews::Edited { change, cause, .. } => format!("{cause:?} by {:?}", change.author),
            TextNews::Closed => "closed".to_owned(),
        };
        let mut all = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(format!("{path}: {news}"));
    }
}

#[gpui_kit::test]
fn the_cause_of_each_change_is_recorded(cx: &mut TestAppContext) {
    let models = Arc::new(Models::default());
    let (mut story, clock) = open_asking(calls(), &models, cx);
    story.open_file("calls.rs:2:5");
    story.input("let ");
    story.settle();
    clock.advance(Duration::from_secs(1));
    story.keys("alt-\\");
    assert_eq!(offered(&mut story).as_deref(), Some("answer = 42;"));
    story.keys("tab");
    story.settle();
    story.keys("ctrl-z");
    story.settle();
    let news = models.news.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = format!("/p/src/calls.rs: opened {}", CALLS.len());
    assert_eq!(news.first(), Some(&opened));
    let changes: Vec<&str> = news
        .iter()
        .filter_map(|news| news.strip_prefix("/p/src/calls.rs: "))
        .skip(1)
        .collect();
    assert_eq!(changes.first(), Some(&"Typed by User"), "{changes:?}");
    let last = changes.iter().rev().take(2).copied().collect::<Vec<_>>();
    assert_eq!(last, ["Undone by User", "Accepted by User"]);
}

fn open_asking(
    files: FakeFiles,
    models: &Arc<Models>,
    cx: &mut TestAppContext,
) -> (Story, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::at(1_700_000_000_000));
    let services = Services {
        tab: Some(models.clone()),
        clock: clock.clone(),
        ..services(&files)
    };
    let request = OpenRequest {
        folders: vec![path("/p")],
        files: Vec::new(),
    };
    let mut stories = start_with(services, &files, request, cx);
    let mut story = stories.pop().expect("a window");
    story.settle();
    (story, clock)
}

#[gpui_kit::test]
fn a_models_answer_is_shown_and_taken_word_by_word(cx: &mut TestAppContext) {
    let models = Arc::new(Models::default());
    let (mut story, clock) = open_asking(calls(), &models, cx);
    story.open_file("calls.rs:2:5");
    story.input("let ");
    story.settle();
    clock.advance(Duration::from_secs(1));
    story.keys("alt-\\");
    assert_eq!(offered(&mut story).as_deref(), Some("answer = 42;"));
    assert!(
        bar(&mut story).starts_with("Tab: small"),
        "{}",
        bar(&mut story)
    );
    let asked = models.asked();
    let Some(CompletionRequest::Fim(fim)) = asked.first() else {
        panic!("{asked:?}");
    };
    assert!(fim.prefix.ends_with("    let "), "{}", fim.prefix);
    story.keys("ctrl-right");
    assert_eq!(offered(&mut story).as_deref(), Some(" = 42;"));
    story.keys("tab");
    story.settle();
    assert!(
        story.text().contains("    let answer = 42;info(1);"),
        "{}",
        story.text()
    );
}

/// Returns the prompt of the last request after an error was reported and `x` typed.
fn prompt_with_an_error(format: Option<NextEditFormat>, cx: &mut TestAppContext) -> String {
    let models = Arc::new(Models {
        format,
        ..Models::default()
    });
    let (mut story, clock) = open_asking(calls(), &models, cx);
    story.open_file("calls.rs:2:5");
    let errors = [(
        13,
        DiagnosticSeverity::Error,
        "no function `info`\nhelp: `warn`",
    )];
    report_open(&mut story, "/p/src/calls.rs", &errors);
    story.input("x");
    story.settle();
    clock.advance(Duration::from_secs(1));
    story.keys("alt-\\");
    story.settle();
    let asked = models.asked();
    let Some(CompletionRequest::Fim(request)) = asked.last() else {
        panic!("{asked:?}");
    };
    let files = request.files.iter().map(|file| file.path.as_str());
    files.chain([request.prefix.as_str()]).collect()
}

#[gpui_kit::test]
fn models_of_edits_read_the_errors_near_the_caret(cx: &mut TestAppContext) {
    let prompt = prompt_with_an_error(Some(NextEditFormat::Zeta2), cx);
    let listed = "<filename>diagnostics\nerror in line 2: no function `info`\n> xinfo(1);\n";
    assert!(prompt.contains(listed), "{prompt}");
}

#[gpui_kit::test]
fn models_that_fill_gaps_read_code_only(cx: &mut TestAppContext) {
    let prompt = prompt_with_an_error(None, cx);
    assert!(prompt.contains("fn a()"), "{prompt}");
    assert!(!prompt.contains("no function"), "{prompt}");
    assert!(!prompt.contains("diagnostics"), "{prompt}");
}
