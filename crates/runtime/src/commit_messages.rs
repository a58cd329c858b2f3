//! Messages of commits, drafted by the small model that writes titles, on request of the user.
//!
//! Invariant: only this request sends a diff, never a refresh; files whose names are those of secrets are left out, and a
//! setting that excludes titles excludes it, too.
//! Start at `AgentServices::draft_commit_message`.

use model::{CacheMark, Effort, Message, ModelId, ModelRequest, Role, SystemBlock, TokenCount};
use project::is_secret;

use crate::Error;
use crate::agent_services::AgentServices;

/// Instructions for the message.
const INSTRUCTIONS: &str = "Write the message of a Git commit for the staged changes below. First line: a summary in the \
                            imperative, at most 72 characters, no full stop. If the reason is not obvious from it, add an \
                            empty line and a short body, wrapped at 72 characters. Answer with the message alone.";
/// Maximum size of the diff of one file that is sent, in bytes.
const MAX_FILE_BYTES: usize = 4_000;
/// Maximum size of all diffs that are sent, in bytes.
const MAX_DIFF_BYTES: usize = 24_000;
/// Maximum output, with room for models that think before they answer.
const MAX_OUTPUT: TokenCount = TokenCount(2_000);

/// The diff of a staged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFileDiff {
    /// The path relative to the root of the working tree.
    pub path: String,
    /// The changed lines, each after `+`, `-` or a space; a remark if there are none.
    pub text: String,
}

impl AgentServices {
    /// Asks the small model for the message of a commit with these changes.
    ///
    /// # Errors
    /// There is no such model, it fails, or all changes are in files that hold secrets.
    pub async fn draft_commit_message(&self, files: &[StagedFileDiff]) -> Result<String, Error> {
        let model = self.titles().model_for_commit(self.settings_model());
        let model = model.ok_or_else(|| {
            let sentence =
                "no model drafts messages: `models.title_model` or `models.default` must name one";
            Error::Model(sentence.to_owned())
        })?;
        let request = request(model, files).ok_or_else(|| {
            let sentence = "there is nothing to send: files that may hold secrets are never sent";
            Error::Model(sentence.to_owned())
        })?;
        let (answer, _) = self.ask_small_model(request, "message").await?;
        message_of(&answer).ok_or_else(|| Error::Model("the model's answer is empty".to_owned()))
    }
}

/// Builds the request; `None` if no file may be sent.
fn request(model: ModelId, files: &[StagedFileDiff]) -> Option<ModelRequest> {
    let text = shown_diff(files)?;
    let mut request = ModelRequest::new(model, vec![Message::text(Role::User, text)], MAX_OUTPUT);
    request.effort = Some(Effort::Minimal);
    request.system.push(SystemBlock {
        text: INSTRUCTIONS.to_owned(),
        cache: CacheMark::None,
    });
    Some(request)
}

/// Returns the bounded text of the diffs: every name, and as many changes as fit. Secrets are left out.
fn shown_diff(files: &[StagedFileDiff]) -> Option<String> {
    let mut shown = String::new();
    for file in files.iter().filter(|file| !is_secret(&file.path)) {
        let free = MAX_DIFF_BYTES.saturating_sub(shown.len());
        let cut = cut(&file.text, MAX_FILE_BYTES.min(free));
        shown.push_str("File: ");
        shown.push_str(&file.path);
        shown.push('\n');
        shown.push_str(cut);
        if cut.len() < file.text.len() {
            shown.push_str("\n(more changes)");
        }
        shown.push('\n');
        if free == 0 {
            break;
        }
    }
    (!shown.is_empty()).then_some(shown)
}

/// Returns the beginning of a text, at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the message in an answer, without a fence around it; `None` if there is none.
fn message_of(answer: &str) -> Option<String> {
    let lines = answer.trim().lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("```"));
    let message = lines.collect::<Vec<_>>().join("\n");
    let message = message.trim();
    (!message.is_empty()).then(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> StagedFileDiff {
        StagedFileDiff {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn secrets_are_left_out_of_the_request() {
        let files = [file(".env", "+TOKEN=abc"), file("a.rs", "+fn a() {}")];
        let shown = shown_diff(&files).expect("a file");
        assert!(
            shown.contains("fn a()") && !shown.contains("TOKEN"),
            "{shown}"
        );
        assert_eq!(shown_diff(&files[..1]), None);
    }

    #[test]
    fn a_large_diff_is_cut_at_characters() {
        let long = "+ä\n".repeat(20_000);
        let files: Vec<_> = (0..50).map(|ix| file(&format!("f{ix}"), &long)).collect();
        let shown = shown_diff(&files).expect("files");
        assert!(
            shown.len() < MAX_DIFF_BYTES + MAX_FILE_BYTES,
            "{}",
            shown.len()
        );
        assert!(shown.contains("(more changes)"));
        assert_eq!(cut("aä", 2), "a");
    }

    #[test]
    fn a_fence_around_the_answer_is_removed() {
        let message = message_of("```\nparser: accept tabs\n\nA body.\n```\n");
        assert_eq!(message.as_deref(), Some("parser: accept tabs\n\nA body."));
        assert_eq!(message_of("```\n```"), None);
    }
}
