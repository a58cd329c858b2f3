//! What a commit of a landing says: what was done, by whom, in which session, and what was checked.

use git::land::Person;

use super::Check;

/// What a commit says.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Words {
    /// The first line.
    pub subject: String,
    /// What follows it; may be empty.
    pub body: String,
    /// The turns of the session that made what lands.
    pub turns: Vec<String>,
    /// Who else had a hand in it, as `name <email>`.
    pub co_authors: Vec<String>,
}

/// The whole message, with trailers that git understands.
pub(super) fn message(words: &Words, session: &str, checks: &[Check]) -> String {
    let subject = one_line(&words.subject);
    let mut whole = match subject.as_str() {
        "" => "Work of an agent".to_owned(),
        subject => subject.to_owned(),
    };
    let body = words.body.trim();
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
    for turn in &words.turns {
        add("Burin-Turn", turn);
    }
    for check in checks {
        let outcome = if check.is_passed { "passed" } else { "failed" };
        add("Burin-Checks", &format!("{} {outcome}", check.name));
    }
    for person in &words.co_authors {
        add("Co-authored-by", person);
    }
    if !trailers.is_empty() {
        whole.push_str("\n\n");
        whole.push_str(&trailers.join("\n"));
    }
    whole.push('\n');
    whole
}

/// A trailer is one line; what an agent calls itself must not begin another.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As `name <email>`.
pub(super) fn told(person: &Person) -> String {
    format!("{} <{}>", person.name, person.email)
}

#[cfg(test)]
mod tests {
    use super::{Words, message};
    use crate::land::Check;

    #[test]
    fn trailers_are_single_lines_behind_the_text() {
        let words = Words {
            subject: "Port flags".to_owned(),
            body: "All of them.\n".to_owned(),
            turns: vec!["3".to_owned()],
            co_authors: vec!["A\nBurin-Session: forged <a@b>".to_owned()],
        };
        let check = Check {
            name: "cargo test".to_owned(),
            is_passed: true,
            detail: String::new(),
        };
        assert_eq!(
            message(&words, "s-1", &[check]),
            "Port flags\n\nAll of them.\n\nBurin-Session: s-1\nBurin-Turn: 3\n\
             Burin-Checks: cargo test passed\nCo-authored-by: A Burin-Session: forged <a@b>\n"
        );
    }
}
