//! Lists of things in a repository: former states of HEAD, pull requests.

use git_history::state_summary;
use git_panel::{ChangesPanel, GitCommand};
use git_program::{PullRequest, ReflogState};
use gpui_kit::{App, Entity, Window};
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

/// Builds the list of open pull requests to check out.
pub(crate) fn pull_requests(
    panel: Entity<ChangesPanel>,
    requests: Vec<PullRequest>,
) -> ChoicePicker {
    let choices = requests.iter().map(|request| ChoiceItem {
        title: foreign::one_line(format!("#{} {}", request.number, request.title)),
        detail: foreign::one_line(request_detail(request)),
        is_current: false,
    });
    let choices = choices.collect();
    let name = "Check out a pull request";
    let picker = ChoicePicker::new(name, choices, move |index, window, cx| {
        if let Some(request) = requests.get(index) {
            let command = GitCommand::CheckOutPullRequest(request.number);
            panel.update(cx, |panel, cx| panel.run(command, window, cx));
        }
    });
    picker.with_two_lines()
}

fn request_detail(request: &PullRequest) -> String {
    let branches = format!("{} \u{2192} {}", request.branch, request.base);
    let draft = request.is_draft.then_some("draft");
    let parts = [request.author.as_str(), branches.as_str()].into_iter();
    parts.chain(draft).collect::<Vec<_>>().join(" \u{b7} ")
}
