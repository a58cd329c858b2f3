//! How new lines are made to look like the place they go to.
//!
//! What the model's copy of the old lines has in common tells how its new lines are to be read: if
//! all of it is indented too little, the new lines are as well, unless lines that the new text
//! keeps show that the new text was written with more care than the old.

use std::collections::BTreeMap;

use crate::diff::Run;
use crate::file::FileText;
use crate::fold;
use crate::found::Aligned;
use crate::indent::Readings;
use crate::outcome::{Difference, Doubt};

/// How the block differs from the place in looks.
pub(super) struct Look {
    pub(super) differences: Vec<Difference>,
    /// How new lines are indented; `None` as they are.
    readings: Option<Readings>,
    /// Chars that stand for others of the file.
    signs: BTreeMap<char, char>,
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
            signs: BTreeMap::new(),
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
        if has_new && indents.slipped == 0 && look.readings.is_some() {
            look.check_base(aligned, runs, &pairs)?;
        }
        look.tails(&pairs, tails);
        look.punctuation(&pairs, has_new && signs.clean == 0);
        Ok(look)
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

    /// With nothing kept to go by, new lines must start out as the old ones do: they may have been
    /// written at the indentation of the file.
    fn check_base(
        &self,
        aligned: &Aligned,
        runs: &[Run],
        pairs: &[(&str, &str)],
    ) -> Result<(), Doubt> {
        let least = |indents: &mut dyn Iterator<Item = &str>| indents.map(str::len).min();
        let new = runs
            .iter()
            .flat_map(|run| &aligned.block.new[run.new.clone()]);
        let mut new = new
            .filter(|line| !fold::is_blank(line))
            .map(|line| fold::indent(line));
        let mut old = pairs.iter().filter(|(old, _)| !fold::is_blank(old));
        let mut old = old.by_ref().map(|(old, _)| fold::indent(old));
        let (new, old) = (least(&mut new), least(&mut old));
        match new.is_none() || new == old {
            true => Ok(()),
            false => Err(Doubt::Indentation),
        }
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

    fn punctuation(&mut self, pairs: &[(&str, &str)], mends: bool) {
        let mut signs: BTreeMap<char, Option<char>> = BTreeMap::new();
        let mut differ = false;
        for (old, row) in pairs {
            for (old, row) in old.trim().chars().zip(row.trim().chars()) {
                if fold::plain(old) != fold::plain(row) {
                    // A misspelt line; what follows in it does not stand side by side.
                    break;
                }
                differ |= old != row;
                let meant = signs.entry(old).or_insert(Some(row));
                *meant = meant.filter(|meant| *meant == row);
            }
        }
        if differ {
            self.differences.push(Difference::Punctuation);
        }
        if mends {
            let meant = signs
                .into_iter()
                .filter_map(|(old, row)| row.map(|row| (old, row)));
            self.signs = meant.filter(|(old, row)| old != row).collect();
        }
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
        let indents: Vec<&str> = new.iter().map(|line| fold::indent(line)).collect();
        let indents = match &self.readings {
            None => indents.into_iter().map(str::to_owned).collect(),
            Some(readings) => {
                let block = aligned.block.old.iter().chain(&aligned.block.new);
                let block = block.filter(|line| !fold::is_blank(line));
                let block: Vec<&str> = block.map(|line| fold::indent(line)).collect();
                // Blank lines have no indentation to go by.
                let said =
                    new.iter()
                        .zip(indents)
                        .map(|(line, indent)| match fold::is_blank(line) {
                            true => "",
                            false => indent,
                        });
                let said: Vec<&str> = said.collect();
                let filled: Vec<&str> = said
                    .iter()
                    .zip(new)
                    .filter(|(_, line)| !fold::is_blank(line))
                    .map(|(indent, _)| *indent)
                    .collect();
                let mut applied = readings
                    .apply(&filled, &block, file)
                    .ok_or(Doubt::Indentation)?
                    .into_iter();
                let of_line = |line: &String| match fold::is_blank(line) {
                    true => String::new(),
                    false => applied.next().unwrap_or_default(),
                };
                new.iter().map(of_line).collect::<Vec<String>>()
            }
        };
        let lines = new.iter().zip(indents);
        Ok(lines
            .map(|(line, indent)| self.line(line, indent))
            .collect())
    }

    fn line(&self, line: &str, indent: String) -> String {
        let text = line.trim_start();
        let text = if self.trims { text.trim_end() } else { text };
        if text.is_empty() {
            // What white space a blank line holds is in its indentation.
            return if self.trims { String::new() } else { indent };
        }
        let text = text
            .chars()
            .map(|sign| *self.signs.get(&sign).unwrap_or(&sign));
        indent.chars().chain(text).collect()
    }
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
        let is_slipped = new == old;
        if fold::indent(old) != fold::indent(row) && !fold::is_blank(old) {
            indents.add(is_slipped);
        }
        if fold::tail(old) != fold::tail(row) && !fold::tail(old).is_empty() {
            tails.add(is_slipped);
        }
        if old.trim() != row.trim() && fold::is_same(old, row) {
            signs.add(is_slipped);
        }
    }
    evidence
}
