//! Maps a session's questions to ACP permission requests, the only questions the protocol has.

use agent::user_prompts::{PermissionDecision, UserQuestion, join_rules};
use base::{LineFeeds, printable};
use connect::acp::protocol::{
    CallContent, CallKind, CallStatus, CallUpdate, MessageContent, PermissionChoice,
    PermissionChoiceKind,
};
use serde_json::Value;

use crate::update_mapper::code_block;

const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const EVERYWHERE: &str = "everywhere";
const REFUSE: &str = "refuse";
/// The longest title that is sent, in characters.
const LONGEST_TITLE: usize = 4000;
/// The choice that leaves a question to the agent.
const DECLINE: &str = "decline";

/// Returns the choices for a permission request; `rules` are the rules that a lasting answer saves.
pub(crate) fn permission_choices(rules: &[String]) -> Vec<PermissionChoice> {
    let saved_rules = join_rules(rules);
    let keep = |id, when| {
        choice(
            id,
            &format!("Allow {saved_rules} {when}"),
            PermissionChoiceKind::AllowAlways,
        )
    };
    let mut choices = vec![choice(ONCE, "Allow once", PermissionChoiceKind::AllowOnce)];
    if !rules.is_empty() {
        choices.extend([
            keep(SESSION, "in this session"),
            keep(ALWAYS, "always in this project"),
            keep(EVERYWHERE, "always in all projects"),
        ]);
    }
    choices.push(choice(REFUSE, "Refuse", PermissionChoiceKind::RejectOnce));
    choices
}

/// Returns the decision for the id of a choice. A cancelled request (`None`) and an unknown id
/// count as a refusal.
pub(crate) fn decision(chosen: Option<&str>) -> PermissionDecision {
    match chosen {
        Some(ONCE) => PermissionDecision::Once,
        Some(SESSION) => PermissionDecision::Session,
        Some(ALWAYS) => PermissionDecision::Always,
        Some(EVERYWHERE) => PermissionDecision::Everywhere,
        _ => PermissionDecision::Refuse { instead: None },
    }
}

/// Returns the choices for a question: its options, then one that leaves the decision to the agent.
pub(crate) fn reply_choices(question: &UserQuestion) -> Vec<PermissionChoice> {
    let numbered = question.options.iter().enumerate();
    let options = numbered.map(|(ix, option)| {
        choice(
            &ix.to_string(),
            &printable(option, LineFeeds::Escape),
            PermissionChoiceKind::AllowOnce,
        )
    });
    let decline = choice(
        DECLINE,
        "Decide by yourself",
        PermissionChoiceKind::RejectOnce,
    );
    options.chain([decline]).collect()
}

/// Returns the option with the chosen id. Returns `None` if the request was cancelled, or if the
/// user left the decision to the agent.
pub(crate) fn reply(question: &UserQuestion, chosen: Option<&str>) -> Option<String> {
    let ix: usize = chosen?.parse().ok()?;
    question.options.get(ix).cloned()
}

/// Returns the tool call for a question, because a permission request needs one.
pub(crate) fn question_call(id: String, question: &UserQuestion) -> CallUpdate {
    CallUpdate {
        title: Some(printable(&question.text, LineFeeds::Keep).into_owned()),
        kind: Some(CallKind::Other),
        state: Some(CallStatus::Pending),
        ..CallUpdate::new(id)
    }
}

/// A permission request as the editor shows it.
pub(crate) struct PermissionPrompt<'a> {
    /// A one-line summary of the call, possibly truncated.
    pub(crate) title: &'a str,
    /// The whole of it.
    pub(crate) details: &'a str,
    pub(crate) reason: &'a str,
    /// The arguments of the call.
    pub(crate) input: Option<Value>,
}

/// Returns the call of a permission request. Its title, content and input each hold the whole call,
/// because editors differ in which they show.
pub(crate) fn permission_call(
    id: String,
    asked: &PermissionPrompt<'_>,
    kind: CallKind,
) -> CallUpdate {
    let reason = printable(asked.reason, LineFeeds::Keep).into_owned();
    let mut content = vec![CallContent::Piece(MessageContent::Text(reason))];
    if !asked.details.is_empty() {
        content.push(code_block(asked.details));
    }
    CallUpdate {
        title: Some(whole_title(asked)),
        kind: Some(kind),
        state: Some(CallStatus::Pending),
        content: Some(content),
        input: asked.input.clone(),
        ..CallUpdate::new(id)
    }
}

/// The title, or where that was cut, everything on one line.
fn whole_title(asked: &PermissionPrompt<'_>) -> String {
    let title = printable(asked.title, LineFeeds::Escape);
    let details = printable(asked.details, LineFeeds::Escape);
    let rest = details.strip_prefix(&*title);
    let is_whole = asked.details.is_empty()
        || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\u{240a}'));
    if is_whole {
        return title.into_owned();
    }
    match details.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => {
            let more = details[end..].chars().count();
            format!(
                "{}… ({more} more characters in the content)",
                &details[..end]
            )
        }
        None => details.into_owned(),
    }
}

fn choice(id: &str, name: &str, kind: PermissionChoiceKind) -> PermissionChoice {
    PermissionChoice {
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
        let kinds = permission_choices(&rules);
        let keeping = kinds
            .iter()
            .filter(|it| it.kind == PermissionChoiceKind::AllowAlways);
        assert!(
            keeping.clone().all(|it| it.name.contains(&rules[0])),
            "{kinds:?}"
        );
        assert_eq!(keeping.count(), 3);
        assert_eq!(permission_choices(&[]).len(), 2, "nothing could be kept");
        for choice in &kinds {
            let allows = !matches!(
                decision(Some(&choice.id)),
                PermissionDecision::Refuse { .. }
            );
            let is_yes = matches!(
                choice.kind,
                PermissionChoiceKind::AllowOnce | PermissionChoiceKind::AllowAlways
            );
            assert_eq!(allows, is_yes, "{choice:?}");
        }
        let no = PermissionDecision::Refuse { instead: None };
        assert_eq!((decision(None), decision(Some("yes"))), (no.clone(), no));
    }

    #[test]
    fn permission_request_shows_the_whole_command() {
        for line in crate::tests::hostile_lines() {
            let input = serde_json::json!({ "command": line });
            // The same title that `exec_command` makes.
            let mut lines = line.trim().lines();
            let first: String = lines.next().unwrap_or_default().chars().take(120).collect();
            let is_cut = first.len() < line.trim().len();
            let asked = PermissionPrompt {
                title: &if is_cut { first + "…" } else { first },
                details: &line,
                reason: "it runs a program",
                input: Some(input.clone()),
            };
            let call = permission_call("c1".to_owned(), &asked, CallKind::Execute);
            assert_eq!(call.input, Some(input));
            let whole = printable(&line, LineFeeds::Keep);
            let content = call.content.unwrap_or_default();
            let is_whole = |content: &CallContent| matches!(content, CallContent::Piece(MessageContent::Text(text)) if text.contains(&*whole));
            assert!(content.iter().any(is_whole), "{line:?}: {content:?}");
            let title = call.title.unwrap_or_default();
            let on_one_line = printable(&line, LineFeeds::Escape);
            let is_told =
                title == on_one_line || title.ends_with("more characters in the content)");
            assert!(is_told, "{line:?}: {title:?}");
        }
    }

    #[test]
    fn the_title_of_a_short_call_is_left_alone() {
        let title_of = |title, details| {
            let asked = PermissionPrompt {
                title,
                details,
                reason: "",
                input: None,
            };
            whole_title(&asked)
        };
        assert_eq!(
            title_of("cargo test", "cargo test\nworkdir: a"),
            "cargo test"
        );
        assert_eq!(title_of("edit a", "edit a\npath: a\ncontent: b"), "edit a");
        assert_eq!(title_of("ls #…", "ls #\nrm a"), "ls #␊rm a");
        assert_eq!(title_of("old", ""), "old");
    }

    #[test]
    fn a_question_is_answered_with_one_of_its_options() {
        let question = UserQuestion {
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
