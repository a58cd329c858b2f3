//! Test clients for agents: validation against the protocol's schema, and the protocol's own
//! client.

mod own_client;
mod schema;

pub use own_client::{ObservedRun, prompt};
pub use schema::check_message;
