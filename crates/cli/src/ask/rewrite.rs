//! `ask --rewrite`: a request to rewrite a file, or some of its lines.
//!
//! The answer about a whole file is printed as it arrives. That about lines is printed as the whole
//! file, once it is complete.

use std::path::Path;

use base::{AbsPath, Row};
use futures::StreamExt as _;
use host::{Dirs, Files};
use model::{Failure, FailureClass, ModelId, ModelRequest, StreamEvent, TokenCount};
use rewrite::{
    AnswerReader, FileRewrite, LineRewrite, MAX_LINES_BYTES, RewriteEvent, RewriteRegion,
    file_block,
};
use router::actor::{RouterEvent, RouterHandle, RouterRequest as Question};
use runtime::agent_services::rewriting;
use runtime::trust;
use text::{LineEnding, RowSpan, Snapshot};

use super::{AnswerSummary, print_wait};
use crate::{Streams, print_notice, write_error};

/// Maximum size of a file in bytes; no model writes more in one answer.
const MAX_BYTES: u64 = 1 << 20;

/// A rewrite that the command line asks for.
pub(super) enum AskedRewrite {
    /// All of a file.
    File(FileRewrite),
    /// Some lines of a file.
    Lines(Box<AskedLines>),
}

/// Lines to be rewritten.
pub(super) struct AskedLines {
    /// The path as it is written on the command line.
    path: String,
    text: String,
    rewrite: LineRewrite,
}

/// Reads `10-20` or `10`.
pub(super) fn line_range(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first > 0 && last >= first => Ok((first, last)),
        _ => Err("write the first and the last line, such as 10-20".to_owned()),
    }
}

impl AskedRewrite {
    /// Reads the file. Fails with a sentence if it cannot be read, is too long, is not UTF-8, or has
    /// no such lines.
    pub(super) fn read(
        files: &dyn Files,
        dirs: &Dirs,
        path: &Path,
        lines: Option<(u32, u32)>,
    ) -> Result<Self, String> {
        let shown = path.display().to_string();
        let absolute = std::path::absolute(path).ok().and_then(AbsPath::new);
        let absolute = absolute.ok_or_else(|| format!("{shown} is not a path"))?;
        let read = files.read_with_stat(&absolute, MAX_BYTES);
        let (bytes, _) = read.map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8"))?;
        let Some(lines) = lines else {
            return Ok(Self::File(FileRewrite::new(&shown, &text)));
        };
        let region = region(&shown, &text, lines)?;
        let root = std::path::absolute(".").ok().and_then(AbsPath::new);
        let rules = root.map(|root| {
            let is_trusted = trust::is_trusted(files, dirs, &root);
            rewriting::rules(&root, Some(&absolute), is_trusted, &dirs.config)
        });
        let language = syntax::language_for(path, &text);
        Ok(Self::Lines(Box::new(AskedLines {
            rewrite: LineRewrite {
                path: shown.clone(),
                language: language.map(|language| language.name().to_owned()),
                region,
                problems: Vec::new(),
                rules: rules.unwrap_or_default(),
                earlier: Vec::new(),
                instruction: String::new(),
            },
            path: shown,
            text,
        })))
    }

    /// Builds the request. Without `max_output`, the answer may be somewhat longer than the text to
    /// be rewritten.
    pub(super) fn request(
        &self,
        model: ModelId,
        task: String,
        max_output: Option<TokenCount>,
    ) -> ModelRequest {
        match self {
            Self::File(file) => file.clone().request(model, &task, max_output),
            Self::Lines(lines) => {
                let rewrite = LineRewrite {
                    instruction: task,
                    ..lines.rewrite.clone()
                };
                rewrite.request(model, max_output)
            }
        }
    }
}

fn region(path: &str, text: &str, lines: (u32, u32)) -> Result<RewriteRegion, String> {
    let snapshot = Snapshot::new(text);
    let is_ended = snapshot.row_start(snapshot.last_row()) == snapshot.len();
    let count = snapshot.row_count() - u32::from(is_ended && snapshot.row_count() > 1);
    let (first, last) = lines;
    if last > count {
        return Err(format!(
            "{path} has {count} lines, so there is no line {last}"
        ));
    }
    let rows = RowSpan {
        start: Row(first - 1),
        end: Row(last),
    };
    let region = RewriteRegion::new(&snapshot, rows, LineEnding::of(text));
    if region.byte_len() > MAX_LINES_BYTES {
        return Err(format!(
            "lines {first} to {last} of {path} are longer than {} KiB: name fewer lines",
            MAX_LINES_BYTES >> 10
        ));
    }
    Ok(region)
}

impl AskedLines {
    /// Waits for the answer, and prints the file with the new lines if it is complete.
    pub(super) async fn follow(
        &self,
        router: &RouterHandle,
        ask: Question,
        streams: &mut Streams<'_>,
    ) -> Result<AnswerSummary, String> {
        let mut summary = AnswerSummary::default();
        let mut reader = AnswerReader::new(self.rewrite.region.clone());
        let mut events = router.submit(ask);
        while let Some(event) = events.next().await {
            let event = match event {
                RouterEvent::Decided(decision) => {
                    summary.decision = Some(decision);
                    continue;
                }
                RouterEvent::Waiting { failure, pause } => {
                    print_wait(&failure, pause, streams);
                    continue;
                }
                RouterEvent::Event(event) => event,
            };
            if let StreamEvent::Failed(failure) = &event {
                summary.failure = Some(failure.clone());
            }
            if matches!(event, StreamEvent::Restart) {
                print_notice(streams, "the answer broke off and begins again");
            }
            match reader.read(event) {
                Some(RewriteEvent::Done(lines)) => {
                    let block = file_block(&self.path, &self.with_lines(&lines));
                    let written = streams.output.write_all(block.as_bytes());
                    written.map_err(write_error)?;
                }
                Some(RewriteEvent::Failed(sentence)) if summary.failure.is_none() => {
                    summary.failure = Some(Failure::new(FailureClass::Malformed, sentence));
                }
                _ => {}
            }
        }
        Ok(summary)
    }

    /// Returns the text of the file with other lines.
    fn with_lines(&self, lines: &[String]) -> String {
        let (snapshot, region) = (Snapshot::new(&self.text), &self.rewrite.region);
        let edits = region.edits(&snapshot, region.rows().start, lines);
        let mut text = self.text.clone();
        for edit in edits.iter().rev() {
            text.replace_range(edit.span.start.0..edit.span.end.0, &edit.text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{line_range, region};

    #[test]
    fn line_ranges_by_example() {
        assert_eq!(line_range("10-20"), Ok((10, 20)));
        assert_eq!(line_range("7"), Ok((7, 7)));
        for wrong in ["", "0", "0-3", "5-4", "a", "1-", "-3", "1-2-3"] {
            assert!(line_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_past_the_end_are_refused() {
        assert!(region("a", "x\ny\n", (1, 2)).is_ok());
        assert!(region("a", "x\ny", (2, 2)).is_ok());
        let error = region("a.rs", "x\ny\n", (2, 3)).expect_err("two lines");
        assert_eq!(error, "a.rs has 2 lines, so there is no line 3");
        let long = format!("{}\n", "x".repeat(100_000));
        assert!(region("a", &long, (1, 1)).is_err());
    }
}
