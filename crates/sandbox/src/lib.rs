//! Runs a command so that it can touch only what it may.
