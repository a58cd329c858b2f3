//! The other side, for the tests of whoever is an agent: the protocol's schema, and its own client.

mod own_client;
mod schema;

pub use own_client::{Seen, prompt};
pub use schema::check_message;
