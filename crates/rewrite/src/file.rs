//! The request to rewrite one file. The answer is the whole file in the format that `apply --format
//! whole` reads. The current text accompanies the request as a prediction: a model that verifies
//! predictions generates only the changes.

use model::{ModelId, ModelRequest, TokenCount};

use crate::fence::fence_for;
use crate::request::{plain_request, predict};

const SYSTEM: &str = "You rewrite one file as the user asks. Answer with the path of the file on a line of its own, then with its \
complete new text between the same fences as in the request, and with nothing else. Repeat every line that needs no change \
exactly as it is.";

/// A file to be rewritten by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRewrite {
    /// The path, and the text between fences.
    block: String,
}

impl FileRewrite {
    /// Creates the request for a file; the answer names it as `path`.
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            block: file_block(path, text),
        }
    }

    /// Builds the request. Without `max_output`, the answer may be somewhat longer than the file.
    pub fn request(
        self,
        model: ModelId,
        task: &str,
        max_output: Option<TokenCount>,
    ) -> ModelRequest {
        let message = format!("{task}\n\n{}", self.block);
        let system = vec![SYSTEM.to_owned()];
        let mut request = plain_request(model, system, message, (&self.block, max_output));
        predict(&mut request, self.block);
        request
    }
}

/// Writes a whole file in the format of `patch::format::EditFormat::Whole`.
pub fn file_block(path: &str, text: &str) -> String {
    let fence = fence_for(text);
    let end = if text.is_empty() || text.ends_with('\n') {
        format!("{fence}\n")
    } else {
        format!("\n{fence}\n\\ No newline at end of file\n")
    };
    format!("{path}\n{fence}\n{text}{end}")
}

#[cfg(test)]
mod tests;
