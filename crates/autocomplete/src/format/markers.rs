//! Zeta 2.1: like Zeta 2, but the editable part is divided into blocks between numbered markers;
//! the response is the text between two of them.
//!
//! Source of the format: Zed's open model `zeta-2.1`; the format's name there is
//! V0318SeedMultiRegions.

use super::RegionResponse;
use super::zeta2::{self, CARET, FILE, MIDDLE, PREFIX};
use crate::context::EditContext;

pub(super) const SENTENCE_END: &str = "<[end▁of▁sentence]>";
const MARKER: &str = "<|marker_";

pub(super) const TOKENS: &[&str] = &[
    zeta2::SUFFIX,
    PREFIX,
    MIDDLE,
    FILE,
    CARET,
    MARKER,
    SENTENCE_END,
];

/// Minimum and maximum number of lines of a block.
const FEWEST: usize = 6;
const MAX_MARKERS: usize = 16;

pub(super) fn prompt(context: &EditContext) -> String {
    let window = &context.window;
    let region = window.region();
    let caret = window.caret - window.editable.start;
    let ends = blocks(region);
    let mut marked = String::new();
    let mut has_caret = false;
    for (ix, start) in ends.iter().enumerate() {
        marked.push_str(&marker(ix));
        let Some(end) = ends.get(ix + 1) else {
            break;
        };
        let block = &region[*start..*end];
        if !has_caret && (*start..=*end).contains(&caret) {
            has_caret = true;
            let (before, behind) = block.split_at(caret - start);
            marked.push_str(&format!("{before}{CARET}{behind}"));
        } else {
            marked.push_str(block);
        }
    }
    format!(
        "{}{PREFIX}{}{}{FILE}{}\n{}{}{MIDDLE}",
        zeta2::suffix(context),
        zeta2::files(&context.files),
        zeta2::history(&context.edits),
        context.path,
        window.before_region(),
        zeta2::line_end(marked),
    )
}

/// Returns the offsets at which the blocks of a region begin, and its end. Blocks begin after blank
/// lines if possible.
fn blocks(region: &str) -> Vec<usize> {
    let lines: Vec<&str> = region.split_inclusive('\n').collect();
    let mut starts = vec![0];
    let (mut offset, mut count) = (0, 0);
    for (ix, line) in lines.iter().enumerate() {
        let left = lines.len() - ix;
        let is_break = ix > 0 && lines[ix - 1].trim().is_empty() && !line.trim().is_empty();
        if left >= FEWEST && (count >= FEWEST && is_break || count >= MAX_MARKERS) {
            starts.push(offset);
            count = 0;
        }
        offset += line.len();
        count += 1;
    }
    starts.push(region.len());
    starts
}

fn marker(ix: usize) -> String {
    format!("{MARKER}{}|>", ix + 1)
}

/// Returns the region with the text between the first and the last marker of the response inserted
/// between the same two markers.
pub(super) fn read(region: &str, answer: &str) -> RegionResponse {
    let answer = answer.replace(CARET, "");
    let found = tags(&answer);
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        return RegionResponse::Unreadable;
    };
    if found.len() < 2 {
        return RegionResponse::Unreadable;
    }
    if first.number == last.number {
        return RegionResponse::Nothing;
    }
    let starts = blocks(region);
    let place = |number: usize| starts.get(number.checked_sub(1)?).copied();
    let (Some(start), Some(end)) = (place(first.number), place(last.number)) else {
        return RegionResponse::Unreadable;
    };
    if start > end {
        return RegionResponse::Unreadable;
    }
    let pieces = found
        .windows(2)
        .map(|pair| &answer[pair[0].end..pair[1].start]);
    let mut new: String = pieces.collect();
    // The model may put a marker on a line of its own.
    if new.starts_with('\n') && !region[start..].starts_with('\n') {
        new.remove(0);
    }
    RegionResponse::Region(format!("{}{new}{}", &region[..start], &region[end..]))
}

/// A marker in a response.
struct MarkerTag {
    number: usize,
    start: usize,
    end: usize,
}

fn tags(answer: &str) -> Vec<MarkerTag> {
    let found = answer.match_indices(MARKER).filter_map(|(start, _)| {
        let digits = &answer[start + MARKER.len()..];
        let length = digits.find("|>")?;
        Some(MarkerTag {
            number: digits[..length].parse().ok()?,
            start,
            end: start + MARKER.len() + length + 2,
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests;
