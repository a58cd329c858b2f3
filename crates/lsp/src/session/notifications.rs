//! Notifications of a server, apart from diagnostics.
//!
//! Invariant: an unknown notification is dropped.

use serde::Deserialize;
use serde_json::Value;

use crate::events::{MessageKind, MessageSeverity, ServerEvent};
use crate::message::Payload;
use crate::progress::WireProgress;
use crate::session::ServerSession;
use crate::violations::Violation;

/// Maximum length of the parameters of a notification, in bytes.
const MAX_PARAMS: usize = 1 << 20;
/// Maximum length of a text for the user or for the log, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// The parameters of `window/showMessage`, `window/showMessageRequest` and `window/logMessage`.
#[derive(Deserialize)]
pub(super) struct WireMessage {
    #[serde(rename = "type", default)]
    severity: Value,
    message: String,
}

impl WireMessage {
    /// Returns the event for the owner.
    pub(super) fn event(self, kind: MessageKind) -> ServerEvent {
        let severity = match self.severity.as_u64() {
            Some(1) => MessageSeverity::Error,
            Some(2) => MessageSeverity::Warning,
            Some(4 | 5) => MessageSeverity::Debug,
            _ => MessageSeverity::Info,
        };
        let mut text = self.message;
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        ServerEvent::Message {
            kind,
            severity,
            text,
        }
    }
}

impl ServerSession {
    /// Applies a notification of the server other than `textDocument/publishDiagnostics`.
    pub(crate) fn notified(&mut self, method: &str, params: &Payload) {
        if params.json().len() > MAX_PARAMS {
            self.violations.count(Violation::MalformedPayload, 1);
            return;
        }
        let result = match method {
            "window/showMessage" => self.message(MessageKind::Shown, params),
            "window/logMessage" => self.message(MessageKind::Logged, params),
            "$/progress" => self.progressed(params),
            _ => Ok(()),
        };
        if result.is_err() {
            self.violations.count(Violation::MalformedPayload, 1);
        }
    }

    fn message(&mut self, kind: MessageKind, params: &Payload) -> serde_json::Result<()> {
        let message: WireMessage = params.parse()?;
        self.events.push(message.event(kind));
        Ok(())
    }

    fn progressed(&mut self, params: &Payload) -> serde_json::Result<()> {
        let progress: WireProgress = params.parse()?;
        if self.progress.apply(&progress) {
            self.events.push(ServerEvent::ProgressChanged);
        }
        Ok(())
    }
}
