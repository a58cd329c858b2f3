//! Former states of HEAD in words: when they were, and what the way back to them gains and loses.
//!
//! Pure.

use git_program::{NamedCommits, ReflogState, UndoStep};

use crate::age::age;
use crate::blame::short_id;

/// Returns when a state was, and what the way back to it changes, on one line.
pub fn state_summary(state: &ReflogState, now: i64) -> String {
    let age = age(now, state.entry.seconds);
    format!("{age} \u{b7} {}", short_effect(state))
}

fn short_effect(state: &ReflogState) -> String {
    match &state.plan.step {
        UndoStep::SwitchBranch(name) => format!("switches to {name}"),
        UndoStep::SwitchDetached(id) => {
            format!("checks out {} without a branch", short_id(id))
        }
        UndoStep::ResetSoft(id) | UndoStep::ResetKeep(id) => {
            let id = short_id(id);
            match (state.gained.count, state.lost.count) {
                (0, 0) => format!("back to {id}"),
                (0, lost) => format!("back to {id}, without {}", counted(lost, &state.lost)),
                (gained, 0) => format!("back to {id}, with {}", counted(gained, &state.gained)),
                (gained, lost) => format!(
                    "back to {id}, with {}, without {}",
                    counted(gained, &state.gained),
                    counted(lost, &state.lost)
                ),
            }
        }
    }
}

fn counted(count: usize, commits: &NamedCommits) -> String {
    let count = base::count_of(count, "commit");
    if commits.is_cut {
        format!("at least {count}")
    } else {
        count
    }
}

/// Returns what the way back to a state does, in whole sentences.
pub fn state_effect(state: &ReflogState) -> String {
    let effect = match &state.plan.step {
        UndoStep::SwitchBranch(name) => {
            format!("Switches to the branch {name}. No branch loses a commit.")
        }
        UndoStep::SwitchDetached(id) => format!(
            "Checks out {} without a branch. No branch loses a commit.",
            short_id(id)
        ),
        UndoStep::ResetSoft(id) | UndoStep::ResetKeep(id) => {
            let mut effect = format!("The branch and its files go back to {}.", short_id(id));
            for (commits, verb) in [(&state.gained, "gains"), (&state.lost, "loses")] {
                if commits.count > 0 {
                    effect = format!("{effect} It {verb} {}.", named(commits));
                }
            }
            if state.lost.count > 0 {
                effect.push_str(" They stay in this list.");
            }
            effect
        }
    };
    format!("{effect} Git refuses if changes that are not committed would be lost.")
}

/// Names commits: `2 commits: “one”, “two”`.
fn named(commits: &NamedCommits) -> String {
    let subjects = commits.subjects.iter();
    let subjects: Vec<String> = subjects.map(|it| format!("\u{201c}{it}\u{201d}")).collect();
    let more = commits.count - subjects.len().min(commits.count);
    let more = if more > 0 || commits.is_cut {
        " and more"
    } else {
        ""
    };
    let count = counted(commits.count, commits);
    format!("{count}: {}{more}", subjects.join(", "))
}

#[cfg(test)]
mod tests {
    use git_program::{NamedCommits, ReflogEntry, ReflogState, UndoPlan, UndoStep};

    use super::{state_effect, state_summary};

    fn commits(count: usize, subjects: &[&str]) -> NamedCommits {
        NamedCommits {
            count,
            subjects: subjects.iter().map(|it| (*it).to_owned()).collect(),
            is_cut: false,
        }
    }

    fn state(step: UndoStep, gained: NamedCommits, lost: NamedCommits) -> ReflogState {
        ReflogState {
            entry: ReflogEntry {
                id: "1".repeat(40),
                before: None,
                seconds: 0,
                description: "commit: one".to_owned(),
            },
            plan: UndoPlan {
                action: "commit: one".to_owned(),
                step,
                head: "2".repeat(40),
            },
            gained,
            lost,
        }
    }

    #[test]
    fn gained_and_lost_commits_are_named() {
        let step = UndoStep::ResetKeep("1".repeat(40));
        let state = state(step, commits(1, &["old"]), commits(4, &["a", "b", "c"]));
        assert_eq!(
            state_summary(&state, 7200),
            "2 hours ago \u{b7} back to 11111111, with 1 commit, without 4 commits"
        );
        let effect = state_effect(&state);
        let expected = "It gains 1 commit: \u{201c}old\u{201d}. It loses 4 commits: \u{201c}a\u{201d}, \u{201c}b\u{201d}, \u{201c}c\u{201d} and more. They stay in this list.";
        assert!(effect.contains(expected), "{effect}");
        assert!(effect.ends_with("would be lost."), "{effect}");
    }

    #[test]
    fn a_switch_loses_no_commit() {
        let step = UndoStep::SwitchBranch("main".to_owned());
        let state = state(step, commits(0, &[]), commits(0, &[]));
        assert!(state_summary(&state, 0).ends_with("switches to main"));
        assert!(state_effect(&state).contains("No branch loses a commit."));
    }
}
