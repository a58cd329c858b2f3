//! Fences around code, as Markdown has them.

/// Indentation, in spaces, from which a line is code and no fence.
const CODE_INDENT: usize = 4;

/// A line that opens or closes a block of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fence {
    letter: char,
    length: usize,
    /// Whether a language follows, so that the line can only open a block.
    has_info: bool,
}

impl Fence {
    /// Reads a line without its ending. Returns `None` if the line is no fence.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let letter = text.chars().next().filter(|it| matches!(*it, '`' | '~'))?;
        let length = text.len() - text.trim_start_matches(letter).len();
        let info = text[length..].trim();
        let is_fence =
            length >= 3 && line.len() - text.len() < CODE_INDENT && !info.contains(letter);
        is_fence.then_some(Self {
            letter,
            length,
            has_info: !info.is_empty(),
        })
    }

    /// Returns whether this line closes the block that `opening` opened.
    pub(crate) fn closes(self, opening: Self) -> bool {
        self.letter == opening.letter && self.length >= opening.length && !self.has_info
    }

    /// Returns whether this line can only open a block within that of `opening`.
    pub(crate) fn nests_in(self, opening: Self) -> bool {
        self.letter == opening.letter && self.length >= opening.length && self.has_info
    }
}

/// Returns a fence that is longer than every run of backticks in `text`.
pub(crate) fn fence_for(text: &str) -> String {
    let runs = text.split(|ch| ch != '`').map(str::len);
    "`".repeat(runs.max().unwrap_or_default().max(2) + 1)
}

/// Returns `text` between fences that it does not contain; `info` names its language.
pub fn fenced(info: &str, text: &str) -> String {
    let fence = fence_for(text);
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{info}\n{text}{newline}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::{Fence, fenced};

    #[test]
    fn fences_by_example() {
        for fence in ["```", "````", "```rust", "  ~~~", "``` rust,ignore  "] {
            assert!(Fence::of(fence).is_some(), "{fence}");
        }
        for other in ["", "``", "    ```", "`x` ```", "```a`b", "/// ```", "\t```"] {
            assert!(Fence::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_those_of_the_text() {
        assert_eq!(fenced("rust", "a"), "```rust\na\n```\n");
        assert_eq!(fenced("", "```\n"), "````\n```\n````\n");
        assert_eq!(fenced("", ""), "```\n```\n");
    }
}
