//! How new lines are made to look like the place they go to.
//!
//! What the model's copy of the old lines has in common tells how its new lines are to be read: if
//! all of it is indented too little, the new lines are as well, unless lines that the new text
//! keeps show that the new text was written with more care than the old.

use crate::carry;
use crate::diff::Run;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;
use crate::indent::{Readings, are_of};
use crate::outcome::{Difference, Doubt};

use super::is_framed;

/// How the block differs from the place in looks.
pub(super) struct Look {
    pub(super) differences: Vec<Difference>,
    /// How new lines are indented; `None` as they are.
    readings: Option<Readings>,
    /// Whether it is certain that new lines are indented as the old ones are.
    is_told: bool,
    /// Kinds of typographic signs that the model writes where the file has plain ones.
    curled: Vec<fold::Kind>,
    /// Whether white space at the end of new lines is the model's slip.
    trims: bool,
    /// Whether every new line is as it is meant.
    is_clean: bool,
}

/// Whether lines that the new text keeps have the slip of the old text.
#[derive(Clone, Copy, Default)]
struct Evidence {
    slipped: usize,
    clean: usize,
}

impl Evidence {
    fn add(&mut self, is_slipped: bool) {
        match is_slipped {
            true => self.slipped += 1,
            false => self.clean += 1,
        }
    }

    /// Whether new lines are to be mended.
    fn mends(self, doubt: Doubt) -> Result<bool, Doubt> {
        match (self.slipped, self.clean) {
            (1.., 1..) => Err(doubt),
            (0, 1..) => Ok(false),
            _ => Ok(true),
        }
    }
}

impl Look {
    pub(super) fn of(file: &FileText, aligned: &Aligned, runs: &[Run]) -> Result<Self, Doubt> {
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
        look.indents(&pairs, has_new && indents.mends(Doubt::Indentation)?)?;
        look.is_told = indents.slipped > 0
            || is_told_by_bases(file, aligned, runs)
            || is_framed(file, aligned);
        look.tails(&pairs, tails);
        let new = runs
            .iter()
            .flat_map(|run| &aligned.block.new[run.new.clone()]);
        let new: Vec<&str> = new.map(String::as_str).collect();
        look.punctuation(file, &pairs, signs, &new)?;
        match look.may_be_prose(&new) {
            true => Err(Doubt::Punctuation),
            false => Ok(look),
        }
    }

    fn indents(&mut self, pairs: &[(&str, &str)], mends: bool) -> Result<(), Doubt> {
        let lines = pairs.iter().filter(|(old, _)| !fold::is_blank(old));
        let indents: Vec<_> = lines
            .map(|(old, row)| (fold::indent(old), fold::indent(row)))
            .collect();
        if indents.iter().all(|(old, row)| old == row) {
            return Ok(());
        }
        self.differences.push(Difference::Indentation);
        if mends {
            self.readings = Some(Readings::of(&indents).ok_or(Doubt::Indentation)?);
        }
        Ok(())
    }

    fn tails(&mut self, pairs: &[(&str, &str)], evidence: Evidence) {
        if pairs
            .iter()
            .any(|(old, row)| fold::tail(old) != fold::tail(row))
        {
            self.differences.push(Difference::TrailingSpace);
        }
        let mut lines = pairs.iter().filter(|(old, _)| !fold::is_blank(old));
        let all = lines.all(|(old, row)| !fold::tail(old).is_empty() && fold::tail(row).is_empty());
        self.trims = evidence.slipped > 0 || (all && evidence.clean == 0);
    }

    /// Only plain signs are put in place of typographic ones: which typographic sign a plain one
    /// stands for is not told by others of its kind. A kind that the file has too, or of which new
    /// lines have plain ones as well, may be meant.
    fn punctuation(
        &mut self,
        file: &FileText,
        pairs: &[(&str, &str)],
        evidence: Evidence,
        new: &[&str],
    ) -> Result<(), Doubt> {
        let mut curled = Vec::new();
        let mut differ = false;
        for (old, row) in pairs {
            for (old, row) in old.trim().chars().zip(row.trim().chars()) {
                if fold::plain(old) != fold::plain(row) {
                    // A misspelt line; what follows in it does not stand side by side.
                    break;
                }
                differ |= old != row;
                if fold::Kind::of(row).is_none() {
                    curled.extend(fold::Kind::of(old));
                }
            }
        }
        if differ {
            self.differences.push(Difference::Punctuation);
        }
        if evidence.slipped == 0 && evidence.clean > 0 {
            return Ok(());
        }
        for kind in fold::Kind::ALL {
            let has_kind = |text: &str| text.chars().any(|sign| fold::Kind::of(sign) == Some(kind));
            if !curled.contains(&kind) || !new.iter().any(|line| has_kind(line)) {
                continue;
            }
            let are_mixed = kind == fold::Kind::Quote && has_quotes_of_both_looks(new);
            if evidence.clean > 0 || are_mixed || has_kind(file.normal()) {
                return Err(Doubt::Punctuation);
            }
            self.curled.push(kind);
        }
        Ok(())
    }

    /// Whether the typographic signs in new lines all stand within words, as they do in prose that
    /// is meant so.
    fn may_be_prose(&self, new: &[&str]) -> bool {
        let (mut within, mut others) = (0, 0);
        for line in new {
            let signs: Vec<char> = line.chars().collect();
            for (ix, sign) in signs.iter().enumerate() {
                if !fold::Kind::of(*sign).is_some_and(|kind| self.curled.contains(&kind)) {
                    continue;
                }
                let is_letter = |ix: Option<usize>| {
                    let sign = ix.and_then(|ix| signs.get(ix));
                    sign.is_some_and(|sign| sign.is_alphabetic())
                };
                match is_letter(ix.checked_sub(1)) && is_letter(Some(ix + 1)) {
                    true => within += 1,
                    false => others += 1,
                }
            }
        }
        within > 0 && others == 0
    }

    /// The new lines of a run as they go into the file.
    pub(super) fn lines(
        &self,
        file: &FileText,
        aligned: &Aligned,
        run: &Run,
    ) -> Result<Vec<String>, Doubt> {
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
            .map(|(line, indent)| self.line(line, indent))
            .collect())
    }

    /// The indentation of each new line; none for blank ones, which have none to go by.
    fn indented(
        &self,
        file: &FileText,
        aligned: &Aligned,
        new: &[String],
        readings: &Readings,
    ) -> Result<Vec<String>, Doubt> {
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
            .ok_or(Doubt::Indentation)?;
        if applied != said && !self.is_told {
            return Err(Doubt::Indentation);
        }
        let mut applied = applied.into_iter();
        let of_line = |line: &String| match fold::is_blank(line) {
            true => String::new(),
            false => applied.next().unwrap_or_default(),
        };
        Ok(new.iter().map(of_line).collect())
    }

    fn line(&self, line: &str, indent: String) -> String {
        let text = line.trim_start();
        let text = if self.trims { text.trim_end() } else { text };
        if text.is_empty() {
            // What white space a blank line holds is in its indentation.
            return if self.trims { String::new() } else { indent };
        }
        let text = text.chars().map(|sign| match fold::Kind::of(sign) {
            Some(kind) if self.curled.contains(&kind) => fold::plain(sign),
            _ => sign,
        });
        indent.chars().chain(text).collect()
    }
}

/// A new line with the typographic signs of the file in what it keeps of the old line that it changes.
fn with_signs_of_file(
    file: &FileText,
    aligned: &Aligned,
    run: &Run,
    line: &str,
) -> Result<String, Doubt> {
    let text = line.trim();
    let gone = run.old.clone().filter_map(|ix| {
        let (old, row) = (aligned.block.old[ix].trim(), file.content(aligned.map[ix]?));
        Some((carry::likeness(old, text), old, row.trim()))
    });
    let likest = gone.reduce(|best, other| if other.0 > best.0 { other } else { best });
    let is_typographic = |old: &str, row: &str| {
        let mut signs = old.chars().zip(row.chars());
        signs.any(|(old, row)| old != row && fold::Kind::of(row).is_some())
    };
    let likest = likest
        .filter(|(likeness, old, row)| carry::is_changed(*likeness) && is_typographic(old, row));
    match likest {
        Some((_, old, row)) if fold::is_same(old, row) => {
            let text = carry::text(old, row, text).ok_or(Doubt::Punctuation)?;
            Ok(format!("{}{text}{}", fold::indent(line), fold::tail(line)))
        }
        _ => Ok(line.to_owned()),
    }
}

/// Whether some of the same quotes are plain and some typographic.
fn has_quotes_of_both_looks(lines: &[&str]) -> bool {
    ['"', '\''].iter().any(|quote| {
        let signs = || lines.iter().flat_map(|line| line.chars());
        let mut typographic = signs().filter(|sign| sign != quote);
        signs().any(|sign| sign == *quote) && typographic.any(|sign| fold::plain(sign) == *quote)
    })
}

/// Where no line is kept to go by: whether new lines start out as the old ones they replace do, or
/// are indented as nothing in the file is. Else they may have been written at the indentation of
/// the file.
fn is_told_by_bases(file: &FileText, aligned: &Aligned, runs: &[Run]) -> bool {
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

/// Old lines beside the rows they stand on.
fn pairs<'a>(
    file: &'a FileText,
    aligned: &'a Aligned,
) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
    let old = aligned.block.old.iter().zip(&aligned.map).enumerate();
    old.filter_map(|(ix, (line, row))| Some((ix, line.as_str(), file.content((*row)?))))
}

/// For indentation, line ends and punctuation: whether kept lines of the new text have the slips of
/// the old.
fn evidence(file: &FileText, aligned: &Aligned, runs: &[Run]) -> [Evidence; 3] {
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
