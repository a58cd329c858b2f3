//! Lists of things in a repository: former states of HEAD, pull requests.

use git_history::state_summary;
use git_program::ReflogState;
use gpui_kit::{App, Window};
use ui::foreign;

use super::{ChoiceItem, ChoicePicker};

/// Builds the list of former states of HEAD, the latest first. `now` is the current time in seconds since 1970.
pub(crate) fn reflog_states(
    states: &[ReflogState],
    now: i64,
    on_chosen: impl Fn(usize, &mut Window, &mut App) + 'static,
) -> ChoicePicker {
    let choices = states.iter().map(|state| ChoiceItem {
        title: foreign::one_line(state.entry.description.clone()),
        detail: foreign::one_line(state_summary(state, now)),
        is_current: false,
    });
    ChoicePicker::new("Former states", choices.collect(), on_chosen).with_two_lines()
}
