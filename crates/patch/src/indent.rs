//! Maps the indentation of a block to that of its position in the file.
//!
//! Several mappings may fit: two more columns, or twice as many. The lines of the block decide if
//! possible; if the remaining mappings would indent a new line differently, the block is refused.
//!
//! Start at `IndentMappings::of`.

use crate::file::FileText;
use crate::fold;

/// A mapping from the indentation of a block to that of the file.
#[derive(Clone, Debug, PartialEq)]
enum IndentMapping {
    /// Keeps the indentation unchanged.
    Same,
    /// Adds or removes a number of columns of spaces or tabs.
    Shift(char, isize),
    /// Puts a prefix before every line.
    Prefix(String),
    /// Scales spaces by a ratio.
    Ratio(usize, usize),
    /// Replaces one unit by another; spaces beyond whole units stay.
    Level(IndentUnit, IndentUnit),
}

/// One step of indentation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum IndentUnit {
    Tab,
    Spaces(usize),
}

const UNITS: [IndentUnit; 5] = [
    IndentUnit::Tab,
    IndentUnit::Spaces(2),
    IndentUnit::Spaces(3),
    IndentUnit::Spaces(4),
    IndentUnit::Spaces(8),
];

/// All uniform changes of indentation that fit the lines of a block. There are several if the lines
/// do not determine a single one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndentMappings(Vec<IndentMapping>);

impl IndentMappings {
    /// Computes the mappings from pairs of indentations in the block and in the file, without blank
    /// lines. `None` if no uniform mapping fits.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Option<Self> {
        if pairs.iter().all(|(old, file)| old == file) {
            return Some(Self(vec![IndentMapping::Same]));
        }
        let mut readings = Vec::new();
        readings.extend(shift(pairs));
        readings.extend(prefix(pairs));
        for (times, by) in [
            (2, 1),
            (1, 2),
            (4, 1),
            (1, 4),
            (4, 3),
            (3, 4),
            (3, 2),
            (2, 3),
        ] {
            readings.push(IndentMapping::Ratio(times, by));
        }
        for from in UNITS {
            let others = UNITS.into_iter().filter(|to| *to != from);
            readings.extend(others.map(|to| IndentMapping::Level(from, to)));
        }
        readings.retain(|reading| {
            let mut pairs = pairs.iter();
            pairs.all(|(old, file)| reading.apply(old).as_deref() == Some(*file))
        });
        (!readings.is_empty()).then_some(Self(readings))
    }

    /// Whether the block has the file's indentation already.
    pub(crate) fn is_same(&self) -> bool {
        self.0 == [IndentMapping::Same]
    }

    /// Returns the indentations of new lines; `None` if the mappings disagree. `block` contains the
    /// indentations of all old and new lines of the block.
    pub(crate) fn apply(
        &self,
        indents: &[&str],
        block: &[&str],
        file: &FileText,
    ) -> Option<Vec<String>> {
        let mut results = self.results(indents);
        if results.len() > 1 {
            let unit = file_unit(file);
            let step = common_step(block);
            let is_likely = |reading: &IndentMapping| reading.is_likely(unit, step);
            let likely: Vec<_> = self
                .0
                .iter()
                .filter(|reading| is_likely(reading))
                .cloned()
                .collect();
            let mut filtered = Self(likely).results(indents);
            if filtered.len() > 1 {
                filtered.retain(|indents| indents.iter().all(|indent| unit.divides(indent)));
            }
            if !filtered.is_empty() {
                results = filtered;
            }
        }
        match results.len() {
            1 => results.pop(),
            _ => None,
        }
    }

    /// Returns the distinct results of the mappings.
    fn results(&self, indents: &[&str]) -> Vec<Vec<String>> {
        let mut results: Vec<Vec<String>> = Vec::new();
        for reading in &self.0 {
            let result: Option<Vec<_>> =
                indents.iter().map(|indent| reading.apply(indent)).collect();
            if let Some(result) = result
                && !results.contains(&result)
            {
                results.push(result);
            }
        }
        results
    }
}

impl IndentMapping {
    /// Returns the indentation in the file for one of the block; `None` if the mapping does not
    /// apply to it: it mixes characters, is too short, or gives a fraction of a column.
    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Self::Same => Some(indent.to_owned()),
            Self::Shift(sign, by) => {
                let is_uniform = indent.chars().all(|other| other == *sign);
                let length = indent.len().checked_add_signed(*by)?;
                is_uniform.then(|| sign.to_string().repeat(length))
            }
            Self::Prefix(prefix) => Some(format!("{prefix}{indent}")),
            Self::Ratio(times, by) => {
                let is_uniform = indent.chars().all(|sign| sign == ' ');
                let is_whole = (indent.len() * times).is_multiple_of(*by);
                (is_uniform && is_whole).then(|| " ".repeat(indent.len() * times / by))
            }
            Self::Level(from, to) => {
                let (level, rest) = from.level(indent)?;
                Some(to.indent(level) + &" ".repeat(rest))
            }
        }
    }

    /// Whether this mapping is plausible in a file indented by `unit`, for a block whose
    /// indentations differ by multiples of `step` columns.
    fn is_likely(&self, unit: IndentUnit, step: usize) -> bool {
        match (self, unit) {
            (Self::Same | Self::Prefix(_), _) => true,
            (Self::Shift('\t', _), unit) => unit == IndentUnit::Tab,
            // Whole levels are removed, and the rest has steps of one level.
            (Self::Shift(_, by), IndentUnit::Spaces(unit)) => {
                by.unsigned_abs().is_multiple_of(unit)
                    && (step <= unit || !step.is_multiple_of(unit))
            }
            (Self::Ratio(times, by), IndentUnit::Spaces(unit)) => {
                (unit * by).is_multiple_of(*times)
                    && step.is_multiple_of((unit * by / times).max(1))
            }
            (Self::Level(_, to), unit) => *to == unit,
            (Self::Shift(..) | Self::Ratio(..), IndentUnit::Tab) => false,
        }
    }
}

impl IndentUnit {
    /// Returns the number of whole units and of remaining spaces.
    fn level(self, indent: &str) -> Option<(usize, usize)> {
        let tabs = indent.chars().take_while(|sign| *sign == '\t').count();
        let rest = &indent[tabs..];
        if !rest.chars().all(|sign| sign == ' ') {
            return None;
        }
        match self {
            Self::Tab => Some((tabs, rest.len())),
            Self::Spaces(width) => (tabs == 0).then_some((rest.len() / width, rest.len() % width)),
        }
    }

    fn indent(self, level: usize) -> String {
        match self {
            Self::Tab => "\t".repeat(level),
            Self::Spaces(width) => " ".repeat(width * level),
        }
    }

    /// Whether an indentation consists of whole units; an empty one does.
    fn divides(self, indent: &str) -> bool {
        matches!(self.level(indent), Some((_, 0)))
    }
}

/// Returns the mapping that changes the length of the indentation as in the first pair, with the
/// first character that occurs in any. Does not check the other pairs. `None` if no pair has
/// indentation.
fn shift(pairs: &[(&str, &str)]) -> Option<IndentMapping> {
    let sign = pairs
        .iter()
        .find_map(|(old, file)| old.chars().chain(file.chars()).next())?;
    let (old, file) = pairs.first()?;
    Some(IndentMapping::Shift(
        sign,
        file.len() as isize - old.len() as isize,
    ))
}

/// Returns the mapping that prepends what the file has before the block's indentation in the first
/// pair. Does not check the other pairs. `None` without pairs, or if the file's does not end in the
/// block's.
fn prefix(pairs: &[(&str, &str)]) -> Option<IndentMapping> {
    let (old, file) = pairs.first()?;
    let prefix = file.strip_suffix(old)?;
    Some(IndentMapping::Prefix(prefix.to_owned()))
}

/// Whether all indentations are whole steps of the unit by which the file is indented.
pub(crate) fn are_of(file: &FileText, indents: &[&str]) -> bool {
    let unit = file_unit(file);
    indents.iter().all(|indent| unit.divides(indent))
}

/// Returns the greatest common divisor of all differences of indentation, in columns.
fn common_step(indents: &[&str]) -> usize {
    let widths = indents.iter().map(|indent| indent.len());
    let least = widths.clone().min().unwrap_or(0);
    widths
        .map(|width| width - least)
        .fold(0, greatest_common_divisor)
}

/// Returns the greatest common divisor; that of a number and 0 is the number.
fn greatest_common_divisor(a: usize, b: usize) -> usize {
    match b {
        0 => a,
        b => greatest_common_divisor(b, a % b),
    }
}

/// Returns the indentation unit of the file: the most frequent increase from one line to the next.
fn file_unit(file: &FileText) -> IndentUnit {
    let mut counts = [0usize; UNITS.len()];
    let mut before = "";
    for row in 0..file.line_count() {
        let line = file.content(row);
        if fold::is_blank(line) {
            continue;
        }
        let indent = fold::indent(line);
        let step = indent.strip_prefix(before).unwrap_or("");
        let unit = match step {
            "\t" => Some(IndentUnit::Tab),
            step if step.chars().all(|sign| sign == ' ') => Some(IndentUnit::Spaces(step.len())),
            _ => None,
        };
        if let Some(ix) = unit.and_then(|unit| UNITS.iter().position(|other| *other == unit)) {
            counts[ix] += 1;
        }
        before = indent;
    }
    let most = UNITS
        .into_iter()
        .zip(counts)
        .max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 0)
        .map_or(IndentUnit::Spaces(4), |(unit, _)| unit)
}

#[cfg(test)]
mod tests;
