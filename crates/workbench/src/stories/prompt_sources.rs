//! Sources in a prompt that only the running program has: problems, other sessions, resources and
//! prompts of MCP servers.

use agent::SessionCommand;
use composer_panel::agents::{ServerContent, ServerContentKind, ShownProblems};
use gpui_kit::TestAppContext;
use gpui_kit::test::TestWindowExt as _;
use lsp::DiagnosticSeverity;

use super::agent_prompt::{shown, suggestions};
use super::agents::{open, said};
use super::path;
use super::problems::report_open;

const WARNING: DiagnosticSeverity = DiagnosticSeverity::Warning;

fn content(title: &str, kind: ServerContentKind) -> ServerContent {
    ServerContent {
        server: "notes".to_owned(),
        title: title.to_owned(),
        about: "from the server".to_owned(),
        kind,
    }
}

#[gpui_kit::test]
fn problems_of_the_folder_and_of_a_file_are_mentioned(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.open_file("lib.rs");
    report_open(&mut story, "/p/src/lib.rs", &[(18, WARNING, "unused")]);
    // The engines have them as the list of problems shows them, with the column.
    let line = "src/lib.rs:2:3: warning: unused (rustc)";
    let expected = ShownProblems {
        listed: vec![("src/lib.rs".to_owned(), line.to_owned())],
        more: 0,
    };
    let reported = fake.open_files().expect("the files of the window");
    assert_eq!(reported.0, path("/p"));
    assert_eq!(reported.1.problems, Some(expected));
    story.keys("ctrl-alt-i").input("fix @prob");
    let rows = suggestions(&mut story);
    assert!(
        rows[0].starts_with("problems, Problems that language"),
        "{rows:?}"
    );
    let file = "src/lib.rs, 1 warning";
    assert!(rows.iter().any(|row| row == file), "{rows:?}");
    story.keys("enter").input("@problems:lib").keys("enter");
    assert_eq!(shown(&mut story), "fix @problems @problems:src/lib.rs ");
    story.keys("enter");
    story.settle();
    let prompt = said("fix @problems @problems:src/lib.rs");
    assert_eq!(fake.take_commands(), [SessionCommand::Prompt(prompt)]);
    // Repaired: the engines have the new list.
    report_open(&mut story, "/p/src/lib.rs", &[]);
    let reported = fake.open_files().expect("the files of the window");
    assert_eq!(reported.1.problems, Some(ShownProblems::default()));
}

#[gpui_kit::test]
fn pages_of_the_guide_are_mentioned(cx: &mut TestAppContext) {
    let (mut story, _) = open(cx);
    story.keys("ctrl-alt-i").input("see @docs:saf");
    let rows = suggestions(&mut story);
    assert_eq!(rows[0], "docs:safety, Safety");
    story.keys("enter");
    assert_eq!(shown(&mut story), "see @docs:safety ");
}

#[gpui_kit::test]
fn another_session_is_a_chip_that_survives_as_a_draft(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("go on from @tidy");
    let rows = suggestions(&mut story);
    assert_eq!(rows, ["tidy the tests, session"]);
    story.keys("enter");
    let text = "go on from @\"session:tidy the tests #old\" ";
    assert_eq!(shown(&mut story), text);
    let panel = story.read(|it, _| it.agents().clone());
    story.cx.update(|window, cx| {
        panel.update(cx, |panel, cx| {
            panel.set_root(None, window, cx);
            panel.set_root(Some(path("/p")), window, cx);
        });
    });
    story.settle();
    assert_eq!(shown(&mut story), text);
    // It is one unit again: a single key removes it.
    story.keys("end backspace backspace");
    assert_eq!(shown(&mut story), "go on from ");
    assert!(fake.started().is_empty());
}

#[gpui_kit::test]
fn resources_of_servers_are_mentioned_by_keys_and_mouse(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let list = ServerContentKind::Resource("note:///list".to_owned());
    let any = ServerContentKind::Template("note:///{id}/text".to_owned());
    fake.set_server_contents(vec![
        content("Shopping list", list),
        content("One note", any),
    ]);
    story.keys("ctrl-alt-i").input("see @shop");
    let rows = suggestions(&mut story);
    let row = "Shopping list, notes \u{b7} note:///list \u{b7} from the server";
    assert_eq!(rows, [row]);
    story
        .cx
        .update(|window, cx| window.click(("completion", 0_usize), cx));
    story.settle();
    assert_eq!(shown(&mut story), "see @mcp:notes:note:///list ");
    // The variable of a template is typed over.
    story
        .input("and @mcp:notes:note:///{")
        .keys("enter")
        .input("7");
    let expected = "see @mcp:notes:note:///list and @mcp:notes:note:///7/text";
    assert_eq!(shown(&mut story), expected);
}

#[gpui_kit::test]
fn prompts_of_servers_take_their_arguments_in_the_box(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let arguments = vec![("file".to_owned(), true), ("focus".to_owned(), false)];
    let name = "review".to_owned();
    let review = ServerContentKind::Prompt { name, arguments };
    fake.set_server_contents(vec![content("Review a file", review)]);
    story.keys("ctrl-alt-i").input("/rev");
    let rows = suggestions(&mut story);
    let row = "Review a file, notes \u{b7} also: focus \u{b7} from the server";
    assert_eq!(rows, [row]);
    story.keys("enter").input("a.rs");
    assert_eq!(shown(&mut story), "/mcp:notes:review file=a.rs");
    story.keys("enter");
    story.settle();
    let prompt = said("/mcp:notes:review file=a.rs");
    assert_eq!(fake.take_commands(), [SessionCommand::Prompt(prompt)]);
}
