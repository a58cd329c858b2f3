//! The menu of a right click.

use gpui_kit::{Action, Context, Window};
use ui::{Menu, open_menu_at};

use super::TerminalView;
use super::{control, failures, mouse};
use crate::actions::{
    Clear, CloseTerminal, Copy, CopyCommandOutput, ExplainLastFailure, Find, FixLastFailure,
    GiveBack, MoveTerminalIntoEditorArea, MoveTerminalIntoPanel, NewTerminal, OpenMenu, Paste,
    RunCommandAgain, SelectAll, SendOutputToAgent, SendSelectionToAgent, SplitTerminal, TakeOver,
    ToggleCopyMode,
};

impl TerminalView {
    /// Returns the menu; an empty one if the click goes to the program.
    pub(super) fn menu(&self, window: &Window) -> Menu {
        if mouse::reports_mouse(self, &window.modifiers()) {
            return Menu::new();
        }
        let has_selection = self.contents.snapshot.selection.is_some();
        let has_commands = self.contents.has_commands;
        let (move_label, move_action): (&str, Box<dyn Action>) = match self.placement {
            None => (
                "Move into editor area",
                Box::new(MoveTerminalIntoEditorArea),
            ),
            Some(_) => ("Move into panel", Box::new(MoveTerminalIntoPanel)),
        };
        let has_failed = failures::has_failed(self);
        Menu::new()
            .focus(self.focus.clone())
            .action_if("Copy", Box::new(Copy), has_selection)
            .action_if("Paste", Box::new(Paste), self.running_program().is_some())
            .action("Select all", Box::new(SelectAll))
            .action("Find\u{2026}", Box::new(Find))
            .action("Copy mode", Box::new(ToggleCopyMode))
            .separator()
            .action_if(
                "Copy output of command",
                Box::new(CopyCommandOutput),
                has_commands,
            )
            .action_if("Run command again", Box::new(RunCommandAgain), has_commands)
            .action_if(
                "Send output to agent",
                Box::new(SendOutputToAgent),
                has_commands,
            )
            .action_if(
                "Send selection to agent",
                Box::new(SendSelectionToAgent),
                has_selection,
            )
            .action_if("Explain failure", Box::new(ExplainLastFailure), has_failed)
            .action_if(
                "Fix failure with agent",
                Box::new(FixLastFailure),
                has_failed,
            )
            .separator()
            .action_if(
                "Take over",
                Box::new(TakeOver),
                control::can_take_over(self),
            )
            .action_if("Give back", Box::new(GiveBack), self.has_control())
            .action("Clear", Box::new(Clear))
            .action("New terminal", Box::new(NewTerminal))
            .action("Split terminal", Box::new(SplitTerminal))
            .action(move_label, move_action)
            .action("Close terminal", Box::new(CloseTerminal))
    }

    /// Handler of an action: opens the menu at the cursor.
    pub(super) fn open_menu(&mut self, _: &OpenMenu, window: &mut Window, cx: &mut Context<Self>) {
        let Some(geometry) = &self.geometry else {
            return;
        };
        let cursor = self.contents.snapshot.cursor;
        let (row, column) = cursor.map_or((0, 0), |it| (it.row, it.position.column));
        let cell = geometry.cells_at(row, column, 1);
        open_menu_at(cell.center(), window, cx);
    }
}
