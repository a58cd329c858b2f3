//! The steps of a rebase while they are edited. Pure.

use git_program::{RebaseAction, RebaseStep};

/// The steps, the oldest commit first, with the selected one.
#[derive(Clone, Debug)]
pub(super) struct RebaseSteps {
    steps: Vec<RebaseStep>,
    /// Less than the number of steps, unless there are none.
    selected: usize,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MessagePart {
    /// Text that the user wrote.
    Text(String),
    /// The message of the commit with this id.
    OfCommit(String),
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

    /// Sets the message of a commit, or that of the commit which a squash makes. An empty one leaves that of the commit, or
    /// those of the joined commits.
    pub(super) fn set_message(&mut self, id: &str, text: String) {
        let Some(step) = self.steps.iter_mut().find(|step| step.id == id) else {
            return;
        };
        let is_empty = text.trim().is_empty();
        if let RebaseAction::Squash(message) = &mut step.action {
            *message = (!is_empty).then_some(text);
            return;
        }
        if is_empty {
            step.action = RebaseAction::Pick;
            return;
        }
        step.subject = text.lines().next().unwrap_or_default().to_owned();
        step.action = RebaseAction::Reword(text);
    }

    /// Returns the parts of the message that the selected commit has before it is edited: for a squash, the messages that
    /// Git joins.
    pub(super) fn message_parts(&self) -> Vec<MessagePart> {
        let mut parts: Vec<MessagePart> = Vec::new();
        let steps = self.steps.iter().take(self.selected + 1).rev();
        for (ix, step) in steps.enumerate() {
            let is_selected = ix == 0;
            match &step.action {
                RebaseAction::Squash(Some(text)) => {
                    // It replaces the messages before it.
                    parts.push(MessagePart::Text(text.clone()));
                    break;
                }
                RebaseAction::Squash(None) => parts.push(MessagePart::OfCommit(step.id.clone())),
                RebaseAction::Reword(text) => {
                    parts.push(MessagePart::Text(text.clone()));
                    break;
                }
                RebaseAction::Fixup | RebaseAction::Drop if !is_selected => {}
                RebaseAction::Pick
                | RebaseAction::Edit
                | RebaseAction::Fixup
                | RebaseAction::Drop => {
                    parts.push(MessagePart::OfCommit(step.id.clone()));
                    break;
                }
            }
        }
        parts.reverse();
        parts
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

    use super::{MessagePart, RebaseSteps, action_name};

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
    fn a_squash_begins_with_the_messages_that_git_joins() {
        let mut steps = steps(&["a", "b", "c", "d", "e"]);
        let of = |id: &str| MessagePart::OfCommit(id.to_owned());
        let text = |text: &str| MessagePart::Text(text.to_owned());
        let actions = [
            RebaseAction::Pick,
            RebaseAction::Squash(None),
            RebaseAction::Fixup,
            RebaseAction::Drop,
            RebaseAction::Squash(None),
        ];
        for (ix, action) in actions.into_iter().enumerate() {
            steps.select(ix);
            steps.set(action);
        }
        assert_eq!(steps.message_parts(), [of("0"), of("1"), of("4")]);
        steps.set_message("1", "both".to_owned());
        assert_eq!(steps.message_parts(), [text("both"), of("4")]);
        assert_eq!(steps.all()[1].subject, "b", "the commit keeps its name");
        steps.set_message("1", " ".to_owned());
        assert_eq!(steps.all()[1].action, RebaseAction::Squash(None));
        steps.select(0);
        steps.set(RebaseAction::Reword("A".to_owned()));
        steps.select(1);
        assert_eq!(steps.message_parts(), [text("A"), of("1")]);
        // A commit alone has its own message.
        steps.set(RebaseAction::Fixup);
        assert_eq!(steps.message_parts(), [of("1")]);
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
