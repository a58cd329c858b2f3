//! Finds blocks of conflict markers in a text, in the styles `merge`, `diff3` and `zdiff3`.
//!
//! Must not know: the repository. A block whose sides are known is found even if they contain lines
//! that look like markers.

use std::ops::Range;

/// Number of signs in a marker, unless the attribute `conflict-marker-size` says otherwise.
pub(super) const MARKER_SIZE: usize = 7;

/// The bytes of a block of conflict markers in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkerBlock {
    /// The whole block, from the first marker to the ending of the last.
    pub(super) span: Range<usize>,
    /// Lines of our side.
    pub(super) ours: Range<usize>,
    /// Lines of the merge base; `None` in the style `merge`.
    pub(super) base: Option<Range<usize>>,
    /// Lines of their side.
    pub(super) theirs: Range<usize>,
    /// The marker lines, without endings, in order.
    pub(super) markers: Vec<Range<usize>>,
}

/// The sides of a conflict, by which its block is recognized.
#[derive(Clone, Copy)]
pub(super) struct BlockSides<'a> {
    pub(super) base: &'a str,
    pub(super) ours: &'a str,
    pub(super) theirs: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkerSign {
    Ours,
    Base,
    Divider,
    Theirs,
}

/// A text with the lines in it that look like markers.
pub(super) struct MarkedText<'a> {
    text: &'a str,
    /// Lines with their endings.
    lines: Vec<Range<usize>>,
    /// Lines that look like markers, in order.
    marks: Vec<(usize, MarkerSign)>,
}

impl<'a> MarkedText<'a> {
    /// Splits a text; markers consist of `size` signs. Takes time in proportion to the text.
    pub(super) fn new(text: &'a str, size: usize) -> Self {
        let mut start = 0;
        let lines: Vec<Range<usize>> = text
            .split_inclusive('\n')
            .map(|line| {
                let span = start..start + line.len();
                start = span.end;
                span
            })
            .collect();
        let marks = lines.iter().enumerate().filter_map(|(ix, span)| {
            let sign = sign_of(&text[span.clone()], size)?;
            Some((ix, sign))
        });
        let marks = marks.collect();
        Self { text, lines, marks }
    }

    /// Returns the lines with which a block may begin, in order.
    pub(super) fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        let starts = self.marks.iter();
        let starts = starts.filter(|(_, sign)| *sign == MarkerSign::Ours);
        starts.map(|(line, _)| *line)
    }

    /// Returns the first byte of a line.
    pub(super) fn start_of(&self, line: usize) -> usize {
        self.lines.get(line).map_or(self.text.len(), |it| it.start)
    }

    /// Reads the block that begins with this line, if its sides have these lines. Line endings may
    /// differ. In a block of the style `merge`, the base is not compared.
    pub(super) fn block_of(&self, first: usize, sides: BlockSides<'_>) -> Option<MarkerBlock> {
        let ours_end = self.after_lines(first + 1, sides.ours)?;
        let (base_end, divider) = if self.sign_at(ours_end) == Some(MarkerSign::Base) {
            let end = self.after_lines(ours_end + 1, sides.base)?;
            (Some(end), end)
        } else {
            (None, ours_end)
        };
        if self.sign_at(divider) != Some(MarkerSign::Divider) {
            return None;
        }
        let last = self.after_lines(divider + 1, sides.theirs)?;
        if self.sign_at(last) != Some(MarkerSign::Theirs) {
            return None;
        }
        Some(self.block([
            Some(first),
            base_end.map(|_| ours_end),
            Some(divider),
            Some(last),
        ]))
    }

    /// Reads the block that begins with this line by its markers alone. `None` if they are
    /// incomplete or in another order.
    pub(super) fn block_at(&self, first: usize) -> Option<MarkerBlock> {
        let at = self.marks.partition_point(|(line, _)| *line <= first);
        let (mut base, mut divider) = (None, None);
        for (line, sign) in &self.marks[at..] {
            match (sign, divider) {
                (MarkerSign::Ours, _) => return None,
                (MarkerSign::Base, None) if base.is_none() => base = Some(*line),
                (MarkerSign::Divider, None) => divider = Some(*line),
                (MarkerSign::Theirs, None) => return None,
                (MarkerSign::Theirs, Some(_)) => {
                    return Some(self.block([Some(first), base, divider, Some(*line)]));
                }
                // A side may contain an underlined heading.
                (MarkerSign::Base | MarkerSign::Divider, _) => {}
            }
        }
        None
    }

    /// Builds a block from the lines of its markers: first, base, divider, last.
    fn block(&self, markers: [Option<usize>; 4]) -> MarkerBlock {
        let [first, base, divider, last] = markers;
        let line = |line: Option<usize>| line.unwrap_or_default();
        let (first, divider, last) = (line(first), line(divider), line(last));
        let between = |from: usize, to: usize| self.start_of(from + 1)..self.start_of(to);
        let marker = |line: usize| {
            let span = self.lines[line].clone();
            span.start..span.start + without_ending(&self.text[span]).len()
        };
        MarkerBlock {
            span: self.start_of(first)..self.lines[last].end,
            ours: between(first, base.unwrap_or(divider)),
            base: base.map(|base| between(base, divider)),
            theirs: between(divider, last),
            markers: markers.into_iter().flatten().map(marker).collect(),
        }
    }

    /// Returns the line after `expected`, if the lines from `first` on are those of `expected`.
    fn after_lines(&self, first: usize, expected: &str) -> Option<usize> {
        let mut at = first;
        for line in expected.split_inclusive('\n') {
            let span = self.lines.get(at)?.clone();
            if without_ending(&self.text[span]) != without_ending(line) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    fn sign_at(&self, line: usize) -> Option<MarkerSign> {
        let at = self.marks.binary_search_by_key(&line, |(line, _)| *line);
        at.ok().map(|at| self.marks[at].1)
    }
}

/// Returns a line without its ending.
pub(super) fn without_ending(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns the sign of a line that looks like a marker of `size` signs.
fn sign_of(line: &str, size: usize) -> Option<MarkerSign> {
    let line = without_ending(line);
    let first = line.chars().next()?;
    let sign = match first {
        '<' => MarkerSign::Ours,
        '|' => MarkerSign::Base,
        '=' => MarkerSign::Divider,
        '>' => MarkerSign::Theirs,
        _ => return None,
    };
    let label = line.trim_start_matches(first);
    let has_label = label.starts_with(' ') && sign != MarkerSign::Divider;
    let is_marker = line.len() - label.len() == size && (label.is_empty() || has_label);
    is_marker.then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::{BlockSides, MARKER_SIZE, MarkedText, MarkerBlock};

    /// Returns the text of ours, base and theirs.
    fn sides(text: &str, block: &MarkerBlock) -> (String, Option<String>, String) {
        let cut = |span: &std::ops::Range<usize>| text[span.clone()].to_owned();
        (
            cut(&block.ours),
            block.base.as_ref().map(cut),
            cut(&block.theirs),
        )
    }

    #[track_caller]
    fn check(text: &str, size: usize, expected: Option<(&str, Option<&str>, &str)>) {
        let marked = MarkedText::new(text, size);
        let first = marked.starts().next();
        let block = first.and_then(|first| marked.block_at(first));
        let found = block.map(|block| sides(text, &block));
        let expected = expected.map(|(ours, base, theirs)| {
            (ours.to_owned(), base.map(str::to_owned), theirs.to_owned())
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn blocks_of_every_style_are_read() {
        let size = MARKER_SIZE;
        check(
            "x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> t\ny\n",
            size,
            Some(("a\n", None, "b\n")),
        );
        check(
            "<<<<<<< o\r\na\r\n||||||| base\r\nc\r\n=======\r\n>>>>>>> t",
            size,
            Some(("a\r\n", Some("c\r\n"), "")),
        );
        check("<<<<< o\n=====\nb\n>>>>> t\n", 5, Some(("", None, "b\n")));
    }

    #[test]
    fn incomplete_and_foreign_blocks_are_none() {
        let size = MARKER_SIZE;
        check("<<<<<<< HEAD\na\n>>>>>>> t\n", size, None);
        check("<<<<<<< HEAD\na\n=======\nb\n", size, None);
        check("<<<<<<<< HEAD\na\n========\nb\n>>>>>>>> t\n", size, None);
        check("Title\n=======\n", size, None);
    }

    #[test]
    fn known_sides_may_contain_markers() {
        let ours = "Title\n=======\n";
        let theirs = "<<<<<<< quoted\n=======\n>>>>>>> quoted\n";
        let text = format!("<<<<<<< o\n{ours}=======\n{theirs}>>>>>>> t\n");
        let marked = MarkedText::new(&text, MARKER_SIZE);
        let known = BlockSides {
            base: "",
            ours,
            theirs,
        };
        let block = marked.block_of(0, known).expect("the block");
        let expected = (ours.to_owned(), None, theirs.to_owned());
        assert_eq!(sides(&text, &block), expected);
        assert_eq!(block.span, 0..text.len());
        let other = BlockSides {
            ours: "x\n",
            ..known
        };
        assert_eq!(marked.block_of(0, other), None);
    }
}
