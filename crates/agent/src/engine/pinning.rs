//! Pins texts of the session on request of the user.

use super::open::task_error;
use super::session::{SessionTask, TurnStop};
use crate::record::SessionRecord;
use crate::stored_parts::texts;

/// Maximum size of a pinned text, in bytes: it is sent with every request from then on.
const MAX_PIN_BYTES: usize = 64 << 10;

impl SessionTask {
    /// Pins or unpins the text of a record. A record without a text of moderate size is not pinned,
    /// and the user is informed. Fails if that cannot be written.
    pub(super) async fn pin(&mut self, record: u64, is_pinned: bool) -> Result<(), TurnStop> {
        if self.transcript.is_pinned(record) == is_pinned || !self.has_begun {
            return Ok(());
        }
        let change = if is_pinned {
            self.pinned_text(record).await?
        } else {
            SessionRecord::Unpinned { record }
        };
        self.write(vec![change]).await?;
        self.report_fill();
        Ok(())
    }

    /// Returns the record of the pin, or a note that says why there is none.
    async fn pinned_text(&mut self, record: u64) -> Result<SessionRecord, TurnStop> {
        // The text may have left the transcript with a compaction.
        self.store().flush().await.map_err(TurnStop::Unwritten)?;
        let (reader, id) = (self.store().clone(), self.id.clone());
        let read = tokio::task::spawn_blocking(move || reader.read(&id)).await;
        let read =
            read.map_err(|error| TurnStop::Unwritten(task_error(&self.id, "read", error)))?;
        let records = read.map_err(TurnStop::Unwritten)?.records;
        let found = records.into_iter().find(|stored| stored.seq == record);
        let (by, text) = match found.map(|stored| stored.record) {
            Some(SessionRecord::Prompted { parts, .. }) => ("user".to_owned(), texts(&parts)),
            Some(SessionRecord::Answered { parts, .. }) => ("agent".to_owned(), texts(&parts)),
            Some(SessionRecord::CallEnded { tool, content, .. }) => (tool, texts(&content)),
            _ => (String::new(), String::new()),
        };
        let note = |text: &str| SessionRecord::Noted {
            text: text.to_owned(),
        };
        Ok(match text.len() {
            _ if text.trim().is_empty() => note("There is no text to pin: images are not pinned."),
            ..=MAX_PIN_BYTES => SessionRecord::Pinned { record, by, text },
            _ => note(
                "The text was not pinned: it is longer than 64 KB. Quote the part that matters in a message, and pin that.",
            ),
        })
    }
}
