//! Whom a server reaches through us: the person, what they approved, where their tokens lie.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures::future::{BoxFuture, ready};

use super::config::ServerEntry;
use super::form::{Filled, Form};

/// What the person said of a server that the project names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run, as it is written now.
    Allowed,
    /// It may not.
    Refused,
    /// They were not asked about exactly this entry.
    Unasked,
}

/// Knows which entries of projects the person approved. Only asked about those.
pub trait Approvals: Send + Sync {
    /// What they said of this entry; `entry.fingerprint` is what an approval is bound to.
    fn approval(&self, entry: &ServerEntry) -> Approval;
}

/// The person, as a server may reach them.
pub trait Person: Send + Sync {
    /// Asks them to fill in a form of a server.
    fn fill(&self, server: &str, form: Form) -> BoxFuture<'static, Filled>;
    /// Shows them a page in their browser, if they agree; tells whether it is open.
    fn open(&self, page: Page) -> BoxFuture<'static, bool>;
}

/// Keeps the tokens of servers that the person signed in to. Each is a text that only this crate understands.
pub trait Tokens: Send + Sync {
    /// What was kept for a server's address.
    fn load(&self, url: &str) -> BoxFuture<'static, Option<String>>;
    /// Keeps it, where no other user of the machine can read it; `None` forgets it. The error is a sentence.
    fn keep(&self, url: &str, tokens: Option<String>) -> BoxFuture<'static, Result<(), String>>;
}

/// A page that a server wants the person to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The server.
    pub server: String,
    /// The page's address.
    pub url: String,
    /// What for, in the server's words or ours.
    pub why: String,
}

/// Nobody is there: forms are declined, pages stay closed, nothing of a project is approved, tokens last as long as
/// this.
#[derive(Debug, Default)]
pub struct Nobody {
    tokens: Mutex<HashMap<String, String>>,
}

impl Approvals for Nobody {
    fn approval(&self, _: &ServerEntry) -> Approval {
        Approval::Unasked
    }
}

impl Person for Nobody {
    fn fill(&self, _: &str, _: Form) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Declined))
    }

    fn open(&self, _: Page) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
    }
}

impl Tokens for Nobody {
    fn load(&self, url: &str) -> BoxFuture<'static, Option<String>> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(tokens.get(url).cloned()))
    }

    fn keep(&self, url: &str, text: Option<String>) -> BoxFuture<'static, Result<(), String>> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => tokens.insert(url.to_owned(), text),
            None => tokens.remove(url),
        };
        Box::pin(ready(Ok(())))
    }
}
