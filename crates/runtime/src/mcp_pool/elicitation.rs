//! Routes elicitations of MCP servers to the session that is calling the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::user_prompts::UserPrompts;
use connect::mcp::{BrowserPage, ElicitationForm, Filled, McpUser};
use futures::future::BoxFuture;

use crate::form;

/// Routes the elicitations of MCP servers to sessions. If several calls of a server run at once,
/// the session of the latest call is asked, because all belong to the same user. Without a running
/// call, elicitations are declined.
#[derive(Default)]
pub struct ElicitationRouter {
    entries: Mutex<ActiveElicitations>,
}

#[derive(Default)]
struct ActiveElicitations {
    last: u64,
    /// Number, server and prompts, the latest at the end.
    prompts: Vec<(u64, String, UserPrompts)>,
}

/// Routes elicitations to the prompts of a session until it is dropped.
pub(super) struct ElicitationGuard {
    router: Arc<ElicitationRouter>,
    number: u64,
}

impl ElicitationRouter {
    /// Routes a server's elicitations to these prompts until the guard is dropped.
    pub(super) fn register(
        self: &Arc<Self>,
        server: &str,
        prompts: UserPrompts,
    ) -> ElicitationGuard {
        let mut active = self.active();
        active.last += 1;
        let number = active.last;
        active.prompts.push((number, server.to_owned(), prompts));
        drop(active);
        let router = self.clone();
        ElicitationGuard { router, number }
    }

    fn latest_prompts(&self, server: &str) -> UserPrompts {
        let active = self.active();
        let mut latest = active.prompts.iter().rev();
        let found = latest.find(|(_, of, _)| of == server);
        found.map_or_else(UserPrompts::empty, |(_, _, prompts)| prompts.clone())
    }

    fn active(&self) -> MutexGuard<'_, ActiveElicitations> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ElicitationGuard {
    fn drop(&mut self) {
        let mut active = self.router.active();
        active.prompts.retain(|(number, ..)| *number != self.number);
    }
}

impl McpUser for ElicitationRouter {
    fn fill(&self, server: &str, form: ElicitationForm) -> BoxFuture<'static, Filled> {
        let (prompts, who) = (self.latest_prompts(server), server_label(server));
        Box::pin(async move { form::fill(&prompts, &who, &form).await })
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        let (prompts, who) = (
            self.latest_prompts(&page.server),
            server_label(&page.server),
        );
        Box::pin(async move { form::open(&prompts, &who, &page.url, &page.why).await })
    }
}

fn server_label(server: &str) -> String {
    format!("The server \"{server}\"")
}
