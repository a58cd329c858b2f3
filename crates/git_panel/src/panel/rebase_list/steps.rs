//! The steps of a rebase while they are edited. Pure.

use git_program::{RebaseAction, RebaseStep};

/// The steps, the oldest commit first, with the selected one.
#[derive(Clone, Debug)]
pub(super) struct RebaseSteps {
    steps: Vec<RebaseStep>,
    /// Less than the number of steps, unless there are none.
    selected: usize,
}

impl RebaseSteps {
    pub(super) fn new(steps: Vec<RebaseStep>) -> Self {
        Self { steps, selected: 0 }
    }

    pub(super) fn all(&self) -> &[RebaseStep] {
        &self.steps
    }

    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    pub(super) fn current(&self) -> Option<&RebaseStep> {
        self.steps.get(self.selected)
    }

    pub(super) fn select(&mut self, ix: usize) {
        self.selected = ix.min(self.last());
    }

    pub(super) fn select_by(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    /// Moves the selected commit towards the end of the list, or towards its start if `by` is negative.
    pub(super) fn move_by(&mut self, by: isize) {
        let target = self.selected.saturating_add_signed(by).min(self.last());
        if target != self.selected {
            let step = self.steps.remove(self.selected);
            self.steps.insert(target, step);
            self.selected = target;
        }
    }

    /// Sets the action on the selected commit.
    pub(super) fn set(&mut self, action: RebaseAction) {
        if let Some(step) = self.steps.get_mut(self.selected) {
            step.action = action;
        }
    }

    /// Sets the message of a commit; an empty one leaves that of the commit.
    pub(super) fn set_message(&mut self, id: &str, text: String) {
        let Some(step) = self.steps.iter_mut().find(|step| step.id == id) else {
            return;
        };
        if text.trim().is_empty() {
            step.action = RebaseAction::Pick;
            return;
        }
        step.subject = text.lines().next().unwrap_or_default().to_owned();
        step.action = RebaseAction::Reword(text);
    }

    /// Returns the reason why Git would refuse the steps.
    pub(super) fn problem(&self) -> Option<&'static str> {
        let mut kept = self.steps.iter();
        let first = kept.find(|step| step.action != RebaseAction::Drop)?;
        let joins = matches!(first.action, RebaseAction::Squash(_) | RebaseAction::Fixup);
        joins.then_some("The first commit has none before it with which it could be joined")
    }

    fn last(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }
}

/// Returns the name of an action, as Git writes it.
pub(super) fn action_name(action: &RebaseAction) -> &'static str {
    match action {
        RebaseAction::Pick => "pick",
        RebaseAction::Reword(_) => "reword",
        RebaseAction::Edit => "edit",
        RebaseAction::Squash(_) => "squash",
        RebaseAction::Fixup => "fixup",
        RebaseAction::Drop => "drop",
    }
}

#[cfg(test)]
mod tests {
    use git_program::{RebaseAction, RebaseStep};

    use super::{RebaseSteps, action_name};

    fn steps(subjects: &[&str]) -> RebaseSteps {
        let steps = subjects.iter().enumerate().map(|(ix, subject)| RebaseStep {
            action: RebaseAction::Pick,
            id: ix.to_string(),
            subject: (*subject).to_owned(),
        });
        RebaseSteps::new(steps.collect())
    }

    /// Returns the steps as Git writes them, the selected one in brackets.
    fn shown(steps: &RebaseSteps) -> String {
        let shown = steps.all().iter().enumerate().map(|(ix, step)| {
            let text = format!("{} {}", action_name(&step.action), step.subject);
            if ix == steps.selected() {
                format!("[{text}]")
            } else {
                text
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_moved_commit_stays_selected_and_within_the_list() {
        let mut steps = steps(&["a", "b", "c"]);
        steps.move_by(1);
        assert_eq!(shown(&steps), "pick b, [pick a], pick c");
        steps.move_by(isize::MAX);
        assert_eq!(shown(&steps), "pick b, pick c, [pick a]");
        steps.move_by(1);
        steps.select_by(isize::MIN);
        steps.move_by(-1);
        assert_eq!(shown(&steps), "[pick b], pick c, pick a");
    }

    #[test]
    fn a_message_makes_a_reword_and_an_empty_one_a_pick() {
        let mut steps = steps(&["a", "b"]);
        steps.set_message("1", "new\n\nbody".to_owned());
        assert_eq!(shown(&steps), "[pick a], reword new");
        steps.set_message("1", " \n".to_owned());
        assert_eq!(shown(&steps), "[pick a], pick new");
        steps.set_message("7", "gone".to_owned());
    }

    #[test]
    fn the_first_kept_commit_cannot_be_joined() {
        let mut steps = steps(&["a", "b", "c"]);
        assert_eq!(steps.problem(), None);
        steps.select(1);
        steps.set(RebaseAction::Fixup);
        assert_eq!(steps.problem(), None);
        steps.select(0);
        steps.set(RebaseAction::Drop);
        assert!(steps.problem().is_some());
        steps.select(1);
        steps.set(RebaseAction::Squash(None));
        assert!(steps.problem().is_some());
        assert_eq!(RebaseSteps::new(Vec::new()).problem(), None);
    }
}
