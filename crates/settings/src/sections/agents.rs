//! Settings of the agents in the window.

use crate::section::section;

section! {
    /// Agents in the window.
    AgentSettings {
        /// Notifies you by the system when a session that you do not look at ends its turn or waits for you.
        notifications: bool = true;
        /// Rings the system's bell with such a notice.
        sound: bool = false;
        /// Model that plans, chosen when the mode changes to Plan: `panel` for the model of the agents panel, `auto`, or a model written `provider/model`.
        planner_model: String = "panel".to_owned();
        /// Model that builds, chosen when the mode changes to Build: `panel` for the model of the agents panel, `auto`, or a model written `provider/model`.
        builder_model: String = "panel".to_owned();
        /// Runs agents in a process of their own, which goes on when the windows are closed. Takes effect when
        /// Burin starts.
        background: bool = false;
    }
}
