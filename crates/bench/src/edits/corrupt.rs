//! What models do to the text they quote.
//!
//! In thirteen classes it changes what the edit says and not what it means: lines that stay are still
//! meant to stay as they are in the file, and what the file should be afterwards is known. In three
//! more a careful reader would ask: there a refusal is no failure, and a wrong guess still is.

use std::cell::OnceCell;

use patch::format::HunkSide;

use crate::interleave::Dice;

use super::truth::{Block, Change, Edit, is_unique, lines};

/// A way in which an edit's text goes wrong.
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
    /// A blank line left out of both sides right beside lines that go away, or that as many others
    /// take the place of, at most. Nothing is said about it, so it stays, and the lines of the file
    /// that change tell on which side.
    BlankAtChange,
    /// A blank line left out where lines appear. Nothing in the file tells whether they belong before
    /// or behind it: only what the new lines are like does, if at all. So it is where more lines
    /// appear than go away, since the first of them may stand on its other side; between two
    /// changes; and where lines or blank lines move, since this one may move along.
    BlankAtInsertion,
    /// A line of text left out, so that the quoted lines never stood in the file like that.
    ContextDropped,
    /// The block stands in several places: the only right answer is a refusal.
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

    /// Whether there is one way to read it.
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

    /// The edit with its text gone wrong; `None` where this cannot happen to it. The file may change
    /// along with it.
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
            // Which white space at the end of a line is meant could not be told.
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

/// An edit with what its corruptions start from.
pub(super) struct Subject {
    pub(super) edit: Edit,
    changes: Vec<Change>,
    /// The one block it has, with a little context and with more; `None` where there are several.
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

    /// The one block of an edit that has one, of a fit size.
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

/// Whether the file has the old lines just so: then they mean what they say, and not what the edit
/// was before.
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

/// The block with every line changed; `None` if that changes nothing.
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
    // Only where all lines begin with the very same white space.
    if common == 0 || !full.clone().all(|line| line.starts_with(first)) {
        return None;
    }
    each_line(block, |line| {
        line.get(common..).unwrap_or_default().to_owned()
    })
}

/// The block with another indentation. `None` where a line has none that can be turned, and where
/// some lines have tabs and others spaces: turned they would look the same.
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

/// Four spaces become two; a tab becomes two spaces.
fn other_unit(indent: &str) -> Option<String> {
    let tabs = indent.len() - indent.trim_start_matches('\t').len();
    if tabs == indent.len() {
        return Some("  ".repeat(tabs));
    }
    let is_fours = indent.len().is_multiple_of(4) && indent.chars().all(|sign| sign == ' ');
    is_fours.then(|| " ".repeat(indent.len() / 2))
}

/// Four spaces become a tab; a tab becomes four spaces.
fn other_sign(indent: &str) -> Option<String> {
    let tabs = indent.len() - indent.trim_start_matches('\t').len();
    if tabs == indent.len() {
        return Some("    ".repeat(tabs));
    }
    let is_fours = indent.len().is_multiple_of(4) && indent.chars().all(|sign| sign == ' ');
    is_fours.then(|| "\t".repeat(indent.len() / 4))
}

/// What a line that stays stands beside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Lines that stay as well.
    Nothing,
    /// One change, that takes lines away or puts others in their place.
    Taken,
    /// A change on either side, or one that may as well be two.
    Open,
}

impl Beside {
    fn of(block: &Block, ix: usize) -> Self {
        let is_changed = |(side, _): &&(HunkSide, String)| *side != HunkSide::Both;
        // Which of several blank lines together is left out makes no difference.
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

/// The block without one blank line that stays, where that still says what the edit does.
fn blank_dropped(block: &Block, dice: &mut Dice, beside: Beside) -> Option<Block> {
    // Next to a blank line that appears it would be the new text alone that still has one.
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

/// Whether the edit moves a line to the other side of the one left out at `out`, so that nobody can
/// see it without that line: more lines are the same on both sides than stay in the edit, or those
/// around it are and it stands elsewhere.
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

/// The block without one line that stays, between others, and where it stood. `fits` sees that, and
/// the line.
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

/// One letter of a line that stays becomes another.
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

/// Four lines that stay, not at an end, become `...`.
fn elided(block: &Block) -> Option<Block> {
    const LEFT_OUT: usize = 4;
    let is_context = |ix: usize| {
        block
            .lines
            .get(ix)
            .is_some_and(|(side, _)| *side == HunkSide::Both)
    };
    // Two lines of text before, and the same behind, so that both ends are known.
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

/// Straight quotes of lines that stay become curly; those of new lines stay, since what they should
/// be would be unclear.
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

/// Quotes get a backslash, as in a string within a string.
fn escaped(block: &Block) -> Option<Block> {
    if block.lines.iter().any(|(_, line)| line.contains('\\')) {
        return None;
    }
    // Some quote to be found, so that the file tells what is meant.
    let mut old = block
        .lines
        .iter()
        .filter(|(side, _)| *side != HunkSide::New);
    old.any(|(_, line)| line.contains('"')).then_some(())?;
    each_line(block, |line| line.replace('"', "\\\""))
}

/// Signs become entities, as in a page.
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

/// The changed lines alone, where the file has them several times.
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
