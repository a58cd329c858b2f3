//! What a session asks its person, as questions for leave: the protocol knows no others.

use agent::ask::{Decision, Question, rules_in_words};
use base::{LineFeeds, printable};
use connect::acp::words::{
    CallContent, CallKind, CallState, CallUpdate, LeaveChoice, LeaveKind, Piece,
};
use serde_json::Value;

use super::teller::fenced;

const ONCE: &str = "once";
const SESSION: &str = "session";
const ALWAYS: &str = "always";
const EVERYWHERE: &str = "everywhere";
const REFUSE: &str = "refuse";
/// The longest title that is sent, in characters.
const LONGEST_TITLE: usize = 4000;
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
    let options = numbered.map(|(ix, option)| {
        choice(
            &ix.to_string(),
            &printable(option, LineFeeds::Escape),
            LeaveKind::AllowOnce,
        )
    });
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
        title: Some(printable(&question.text, LineFeeds::Keep).into_owned()),
        kind: Some(CallKind::Other),
        state: Some(CallState::Pending),
        ..CallUpdate::new(id)
    }
}

/// What leave is asked for.
pub(super) struct Asked<'a> {
    /// One line of what is to happen, maybe cut.
    pub(super) title: &'a str,
    /// The whole of it.
    pub(super) details: &'a str,
    pub(super) reason: &'a str,
    /// The arguments of the call.
    pub(super) input: Option<Value>,
}

/// A call as it is asked about: with the whole of what is to happen in its title, its content and its input, as
/// editors differ in what they show.
pub(super) fn leave_call(id: String, asked: &Asked<'_>, kind: CallKind) -> CallUpdate {
    let reason = printable(asked.reason, LineFeeds::Keep).into_owned();
    let mut content = vec![CallContent::Piece(Piece::Text(reason))];
    if !asked.details.is_empty() {
        content.push(fenced(asked.details));
    }
    CallUpdate {
        title: Some(whole_title(asked)),
        kind: Some(kind),
        state: Some(CallState::Pending),
        content: Some(content),
        input: asked.input.clone(),
        ..CallUpdate::new(id)
    }
}

/// The title, or where that was cut, everything on one line.
fn whole_title(asked: &Asked<'_>) -> String {
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
    fn the_title_the_content_and_the_input_hold_all_that_runs() {
        for line in crate::tests::hostile_lines() {
            let input = serde_json::json!({ "command": line });
            // As `exec_command` has it.
            let mut lines = line.trim().lines();
            let first: String = lines.next().unwrap_or_default().chars().take(120).collect();
            let is_cut = first.len() < line.trim().len();
            let asked = Asked {
                title: &if is_cut { first + "…" } else { first },
                details: &line,
                reason: "it runs a program",
                input: Some(input.clone()),
            };
            let call = leave_call("c1".to_owned(), &asked, CallKind::Execute);
            assert_eq!(call.input, Some(input));
            let whole = printable(&line, LineFeeds::Keep);
            let content = call.content.unwrap_or_default();
            let is_whole = |content: &CallContent| matches!(content, CallContent::Piece(Piece::Text(text)) if text.contains(&*whole));
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
            let asked = Asked {
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
