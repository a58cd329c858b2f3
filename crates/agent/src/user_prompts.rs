//! Questions to the user: they leave as events, and commands bring the answers.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// The user's decision on a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    /// Allows this call only.
    Once,
    /// Allows this call and similar ones for the rest of the session.
    Session,
    /// Allows this call and similar ones in this project; the rules are saved in the permissions
    /// file.
    Always,
    /// Allows this call and similar ones in all projects.
    Everywhere,
    /// Refuses this tool call.
    Refuse {
        /// Instructions for the model on what to do instead.
        instead: Option<String>,
    },
}

/// Joins rules with commas into one line for display in a question, with control characters
/// escaped.
pub fn join_rules(rules: &[String]) -> String {
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| base::printable(rule, base::LineFeeds::Escape).into_owned())
        .collect();
    rules.join(", ")
}

/// A question from a tool to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// Text of the question.
    pub text: String,
    /// Suggested answers; the user may answer anything.
    pub options: Vec<String>,
}

/// A channel through which tools ask the user. A session without a user answers `None` immediately.
#[derive(Clone)]
pub struct UserPrompts(
    std::sync::Arc<dyn Fn(UserQuestion) -> BoxFuture<'static, Option<String>> + Send + Sync>,
);

impl UserPrompts {
    /// Creates a channel whose questions `answer` answers.
    pub fn new(
        answer: impl Fn(UserQuestion) -> BoxFuture<'static, Option<String>> + Send + Sync + 'static,
    ) -> Self {
        Self(std::sync::Arc::new(answer))
    }

    /// Creates a channel without a user: every question is answered with `None`.
    pub fn empty() -> Self {
        Self::new(|_| Box::pin(std::future::ready(None)))
    }

    /// Waits for the user's answer; `None` if there will be none, because there is no user or the
    /// turn stopped.
    pub fn ask(&self, question: UserQuestion) -> BoxFuture<'static, Option<String>> {
        (self.0)(question)
    }
}

impl fmt::Debug for UserPrompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}
