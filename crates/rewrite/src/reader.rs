//! Follows the stream of an answer.

use model::{StopReason, StreamEvent};

use crate::answer::new_lines;
use crate::line_rewrite::RewriteEvent;
use crate::progress::AnswerProgress;
use crate::region::RewriteRegion;

/// Turns the events of a model into those of a rewrite.
#[derive(Clone, Debug)]
pub struct AnswerReader {
    region: RewriteRegion,
    /// The answer so far.
    answer: String,
}

impl AnswerReader {
    /// Creates a reader of an answer about these lines.
    pub fn new(region: RewriteRegion) -> Self {
        Self {
            region,
            answer: String::new(),
        }
    }

    /// Reads an event. Returns `None` if it changes nothing that is shown.
    pub fn read(&mut self, event: StreamEvent) -> Option<RewriteEvent> {
        match event {
            StreamEvent::TextDelta(text) => {
                let has_line = text.contains('\n');
                self.answer.push_str(&text);
                // Only complete lines are shown.
                let lines = has_line.then(|| self.answer_lines(AnswerProgress::Partial));
                lines.flatten().map(RewriteEvent::Lines)
            }
            StreamEvent::Restart => {
                self.answer.clear();
                Some(RewriteEvent::Lines(Vec::new()))
            }
            StreamEvent::Stop { reason, .. } => Some(self.stop_event(reason)),
            StreamEvent::Failed(failure) => Some(RewriteEvent::Failed(failure.message)),
            StreamEvent::Start { .. }
            | StreamEvent::ReasoningDelta(_)
            | StreamEvent::Signature { .. }
            | StreamEvent::ToolStart { .. }
            | StreamEvent::ToolArgsDelta { .. }
            | StreamEvent::ToolEnd { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::RateLimits(_) => None,
        }
    }

    fn answer_lines(&self, progress: AnswerProgress) -> Option<Vec<String>> {
        new_lines(&self.region, &self.answer, progress)
    }

    fn stop_event(&self, reason: StopReason) -> RewriteEvent {
        let sentence = match reason {
            StopReason::EndTurn | StopReason::StopText => {
                let lines = self.answer_lines(AnswerProgress::Complete);
                return lines.map_or_else(
                    || RewriteEvent::Failed("The model answered with nothing.".to_owned()),
                    RewriteEvent::Done,
                );
            }
            StopReason::MaxTokens => {
                "The answer is longer than the model can write: select fewer lines."
            }
            StopReason::Refusal => "The model declined to answer: change the instruction.",
            StopReason::ToolUse => "The model asked for a tool, and inline edits have none.",
            StopReason::Pause => "The provider interrupted the answer: send it again.",
        };
        RewriteEvent::Failed(sentence.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use base::Row;
    use model::{Failure, FailureClass, StopReason, StreamEvent};
    use text::{LineEnding, RowSpan, Snapshot};

    use super::AnswerReader;
    use crate::{RewriteEvent, RewriteRegion};

    fn check(events: &[StreamEvent], expected: &[RewriteEvent]) {
        let rows = RowSpan {
            start: Row(0),
            end: Row(1),
        };
        let region = RewriteRegion::new(&Snapshot::new("a\n"), rows, LineEnding::Lf);
        let mut reader = AnswerReader::new(region);
        let read = events.iter().filter_map(|event| reader.read(event.clone()));
        assert_eq!(read.collect::<Vec<_>>(), expected);
    }

    fn text(text: &str) -> StreamEvent {
        StreamEvent::TextDelta(text.to_owned())
    }

    fn stop(reason: StopReason) -> StreamEvent {
        let raw = String::new();
        StreamEvent::Stop { reason, raw }
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn complete_lines_are_shown_as_they_arrive() {
        check(
            &[
                text("```\nb"),
                text("c\nd"),
                text("\n```"),
                stop(StopReason::EndTurn),
            ],
            &[
                RewriteEvent::Lines(owned(&[])),
                RewriteEvent::Lines(owned(&["bc"])),
                RewriteEvent::Lines(owned(&["bc", "d"])),
                RewriteEvent::Done(owned(&["bc", "d"])),
            ],
        );
    }

    #[test]
    fn an_answer_that_begins_anew_replaces_the_first() {
        check(
            &[
                text("```\nb\n"),
                StreamEvent::Restart,
                text("c"),
                stop(StopReason::EndTurn),
            ],
            &[
                RewriteEvent::Lines(owned(&["b"])),
                RewriteEvent::Lines(owned(&[])),
                RewriteEvent::Done(owned(&["c"])),
            ],
        );
    }

    #[test]
    fn other_ends_are_sentences() {
        let offline = Failure::new(FailureClass::Offline, "cannot reach the model");
        let failures = [
            (StreamEvent::Failed(offline), "cannot reach"),
            (stop(StopReason::MaxTokens), "longer"),
            (stop(StopReason::Refusal), "declined"),
            (stop(StopReason::EndTurn), "nothing"),
        ];
        for (event, part) in failures {
            let region = RewriteRegion::new(
                &Snapshot::new("a"),
                RowSpan {
                    start: Row(0),
                    end: Row(1),
                },
                LineEnding::Lf,
            );
            let read = AnswerReader::new(region).read(event);
            let Some(RewriteEvent::Failed(sentence)) = read else {
                panic!("{read:?}");
            };
            assert!(sentence.contains(part), "{sentence}");
        }
    }
}
