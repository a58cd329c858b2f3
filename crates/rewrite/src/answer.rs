//! Reads the new lines from the answer of a model, also while it is being written.

use crate::fence::Fence;
use crate::indentation::restore_indentation;
use crate::progress::AnswerProgress;
use crate::region::RewriteRegion;

/// Returns the lines that replace those of the region, without their endings: the first block of
/// code of the answer, or the whole answer if it has none. Of a partial answer, returns the
/// complete lines of the block. Returns `None` if the answer has no lines yet, or if a complete
/// answer is blank.
///
/// Indentation that the model dropped is restored. A byte order mark, NUL characters and carriage
/// returns at line ends are removed.
pub(crate) fn new_lines(
    region: &RewriteRegion,
    answer: &str,
    progress: AnswerProgress,
) -> Option<Vec<String>> {
    let answer = answer.trim_start_matches('\u{feff}');
    let mut lines: Vec<String> = answer
        .split('\n')
        .map(|line| line.trim_end_matches('\r').replace('\0', ""))
        .collect();
    if progress == AnswerProgress::Partial {
        // The rest of the last line is still to come: it may be a fence.
        lines.pop();
    }
    let opening = lines
        .iter()
        .enumerate()
        .find_map(|(ix, line)| Some((ix, Fence::of(line)?)));
    let mut found = match (opening, progress) {
        (Some((at, opening)), _) => {
            let rest = lines.split_off(at + 1);
            block(rest, opening, region, progress)
        }
        (None, AnswerProgress::Complete) => trimmed(lines)?,
        // A sentence before the block is not part of the text.
        (None, AnswerProgress::Partial) => return None,
    };
    restore_indentation(&mut found, region.lines());
    Some(found)
}

/// Returns the lines up to the one that closes the block, or all lines if none does.
fn block(
    mut lines: Vec<String>,
    opening: Fence,
    region: &RewriteRegion,
    progress: AnswerProgress,
) -> Vec<String> {
    let closes = |line: &String| Fence::of(line).is_some_and(|fence| fence.closes(opening));
    let has_fences = region.lines().iter().any(|line| Fence::of(line).is_some());
    let end = if has_fences && progress == AnswerProgress::Complete {
        // Fences of the text may be as long as the model's: the last one is the model's.
        lines.iter().rposition(closes)
    } else {
        let mut depth = 0_usize;
        lines.iter().position(|line| {
            let fence = Fence::of(line);
            if fence.is_some_and(|fence| fence.nests_in(opening)) {
                depth += 1;
                return false;
            }
            let is_close = fence.is_some_and(|fence| fence.closes(opening));
            if is_close && depth > 0 {
                depth -= 1;
                return false;
            }
            is_close && !has_fences
        })
    };
    match end {
        Some(end) => lines.truncate(end),
        // Without a closing fence, the empty line after the last line feed is no line.
        None if lines.last().is_some_and(String::is_empty) => {
            lines.pop();
        }
        None => {}
    }
    lines
}

/// Removes blank lines at both ends. Returns `None` if nothing is left.
fn trimmed(mut lines: Vec<String>) -> Option<Vec<String>> {
    let is_text = |line: &String| !line.trim().is_empty();
    let last = lines.iter().rposition(is_text)?;
    lines.truncate(last + 1);
    let first = lines.iter().position(is_text)?;
    Some(lines.split_off(first))
}

#[cfg(test)]
mod tests;
