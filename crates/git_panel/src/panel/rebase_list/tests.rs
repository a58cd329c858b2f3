//! Tests the list of a rebase by the keyboard over a branch in memory.

use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, Platform};
use git_program::{RebaseAction, RebaseRequest};
use gpui_kit::test::TestQueryExt as _;
use gpui_kit::{AppContext as _, Entity, Focusable as _, Role, TestAppContext, VisualTestContext};
use settings::{KeymapBase, Settings, builtin, parse_keymap};

use super::RebaseList;
use super::steps::action_name;
use crate::fake::FakeGit;
use crate::panel::ChangesPanel;
use crate::service::{GitCommand, GitService as _};

struct ListStory<'a> {
    git: FakeGit,
    list: Entity<RebaseList>,
    cx: &'a mut VisualTestContext,
}

/// Opens the list of the commits `one` to `four`, the oldest first, with the focus.
fn open(cx: &mut TestAppContext) -> ListStory<'_> {
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(Platform::Linux, cx);
        ui::set_settings(Arc::new(Settings::builtin()), cx);
        let (name, text) = builtin::keymap(KeymapBase::VsCode, Platform::Linux);
        // Commands of other crates are unknown here.
        ui::install_keymaps(&[parse_keymap(name, text).0], cx);
    });
    let git = FakeGit::default();
    let root: AbsPath = git.add_repository("/p");
    git.set_branch_commits(&["four", "three", "two", "one", "base"], Some(4));
    let plan = futures::executor::block_on(git.rebase_plan(&root, None)).expect("a plan");
    let service = Arc::new(git.clone());
    let environment = editor::fixture::environment();
    let (list, cx) = cx.add_window_view(|window, cx| {
        let panel = cx.new(|cx| ChangesPanel::new(service, environment, window, cx));
        RebaseList::new(panel, root, plan, cx)
    });
    cx.update(|window, cx| {
        window.activate_window();
        list.read(cx).focus_handle(cx).focus(window, cx);
    });
    let mut story = ListStory { git, list, cx };
    story.settle();
    story
}

impl ListStory<'_> {
    fn settle(&mut self) {
        for _ in 0..3 {
            self.cx.run_until_parked();
            self.cx.executor().advance_clock(Duration::from_millis(600));
        }
        self.cx.run_until_parked();
    }

    fn keys(&mut self, keys: &str) {
        self.cx.simulate_keystrokes(keys);
        self.settle();
    }

    /// Returns the steps as Git writes them.
    fn steps(&mut self) -> Vec<String> {
        self.list.read_with(self.cx, |list, _| {
            let steps = list.steps.all().iter();
            steps
                .map(|step| format!("{} {}", action_name(&step.action), step.subject))
                .collect()
        })
    }

    fn request(&mut self) -> RebaseRequest {
        let mut commands = self.git.take_git_commands();
        match commands.pop() {
            Some(GitCommand::Rebase(request)) => request,
            other => panic!("{other:?}"),
        }
    }
}

#[gpui_kit::test]
fn keys_set_actions_and_move_commits(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.keys("down s down f down d");
    let expected = ["pick one", "squash two", "fixup three", "drop four"];
    assert_eq!(story.steps(), expected);
    story.keys("alt-up home alt-down down p");
    let expected = ["squash two", "pick one", "pick four", "fixup three"];
    assert_eq!(story.steps(), expected);
    // The first commit has none before it.
    story.keys("ctrl-enter");
    assert!(story.git.take_git_commands().is_empty());
    let elements = story.cx.update(|window, _| window.elements());
    let alert = elements.iter().find(|it| it.role() == Some(Role::Alert));
    let alert = alert.and_then(|it| it.label()).unwrap_or_default();
    assert!(alert.contains("none before it"), "{alert}");
    story.keys("home p e ctrl-enter");
    let request = story.request();
    assert_eq!(request.upstream, "@{upstream}");
    assert!(request.autostash);
    let steps = request.steps.expect("an edited list");
    assert_eq!(steps[0].action, RebaseAction::Edit);
    let subjects: Vec<&str> = steps.iter().map(|step| step.subject.as_str()).collect();
    assert_eq!(subjects, ["two", "one", "four", "three"]);
}

#[gpui_kit::test]
fn a_message_is_edited_as_a_whole(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.keys("down r");
    story.cx.simulate_input("Better ");
    story.settle();
    // Letters are text here, and the keys of the message return to the list.
    story.keys("ctrl-enter");
    assert_eq!(story.steps()[1], "reword Better two");
    story.keys("r escape ctrl-enter");
    let steps = story.request().steps.expect("an edited list");
    let message = "Better two\n\nThe whole message.\n".to_owned();
    assert_eq!(steps[1].action, RebaseAction::Reword(message));
}

#[gpui_kit::test]
fn the_message_of_a_squash_is_edited(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.keys("down s r");
    story.cx.simulate_input("Both: ");
    story.settle();
    story.keys("ctrl-enter");
    assert_eq!(story.steps()[1], "squash two");
    // The edited message is shown again.
    story.keys("r escape ctrl-enter");
    let steps = story.request().steps.expect("an edited list");
    let message = "Both: one\n\nThe whole message.\n\ntwo\n\nThe whole message.\n".to_owned();
    assert_eq!(steps[1].action, RebaseAction::Squash(Some(message)));
}
