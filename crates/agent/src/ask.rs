//! The way to the person: what is asked over events and answered by commands.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// What the person can decide about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// This once.
    Once,
    /// This and all like it, for the rest of the session.
    Session,
    /// This and all like it in this project, from now on; the rules are kept in the permissions file.
    Always,
    /// The same in all projects.
    Everywhere,
    /// Not.
    Refuse {
        /// What to do instead, for the model.
        instead: Option<String>,
    },
}

/// Rules as a question names them.
pub fn rules_in_words(rules: &[String]) -> String {
    let rules: Vec<String> = rules
        .iter()
        .map(|rule| base::printable(rule, base::LineFeeds::Escape).into_owned())
        .collect();
    rules.join(", ")
}

/// A question that a tool asks the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers on offer; anything may be answered.
    pub options: Vec<String>,
}

/// Carries questions to the person. A session without anybody answers `None` at once.
#[derive(Clone)]
pub struct Desk(
    std::sync::Arc<dyn Fn(Question) -> BoxFuture<'static, Option<String>> + Send + Sync>,
);

impl Desk {
    /// A desk at which `answer` answers.
    pub fn new(
        answer: impl Fn(Question) -> BoxFuture<'static, Option<String>> + Send + Sync + 'static,
    ) -> Self {
        Self(std::sync::Arc::new(answer))
    }

    /// A desk at which nobody sits.
    pub fn empty() -> Self {
        Self::new(|_| Box::pin(std::future::ready(None)))
    }

    /// Waits for the person's answer; `None` where nobody will answer.
    pub fn ask(&self, question: Question) -> BoxFuture<'static, Option<String>> {
        (self.0)(question)
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk")
    }
}
