//! The person as servers reach them: at the desk of a session that calls them right now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::ask::Desk;
use connect::mcp::{Filled, Form, Page, Person};
use futures::future::BoxFuture;

use crate::form;

/// The desks at which servers may ask. Where several calls of a server run at once, the latest is asked: it is the
/// same person. Without any call nobody is asked, and the answer is no.
#[derive(Default)]
pub(crate) struct Desks {
    seats: Mutex<Seats>,
}

#[derive(Default)]
struct Seats {
    last: u64,
    /// Number, server and desk, the latest at the end.
    taken: Vec<(u64, String, Desk)>,
}

/// A desk that is there until this is dropped.
pub(super) struct Sitting {
    desks: Arc<Desks>,
    number: u64,
}

impl Desks {
    /// Lets a server ask at a desk.
    pub(super) fn sit(self: &Arc<Self>, server: &str, desk: Desk) -> Sitting {
        let mut seats = self.seats();
        seats.last += 1;
        let number = seats.last;
        seats.taken.push((number, server.to_owned(), desk));
        drop(seats);
        let desks = self.clone();
        Sitting { desks, number }
    }

    fn desk(&self, server: &str) -> Desk {
        let seats = self.seats();
        let mut latest = seats.taken.iter().rev();
        let found = latest.find(|(_, of, _)| of == server);
        found.map_or_else(Desk::empty, |(_, _, desk)| desk.clone())
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        let mut seats = self.desks.seats();
        seats.taken.retain(|(number, ..)| *number != self.number);
    }
}

impl Person for Desks {
    fn fill(&self, server: &str, form: Form) -> BoxFuture<'static, Filled> {
        let (desk, who) = (self.desk(server), who(server));
        Box::pin(async move { form::fill(&desk, &who, &form).await })
    }

    fn open(&self, page: Page) -> BoxFuture<'static, bool> {
        let (desk, who) = (self.desk(&page.server), who(&page.server));
        Box::pin(async move { form::open(&desk, &who, &page.url, &page.why).await })
    }
}

fn who(server: &str) -> String {
    format!("The server \"{server}\"")
}
