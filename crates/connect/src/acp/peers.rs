//! Peers for tests: validation against the protocol's schema, the protocol's own client, and an agent
//! that executes its prompt.

mod echo;
mod own_client;
mod schema;

pub use echo::EchoAgent;
pub use own_client::{ObservedRun, prompt};
pub use schema::check_message;
