//! What a file must hold for a pattern to match in it, in terms of trigrams.
//!
//! The method is Russ Cox's ("Regular Expression Matching with a Trigram Index", 2012): from the bottom of the
//! expression upwards, the exact strings it matches are kept while they are few, otherwise the strings that
//! matches begin and end with; whatever is given up becomes a condition on trigrams first. Here over bytes, and over
//! text whose ASCII capitals are made small, so that one index serves every kind of case. Other letters that
//! are the same but for case (`K` and the Kelvin sign, `s` and `ſ`) come out of the expression's own folding.
//!
//! Invariant: a file in which the pattern matches satisfies the plan. `All` when nothing can be said.
//! Start at `Plan::of`.

use std::collections::BTreeSet;

use project::search::{Case, SearchQuery, Syntax};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::gram::{Gram, grams_of};

/// A condition on the trigrams of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Any file may match.
    All,
    /// No file can.
    None,
    /// Files with this trigram.
    Gram(Gram),
    /// Files that satisfy each.
    And(Vec<Plan>),
    /// Files that satisfy any.
    Or(Vec<Plan>),
}

/// Strings that are kept as exactly what an expression matches.
const EXACT: usize = 32;
/// Strings kept as beginnings or ends, and in one condition.
const ENDS: usize = 32;
/// Bytes of a beginning or end.
const END: usize = 5;
/// Bytes that exact strings may have together.
const EXACT_BYTES: usize = 4096;
/// Chars of a class that are told apart.
const CLASS: usize = 40;
/// Conditions in a plan; one with more says little and costs much.
const CONDITIONS: usize = 3000;
/// Copies of a repeated expression that are written out.
const COPIES: u32 = 4;

impl Plan {
    /// The plan of a search. A pattern that cannot be read has no condition: the search itself will say so.
    pub(crate) fn of(query: &SearchQuery) -> Self {
        let pattern = match query.syntax {
            Syntax::Literal => regex_syntax::escape(&query.pattern),
            Syntax::Regex => query.pattern.clone(),
        };
        // A smart search is at most insensitive.
        let mut parser = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .unicode(true)
            .multi_line(true)
            .case_insensitive(query.case != Case::Sensitive)
            .build();
        match parser.parse(&pattern) {
            Ok(hir) => Self::of_expression(&hir),
            Err(_) => Self::All,
        }
    }

    /// The plan of an expression.
    pub(crate) fn of_expression(hir: &Hir) -> Self {
        let plan = Facts::of(hir).into_plan();
        match plan.conditions() > CONDITIONS {
            true => Self::All,
            false => plan,
        }
    }

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

    /// Files that hold this string.
    fn of_string(string: &[u8]) -> Self {
        /// Of a longer string the first ones say enough.
        const MOST: usize = 200;
        let mut grams: Vec<Gram> = grams_of(string).take(MOST).collect();
        grams.sort_unstable();
        grams.dedup();
        match grams.as_slice() {
            [] => Self::All,
            [only] => Self::Gram(*only),
            _ => Self::And(grams.into_iter().map(Self::Gram).collect()),
        }
    }

    /// Files that hold any of these strings.
    fn of_strings(strings: &Strings) -> Self {
        if strings
            .iter()
            .any(|string| grams_of(string).next().is_none())
        {
            return Self::All;
        }
        // A string that holds another one of them says no more than that one.
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

/// What is known of the strings that an expression matches, ASCII capitals made small.
#[derive(Clone, Debug)]
struct Facts {
    known: Known,
    /// What holds of a file with a match, beside what `known` says.
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Known {
    /// Exactly these.
    Exact(Strings),
    /// Each begins with one of the first and ends with one of the second.
    Ends(Strings, Strings),
}

impl Facts {
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
            known: Known::Exact(strings.into_iter().collect()),
            plan: Plan::All,
        }
    }

    /// Nothing is known.
    fn any() -> Self {
        let nothing = || Strings::from([Vec::new()]);
        Self {
            known: Known::Ends(nothing(), nothing()),
            plan: Plan::All,
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
                match most == Some(copies) {
                    true => written,
                    false => written.opened(),
                }
            }
        }
    }

    /// The same, with beginnings and ends instead of exact strings, so that something may stand between them.
    fn opened(self) -> Self {
        match self.known {
            Known::Ends(..) => self,
            Known::Exact(strings) => {
                let plan = self.plan.and(Plan::of_strings(&strings));
                Self::with_ends(strings.clone(), strings, plan)
            }
        }
    }

    fn with_ends(begins: Strings, ends: Strings, mut plan: Plan) -> Self {
        let begins = shortened(begins, &mut plan, |string, length| {
            string[..length].to_vec()
        });
        let ends = shortened(ends, &mut plan, |string, length| {
            string[string.len() - length..].to_vec()
        });
        Self {
            known: Known::Ends(begins, ends),
            plan,
        }
    }

    fn begins(&self) -> &Strings {
        match &self.known {
            Known::Exact(strings) => strings,
            Known::Ends(begins, _) => begins,
        }
    }

    fn ends(&self) -> &Strings {
        match &self.known {
            Known::Exact(strings) => strings,
            Known::Ends(_, ends) => ends,
        }
    }

    fn then(self, next: Self) -> Self {
        if let (Known::Exact(one), Known::Exact(other)) = (&self.known, &next.known)
            && let Some(strings) = all_pairs(one, other, EXACT)
        {
            return Self {
                known: Known::Exact(strings),
                plan: self.plan.and(next.plan),
            };
        }
        let one = self.settled();
        let other = next.settled();
        let mut plan = one.plan.clone().and(other.plan.clone());
        let across = all_pairs(
            &cut_to_ends(one.ends()),
            &cut_to_begins(other.begins()),
            ENDS * 2,
        );
        if let Some(across) = across {
            plan = plan.and(Plan::of_strings(&across));
        }
        let begins = match &one.known {
            Known::Exact(strings) => all_pairs(strings, other.begins(), ENDS * 4),
            Known::Ends(..) => None,
        };
        let ends = match &other.known {
            Known::Exact(strings) => all_pairs(one.ends(), strings, ENDS * 4),
            Known::Ends(..) => None,
        };
        let begins = begins.unwrap_or_else(|| one.begins().clone());
        let ends = ends.unwrap_or_else(|| other.ends().clone());
        Self::with_ends(begins, ends, plan)
    }

    /// The same, with what its exact strings say put into the plan too.
    fn settled(mut self) -> Self {
        if let Known::Exact(strings) = &self.known {
            self.plan = self.plan.and(Plan::of_strings(strings));
        }
        self
    }

    fn or(self, other: Self) -> Self {
        if let (Known::Exact(one), Known::Exact(two)) = (&self.known, &other.known)
            && one.len() + two.len() <= EXACT
            && self.plan == Plan::All
            && other.plan == Plan::All
        {
            return Self::exact(one.union(two).cloned());
        }
        let (one, other) = (self.settled(), other.settled());
        let begins = one.begins().union(other.begins()).cloned().collect();
        let ends = one.ends().union(other.ends()).cloned().collect();
        Self::with_ends(begins, ends, one.plan.or(other.plan))
    }

    fn into_plan(self) -> Plan {
        let facts = self.settled();
        let (begins, ends) = (
            Plan::of_strings(facts.begins()),
            Plan::of_strings(facts.ends()),
        );
        facts.plan.and(begins).and(ends)
    }
}

/// Strings cut to a length at which they are few enough; what is cut off is put into the plan before.
fn shortened(strings: Strings, plan: &mut Plan, cut: impl Fn(&[u8], usize) -> Vec<u8>) -> Strings {
    let is_long = strings.iter().any(|string| string.len() > END);
    if strings.len() <= ENDS && !is_long {
        return strings;
    }
    let mut condition = (strings.len() <= ENDS).then(|| Plan::of_strings(&strings));
    let mut short = strings;
    for most in (0..=END).rev() {
        short = short
            .iter()
            .map(|string| cut(string, string.len().min(most)))
            .collect();
        if short.len() <= ENDS {
            condition.get_or_insert_with(|| Plan::of_strings(&short));
            break;
        }
    }
    let before = std::mem::replace(plan, Plan::All);
    *plan = before.and(condition.unwrap_or(Plan::All));
    short
}

/// Every string of the one followed by every string of the other, unless these are too many.
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

/// The last bytes, as many as can be in a trigram that goes on behind them.
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
