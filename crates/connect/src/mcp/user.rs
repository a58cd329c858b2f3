//! The user as seen by servers: forms and pages, approvals, and stored tokens.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures::future::{BoxFuture, ready};

use super::config::ServerEntry;
use super::form::{ElicitationForm, Filled};
use crate::error::Error;

/// The user's decision about a server of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run as currently configured.
    Allowed,
    /// It must not run.
    Refused,
    /// The user has not decided about exactly this entry.
    Unasked,
}

/// The user's approvals of project entries. Not used for other entries.
pub trait Approvals: Send + Sync {
    /// Returns the decision about an entry; an approval is bound to `entry.fingerprint`.
    fn approval(&self, entry: &ServerEntry) -> Approval;
}

/// The user, as far as servers can reach them.
pub trait McpUser: Send + Sync {
    /// Asks the user to fill in a server's form and waits for the answer.
    fn fill(&self, server: &str, form: ElicitationForm) -> BoxFuture<'static, Filled>;
    /// Opens a page in the browser if the user agrees; returns whether it is open.
    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool>;
}

/// Stores OAuth tokens of servers. The text is opaque to implementations.
pub trait TokenStore: Send + Sync {
    /// Returns the tokens stored for a server's URL, or `None` if there are no tokens. Fails if they
    /// are stored but cannot be read.
    fn load(&self, url: &str) -> BoxFuture<'static, Result<Option<String>, Error>>;
    /// Stores tokens so that other users of the machine cannot read them; `None` removes them.
    fn save(&self, url: &str, tokens: Option<String>) -> BoxFuture<'static, Result<(), Error>>;
}

/// A page that a server asks the user to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserPage {
    /// The name of the server.
    pub server: String,
    /// The URL of the page.
    pub url: String,
    /// The purpose, in the server's words or ours.
    pub why: String,
}

/// The implementation without a user: declines forms and pages, approves nothing, and keeps tokens
/// in memory.
#[derive(Debug, Default)]
pub struct NoUser {
    tokens: Mutex<HashMap<String, String>>,
}

impl Approvals for NoUser {
    fn approval(&self, _: &ServerEntry) -> Approval {
        Approval::Unasked
    }
}

impl McpUser for NoUser {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Declined))
    }

    fn open(&self, _: BrowserPage) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
    }
}

impl TokenStore for NoUser {
    fn load(&self, url: &str) -> BoxFuture<'static, Result<Option<String>, Error>> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(Ok(tokens.get(url).cloned())))
    }

    fn save(&self, url: &str, text: Option<String>) -> BoxFuture<'static, Result<(), Error>> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => tokens.insert(url.to_owned(), text),
            None => tokens.remove(url),
        };
        Box::pin(ready(Ok(())))
    }
}
