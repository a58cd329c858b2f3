//! Adapts new lines to the style of the position they are inserted at.
//!
//! Consistent differences of the model's old lines determine how its new lines are read: if all old
//! lines have too little indentation, so do the new ones, unless unchanged lines show that the new
//! text was written more carefully than the old.

use crate::carry;
use crate::diff::DiffRun;
use crate::file::FileText;
use crate::fold;
use crate::hunk_match::BlockAlignment;
use crate::indent::{IndentMappings, are_of};
use crate::outcome::{Ambiguity, HunkDifference};

use super::is_framed;

/// Style differences between the block and the file.
pub(super) struct BlockStyle {
    pub(super) differences: Vec<HunkDifference>,
    /// Indentation mappings for new lines; `None` keeps them as they are.
    readings: Option<IndentMappings>,
    /// Whether it is certain that new lines are indented like the old ones.
    is_told: bool,
    /// Kinds of typographic punctuation that the model uses where the file has plain characters.
    curled: Vec<fold::PunctuationKind>,
    /// Whether trailing white space of new lines is unintended.
    trims: bool,
    /// Whether new lines need no adaptation.
    is_clean: bool,
}

/// Counts the unchanged lines with and without the deviation of the old text.
#[derive(Clone, Copy, Default)]
struct Evidence {
    slipped: usize,
    clean: usize,
}

impl Evidence {
    fn add(&mut self, is_slipped: bool) {
        if is_slipped {
            self.slipped += 1
        } else {
            self.clean += 1
        }
    }

    /// Whether new lines must be corrected.
    fn mends(self, doubt: Ambiguity) -> Result<bool, Ambiguity> {
        match (self.slipped, self.clean) {
            (1.., 1..) => Err(doubt),
            (0, 1..) => Ok(false),
            _ => Ok(true),
        }
    }
}

impl BlockStyle {
    /// Determines how to adapt the new lines of `runs`, from the differences between old lines and
    /// their rows. Fails if these have several interpretations.
    pub(super) fn of(
        file: &FileText,
        aligned: &BlockAlignment,
        runs: &[DiffRun],
    ) -> Result<Self, Ambiguity> {
        let mut look = Self {
            differences: Vec::new(),
            readings: None,
            is_told: false,
            curled: Vec::new(),
            trims: false,
            is_clean: true,
        };
        let pairs: Vec<(&str, &str)> = pairs(file, aligned)
            .map(|(_, old, row)| (old, row))
            .collect();
        if pairs.iter().all(|(old, row)| old == row) {
            return Ok(look);
        }
        look.is_clean = false;
        let [indents, tails, signs] = evidence(file, aligned, runs);
        let has_new = runs.iter().any(|run| !run.new.is_empty());
        look.indents(&pairs, has_new && indents.mends(Ambiguity::Indentation)?)?;
        look.is_told = indents.slipped > 0
            || is_told_by_bases(file, aligned, runs)
            || is_framed(file, aligned);
        look.tails(&pairs, tails);
        let new = runs
            .iter()
            .flat_map(|run| &aligned.block.new[run.new.clone()]);
        let new: Vec<&str> = new.map(String::as_str).collect();
        look.punctuation(file, &pairs, signs, &new)?;
        if look.may_be_prose(&new) {
            Err(Ambiguity::Punctuation)
        } else {
            Ok(look)
        }
    }

    /// Notes whether old lines and their rows differ in indentation and, if so and if new lines are
    /// to be corrected (`mends`), how. Fails if no uniform mapping of the indentation fits.
    fn indents(&mut self, pairs: &[(&str, &str)], mends: bool) -> Result<(), Ambiguity> {
        let lines = pairs.iter().filter(|(old, _)| !fold::is_blank(old));
        let indents: Vec<_> = lines
            .map(|(old, row)| (fold::indent(old), fold::indent(row)))
            .collect();
        if indents.iter().all(|(old, row)| old == row) {
            return Ok(());
        }
        self.differences.push(HunkDifference::Indentation);
        if mends {
            self.readings = Some(IndentMappings::of(&indents).ok_or(Ambiguity::Indentation)?);
        }
        Ok(())
    }

    fn tails(&mut self, pairs: &[(&str, &str)], evidence: Evidence) {
        if pairs
            .iter()
            .any(|(old, row)| fold::tail(old) != fold::tail(row))
        {
            self.differences.push(HunkDifference::TrailingSpace);
        }
        let mut lines = pairs.iter().filter(|(old, _)| !fold::is_blank(old));
        let all = lines.all(|(old, row)| !fold::tail(old).is_empty() && fold::tail(row).is_empty());
        self.trims = evidence.slipped > 0 || (all && evidence.clean == 0);
    }

    /// Replaces typographic characters by plain ones only: the reverse is ambiguous. A kind that
    /// also occurs in the file, or in plain form in new lines, may be intended.
    fn punctuation(
        &mut self,
        file: &FileText,
        pairs: &[(&str, &str)],
        evidence: Evidence,
        new: &[&str],
    ) -> Result<(), Ambiguity> {
        let mut curled = Vec::new();
        let mut differ = false;
        for (old, row) in pairs {
            for (old, row) in old.trim().chars().zip(row.trim().chars()) {
                if fold::plain(old) != fold::plain(row) {
                    // In a misspelt line, the characters after the typo do not correspond.
                    break;
                }
                differ |= old != row;
                if fold::PunctuationKind::of(row).is_none() {
                    curled.extend(fold::PunctuationKind::of(old));
                }
            }
        }
        if differ {
            self.differences.push(HunkDifference::Punctuation);
        }
        if evidence.slipped == 0 && evidence.clean > 0 {
            return Ok(());
        }
        for kind in fold::PunctuationKind::ALL {
            let has_kind = |text: &str| {
                text.chars()
                    .any(|sign| fold::PunctuationKind::of(sign) == Some(kind))
            };
            if !curled.contains(&kind) || !new.iter().any(|line| has_kind(line)) {
                continue;
            }
            let are_mixed = kind == fold::PunctuationKind::Quote && has_quotes_of_both_looks(new);
            if evidence.clean > 0 || are_mixed || has_kind(file.normal()) {
                return Err(Ambiguity::Punctuation);
            }
            self.curled.push(kind);
        }
        Ok(())
    }

    /// Whether all typographic characters in new lines are within words, as in intended prose.
    fn may_be_prose(&self, new: &[&str]) -> bool {
        let (mut within, mut others) = (0, 0);
        for line in new {
            let signs: Vec<char> = line.chars().collect();
            for (ix, sign) in signs.iter().enumerate() {
                if !fold::PunctuationKind::of(*sign).is_some_and(|kind| self.curled.contains(&kind))
                {
                    continue;
                }
                let is_letter = |ix: Option<usize>| {
                    let sign = ix.and_then(|ix| signs.get(ix));
                    sign.is_some_and(|sign| sign.is_alphabetic())
                };
                if is_letter(ix.checked_sub(1)) && is_letter(Some(ix + 1)) {
                    within += 1
                } else {
                    others += 1
                }
            }
        }
        within > 0 && others == 0
    }

    /// Returns the new lines of a run as they are written to the file.
    pub(super) fn apply_to_lines(
        &self,
        file: &FileText,
        aligned: &BlockAlignment,
        run: &DiffRun,
    ) -> Result<Vec<String>, Ambiguity> {
        let new = &aligned.block.new[run.new.clone()];
        if self.is_clean {
            return Ok(new.to_vec());
        }
        let new: Vec<String> = new
            .iter()
            .map(|line| with_signs_of_file(file, aligned, run, line))
            .collect::<Result<_, _>>()?;
        let new = &new[..];
        let indents = match &self.readings {
            None => new
                .iter()
                .map(|line| fold::indent(line).to_owned())
                .collect(),
            Some(readings) => self.indented(file, aligned, new, readings)?,
        };
        let lines = new.iter().zip(indents);
        Ok(lines
            .map(|(line, indent)| self.apply_to_line(line, indent))
            .collect())
    }

    /// Returns the indentation of each new line; empty for blank ones.
    fn indented(
        &self,
        file: &FileText,
        aligned: &BlockAlignment,
        new: &[String],
        readings: &IndentMappings,
    ) -> Result<Vec<String>, Ambiguity> {
        let indents = |lines: &mut dyn Iterator<Item = &'_ String>| -> Vec<String> {
            let filled = lines.filter(|line| !fold::is_blank(line));
            filled.map(|line| fold::indent(line).to_owned()).collect()
        };
        let block = indents(&mut aligned.block.old.iter().chain(&aligned.block.new));
        let block: Vec<&str> = block.iter().map(String::as_str).collect();
        let said = indents(&mut new.iter());
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let applied = readings
            .apply(&said, &block, file)
            .ok_or(Ambiguity::Indentation)?;
        if applied != said && !self.is_told {
            return Err(Ambiguity::Indentation);
        }
        let mut applied = applied.into_iter();
        let of_line = |line: &String| {
            if fold::is_blank(line) {
                String::new()
            } else {
                applied.next().unwrap_or_default()
            }
        };
        Ok(new.iter().map(of_line).collect())
    }

    fn apply_to_line(&self, line: &str, indent: String) -> String {
        let text = line.trim_start();
        let text = if self.trims { text.trim_end() } else { text };
        if text.is_empty() {
            // The white space of a blank line is its indentation.
            return if self.trims { String::new() } else { indent };
        }
        let text = text
            .chars()
            .map(|sign| match fold::PunctuationKind::of(sign) {
                Some(kind) if self.curled.contains(&kind) => fold::plain(sign),
                _ => sign,
            });
        indent.chars().chain(text).collect()
    }
}

/// Returns a new line with the file's typographic characters in the parts that it keeps from the
/// old line.
fn with_signs_of_file(
    file: &FileText,
    aligned: &BlockAlignment,
    run: &DiffRun,
    line: &str,
) -> Result<String, Ambiguity> {
    let text = line.trim();
    let gone = run.old.clone().filter_map(|ix| {
        let (old, row) = (aligned.block.old[ix].trim(), file.content(aligned.map[ix]?));
        Some((carry::likeness(old, text), old, row.trim()))
    });
    let likest = gone.reduce(|best, other| if other.0 > best.0 { other } else { best });
    let is_typographic = |old: &str, row: &str| {
        let mut signs = old.chars().zip(row.chars());
        signs.any(|(old, row)| old != row && fold::PunctuationKind::of(row).is_some())
    };
    let likest = likest
        .filter(|(likeness, old, row)| carry::is_changed(*likeness) && is_typographic(old, row));
    match likest {
        Some((_, old, row)) if fold::is_same(old, row) => {
            let text = carry::text(old, row, text).ok_or(Ambiguity::Punctuation)?;
            Ok(format!("{}{text}{}", fold::indent(line), fold::tail(line)))
        }
        _ => Ok(line.to_owned()),
    }
}

/// Whether quotes of the same kind occur both plain and typographic.
fn has_quotes_of_both_looks(lines: &[&str]) -> bool {
    ['"', '\''].iter().any(|quote| {
        let signs = || lines.iter().flat_map(|line| line.chars());
        let mut typographic = signs().filter(|sign| sign != quote);
        signs().any(|sign| sign == *quote) && typographic.any(|sign| fold::plain(sign) == *quote)
    })
}

/// Determines without unchanged lines whether new lines use the old text's indentation: they start
/// like the old lines they replace, or use an indentation that the file does not have. Otherwise
/// they may have the file's indentation.
fn is_told_by_bases(file: &FileText, aligned: &BlockAlignment, runs: &[DiffRun]) -> bool {
    let block = &aligned.block;
    let mut bases = Evidence::default();
    let mut all = Vec::new();
    for run in runs {
        let mut gone = run
            .old
            .clone()
            .filter(|ix| !fold::is_blank(&block.old[*ix]));
        let new = block.new[run.new.clone()]
            .iter()
            .filter(|line| !fold::is_blank(line));
        let new: Vec<&str> = new.map(|line| fold::indent(line)).collect();
        all.extend(&new);
        let (Some(ix), Some(new)) = (gone.next(), new.first()) else {
            continue;
        };
        let old = fold::indent(&block.old[ix]);
        let row = aligned.map[ix].map_or(old, |row| fold::indent(file.content(row)));
        if old != row && (*new == old || *new == row) {
            bases.add(*new == old);
        }
    }
    let is_as_old = bases.slipped > 0 && bases.clean == 0;
    is_as_old || !are_of(file, &all)
}

/// Returns the old lines with the rows that they match.
fn pairs<'a>(
    file: &'a FileText,
    aligned: &'a BlockAlignment,
) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let old = aligned.block.old.iter().zip(&aligned.map).enumerate();
    old.filter_map(|(ix, (line, row))| Some((ix, line.as_str(), file.content((*row)?))))
}

/// Counts for indentation, trailing white space and punctuation whether unchanged lines of the new
/// text have the deviations of the old.
fn evidence(file: &FileText, aligned: &BlockAlignment, runs: &[DiffRun]) -> [Evidence; 3] {
    let mut evidence = [Evidence::default(); 3];
    let [indents, tails, signs] = &mut evidence;
    let mut shift = 0;
    let mut runs = runs.iter().peekable();
    for (ix, old, row) in pairs(file, aligned) {
        while let Some(run) = runs.next_if(|run| run.old.end <= ix) {
            shift = run.new.end as isize - run.old.end as isize;
        }
        let is_gone = runs.peek().is_some_and(|run| run.old.contains(&ix));
        let new = ix
            .checked_add_signed(shift)
            .and_then(|ix| aligned.block.new.get(ix));
        let Some(new) = new.filter(|_| !is_gone) else {
            continue;
        };
        if fold::indent(old) != fold::indent(row) && !fold::is_blank(old) {
            indents.add(fold::indent(new) == fold::indent(old));
        }
        if fold::tail(old) != fold::tail(row) && !fold::tail(old).is_empty() {
            tails.add(fold::tail(new) == fold::tail(old));
        }
        if old.trim() != row.trim() && fold::is_same(old, row) {
            signs.add(new.trim() == old.trim());
        }
    }
    evidence
}
