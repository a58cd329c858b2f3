//! The events that wait for the caller, bounded whatever a program prints.

use std::mem;

use crate::event::TerminalEvent;

/// Bytes of answers that wait; a program that does not read them gets no more.
const MAX_REPLIES: usize = 256 << 10;
/// Events of kinds that do not replace each other.
const MAX_EVENTS: usize = 256;
/// Notifications that wait.
const MAX_NOTIFICATIONS: usize = 8;

/// Events in the order in which they happened. Of events that report a state, the last one replaces the others; of those
/// that do not, the first ones are kept.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    replies: Vec<u8>,
    events: Vec<TerminalEvent>,
}

impl EventQueue {
    /// Appends an event.
    pub(crate) fn push(&mut self, event: TerminalEvent) {
        if let TerminalEvent::Reply(bytes) = event {
            self.reply(&bytes);
            return;
        }
        if is_state(&event) {
            let kind = mem::discriminant(&event);
            self.events.retain(|other| mem::discriminant(other) != kind);
        }
        let is_notification =
            |event: &TerminalEvent| matches!(event, TerminalEvent::Notification(_));
        let is_full = self.events.len() >= MAX_EVENTS
            || (is_notification(&event)
                && self
                    .events
                    .iter()
                    .filter(|event| is_notification(event))
                    .count()
                    >= MAX_NOTIFICATIONS);
        if !is_full {
            self.events.push(event);
        }
    }

    /// Appends bytes for the program.
    pub(crate) fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= MAX_REPLIES {
            self.replies.extend_from_slice(bytes);
        }
    }

    /// Takes the answers.
    pub(crate) fn take_replies(&mut self) -> Vec<u8> {
        mem::take(&mut self.replies)
    }

    /// Takes the events, answers first.
    pub(crate) fn take(&mut self) -> Vec<TerminalEvent> {
        let mut events = Vec::new();
        if !self.replies.is_empty() {
            events.push(TerminalEvent::Reply(mem::take(&mut self.replies)));
        }
        events.append(&mut self.events);
        events
    }
}

/// Returns whether only the last event of the kind matters.
fn is_state(event: &TerminalEvent) -> bool {
    match event {
        TerminalEvent::Title(_)
        | TerminalEvent::Bell
        | TerminalEvent::ClipboardWrite { .. }
        | TerminalEvent::Progress(_)
        | TerminalEvent::Folder(_)
        | TerminalEvent::PromptShown(_)
        | TerminalEvent::CommandStarted(_)
        | TerminalEvent::CommandEnded(_) => true,
        TerminalEvent::Reply(_)
        | TerminalEvent::ClipboardRead(_)
        | TerminalEvent::ColorQuery(_)
        | TerminalEvent::Notification(_) => false,
    }
}
