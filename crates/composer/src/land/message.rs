//! The commit message of a landing, with trailers for session, turns, checks and co-authors.

use git::land::Signature;

use super::Check;

/// The parts of a commit message.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommitMessage {
    /// The subject line of the message.
    pub subject: String,
    /// The body; may be empty.
    pub body: String,
    /// The turns of the session that made the changes.
    pub turns: Vec<String>,
    /// The co-authors, as `name <email>`.
    pub co_authors: Vec<String>,
}

/// Formats the whole message with Git trailers.
pub(super) fn format_message(message: &CommitMessage, session: &str, checks: &[Check]) -> String {
    let subject = one_line(&message.subject);
    let mut whole = match subject.as_str() {
        "" => "Work of an agent".to_owned(),
        subject => subject.to_owned(),
    };
    let body = message.body.trim();
    if !body.is_empty() {
        whole.push_str("\n\n");
        whole.push_str(body);
    }
    let mut trailers = Vec::new();
    let mut add = |name: &str, value: &str| {
        let value = one_line(value);
        if !value.is_empty() {
            trailers.push(format!("{name}: {value}"));
        }
    };
    add("Burin-Session", session);
    for turn in &message.turns {
        add("Burin-Turn", turn);
    }
    for check in checks {
        let outcome = if check.is_passed { "passed" } else { "failed" };
        add("Burin-Checks", &format!("{} {outcome}", check.name));
    }
    for person in &message.co_authors {
        add("Co-authored-by", person);
    }
    if !trailers.is_empty() {
        whole.push_str("\n\n");
        whole.push_str(&trailers.join("\n"));
    }
    whole.push('\n');
    whole
}

/// Joins a text into one line, so that a value chosen by an agent cannot forge a trailer.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a signature as `name <email>`.
pub(super) fn format_person(person: &Signature) -> String {
    format!("{} <{}>", person.name, person.email)
}

#[cfg(test)]
mod tests {
    use super::{CommitMessage, format_message};
    use crate::land::{Check, CheckKind};

    #[test]
    fn trailers_are_single_lines_behind_the_text() {
        let message = CommitMessage {
            subject: "Port flags".to_owned(),
            body: "All of them.\n".to_owned(),
            turns: vec!["3".to_owned()],
            co_authors: vec!["A\nBurin-Session: forged <a@b>".to_owned()],
        };
        let check = Check {
            name: "cargo test".to_owned(),
            is_passed: true,
            detail: String::new(),
            kind: CheckKind::Command,
        };
        assert_eq!(
            format_message(&message, "s-1", &[check]),
            "Port flags\n\nAll of them.\n\nBurin-Session: s-1\nBurin-Turn: 3\n\
             Burin-Checks: cargo test passed\nCo-authored-by: A Burin-Session: forged <a@b>\n"
        );
    }
}
