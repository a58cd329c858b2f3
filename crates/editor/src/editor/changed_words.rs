//! Words that a change under review added within its rows: a second background behind them.
//!
//! The caller provides the words; this module only moves them with the text.

use base::{Bias, ByteOffset, Span};
use gpui_kit::Context;
use text::{PlacedMark, SpanMark, SpanSet};

use super::Editor;

/// Maximum number of words that are drawn in one frame.
const MAX_VISIBLE: usize = 1_000;

/// A word whose span follows the text.
#[derive(Clone, Debug)]
pub(crate) struct ChangedWord {
    rank: usize,
}

impl SpanMark for ChangedWord {
    type Rank = usize;
    const STAYS_EMPTY: bool = false;

    fn rank(&self) -> usize {
        self.rank
    }

    fn biases(&self) -> (Bias, Bias) {
        (Bias::Right, Bias::Left)
    }
}

/// Shows a stronger background behind words of the changes under review, in place of the earlier ones. The next
/// `Editor::set_review` removes them.
pub fn show_changed_words(editor: &mut Editor, words: &[Span], cx: &mut Context<Editor>) {
    editor.sync(cx);
    let clip = |offset: ByteOffset| editor.snapshot.clip(offset, Bias::Left);
    let marks = words.iter().enumerate().map(|(rank, word)| PlacedMark {
        span: Span::new(clip(word.start), clip(word.end)),
        mark: ChangedWord { rank },
    });
    let mut shown = SpanSet::new();
    shown.insert(marks.collect());
    editor.review.words = shown;
    cx.notify();
}

/// Returns the words that touch a span, sorted by their starts.
pub(crate) fn words_in(editor: &Editor, span: Span) -> Vec<Span> {
    let placed = editor.review.words.touching(span).into_iter();
    placed.take(MAX_VISIBLE).map(|placed| placed.span).collect()
}
