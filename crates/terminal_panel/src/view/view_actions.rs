//! Connects the actions of a terminal with their handlers.

use gpui_kit::{Context, InteractiveElement};

use super::TerminalView;
use super::{commands, control, copy_mode, failures, keys, scrolling, search};

impl TerminalView {
    /// Adds the handlers of all actions to an element.
    pub(super) fn with_actions<E: InteractiveElement>(
        &self,
        element: E,
        cx: &mut Context<Self>,
    ) -> E {
        let element = element
            .on_action(cx.listener(Self::copy))
            .on_action(cx.listener(Self::paste))
            .on_action(cx.listener(Self::select_all))
            .on_action(cx.listener(scrolling::clear))
            .on_action(cx.listener(Self::restart))
            .on_action(cx.listener(control::take_over))
            .on_action(cx.listener(control::give_back))
            .on_action(cx.listener(keys::send_text_action))
            .on_action(cx.listener(keys::send_key_action))
            .on_action(cx.listener(keys::toggle_send_all_keys))
            .on_action(cx.listener(copy_mode::toggle_copy_mode))
            .on_action(cx.listener(Self::open_menu));
        let element = element
            .on_action(cx.listener(scrolling::line_up))
            .on_action(cx.listener(scrolling::line_down))
            .on_action(cx.listener(scrolling::page_up))
            .on_action(cx.listener(scrolling::page_down))
            .on_action(cx.listener(scrolling::to_top))
            .on_action(cx.listener(scrolling::to_bottom));
        let element = element
            .on_action(cx.listener(search::find))
            .on_action(cx.listener(search::find_next))
            .on_action(cx.listener(search::find_previous))
            .on_action(cx.listener(search::close_find))
            .on_action(cx.listener(search::toggle_case))
            .on_action(cx.listener(search::toggle_word))
            .on_action(cx.listener(search::toggle_regex));
        element
            .on_action(cx.listener(commands::previous_command))
            .on_action(cx.listener(commands::next_command))
            .on_action(cx.listener(commands::copy_command))
            .on_action(cx.listener(commands::select_output))
            .on_action(cx.listener(commands::copy_output))
            .on_action(cx.listener(commands::run_again))
            .on_action(cx.listener(commands::send_output))
            .on_action(cx.listener(commands::send_selection))
            .on_action(cx.listener(failures::explain_failure))
            .on_action(cx.listener(failures::fix_failure))
    }
}
