//! Corrupts edits as models corrupt the text that they quote.
//!
//! Thirteen classes change the wording of an edit but not its meaning: unchanged lines are still
//! meant to stay as they are in the file, so the resulting file is known. Three more classes are
//! ambiguous to a careful reader: there a refusal is not a failure, but a wrong guess is.

use std::cell::OnceCell;

use patch::format::HunkSide;

use crate::interleave::Dice;

use super::truth::{Block, Change, Edit, is_unique, lines};

/// A class of corruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Corruption {
    None,
    TrailingSpace,
    Dedent,
    IndentUnit,
    TabsAndSpaces,
    BlankDropped,
    Typo,
    Elision,
    CurlyQuotes,
    LineEndings,
    Escapes,
    Entities,
    /// A blank line omitted from both sides, directly beside lines that are removed or replaced by
    /// at most as many lines. The edit does not mention the blank line, so it stays, and the
    /// changed lines of the file determine on which side.
    BlankAtChange,
    /// A blank line omitted where lines are inserted. The file does not show whether they belong
    /// before or after it; at best the new lines do. This includes changes that add more lines than
    /// they remove, since the first new lines may belong on the other side; blank lines between two
    /// changes; and moved lines, since the blank line may move along.
    BlankAtInsertion,
    /// A line of text is omitted, so that the quoted lines are not contiguous in the file.
    ContextDropped,
    /// The block occurs in several places; only a refusal is correct.
    Unclear,
}

impl Corruption {
    pub(super) const ALL: [Self; 16] = [
        Self::None,
        Self::TrailingSpace,
        Self::Dedent,
        Self::IndentUnit,
        Self::TabsAndSpaces,
        Self::BlankDropped,
        Self::Typo,
        Self::Elision,
        Self::CurlyQuotes,
        Self::LineEndings,
        Self::Escapes,
        Self::Entities,
        Self::BlankAtChange,
        Self::BlankAtInsertion,
        Self::ContextDropped,
        Self::Unclear,
    ];

    /// Returns whether the corrupted edit has only one interpretation.
    pub(super) fn is_clear(self) -> bool {
        !matches!(
            self,
            Self::BlankAtInsertion | Self::ContextDropped | Self::Unclear
        )
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::TrailingSpace => "trailing space",
            Self::Dedent => "common dedent",
            Self::IndentUnit => "indent unit",
            Self::TabsAndSpaces => "tabs and spaces",
            Self::BlankDropped => "blank line dropped",
            Self::Typo => "typo in context",
            Self::Elision => "... elision",
            Self::CurlyQuotes => "curly quotes",
            Self::LineEndings => "file has CRLF",
            Self::Escapes => "escaped quotes",
            Self::Entities => "HTML entities",
            Self::BlankAtChange => "blank beside change",
            Self::BlankAtInsertion => "blank at insertion",
            Self::ContextDropped => "context line dropped",
            Self::Unclear => "unclear place",
        }
    }

    /// Returns the corrupted edit; `None` if this corruption does not apply to it. The file may
    /// change too.
    pub(super) fn of(self, subject: &Subject, dice: &mut Dice) -> Option<(Edit, Block)> {
        let edit = &subject.edit;
        let block = match self {
            Self::Unclear => unclear(subject)?,
            Self::Elision => subject.far.get_or_init(|| subject.block(8)).clone()?,
            _ => subject.near.clone()?,
        };
        if self == Self::LineEndings {
            return Some((with_returns(edit)?, block));
        }
        let turns_space = matches!(
            self,
            Self::TrailingSpace | Self::Dedent | Self::IndentUnit | Self::TabsAndSpaces
        );
        let strays = |(_, line): &(HunkSide, String)| line.ends_with([' ', '\t']);
        if turns_space && block.lines.iter().any(strays) {
            // With trailing white space already present, the intended white space would be unknown.
            return None;
        }
        let block = match self {
            Self::None => Some(block),
            Self::TrailingSpace => each_line(&block, |line| format!("{line}  ")),
            Self::Dedent => dedented(&block),
            Self::IndentUnit => reindented(&block, other_unit),
            Self::TabsAndSpaces => reindented(&block, other_sign),
            Self::BlankDropped => blank_dropped(&block, dice, Beside::Nothing),
            Self::BlankAtChange => blank_dropped(&block, dice, Beside::Taken),
            Self::BlankAtInsertion => blank_dropped(&block, dice, Beside::Open),
            Self::ContextDropped => {
                let dropped = dropped(&block, dice, |_, line| line.trim().len() >= 8);
                dropped.map(|(block, _)| block)
            }
            Self::Typo => misspelt(&block, dice),
            Self::Elision => elided(&block),
            Self::CurlyQuotes => curly(&block),
            Self::Escapes => escaped(&block),
            Self::Entities => with_entities(&block),
            Self::Unclear => return Some((edit.clone(), block)),
            Self::LineEndings => None,
        }?;
        let is_said = self != Self::None && stands(edit, &block);
        (!is_said).then(|| (edit.clone(), block))
    }
}

/// An edit with the blocks from which corruptions are made.
pub(super) struct Subject {
    pub(super) edit: Edit,
    changes: Vec<Change>,
    /// The only block of the edit, with a little context and with more; `None` if there are
    /// several.
    near: Option<Block>,
    far: OnceCell<Option<Block>>,
}

impl Subject {
    pub(super) fn new(edit: Edit) -> Self {
        let mut subject = Self {
            changes: edit.changes(),
            edit,
            near: None,
            far: OnceCell::new(),
        };
        subject.near = subject.block(3);
        subject
    }

    /// Returns the only block of the edit; `None` if there are several or it is too long.
    fn block(&self, context: usize) -> Option<Block> {
        const LONGEST: usize = 80;
        let (first, last) = (self.changes.first()?, self.changes.last()?);
        if last.old.end - first.old.start > LONGEST {
            return None;
        }
        let mut blocks = self.edit.blocks_around(&self.changes, context);
        let block = blocks.pop().filter(|_| blocks.is_empty())?;
        (block.lines.len() <= LONGEST).then_some(block)
    }
}

/// Returns whether the file contains the old lines exactly; then they mean these lines, not those
/// of the original edit.
fn stands(edit: &Edit, block: &Block) -> bool {
    let old: Vec<&str> = block.side(HunkSide::Old).collect();
    let file = lines(&edit.old);
    file.windows(old.len().max(1)).any(|window| window == old)
}

fn with_returns(edit: &Edit) -> Option<Edit> {
    let is_plain = !edit.old.contains('\r') && !edit.new.contains('\r');
    is_plain.then(|| Edit {
        path: edit.path.clone(),
        old: edit.old.replace('\n', "\r\n"),
        new: edit.new.replace('\n', "\r\n"),
    })
}

/// Returns the block with `change` applied to every line; `None` if that changes nothing.
fn each_line(block: &Block, change: impl Fn(&str) -> String) -> Option<Block> {
    changed(
        block,
        block.lines.iter().map(|(_, line)| Some(change(line))),
    )
}

fn changed(block: &Block, lines: impl Iterator<Item = Option<String>>) -> Option<Block> {
    let sides = block.lines.iter().map(|(side, _)| *side);
    let lines: Option<Vec<_>> = sides
        .zip(lines)
        .map(|(side, line)| Some((side, line?)))
        .collect();
    let lines = lines?;
    (lines != block.lines).then_some(Block { lines, ..*block })
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn dedented(block: &Block) -> Option<Block> {
    let lines = block.lines.iter().map(|(_, line)| line.as_str());
    let full = lines.filter(|line| !line.trim().is_empty());
    let common = full.clone().map(|line| indent(line).len()).min()?;
    let first = &full.clone().next()?[..common];
    // Applies only if all lines begin with the same white space.
    if common == 0 || !full.clone().all(|line| line.starts_with(first)) {
        return None;
    }
    each_line(block, |line| {
        line.get(common..).unwrap_or_default().to_owned()
    })
}

/// Returns the block with converted indentation. `None` if a line's indentation cannot be
/// converted, or if some lines begin with tabs and others with spaces, which could look the same
/// after the conversion.
fn reindented(block: &Block, turn: fn(&str) -> Option<String>) -> Option<Block> {
    let begins = |sign| block.lines.iter().any(|(_, line)| line.starts_with(sign));
    if begins('\t') && begins(' ') {
        return None;
    }
    let lines = block.lines.iter().map(|(_, line)| {
        if line.trim().is_empty() {
            return Some(line.clone());
        }
        Some(turn(indent(line))? + line.trim_start())
    });
    changed(block, lines)
}

/// Halves four spaces, or turns a tab into two spaces.
fn other_unit(indent: &str) -> Option<String> {
    let tabs = indent.len() - indent.trim_start_matches('\t').len();
    if tabs == indent.len() {
        return Some("  ".repeat(tabs));
    }
    let is_fours = indent.len().is_multiple_of(4) && indent.chars().all(|sign| sign == ' ');
    is_fours.then(|| " ".repeat(indent.len() / 2))
}

/// Turns four spaces into a tab, or a tab into four spaces.
fn other_sign(indent: &str) -> Option<String> {
    let tabs = indent.len() - indent.trim_start_matches('\t').len();
    if tabs == indent.len() {
        return Some("    ".repeat(tabs));
    }
    let is_fours = indent.len().is_multiple_of(4) && indent.chars().all(|sign| sign == ' ');
    is_fours.then(|| "\t".repeat(indent.len() / 4))
}

/// The neighbourhood of an unchanged line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Unchanged lines.
    Nothing,
    /// One change that removes or replaces lines.
    Taken,
    /// A change on each side, or one that could also be read as two.
    Open,
}

impl Beside {
    fn of(block: &Block, ix: usize) -> Self {
        let is_changed = |(side, _): &&(HunkSide, String)| *side != HunkSide::Both;
        // It makes no difference which of several adjacent blank lines is omitted.
        let is_kept_blank =
            |(side, line): &&(HunkSide, String)| *side == HunkSide::Both && is_blank(line);
        let before = block.lines[..ix].iter().rev().skip_while(is_kept_blank);
        let behind = block.lines[ix + 1..].iter().skip_while(is_kept_blank);
        let (before, behind) = (before.take_while(is_changed), behind.take_while(is_changed));
        let is_one = (before.clone().count() == 0) != (behind.clone().count() == 0);
        let (mut old, mut new, mut blanks) = (Vec::new(), Vec::new(), 0);
        for (side, line) in before.chain(behind) {
            match side {
                _ if is_blank(line) => blanks += 1,
                HunkSide::Old => old.push(line.trim()),
                _ => new.push(line.trim()),
            }
        }
        let mut lines = block.lines.iter();
        let moves = lines.any(|(side, line)| {
            let says = line.contains(char::is_alphanumeric);
            *side == HunkSide::New && says && old.contains(&line.trim())
        });
        let is_exchange = new.len() <= old.len() && (new.is_empty() || blanks == 0);
        match () {
            () if old.is_empty() && new.is_empty() && blanks == 0 => Self::Nothing,
            () if is_one && !old.is_empty() && is_exchange && !moves => Self::Taken,
            () => Self::Open,
        }
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns the block without one unchanged blank line; `None` if the rest would not describe the
/// edit.
fn blank_dropped(block: &Block, dice: &mut Dice, beside: Beside) -> Option<Block> {
    // Next to an inserted blank line, only the new text would still contain a blank line.
    let is_new = |ix: usize| {
        let line = block.lines.get(ix);
        line.is_some_and(|(side, line)| *side == HunkSide::New && is_blank(line))
    };
    let fits = |ix: usize, line: &str| {
        is_blank(line) && !is_new(ix - 1) && !is_new(ix + 1) && Beside::of(block, ix) == beside
    };
    let (dropped, out) = dropped(block, dice, fits)?;
    (beside == Beside::Nothing || !hides_move(&dropped, out)).then_some(dropped)
}

/// Returns whether the edit moves a line across the one omitted at `out`, which is invisible
/// without that line: more lines are equal on both sides than the edit keeps, or the position of
/// the omitted line differs between the sides.
fn hides_move(block: &Block, out: usize) -> bool {
    let text = |side| -> String { block.side(side).flat_map(|line| [line, "\n"]).collect() };
    let seen = Edit {
        path: String::new(),
        old: text(HunkSide::Old),
        new: text(HunkSide::New),
    };
    let changes = seen.changes();
    let gone: usize = changes.iter().map(|change| change.old.len()).sum();
    let stay = block
        .lines
        .iter()
        .filter(|(side, _)| *side == HunkSide::Both);
    let rows = |side| {
        let lines = block.lines[..out].iter();
        lines
            .filter(|(of, _)| *of == side || *of == HunkSide::Both)
            .count()
    };
    let (old, new) = (rows(HunkSide::Old), rows(HunkSide::New));
    let before = changes.iter().rev().find(|change| change.old.start <= old);
    let is_elsewhere = match before {
        Some(change) if change.old.end < old => change.new.end + (old - change.old.end) != new,
        Some(_) => false,
        None => new != old,
    };
    block.count(HunkSide::Old) - gone > stay.count() || is_elsewhere
}

/// Returns the block without one unchanged inner line that `fits` accepts, and the index of that
/// line. `fits` receives the index and the line.
fn dropped(
    block: &Block,
    dice: &mut Dice,
    fits: impl Fn(usize, &str) -> bool,
) -> Option<(Block, usize)> {
    let lines = &block.lines;
    let candidates: Vec<usize> = (1..lines.len().saturating_sub(1))
        .filter(|ix| lines[*ix].0 == HunkSide::Both && fits(*ix, &lines[*ix].1))
        .collect();
    let out = *candidates.get(dice.below(candidates.len()))?;
    let mut lines = block.lines.clone();
    lines.remove(out);
    Some((Block { lines, ..*block }, out))
}

/// Replaces one letter of an unchanged line.
fn misspelt(block: &Block, dice: &mut Dice) -> Option<Block> {
    let long: Vec<usize> = (0..block.lines.len())
        .filter(|ix| {
            let (side, line) = &block.lines[*ix];
            let letters = line.chars().filter(|sign| sign.is_ascii_lowercase());
            *side == HunkSide::Both && letters.count() >= 8
        })
        .collect();
    let at = *long.get(dice.below(long.len()))?;
    let line = &block.lines[at].1;
    let letters: Vec<usize> = line
        .char_indices()
        .filter(|(_, sign)| sign.is_ascii_lowercase())
        .map(|(ix, _)| ix)
        .collect();
    let ix = letters[dice.below(letters.len())];
    let other = match &line[ix..=ix] {
        "e" => "a",
        "q" => "p",
        _ => "e",
    };
    let mut lines = block.lines.clone();
    lines[at].1.replace_range(ix..=ix, other);
    Some(Block { lines, ..*block })
}

/// Replaces four unchanged inner lines with `...`.
fn elided(block: &Block) -> Option<Block> {
    const LEFT_OUT: usize = 4;
    let is_context = |ix: usize| {
        block
            .lines
            .get(ix)
            .is_some_and(|(side, _)| *side == HunkSide::Both)
    };
    // Requires two unchanged lines on each side, so that both ends are known.
    let at = (2..block.lines.len()).find(|at| {
        (at - 2..at + LEFT_OUT + 2).all(is_context)
            && [at - 1, at + LEFT_OUT]
                .iter()
                .all(|ix| !block.lines[*ix].1.trim().is_empty())
    })?;
    let mut lines = block.lines.clone();
    lines.splice(at..at + LEFT_OUT, [(HunkSide::Both, "...".to_owned())]);
    Some(Block { lines, ..*block })
}

/// Makes straight quotes curly, except in new lines, where the intended quotes would be unclear.
fn curly(block: &Block) -> Option<Block> {
    let lines = block.lines.iter().map(|(side, line)| {
        if *side == HunkSide::New {
            return Some(line.clone());
        }
        let mut is_open = false;
        let curly = line.chars().map(|sign| match sign {
            '"' => {
                is_open = !is_open;
                if is_open { '\u{201c}' } else { '\u{201d}' }
            }
            '\'' => '\u{2019}',
            sign => sign,
        });
        Some(curly.collect())
    });
    changed(block, lines)
}

/// Escapes quotes with a backslash, as in a nested string.
fn escaped(block: &Block) -> Option<Block> {
    if block.lines.iter().any(|(_, line)| line.contains('\\')) {
        return None;
    }
    // The old text must contain a quote, so that the file shows the intended one.
    let mut old = block
        .lines
        .iter()
        .filter(|(side, _)| *side != HunkSide::New);
    old.any(|(_, line)| line.contains('"')).then_some(())?;
    each_line(block, |line| line.replace('"', "\\\""))
}

/// Replaces characters with HTML entities.
fn with_entities(block: &Block) -> Option<Block> {
    if block
        .lines
        .iter()
        .any(|(_, line)| line.contains('&') && line.contains(';'))
    {
        return None;
    }
    let mut old = block.side(HunkSide::Old);
    old.any(|line| line.contains(['<', '>', '&']))
        .then_some(())?;
    each_line(block, |line| {
        let line = line.replace('&', "&amp;");
        line.replace('<', "&lt;").replace('>', "&gt;")
    })
}

/// Returns the changed lines without context, if the file contains them several times.
fn unclear(subject: &Subject) -> Option<Block> {
    let edit = &subject.edit;
    let [change] = subject.changes.as_slice() else {
        return None;
    };
    let (old, new) = (lines(&edit.old), lines(&edit.new));
    let taken = &old[change.old.clone()];
    let is_known = !taken.is_empty() && taken.iter().any(|line| !line.trim().is_empty());
    if !is_known || is_unique(&old, taken) {
        return None;
    }
    let old = taken.iter().map(|line| (HunkSide::Old, (*line).to_owned()));
    let new = new[change.new.clone()].iter();
    let new = new.map(|line| (HunkSide::New, (*line).to_owned()));
    Some(Block {
        old_row: change.old.start,
        new_row: change.new.start,
        lines: old.chain(new).collect(),
    })
}
