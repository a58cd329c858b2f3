//! Commands of the shell: marks, jumps, copies, and running again.

use gpui_kit::{Role, TestAppContext};
use terminal::CommandState;

use super::open;
use crate::actions::{
    CopyCommand, CopyCommandOutput, ExplainLastFailure, FixLastFailure, NextCommand,
    PreviousCommand, RunCommandAgain, SelectCommandOutput, SendOutputToAgent,
};
use crate::view::{FailureRequest, TerminalViewEvent, failures};

#[gpui_kit::test]
fn commands_are_marked_and_their_output_copied(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.program().run_command("true", "", 0);
    story
        .program()
        .run_command("make all", "cc main.c\r\nerror\r\n", 2);
    story.program().show_prompt();
    story.settle();
    let states = story.read(|view| {
        let marks = view.contents.commands.iter();
        marks.map(|mark| (mark.row, mark.state)).collect::<Vec<_>>()
    });
    assert_eq!(states[0], (0, CommandState::Finished(Some(0))));
    assert_eq!(states[1].1, CommandState::Finished(Some(2)));
    let labels = story.labels(Role::Image);
    assert!(
        labels.contains(&"Failed with code 2 after 2.0 s: make all".to_owned()),
        "{labels:?}"
    );
    assert_eq!(story.read(|view| view.overview().len()), 2);
    story.act(CopyCommandOutput);
    assert_eq!(
        story.clipboard().as_deref().map(str::trim_end),
        Some("cc main.c\nerror")
    );
    story.act(CopyCommand);
    assert_eq!(story.clipboard().as_deref(), Some("make all"));
    story.act(SelectCommandOutput);
    let selected = story.read(|view| view.selected_text());
    assert_eq!(
        selected.as_deref().map(str::trim_end),
        Some("cc main.c\nerror")
    );
}

#[gpui_kit::test]
fn prompts_are_jumped_to_and_stick_to_the_top(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let output: String = (0..100).map(|ix| format!("{ix}\r\n")).collect();
    story.program().run_command("first", &output, 0);
    story.program().run_command("second", &output, 0);
    story.program().show_prompt();
    story.settle();
    let sticky = |view: &crate::TerminalView| {
        view.contents
            .sticky
            .as_ref()
            .map(|sticky| sticky.line.clone())
    };
    assert_eq!(story.read(sticky).as_deref(), Some("second"));
    story.act(PreviousCommand);
    assert_eq!(story.rows()[0], "$ second");
    assert_eq!(story.read(sticky), None, "the prompt itself is in view");
    story.act(PreviousCommand);
    assert_eq!(story.rows()[0], "$ first");
    story.act(NextCommand);
    assert_eq!(story.rows()[0], "$ second");
}

#[gpui_kit::test]
fn a_command_runs_again_unless_its_line_may_be_forged(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.program().run_command("make", "done\r\n", 0);
    story.program().show_prompt();
    story.settle();
    story.program().take_input();
    story.act(RunCommandAgain);
    assert_eq!(story.program().take_input(), "make\r");
    // A command line that only stood on the screen.
    story.print("evil\r\n\x1b]133;C\x07x\r\n\x1b]133;D;0\x07");
    story.program().show_prompt();
    story.settle();
    story.act(RunCommandAgain);
    assert_eq!(story.program().take_input(), "");
    assert_eq!(story.labels(Role::AlertDialog).len(), 1);
    assert_eq!(story.sent("enter"), "evil\r");
}

#[gpui_kit::test]
fn output_is_sent_to_the_agent(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    story.program().run_command("ls", "a\r\nb\r\n", 0);
    story.settle();
    story.act(SendOutputToAgent);
    let events = events.borrow();
    let [TerminalViewEvent::SendToAgent(text)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(text.trim_end(), "$ ls\na\nb");
}

#[gpui_kit::test]
fn the_last_failed_command_is_explained_or_fixed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let events = story.events();
    story.program().run_command("true", "", 0);
    story.settle();
    assert!(!story.read(failures::has_failed));
    story.act(ExplainLastFailure);
    assert!(events.borrow().is_empty(), "no command failed");
    let output: String = (0..5_000).map(|ix| format!("{ix}\r\n")).collect();
    story.program().run_command("make all", &output, 2);
    story.settle();
    assert!(story.read(failures::has_failed));
    // It is the last failed one also after a command that succeeded.
    story.program().run_command("ls", "a\r\n", 0);
    story.program().show_prompt();
    story.settle();
    assert!(!story.read(failures::has_failed));
    story.act(FixLastFailure);
    let events = events.borrow();
    let [TerminalViewEvent::AskAgent(request, failed)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(*request, FailureRequest::Fix);
    assert_eq!(failed.command, "make all");
    let quote = failed.quote.as_str();
    assert!(quote.contains("\n$ make all\n[The first "), "{quote}");
    assert!(quote.ends_with("\n4999\n[exit code 2]"), "{quote}");
}

#[gpui_kit::test]
fn a_running_command_makes_the_terminal_busy(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.program().show_prompt();
    story.settle();
    assert!(!story.read(|view| view.is_busy()));
    story.print("sleep 9\r\n\x1b]133;C\x07");
    assert!(story.read(|view| view.is_busy()));
    story.print("\x1b]133;D;0\x07");
    assert!(!story.read(|view| view.is_busy()));
}
