//! What a session asks its person, as questions for leave: the protocol knows no others.

use agent::ask::{Decision, Question, rules_in_words};
use connect::acp::words::{
    CallContent, CallKind, CallState, CallUpdate, LeaveChoice, LeaveKind, Piece,
};

const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const EVERYWHERE: &str = "everywhere";
const REFUSE: &str = "refuse";
/// The answer that leaves a question to the agent.
const DECLINE: &str = "decline";

/// What can be answered about a call. The rules are what an answer for more than once keeps.
pub(super) fn leave_choices(rules: &[String]) -> Vec<LeaveChoice> {
    let kept = rules_in_words(rules);
    let keep = |id, when| choice(id, &format!("Allow {kept} {when}"), LeaveKind::AllowAlways);
    let mut choices = vec![choice(ONCE, "Allow once", LeaveKind::AllowOnce)];
    if !rules.is_empty() {
        choices.extend([
            keep(SESSION, "in this session"),
            keep(ALWAYS, "always in this project"),
            keep(EVERYWHERE, "always in all projects"),
        ]);
    }
    choices.push(choice(REFUSE, "Refuse", LeaveKind::RejectOnce));
    choices
}

/// What an answer decides. A question that was taken back allows nothing.
pub(super) fn decision(chosen: Option<&str>) -> Decision {
    match chosen {
        Some(ONCE) => Decision::Once,
        Some(SESSION) => Decision::Session,
        Some(ALWAYS) => Decision::Always,
        Some(EVERYWHERE) => Decision::Everywhere,
        _ => Decision::Refuse { instead: None },
    }
}

/// What can be answered to a question: its options, or that the agent is to decide.
pub(super) fn reply_choices(question: &Question) -> Vec<LeaveChoice> {
    let numbered = question.options.iter().enumerate();
    let options =
        numbered.map(|(ix, option)| choice(&ix.to_string(), option, LeaveKind::AllowOnce));
    let decline = choice(DECLINE, "Decide by yourself", LeaveKind::RejectOnce);
    options.chain([decline]).collect()
}

/// The option that an answer means.
pub(super) fn reply(question: &Question, chosen: Option<&str>) -> Option<String> {
    let ix: usize = chosen?.parse().ok()?;
    question.options.get(ix).cloned()
}

/// A question as the call that it is asked for.
pub(super) fn question_call(id: String, question: &Question) -> CallUpdate {
    CallUpdate {
        title: Some(question.text.clone()),
        kind: Some(CallKind::Other),
        state: Some(CallState::Pending),
        ..CallUpdate::new(id)
    }
}

/// A call as it is asked about.
pub(super) fn leave_call(id: String, title: &str, reason: &str, kind: CallKind) -> CallUpdate {
    CallUpdate {
        title: Some(title.to_owned()),
        kind: Some(kind),
        state: Some(CallState::Pending),
        content: Some(vec![CallContent::Piece(Piece::Text(reason.to_owned()))]),
        ..CallUpdate::new(id)
    }
}

fn choice(id: &str, name: &str, kind: LeaveKind) -> LeaveChoice {
    LeaveChoice {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_offered_allows() {
        let rules = ["Bash(cargo test:*)".to_owned()];
        let kinds = leave_choices(&rules);
        let keeping = kinds.iter().filter(|it| it.kind == LeaveKind::AllowAlways);
        assert!(
            keeping.clone().all(|it| it.name.contains(&rules[0])),
            "{kinds:?}"
        );
        assert_eq!(keeping.count(), 3);
        assert_eq!(leave_choices(&[]).len(), 2, "nothing could be kept");
        for choice in &kinds {
            let allows = !matches!(decision(Some(&choice.id)), Decision::Refuse { .. });
            let is_yes = matches!(choice.kind, LeaveKind::AllowOnce | LeaveKind::AllowAlways);
            assert_eq!(allows, is_yes, "{choice:?}");
        }
        let no = Decision::Refuse { instead: None };
        assert_eq!((decision(None), decision(Some("yes"))), (no.clone(), no));
    }

    #[test]
    fn a_question_is_answered_with_one_of_its_options() {
        let question = Question {
            text: "Which?".to_owned(),
            options: vec!["the first".to_owned(), "the second".to_owned()],
        };
        let choices = reply_choices(&question);
        let replies: Vec<_> = choices
            .iter()
            .map(|choice| reply(&question, Some(&choice.id)))
            .collect();
        let expected = [
            Some("the first".to_owned()),
            Some("the second".to_owned()),
            None,
        ];
        assert_eq!(replies, expected);
        assert_eq!(reply(&question, None), None);
        assert_eq!(reply(&question, Some("7")), None);
    }
}
