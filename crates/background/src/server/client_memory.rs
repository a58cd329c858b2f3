//! The streams and commands of clients, kept so that a client may connect again.
//!
//! Invariant: a command is carried out once, although a client that did not hear of it sends it
//! again.
//! Start at `ClientMemory`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of clients that are remembered.
const MAX_CLIENTS: usize = 64;

/// The clients of this run of the server, by their ids.
#[derive(Default)]
pub(super) struct ClientMemory(Mutex<VecDeque<RememberedClient>>);

struct RememberedClient {
    id: String,
    streams: HashMap<u64, RememberedStream>,
}

#[derive(Default)]
struct RememberedStream {
    /// The session that the stream started.
    session: Option<String>,
    /// Number of the last command that the server began; 0 before the first one.
    handled: u64,
}

impl ClientMemory {
    /// Returns the session that a stream started before.
    pub(super) fn session(&self, client: &str, stream: u64) -> Option<String> {
        self.with(client, stream, |stream| stream.session.clone())
    }

    /// Stores the session that a stream started.
    pub(super) fn started(&self, client: &str, stream: u64, session: String) {
        self.with(client, stream, |stream| stream.session = Some(session));
    }

    /// Returns whether a command is new, and remembers it. Commands of a stream come in order.
    pub(super) fn begins(&self, client: &str, stream: u64, number: u64) -> bool {
        self.with(client, stream, |stream| {
            let is_new = number > stream.handled;
            stream.handled = stream.handled.max(number);
            is_new
        })
    }

    /// Forgets a stream that the client closed.
    pub(super) fn forget(&self, client: &str, stream: u64) {
        let mut clients = self.clients();
        if let Some(known) = clients.iter_mut().find(|it| it.id == client) {
            known.streams.remove(&stream);
        }
    }

    fn with<T>(
        &self,
        client: &str,
        stream: u64,
        change: impl FnOnce(&mut RememberedStream) -> T,
    ) -> T {
        let mut clients = self.clients();
        let at = clients.iter().position(|it| it.id == client);
        let at = at.unwrap_or_else(|| {
            if clients.len() == MAX_CLIENTS {
                clients.pop_front();
            }
            clients.push_back(RememberedClient {
                id: client.to_owned(),
                streams: HashMap::new(),
            });
            clients.len() - 1
        });
        match clients.get_mut(at) {
            Some(client) => change(client.streams.entry(stream).or_default()),
            None => change(&mut RememberedStream::default()),
        }
    }

    fn clients(&self) -> MutexGuard<'_, VecDeque<RememberedClient>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_sent_twice_begins_once() {
        let memory = ClientMemory::default();
        assert!(memory.begins("a", 1, 1));
        assert!(!memory.begins("a", 1, 1));
        assert!(memory.begins("a", 1, 2));
        // Other streams and other clients count by themselves.
        assert!(memory.begins("a", 2, 1));
        assert!(memory.begins("b", 1, 1));
        memory.forget("a", 1);
        assert!(memory.begins("a", 1, 1));
    }

    #[test]
    fn only_the_latest_clients_are_remembered() {
        let memory = ClientMemory::default();
        for client in 0..=MAX_CLIENTS {
            memory.started(&client.to_string(), 1, format!("s{client}"));
        }
        assert_eq!(memory.session("0", 1), None);
        let latest = memory.session(&MAX_CLIENTS.to_string(), 1);
        assert_eq!(latest, Some(format!("s{MAX_CLIENTS}")));
    }
}
