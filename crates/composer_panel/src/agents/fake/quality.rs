//! The report on quality and alarms of a fake.

use futures::channel::mpsc;

use super::FakeAgents;
use crate::agents::{QualityReport, ToolAlarm};

impl FakeAgents {
    /// Sets the report on quality.
    pub fn set_quality(&self, quality: QualityReport) {
        self.with(|state| state.quality = quality);
    }

    /// Sends an alarm about a tool.
    pub fn send_tool_alarm(&self, alarm: &ToolAlarm) {
        self.with(|state| {
            let sent = |it: &mpsc::UnboundedSender<_>| it.unbounded_send(alarm.clone()).is_ok();
            state.tool_alarms.retain(sent);
        });
    }
}
