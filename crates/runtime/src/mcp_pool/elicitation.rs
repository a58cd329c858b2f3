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
    /// Number, server and desk, the latest at the end.
    prompts: Vec<(u64, String, UserPrompts)>,
}

/// A desk that is there until this is dropped.
pub(super) struct ElicitationGuard {
    router: Arc<ElicitationRouter>,
    number: u64,
}

impl ElicitationRouter {
    /// Routes a server's elicitations to these prompts until the guard is dropped.
    pub(super) fn register(self: &Arc<Self>, server: &str, desk: UserPrompts) -> ElicitationGuard {
        let mut seats = self.seats();
        seats.last += 1;
        let number = seats.last;
        seats.prompts.push((number, server.to_owned(), desk));
        drop(seats);
        let desks = self.clone();
        ElicitationGuard {
            router: desks,
            number,
        }
    }

    fn latest_prompts(&self, server: &str) -> UserPrompts {
        let seats = self.seats();
        let mut latest = seats.prompts.iter().rev();
        let found = latest.find(|(_, of, _)| of == server);
        found.map_or_else(UserPrompts::empty, |(_, _, desk)| desk.clone())
    }

    fn seats(&self) -> MutexGuard<'_, ActiveElicitations> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ElicitationGuard {
    fn drop(&mut self) {
        let mut seats = self.router.seats();
        seats.prompts.retain(|(number, ..)| *number != self.number);
    }
}

impl McpUser for ElicitationRouter {
    fn fill(&self, server: &str, form: ElicitationForm) -> BoxFuture<'static, Filled> {
        let (desk, who) = (self.latest_prompts(server), server_label(server));
        Box::pin(async move { form::fill(&desk, &who, &form).await })
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        let (desk, who) = (
            self.latest_prompts(&page.server),
            server_label(&page.server),
        );
        Box::pin(async move { form::open(&desk, &who, &page.url, &page.why).await })
    }
}

fn server_label(server: &str) -> String {
    format!("The server \"{server}\"")
}
