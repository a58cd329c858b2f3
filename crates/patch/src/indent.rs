//! How the indentation of a block differs from that of the place where it stands.
//!
//! Several readings may fit: two columns more, or twice as many. The lines of the block settle it
//! where they can; where readings would indent a new line differently, the block is refused.
//! Start at `Readings::of`.

use crate::file::FileText;
use crate::fold;

/// One way to turn the indentation of a block into that of the file.
#[derive(Clone, Debug, PartialEq)]
enum Reading {
    /// It stays.
    Same,
    /// So many columns more or fewer, of spaces or of tabs.
    Shift(char, isize),
    /// Something before every line.
    Prefix(String),
    /// Spaces times a ratio.
    Ratio(usize, usize),
    /// A unit becomes another; spaces beyond whole units stay.
    Level(Unit, Unit),
}

/// One step of indentation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Tab,
    Spaces(usize),
}

const UNITS: [Unit; 5] = [
    Unit::Tab,
    Unit::Spaces(2),
    Unit::Spaces(3),
    Unit::Spaces(4),
    Unit::Spaces(8),
];

/// All the ways that fit the lines of a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Readings(Vec<Reading>);

impl Readings {
    /// From the indentation of the lines of a block, each with that of the file; blank lines apart.
    /// `None` when nothing uniform fits.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Option<Self> {
        if pairs.iter().all(|(old, file)| old == file) {
            return Some(Self(vec![Reading::Same]));
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
            readings.push(Reading::Ratio(times, by));
        }
        for from in UNITS {
            let others = UNITS.into_iter().filter(|to| *to != from);
            readings.extend(others.map(|to| Reading::Level(from, to)));
        }
        readings.retain(|reading| {
            let mut pairs = pairs.iter();
            pairs.all(|(old, file)| reading.apply(old).as_deref() == Some(*file))
        });
        (!readings.is_empty()).then_some(Self(readings))
    }

    pub(crate) fn is_same(&self) -> bool {
        self.0 == [Reading::Same]
    }

    /// The indentations of new lines; `None` when readings disagree. `block` is the indentation of
    /// all the lines of the block, old and new.
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
            let is_likely = |reading: &Reading| reading.is_likely(unit, step);
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

    /// The different results that readings give.
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

impl Reading {
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

    /// Whether this is how blocks come to be indented differently, in a file indented by `unit`,
    /// for a block in which indentations differ by multiples of `step` columns.
    fn is_likely(&self, unit: Unit, step: usize) -> bool {
        match (self, unit) {
            (Self::Same | Self::Prefix(_), _) => true,
            (Self::Shift('\t', _), unit) => unit == Unit::Tab,
            // Whole levels go away, and what is left has steps of one level.
            (Self::Shift(_, by), Unit::Spaces(unit)) => {
                by.unsigned_abs().is_multiple_of(unit)
                    && (step <= unit || !step.is_multiple_of(unit))
            }
            (Self::Ratio(times, by), Unit::Spaces(unit)) => {
                (unit * by).is_multiple_of(*times)
                    && step.is_multiple_of((unit * by / times).max(1))
            }
            (Self::Level(_, to), unit) => *to == unit,
            (Self::Shift(..) | Self::Ratio(..), Unit::Tab) => false,
        }
    }
}

impl Unit {
    /// Whole units and spaces beyond them.
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

    fn divides(self, indent: &str) -> bool {
        matches!(self.level(indent), Some((_, 0)))
    }
}

fn shift(pairs: &[(&str, &str)]) -> Option<Reading> {
    let sign = pairs
        .iter()
        .find_map(|(old, file)| old.chars().chain(file.chars()).next())?;
    let (old, file) = pairs.first()?;
    Some(Reading::Shift(
        sign,
        file.len() as isize - old.len() as isize,
    ))
}

fn prefix(pairs: &[(&str, &str)]) -> Option<Reading> {
    let (old, file) = pairs.first()?;
    let prefix = file.strip_suffix(old)?;
    Some(Reading::Prefix(prefix.to_owned()))
}

/// Whether all of these are whole steps of what the file is indented by.
pub(crate) fn are_of(file: &FileText, indents: &[&str]) -> bool {
    let unit = file_unit(file);
    indents.iter().all(|indent| unit.divides(indent))
}

/// The greatest number of columns of which all differences of indentation are multiples.
fn common_step(indents: &[&str]) -> usize {
    let widths = indents.iter().map(|indent| indent.len());
    let least = widths.clone().min().unwrap_or(0);
    widths
        .map(|width| width - least)
        .fold(0, greatest_common_divisor)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    match b {
        0 => a,
        b => greatest_common_divisor(b, a % b),
    }
}

/// By what the file is indented: the step that most lines make from the line before.
fn file_unit(file: &FileText) -> Unit {
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
            "\t" => Some(Unit::Tab),
            step if step.chars().all(|sign| sign == ' ') => Some(Unit::Spaces(step.len())),
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
        .map_or(Unit::Spaces(4), |(unit, _)| unit)
}

#[cfg(test)]
mod tests;
