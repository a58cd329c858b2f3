//! Tests that every command of the caret has an action, and the reverse.

use std::collections::BTreeSet;

use caret::Command;
use gpui_kit::{App, TestAppContext};

use super::{CARET_ACTION_NAMES, CARET_ACTIONS};

#[gpui_kit::test]
fn every_command_is_an_action_with_its_own_help(cx: &mut TestAppContext) {
    cx.update(|cx: &mut App| {
        let help = cx.action_documentation();
        let mut covered = BTreeSet::new();
        for (action, name) in CARET_ACTIONS.iter().zip(CARET_ACTION_NAMES) {
            let command = (action.command)();
            let text = help
                .get(format!("editor::{name}").as_str())
                .copied()
                .unwrap_or_default();
            assert_eq!(text.trim(), command.doc(), "{name}");
            assert!(
                covered.insert(command.name()),
                "{name} repeats {}",
                command.name()
            );
        }
        for command in Command::all() {
            assert!(
                covered.contains(command.name()),
                "no action for {}",
                command.name()
            );
        }
    });
}
