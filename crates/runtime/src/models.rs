//! The configured models, their recent health, and other agents on this machine.

pub mod health;
pub mod installed_agents;
pub mod setup;
