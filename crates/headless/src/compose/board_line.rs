//! A board as text.

use base::{AbsPath, LineFeeds, printable};
use composer::board::{Line, State, WaitsFor};
use model::Cost;

/// A job in a line. `said` is what its agent said last.
pub(super) fn shown(line: &Line, said: Option<&str>) -> String {
    let what = match &line.state {
        State::Waiting { what } => match what {
            WaitsFor::Leave { title, .. } => title.clone(),
            WaitsFor::Answer { text, .. } => text.clone(),
        },
        State::Failed { why } | State::Conflict { why } => why.clone(),
        State::Landed { commit } => commit.chars().take(12).collect(),
        _ => match (line.doing.is_empty(), said) {
            (true, Some(said)) => said.lines().next().unwrap_or_default().to_owned(),
            (true, None) => line.task.title.clone(),
            (false, _) => line.doing.clone(),
        },
    };
    let tree = line
        .place
        .as_ref()
        .map_or("-", |place| place.lease.as_str());
    let what = printable(&what, LineFeeds::Escape);
    let text = format!(
        "{:<4} {:<6} {:<13} {what}",
        line.job,
        tree,
        line.state.word()
    );
    text.trim_end().to_owned()
}

/// What came of jobs, and what can be done now.
pub(super) fn summary<'a>(lines: impl Iterator<Item = &'a Line>, hub: &AbsPath) -> String {
    let mut text = String::from("\n");
    let mut is_any = false;
    for line in lines {
        is_any = true;
        text.push_str(&whole(line));
        text.push('\n');
    }
    if is_any {
        text.push_str(&format!(
            "\nNothing of it is in {hub} yet. Go on there with `burin-agent compose forecast`, `review` and `land`; `undo` and \
             `restore` take back in a worktree.\n"
        ));
    }
    text
}

/// A job with its tree, its branch and what it cost.
pub(super) fn whole(line: &Line) -> String {
    let cost = match line.cost_nano {
        Some(nano) => Cost(nano).to_string(),
        None => "at a price that is not known".to_owned(),
    };
    let (lease, branch) = match &line.place {
        Some(place) => (place.lease.as_str(), place.branch.as_str()),
        None => ("-", "-"),
    };
    format!(
        "{:<4} {lease:<6} {:<13} {branch:<14} {cost:<10} {:>6.1} s  {}",
        line.job,
        line.state.word(),
        line.worked_ms as f64 / 1000.0,
        line.task.title
    )
}
