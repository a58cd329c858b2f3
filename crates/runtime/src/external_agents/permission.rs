//! The permission requests of an external agent as ours.

use agent::user_prompts::PermissionDecision;
use connect::acp::protocol::{CallContent, CallUpdate, PermissionChoice, PermissionChoiceKind};

/// A request that waits for the user's decision.
pub(super) struct OpenRequest {
    /// The number of the request at the host.
    pub(super) number: u64,
    pub(super) choices: Vec<PermissionChoice>,
}

impl OpenRequest {
    /// Returns the id of the choice that a decision means; `None` cancels the request. A lasting
    /// decision is the agent's own: it applies as widely as the agent says.
    pub(super) fn choice(&self, decision: &PermissionDecision) -> Option<String> {
        use PermissionChoiceKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let kinds = match decision {
            PermissionDecision::Once => [AllowOnce, AllowOnce],
            PermissionDecision::Session
            | PermissionDecision::Always
            | PermissionDecision::Everywhere => [AllowAlways, AllowOnce],
            PermissionDecision::Refuse { .. } => [RejectOnce, RejectAlways],
        };
        let of = |kind: &PermissionChoiceKind| self.choices.iter().find(|it| it.kind == *kind);
        kinds.iter().find_map(of).map(|choice| choice.id.clone())
    }

    /// Returns the lasting permission that the agent offers, as a rule for display; empty if there is
    /// none.
    pub(super) fn rules(&self) -> Vec<String> {
        let lasting = self.choices.iter();
        let lasting = lasting.filter(|it| it.kind == PermissionChoiceKind::AllowAlways);
        lasting
            .map(|choice| format!("\u{201c}{}\u{201d}, as the agent means it", choice.name))
            .collect()
    }
}

/// Returns the whole effect of a call as untrusted text: its title, its input and its changes.
pub(super) fn details(call: &CallUpdate) -> String {
    let mut text = call.title.clone().unwrap_or_else(|| call.id.clone());
    if let Some(input) = &call.input {
        text.push_str(&agent::permission::arguments(input));
    }
    for content in call.content.iter().flatten() {
        match content {
            CallContent::Piece(piece) => text.push_str(&format!("\n{}", piece.text())),
            CallContent::Diff { path, old, new } => {
                text.push_str(&format!("\n{}", path.display()));
                let rows = |sign, text: &str| -> String {
                    text.lines().map(|line| format!("\n{sign}{line}")).collect()
                };
                text.push_str(&rows('-', old.as_deref().unwrap_or_default()));
                text.push_str(&rows('+', new));
            }
            CallContent::Terminal(_) => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_choices_of_the_agent() {
        let choice = |id: &str, kind| PermissionChoice {
            id: id.to_owned(),
            name: id.to_owned(),
            kind,
        };
        let all = OpenRequest {
            number: 1,
            choices: vec![
                choice("once", PermissionChoiceKind::AllowOnce),
                choice("ever", PermissionChoiceKind::AllowAlways),
                choice("no", PermissionChoiceKind::RejectOnce),
            ],
        };
        let refuse = PermissionDecision::Refuse { instead: None };
        assert_eq!(
            all.choice(&PermissionDecision::Once).as_deref(),
            Some("once")
        );
        assert_eq!(
            all.choice(&PermissionDecision::Session).as_deref(),
            Some("ever")
        );
        assert_eq!(all.choice(&refuse).as_deref(), Some("no"));
        let few = OpenRequest {
            number: 1,
            choices: vec![choice("ever", PermissionChoiceKind::AllowAlways)],
        };
        // A single permission never becomes a lasting one, and a refusal never allows.
        assert_eq!(few.choice(&PermissionDecision::Once), None);
        assert_eq!(few.choice(&refuse), None);
    }
}
