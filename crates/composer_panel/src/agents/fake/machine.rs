//! Fake engines of another machine.

use super::FakeAgents;

impl FakeAgents {
    /// Makes the engines those of another machine.
    pub fn set_machine(&self, name: &str) {
        self.with(|state| state.machine = Some(name.to_owned()));
    }

    /// Reports the state of the connection to the machine.
    pub fn report_link(&self, problem: Option<&str>) {
        self.with(|state| {
            for link in &state.link_problems {
                // A panel that is gone takes none.
                link.unbounded_send(problem.map(str::to_owned)).ok();
            }
        });
    }
}
