//! Wrapping whole lines, here or in the background.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Work, count_work};
use sum_tree::SumTree;

use super::{WrapItem, WrapOptions};
use crate::limits::{LONG_LINE_BYTES, ROW_BYTES, ROWS_PER_ITEM, WINDOW_BYTES};
use crate::shown_text::{ChunkSource, ShownText};

/// Wraps a run of lines with the options of `generation` and returns their items. Returns `None` if
/// `cancel` was set meanwhile.
pub(crate) fn wrap_lines(
    shown: &ShownText,
    lines: Range<u32>,
    options: WrapOptions,
    generation: u32,
    cancel: &AtomicBool,
) -> Option<SumTree<WrapItem>> {
    let mut out = WrapOutput::new(options, generation);
    let mut line = lines.start;
    while line < lines.end {
        if cancel.load(Ordering::Relaxed) {
            return None;
        }
        line = out.wrap_some(shown, line..lines.end, cancel)?;
    }
    Some(out.finish())
}

/// Rows for lines that do not wrap: they end at the breaks of inlays alone. Very long lines stay whole.
pub(super) fn broken_lines(
    shown: &ShownText,
    lines: Range<u32>,
    generation: u32,
) -> SumTree<WrapItem> {
    let unbounded = WrapOptions {
        cells: u32::MAX,
        tab_width: 1,
    };
    let mut out = WrapOutput::new(unbounded, generation);
    count_work(Work::Entries, lines.len());
    for line in lines {
        let span = shown.line_span(line).shown;
        let mut breaks = if span.len() <= LONG_LINE_BYTES {
            shown.breaks(span.clone())
        } else {
            Vec::new()
        };
        breaks.retain(|at| *at < span.end);
        if breaks.is_empty() {
            out.plain_lines += 1;
            continue;
        }
        let mut at = span.start;
        for next in breaks {
            out.push_row(next - at, 0, false);
            at = next;
        }
        out.push_row(span.end - at, 0, true);
    }
    out.finish()
}

/// The rows of the lines seen so far.
pub(super) struct WrapOutput {
    options: WrapOptions,
    generation: u32,
    items: Vec<WrapItem>,
    plain_lines: u32,
    /// The rows of one line that are in no item yet, and their indent.
    lens: Vec<u32>,
    indent: u32,
}

impl WrapOutput {
    pub(super) fn new(options: WrapOptions, generation: u32) -> Self {
        Self {
            options,
            generation,
            items: Vec::new(),
            plain_lines: 0,
            lens: Vec::new(),
            indent: 0,
        }
    }

    pub(super) fn finish(mut self) -> SumTree<WrapItem> {
        self.end_plain_lines();
        SumTree::from_iter(self.items, ())
    }

    /// One row of a line that has several. That of a line's first row is ignored.
    pub(super) fn push_row(&mut self, len: usize, indent: u32, ends_line: bool) {
        self.end_plain_lines();
        if indent != self.indent {
            self.end_rows(false);
        }
        self.indent = indent;
        self.lens.push(u32::try_from(len).unwrap_or(u32::MAX));
        if ends_line || self.lens.len() >= ROWS_PER_ITEM {
            self.end_rows(ends_line);
        }
    }

    /// Puts the rows so far into an item.
    pub(super) fn end_rows(&mut self, ends_line: bool) {
        if self.lens.is_empty() {
            return;
        }
        self.items.push(WrapItem::Rows {
            lens: self.lens.as_slice().into(),
            indent: self.indent,
            ends_line,
            generation: self.generation,
        });
        self.lens.clear();
    }

    fn end_plain_lines(&mut self) {
        if self.plain_lines > 0 {
            self.items.push(WrapItem::Plain {
                lines: self.plain_lines,
                generation: self.generation,
            });
            self.plain_lines = 0;
        }
    }

    /// Wraps lines up to and including the first that is too long to be held at once. Returns the
    /// next line.
    fn wrap_some(
        &mut self,
        shown: &ShownText,
        lines: Range<u32>,
        cancel: &AtomicBool,
    ) -> Option<u32> {
        let start = shown.line_span(lines.start).shown.start;
        let end = shown.line_span(lines.end - 1).shown.end;
        let mut line = lines.start;
        let mut carry = String::new();
        for chunk in shown.chunks(start..end) {
            let mut rest = chunk.text;
            while chunk.source == ChunkSource::Text
                && let Some((head, tail)) = rest.split_once('\n')
            {
                rest = tail;
                line += 1;
                if carry.is_empty() {
                    self.wrap_text(without_return(head));
                } else {
                    carry.push_str(head);
                    self.wrap_text(without_return(&carry));
                    carry.clear();
                }
                if line.is_multiple_of(4096) && cancel.load(Ordering::Relaxed) {
                    return None;
                }
            }
            carry.push_str(rest);
            if carry.len() > WINDOW_BYTES {
                self.wrap_long(shown, line, cancel)?;
                return Some(line + 1);
            }
        }
        self.wrap_text(&carry);
        Some(line + 1)
    }

    /// Wraps one line that lies in memory.
    fn wrap_text(&mut self, text: &str) {
        let Some(mut len) = self.options.row_len(text, 0) else {
            self.plain_lines += 1;
            return;
        };
        let mut indent = self.options.first_indent(text);
        let mut shown_indent = indent.hanging;
        let mut rest = text;
        loop {
            self.push_row(len, shown_indent, false);
            let (row, next) = rest.split_at(len);
            indent = self.options.next_indent(indent, row, next);
            shown_indent = indent.row;
            rest = next;
            match self.options.row_len(rest, indent.row) {
                Some(next) => len = next,
                None => return self.push_row(rest.len(), shown_indent, true),
            }
        }
    }

    /// Wraps one line of any length.
    fn wrap_long(&mut self, shown: &ShownText, line: u32, cancel: &AtomicBool) -> Option<()> {
        let span = shown.line_span(line).shown;
        let mut window = LineWindow::new(shown, span.clone(), WINDOW_BYTES);
        let mut indent = self.options.first_indent(window.at(span.start));
        let mut shown_indent = indent.hanging;
        let mut at = span.start;
        let mut count = 0_u32;
        loop {
            let text = window.at(at);
            match self.options.row_len(text, indent.row) {
                Some(len) => {
                    self.push_row(len, shown_indent, false);
                    indent = self.options.next_indent(indent, &text[..len], &text[len..]);
                    shown_indent = indent.row;
                    at += len;
                }
                None if at == span.start => {
                    self.plain_lines += 1;
                    return Some(());
                }
                None => {
                    self.push_row(span.end - at, shown_indent, true);
                    return Some(());
                }
            }
            count += 1;
            if count.is_multiple_of(4096) && cancel.load(Ordering::Relaxed) {
                return None;
            }
        }
    }
}

fn without_return(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// A long line of which a part lies in memory.
pub(super) struct LineWindow<'a> {
    shown: &'a ShownText,
    line: Range<usize>,
    text: String,
    start: usize,
    /// Bytes read at a time.
    size: usize,
}

impl<'a> LineWindow<'a> {
    pub(super) fn new(shown: &'a ShownText, line: Range<usize>, size: usize) -> Self {
        Self {
            shown,
            size,
            start: line.start,
            line,
            text: String::new(),
        }
    }

    /// The text from a place on, as far as `WrapOptions::row_len` may ask for.
    pub(super) fn at(&mut self, at: usize) -> &str {
        let end = self.start + self.text.len();
        let wanted = (at + ROW_BYTES + 8).min(self.line.end);
        if at < self.start || wanted > end {
            self.text.clear();
            self.start = at;
            for chunk in self.shown.chunks(at..self.line.end) {
                self.text.push_str(chunk.text);
                if self.text.len() >= self.size {
                    break;
                }
            }
        }
        &self.text[at - self.start..]
    }
}
