//! Derives a condition on trigrams that every file with a match of a pattern satisfies.
//!
//! The method is Russ Cox's ("Regular Expression Matching with a Trigram Index", 2012): bottom-up,
//! the exact strings that an expression matches are kept while they are few, otherwise their
//! prefixes and suffixes; information that is given up is first turned into a condition on
//! trigrams. This implementation works on bytes, and on text with ASCII capitals in lower case, so
//! that one index serves every case sensitivity. Other letters that differ only in case (`K` and
//! the Kelvin sign, `s` and `ſ`) result from the expression's own case folding.
//!
//! Invariant: a file that contains a match satisfies the plan. `All` if nothing can be derived.
//! Start at `TrigramPlan::of`.

use std::collections::BTreeSet;

use project::search::{CaseSensitivity, SearchQuery, Syntax};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::gram::{Gram, grams_of};

/// A necessary condition for a match: every file that contains a match satisfies this condition on
/// its trigrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrigramPlan {
    /// Any file may match.
    All,
    /// No file can match.
    None,
    /// Files that contain this trigram.
    Gram(Gram),
    /// Files that satisfy all conditions.
    And(Vec<TrigramPlan>),
    /// Files that satisfy any condition.
    Or(Vec<TrigramPlan>),
}

/// Maximum number of exact strings of an expression.
const EXACT: usize = 32;
/// Maximum number of prefixes or suffixes, and of strings in one condition.
const ENDS: usize = 32;
/// Length of a prefix or suffix in bytes.
const END: usize = 5;
/// Maximum total length of exact strings in bytes.
const EXACT_BYTES: usize = 4096;
/// Maximum size of a character class that is expanded.
const CLASS: usize = 40;
/// Maximum number of conditions in a plan; more are of little use and expensive.
const CONDITIONS: usize = 3000;
/// Maximum number of copies of a repeated expression.
const COPIES: u32 = 4;

impl TrigramPlan {
    /// Returns the plan of a search, from the strings that its pattern requires. An invalid pattern
    /// yields `All`, because the search itself reports the error.
    pub(crate) fn of(query: &SearchQuery) -> Self {
        let pattern = match query.syntax {
            Syntax::Literal => regex_syntax::escape(&query.pattern),
            Syntax::Regex => query.pattern.clone(),
        };
        // A smart-case search is at most case-insensitive.
        let mut parser = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .unicode(true)
            .multi_line(true)
            .case_insensitive(query.case != CaseSensitivity::Sensitive)
            .build();
        match parser.parse(&pattern) {
            Ok(hir) => Self::of_expression(&hir),
            Err(_) => Self::All,
        }
    }

    /// Returns the plan of a parsed expression. If the plan would have too many conditions, returns
    /// `All`.
    pub(crate) fn of_expression(hir: &Hir) -> Self {
        let plan = StringFacts::of(hir).into_plan();
        if plan.conditions() > CONDITIONS {
            Self::All
        } else {
            plan
        }
    }

    /// Returns the number of single conditions in the plan.
    fn conditions(&self) -> usize {
        match self {
            Self::All | Self::None | Self::Gram(_) => 1,
            Self::And(plans) | Self::Or(plans) => plans.iter().map(Self::conditions).sum(),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::All, plan) | (plan, Self::All) => plan,
            (one, other) => {
                let mut all = one.into_parts_of_and();
                for part in other.into_parts_of_and() {
                    if !all.contains(&part) {
                        all.push(part);
                    }
                }
                match all.len() {
                    1 => all.remove(0),
                    _ => Self::And(all),
                }
            }
        }
    }

    fn into_parts_of_and(self) -> Vec<Self> {
        match self {
            Self::And(parts) => parts,
            other => vec![other],
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::None, plan) | (plan, Self::None) => plan,
            (one, other) if one == other => one,
            (one, other) => {
                let mut all = one.into_parts_of_or();
                all.extend(other.into_parts_of_or());
                Self::Or(all)
            }
        }
    }

    fn into_parts_of_or(self) -> Vec<Self> {
        match self {
            Self::Or(parts) => parts,
            other => vec![other],
        }
    }

    /// Requires that a file contains this string.
    fn of_string(string: &[u8]) -> Self {
        /// Maximum number of trigrams per string; the first ones are selective enough.
        const MAX_GRAMS: usize = 200;
        let mut grams: Vec<Gram> = grams_of(string).take(MAX_GRAMS).collect();
        grams.sort_unstable();
        grams.dedup();
        match grams.as_slice() {
            [] => Self::All,
            [only] => Self::Gram(*only),
            _ => Self::And(grams.into_iter().map(Self::Gram).collect()),
        }
    }

    /// Requires that a file contains any of these strings.
    fn of_strings(strings: &Strings) -> Self {
        if strings
            .iter()
            .any(|string| grams_of(string).next().is_none())
        {
            return Self::All;
        }
        // A string that contains another one of the set is redundant.
        let says_more = |string: &&Vec<u8>| {
            let mut others = strings.iter().filter(|other| other.len() < string.len());
            !others.any(|other| string.windows(other.len()).any(|part| part == other))
        };
        let telling = strings.iter().filter(says_more);
        telling
            .map(|string| Self::of_string(string))
            .fold(Self::None, Self::or)
    }
}

type Strings = BTreeSet<Vec<u8>>;

/// Facts about the strings that an expression matches, with ASCII capitals in lower case.
#[derive(Clone, Debug)]
struct StringFacts {
    known: KnownStrings,
    /// A condition on files with a match, in addition to `known`.
    plan: TrigramPlan,
}

#[derive(Clone, Debug)]
enum KnownStrings {
    /// The expression matches exactly these strings.
    Exact(Strings),
    /// Each begins with one of the first and ends with one of the second.
    Ends(Strings, Strings),
}

impl StringFacts {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exact([Vec::new()]),
            HirKind::Literal(literal) => Self::exact([literal.0.to_ascii_lowercase()]),
            HirKind::Class(class) => Self::of_class(class),
            HirKind::Repetition(repetition) => Self::of_repetition(repetition),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => parts
                .iter()
                .map(Self::of)
                .reduce(Self::then)
                .unwrap_or_else(|| Self::exact([Vec::new()])),
            HirKind::Alternation(parts) => parts
                .iter()
                .map(Self::of)
                .reduce(Self::or)
                .unwrap_or_else(|| Self::exact([])),
        }
    }

    fn exact(strings: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self {
            known: KnownStrings::Exact(strings.into_iter().collect()),
            plan: TrigramPlan::All,
        }
    }

    /// Returns the facts of an arbitrary expression.
    fn any() -> Self {
        let nothing = || Strings::from([Vec::new()]);
        Self {
            known: KnownStrings::Ends(nothing(), nothing()),
            plan: TrigramPlan::All,
        }
    }

    fn of_class(class: &Class) -> Self {
        let mut strings = Strings::new();
        match class {
            Class::Unicode(class) => {
                let ranges = class.iter();
                if ranges.map(|range| range.len()).sum::<usize>() > CLASS {
                    return Self::any();
                }
                for char in class.iter().flat_map(|range| range.start()..=range.end()) {
                    let small = char.to_ascii_lowercase();
                    strings.insert(small.to_string().into_bytes());
                }
            }
            Class::Bytes(class) => {
                if class.iter().map(|range| range.len()).sum::<usize>() > CLASS {
                    return Self::any();
                }
                for byte in class.iter().flat_map(|range| range.start()..=range.end()) {
                    strings.insert(vec![byte.to_ascii_lowercase()]);
                }
            }
        }
        Self::exact(strings)
    }

    fn of_repetition(repetition: &Repetition) -> Self {
        let once = Self::of(&repetition.sub);
        let empty = Self::exact([Vec::new()]);
        match (repetition.min, repetition.max) {
            (_, Some(0)) => empty,
            (0, Some(1)) => once.or(empty),
            (0, _) => Self::any(),
            (least, most) => {
                let copies = least.min(COPIES);
                let written = (1..copies).fold(once.clone(), |all, _| all.then(once.clone()));
                if most == Some(copies) {
                    written
                } else {
                    written.with_ends_only()
                }
            }
        }
    }

    /// Replaces exact strings by prefixes and suffixes, so that anything may be inserted between
    /// them.
    fn with_ends_only(self) -> Self {
        match self.known {
            KnownStrings::Ends(..) => self,
            KnownStrings::Exact(strings) => {
                let plan = self.plan.and(TrigramPlan::of_strings(&strings));
                Self::with_ends(strings.clone(), strings, plan)
            }
        }
    }

    fn with_ends(begins: Strings, ends: Strings, mut plan: TrigramPlan) -> Self {
        let begins = shortened(begins, &mut plan, |string, length| {
            string[..length].to_vec()
        });
        let ends = shortened(ends, &mut plan, |string, length| {
            string[string.len() - length..].to_vec()
        });
        Self {
            known: KnownStrings::Ends(begins, ends),
            plan,
        }
    }

    fn begins(&self) -> &Strings {
        match &self.known {
            KnownStrings::Exact(strings) => strings,
            KnownStrings::Ends(begins, _) => begins,
        }
    }

    fn ends(&self) -> &Strings {
        match &self.known {
            KnownStrings::Exact(strings) => strings,
            KnownStrings::Ends(_, ends) => ends,
        }
    }

    fn then(self, next: Self) -> Self {
        if let (KnownStrings::Exact(one), KnownStrings::Exact(other)) = (&self.known, &next.known)
            && let Some(strings) = all_pairs(one, other, EXACT)
        {
            return Self {
                known: KnownStrings::Exact(strings),
                plan: self.plan.and(next.plan),
            };
        }
        let one = self.with_exact_in_plan();
        let other = next.with_exact_in_plan();
        let mut plan = one.plan.clone().and(other.plan.clone());
        let across = all_pairs(
            &cut_to_ends(one.ends()),
            &cut_to_begins(other.begins()),
            ENDS * 2,
        );
        if let Some(across) = across {
            plan = plan.and(TrigramPlan::of_strings(&across));
        }
        let begins = match &one.known {
            KnownStrings::Exact(strings) => all_pairs(strings, other.begins(), ENDS * 4),
            KnownStrings::Ends(..) => None,
        };
        let ends = match &other.known {
            KnownStrings::Exact(strings) => all_pairs(one.ends(), strings, ENDS * 4),
            KnownStrings::Ends(..) => None,
        };
        let begins = begins.unwrap_or_else(|| one.begins().clone());
        let ends = ends.unwrap_or_else(|| other.ends().clone());
        Self::with_ends(begins, ends, plan)
    }

    /// Adds the condition of its exact strings to the plan.
    fn with_exact_in_plan(mut self) -> Self {
        if let KnownStrings::Exact(strings) = &self.known {
            self.plan = self.plan.and(TrigramPlan::of_strings(strings));
        }
        self
    }

    fn or(self, other: Self) -> Self {
        if let (KnownStrings::Exact(one), KnownStrings::Exact(two)) = (&self.known, &other.known)
            && one.len() + two.len() <= EXACT
            && self.plan == TrigramPlan::All
            && other.plan == TrigramPlan::All
        {
            return Self::exact(one.union(two).cloned());
        }
        let (one, other) = (self.with_exact_in_plan(), other.with_exact_in_plan());
        let begins = one.begins().union(other.begins()).cloned().collect();
        let ends = one.ends().union(other.ends()).cloned().collect();
        Self::with_ends(begins, ends, one.plan.or(other.plan))
    }

    fn into_plan(self) -> TrigramPlan {
        let facts = self.with_exact_in_plan();
        let (begins, ends) = (
            TrigramPlan::of_strings(facts.begins()),
            TrigramPlan::of_strings(facts.ends()),
        );
        facts.plan.and(begins).and(ends)
    }
}

/// Shortens strings until they are few enough; adds their condition to the plan first.
fn shortened(
    strings: Strings,
    plan: &mut TrigramPlan,
    cut: impl Fn(&[u8], usize) -> Vec<u8>,
) -> Strings {
    let is_long = strings.iter().any(|string| string.len() > END);
    if strings.len() <= ENDS && !is_long {
        return strings;
    }
    let mut condition = (strings.len() <= ENDS).then(|| TrigramPlan::of_strings(&strings));
    let mut short = strings;
    for most in (0..=END).rev() {
        short = short
            .iter()
            .map(|string| cut(string, string.len().min(most)))
            .collect();
        if short.len() <= ENDS {
            condition.get_or_insert_with(|| TrigramPlan::of_strings(&short));
            break;
        }
    }
    let before = std::mem::replace(plan, TrigramPlan::All);
    *plan = before.and(condition.unwrap_or(TrigramPlan::All));
    short
}

/// Concatenates every string of `one` with every string of `other`; returns `None` if that yields
/// too many.
fn all_pairs(one: &Strings, other: &Strings, most: usize) -> Option<Strings> {
    let bytes = |strings: &Strings| strings.iter().map(Vec::len).sum::<usize>();
    let total = bytes(one) * other.len() + bytes(other) * one.len();
    let is_one_string = one.len() == 1 && other.len() == 1;
    if one.len() * other.len() > most || (total > EXACT_BYTES && !is_one_string) {
        return None;
    }
    let mut pairs = Strings::new();
    for first in one {
        for second in other {
            pairs.insert([first.as_slice(), second].concat());
        }
    }
    Some(pairs)
}

/// Returns the last bytes, as many as a trigram that continues behind them can contain.
fn cut_to_ends(strings: &Strings) -> Strings {
    let strings = strings.iter();
    strings
        .map(|string| string[string.len() - string.len().min(2)..].to_vec())
        .collect()
}

fn cut_to_begins(strings: &Strings) -> Strings {
    let strings = strings.iter();
    strings
        .map(|string| string[..string.len().min(2)].to_vec())
        .collect()
}

#[cfg(test)]
mod tests;
