//! Settings of the agents in the window.

use crate::section::section;

section! {
    /// Agents in the window.
    AgentSettings {
        /// Notifies you by the system when a session that you do not look at ends its turn or waits for you.
        notifications: bool = true;
        /// Rings the system's bell with such a notice.
        sound: bool = false;
        /// Runs agents in a process of their own, which goes on when the windows are closed. Takes effect when
        /// Burin starts.
        background: bool = false;
    }
}
