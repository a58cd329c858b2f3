//! The request to rewrite some lines of a text.

use base::AbsPath;
use model::{ModelId, ModelRequest, TokenCount};

use crate::fence::fenced;
use crate::region::{RewriteRegion, joined};
use crate::request::{plain_request, predict};

const SYSTEM: &str = "You rewrite some lines of a file as the user asks. Answer with the complete new text of these lines in one \
fenced code block, and with nothing else: no explanation, no line numbers, none of the lines around them. Keep the \
indentation, and repeat every line that needs no change exactly as it is. To remove all lines, answer with an empty block.";
/// Maximum size of the lines in bytes; no model rewrites more in a reasonable time.
pub const MAX_LINES_BYTES: usize = 64 << 10;
/// Maximum number of problems of the lines that a request names.
const MAX_PROBLEMS: usize = 20;

/// An instruction to rewrite some lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRewrite {
    /// The path of the file as the model sees it; empty for a text without a file.
    pub path: String,
    /// The name of the language, if the text has one.
    pub language: Option<String>,
    /// The lines.
    pub region: RewriteRegion,
    /// Messages of compilers and linters about the lines.
    pub problems: Vec<String>,
    /// The instructions of the project, each between tags that name its origin.
    pub rules: Vec<String>,
    /// The earlier instructions for these lines and their answers, oldest first.
    pub earlier: Vec<EarlierRewrite>,
    /// The instruction of the user.
    pub instruction: String,
}

/// An instruction that was answered, and that a later one refines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierRewrite {
    /// The instruction of the user.
    pub instruction: String,
    /// The lines of the answer.
    pub lines: Vec<String>,
}

/// A request to rewrite some lines of a file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteQuery {
    /// The lines and the instruction; the rules are added by the recipient.
    pub rewrite: LineRewrite,
    /// `auto`, `demo`, or a model written `provider/model`; without it, the default of the settings.
    pub model: Option<String>,
    /// The file, if the text has one.
    pub file: Option<AbsPath>,
    /// The folder whose rules apply, if one is open.
    pub root: Option<AbsPath>,
}

/// An event of a request to rewrite some lines. `Done` and `Failed` end the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewriteEvent {
    /// The lines written so far; replaces earlier ones. Empty if the answer begins anew.
    Lines(Vec<String>),
    /// The request waits before it is sent again; a sentence with the reason.
    Waiting(String),
    /// The lines of the complete answer.
    Done(Vec<String>),
    /// The request failed; a sentence with the reason.
    Failed(String),
}

impl LineRewrite {
    /// Builds the request. Without `max_output`, the answer may be somewhat longer than the lines.
    pub fn request(&self, model: ModelId, max_output: Option<TokenCount>) -> ModelRequest {
        let info = self.language.as_deref().unwrap_or_default();
        let info = info.to_lowercase().replace(' ', "-");
        let latest = self.earlier.last().map(|it| joined(&it.lines));
        let expected = fenced(&info, &latest.unwrap_or_else(|| self.region.text()));
        let system = std::iter::once(SYSTEM.to_owned()).chain(self.rules.iter().cloned());
        let mut request = plain_request(
            model,
            system.collect(),
            self.message(&info),
            (&expected, max_output),
        );
        if !self.region.is_blank() || !self.earlier.is_empty() {
            predict(&mut request, expected);
        }
        request
    }

    /// Returns the message: the file around the lines, the lines, what was done so far, and the
    /// instruction, which comes last.
    fn message(&self, info: &str) -> String {
        let mut text = String::new();
        if !self.path.is_empty() {
            text.push_str(&format!("File: {}\n\n", self.path));
        }
        let region = &self.region;
        for (name, part) in [("before", region.before()), ("after", region.after())] {
            if !part.trim().is_empty() {
                let block = fenced(info, part);
                text.push_str(&format!("The text {name} the lines:\n{block}\n"));
            }
        }
        if !self.problems.is_empty() {
            text.push_str("Problems in the lines:\n");
            for problem in self.problems.iter().take(MAX_PROBLEMS) {
                text.push_str(&format!("- {}\n", problem.replace('\n', " ")));
            }
            text.push('\n');
        }
        let rows = region.rows();
        let (first, last) = (rows.start.0 + 1, rows.end.0);
        let title = match (region.is_blank(), first == last) {
            (true, _) => format!("Line {first} is blank. Write the text that goes there:"),
            (false, true) => format!("Line {first}, to be rewritten:"),
            (false, false) => format!("Lines {first} to {last}, to be rewritten:"),
        };
        let block = fenced(info, &region.text());
        text.push_str(&format!("{title}\n{block}\n"));
        for earlier in &self.earlier {
            text.push_str(&format!("Earlier instruction: {}\n", earlier.instruction));
        }
        if let Some(latest) = self.earlier.last() {
            let block = fenced(info, &joined(&latest.lines));
            text.push_str(&format!(
                "Your text of the lines so far, to be rewritten again:\n{block}\n"
            ));
        }
        text.push_str(&self.instruction);
        text
    }
}

#[cfg(test)]
mod tests;
