//! Exchanging two texts (`cx`): the first is marked, the second swaps with it.

use base::Span;
use text::Edit;

use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::error::{Done, Error};
use crate::lines::Pos;

/// The text marked for an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExchangeMark {
    pub(super) start: Pos,
    /// Behind the last character; for lines, in the last one.
    pub(super) end: Pos,
    pub(super) is_lines: bool,
}

impl ExchangeMark {
    fn of(region: &Region) -> Self {
        Self {
            start: region.start,
            end: region.end,
            is_lines: region.shape == RegionShape::Lines,
        }
    }

    fn span(&self, exec: &Exec) -> Span {
        let lines = &exec.lines;
        if self.is_lines {
            return Region::lines(self.start.row, self.end.row).span(lines);
        }
        lines.span(self.start, self.end)
    }
}

/// Marks a text, or swaps it with the marked one.
pub(super) fn exchange(exec: &mut Exec, region: &Region) -> Done {
    if matches!(region.shape, RegionShape::Block(_)) {
        return Err(Error::Beep);
    }
    let second = ExchangeMark::of(region);
    let Some(first) = exec.vim.exchange.take() else {
        exec.vim.exchange = Some(second);
        return Ok(());
    };
    let (a, b) = (first.span(exec), second.span(exec));
    if first.is_lines != second.is_lines || a.overlaps(b) {
        exec.vim.exchange = Some(first);
        return Err(Error::Beep);
    }
    let text = |span| exec.lines.text().text(span).into_owned();
    let (low, high) = if a.start <= b.start { (a, b) } else { (b, a) };
    let edits = vec![Edit::new(low, text(high)), Edit::new(high, text(low))];
    exec.edit(edits)?;
    let start = if second.start <= first.start {
        second.start
    } else {
        // The second text moved by the difference in length.
        let grown = high.len() as isize - low.len() as isize;
        exec.lines
            .pos(base::ByteOffset(b.start.0.saturating_add_signed(grown)))
    };
    exec.set_change_marks(start, start);
    exec.set_pos(start);
    Ok(())
}
