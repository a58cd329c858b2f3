//! A request to rewrite one file. The answer is the whole file in the format that `apply --format
//! whole` reads. The current text accompanies the request as a prediction: a model that verifies
//! predictions generates only the changes.

use std::path::Path;

use base::AbsPath;
use host::Files;
use model::{CacheMark, Message, ModelId, ModelRequest, Role, Sampling, SystemBlock, TokenCount};

const SYSTEM: &str = "You rewrite one file as the user asks. Answer with the path of the file on a line of its own, then with its \
complete new text between the same fences as in the request, and with nothing else. Repeat every line that needs no change \
exactly as it is.";
/// Maximum size of a file in bytes; no model writes more in one answer.
const MAX_BYTES: u64 = 1 << 20;
/// Bytes per token, fewer than in most code.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens for added text and for reasoning.
const MARGIN: u64 = 8192;

/// A file to be rewritten by a model.
pub(super) struct FileRewrite {
    /// The path, and the text between fences.
    block: String,
}

impl FileRewrite {
    /// Reads the file. Fails with a sentence if it cannot be read, is too long, or is not UTF-8.
    pub(super) fn read(files: &dyn Files, path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let absolute = std::path::absolute(path).ok().and_then(AbsPath::new);
        let absolute = absolute.ok_or_else(|| format!("{shown} is not a path"))?;
        let read = files.read_with_stat(&absolute, MAX_BYTES);
        let (bytes, _) = read.map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8"))?;
        Ok(Self {
            block: block(&shown.to_string(), &text),
        })
    }

    /// Builds the request. Without `max_output`, the answer may be somewhat longer than the file.
    pub(super) fn request(
        self,
        model: ModelId,
        task: &str,
        max_output: Option<TokenCount>,
    ) -> ModelRequest {
        let size = TokenCount(self.block.len() as u64 / BYTES_PER_TOKEN + MARGIN);
        let message = Message::text(Role::User, format!("{task}\n\n{}", self.block));
        let mut request = ModelRequest::new(model, vec![message], max_output.unwrap_or(size));
        request.system.push(SystemBlock {
            text: SYSTEM.to_owned(),
            cache: CacheMark::None,
        });
        // Models accept most of a prediction without randomness.
        request.sampling = Sampling {
            temperature: Some(0.0),
            top_p: None,
        };
        request.prediction = Some(self.block);
        request
    }
}

/// Writes a whole file in the format of `patch::format::EditFormat::Whole`.
fn block(path: &str, text: &str) -> String {
    let runs = text.split(|ch| ch != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default().max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') {
        format!("{fence}\n")
    } else {
        format!("\n{fence}\n\\ No newline at end of file\n")
    };
    format!("{path}\n{fence}\n{text}{end}")
}

#[cfg(test)]
mod tests;
