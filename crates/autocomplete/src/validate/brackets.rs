//! Which brackets a text leaves open, and which of them the text after it closes.

/// Brackets that are open at the end of a text, the outermost first, each with its offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenBrackets(Vec<(usize, char)>);

/// The result of matching the brackets of a text against brackets that are open before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closing {
    /// The brackets that it leaves open, the outermost first.
    pub(super) unclosed: Vec<(usize, char)>,
    /// Number of its brackets that close nothing.
    pub(super) stray: usize,
}

impl OpenBrackets {
    /// Returns the brackets that are open after these ones. A closing bracket also ends the open
    /// ones of another kind inside its own pair.
    pub(super) fn of(brackets: &[(usize, char)]) -> Self {
        let mut open = Self::default();
        for (at, ch) in brackets {
            match closer(*ch) {
                Some(_) => open.0.push((*at, *ch)),
                None => drop(open.close(*ch)),
            }
        }
        open
    }

    /// Returns the brackets from an offset on.
    pub(super) fn from(&self, offset: usize) -> &[(usize, char)] {
        let start = self.0.partition_point(|(at, _)| *at < offset);
        &self.0[start..]
    }

    /// Returns how a text with these brackets closes them.
    pub(super) fn closed_by(&self, brackets: &[(usize, char)]) -> Closing {
        let (mut outer, mut inner) = (self.clone(), Self::default());
        let (mut unclosed, mut stray) = (Vec::new(), 0);
        for (at, ch) in brackets {
            if closer(*ch).is_some() {
                inner.0.push((*at, *ch));
            } else if inner.close(*ch).is_none() {
                match outer.close(*ch) {
                    Some(passed) => unclosed.extend(passed),
                    None => stray += 1,
                }
            }
        }
        unclosed.extend(outer.0);
        unclosed.sort_by_key(|(at, _)| *at);
        Closing { unclosed, stray }
    }

    /// Closes the innermost bracket that belongs to a closing one. Returns those inside it, which
    /// stay open; `None` if there is no such bracket.
    fn close(&mut self, closing: char) -> Option<Vec<(usize, char)>> {
        let at = self
            .0
            .iter()
            .rposition(|(_, open)| closer(*open) == Some(closing))?;
        let passed = self.0.split_off(at + 1);
        self.0.pop();
        Some(passed)
    }
}

/// Returns the text that closes these brackets.
pub(super) fn closers(open: &[(usize, char)]) -> String {
    open.iter()
        .rev()
        .filter_map(|(_, ch)| closer(*ch))
        .collect()
}

/// Returns the bracket that closes an opening one; `None` for a closing one.
fn closer(open: char) -> Option<char> {
    match open {
        '(' => Some(')'),
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
