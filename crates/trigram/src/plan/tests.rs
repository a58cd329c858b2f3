//! Tests of plans as text, and against the search's own matcher on random texts.

use project::search::{CaseSensitivity, SearchQuery};

use super::TrigramPlan;
use crate::gram::{Collector, Gram};
use crate::tests::random::{Numbers, matches_in, pattern, text};

fn shown(plan: &TrigramPlan) -> String {
    let list = |plans: &[TrigramPlan], between: &str| {
        let shown: Vec<_> = plans.iter().map(shown).collect();
        format!("({})", shown.join(between))
    };
    match plan {
        TrigramPlan::All => "all".to_owned(),
        TrigramPlan::None => "none".to_owned(),
        TrigramPlan::Gram(gram) => {
            let bytes = [(gram >> 16) as u8, (gram >> 8) as u8, *gram as u8];
            String::from_utf8_lossy(&bytes).into_owned()
        }
        TrigramPlan::And(plans) => list(plans, " "),
        TrigramPlan::Or(plans) => list(plans, "|"),
    }
}

fn sensitive(pattern: &str) -> SearchQuery {
    SearchQuery {
        case: CaseSensitivity::Sensitive,
        ..SearchQuery::regex(pattern)
    }
}

#[track_caller]
fn check(pattern: &str, expect: &str) {
    assert_eq!(
        shown(&TrigramPlan::of(&sensitive(pattern))),
        expect,
        "{pattern}"
    );
}

#[test]
fn plans_of_patterns() {
    check("abc", "abc");
    check("ABCd", "(abc bcd)");
    check("ab", "all");
    check("abc|xyz", "(abc|xyz)");
    check("abc|x", "all");
    check("ab(c|d)", "(abc|abd)");
    check("ab[cd]e", "((abc bce)|(abd bde))");
    check("abc.*xyz", "(abc xyz)");
    check("abc\\w+xyz", "(abc xyz)");
    check("(abc)+", "abc");
    check("(abc)*", "all");
    check("(abc)?def", "def");
    check("(?:ab)?cde", "cde");
    check("x{3}", "xxx");
    check("(ab){2}", "(aba bab)");
    check("a+b+c+", "all");
    check("ab+c", "all");
    check("^fn main$", "( ma ain fn  mai n m)");
    check("\\bfoo\\b", "foo");
    check("a\\nbcd", "bcd");
    check("", "all");
    check("[a-z]+", "all");
    check("a*", "all");
    check("[^\\x00-\\x{10FFFF}]", "none");
    check("(", "all");
}

#[test]
fn letters_folding_across_alphabets_are_all_included() {
    let plan = |pattern: &str| {
        shown(&TrigramPlan::of(&SearchQuery {
            case: CaseSensitivity::Insensitive,
            ..SearchQuery::literal(pattern)
        }))
    };
    assert_eq!(plan("abc"), "abc");
    let kelvin = plan("bke");
    assert!(kelvin.contains("bke") && kelvin.contains('|'), "{kelvin}");
    let long = plan("ſks");
    assert!(long.contains("sks"), "{long}");
}

#[test]
fn plans_of_large_expressions_stay_small() {
    let word = "word_of_a_long_name_".repeat(500);
    let TrigramPlan::And(grams) = TrigramPlan::of(&SearchQuery::literal(word)) else {
        panic!("a condition of several");
    };
    assert!(grams.len() <= 200);
    let words: Vec<String> = (0..5000).map(|ix| format!("word{ix}x")).collect();
    let many = TrigramPlan::of(&sensitive(&words.join("|")));
    assert!(many.conditions() <= super::CONDITIONS);
    let nested = "(a|b|c|d|e|f|g|h)".repeat(40);
    assert!(TrigramPlan::of(&sensitive(&nested)).conditions() <= super::CONDITIONS);
}

fn satisfies(plan: &TrigramPlan, grams: &[Gram]) -> bool {
    match plan {
        TrigramPlan::All => true,
        TrigramPlan::None => false,
        TrigramPlan::Gram(gram) => grams.binary_search(gram).is_ok(),
        TrigramPlan::And(plans) => plans.iter().all(|plan| satisfies(plan, grams)),
        TrigramPlan::Or(plans) => plans.iter().any(|plan| satisfies(plan, grams)),
    }
}

#[test]
fn a_file_with_a_match_satisfies_the_plan() {
    let mut collector = Collector::new();
    let (mut matched, mut told) = (0, 0);
    for seed in 1..=3_000 {
        let mut numbers = Numbers::new(seed);
        let query = SearchQuery {
            case: [
                CaseSensitivity::Smart,
                CaseSensitivity::Sensitive,
                CaseSensitivity::Insensitive,
            ][numbers.below(3)],
            whole_word: numbers.below(6) == 0,
            ..match numbers.below(4) {
                0 => SearchQuery::literal(text(&mut numbers, 5)),
                _ => SearchQuery::regex(pattern(&mut numbers, 3)),
            }
        };
        let plan = TrigramPlan::of(&query);
        let texts: Vec<String> = (0..4).map(|_| text(&mut numbers, 30)).collect();
        let Some(counts) = matches_in(&query, &texts) else {
            continue;
        };
        for (text, count) in texts.iter().zip(counts) {
            for piece in text.as_bytes().chunks(numbers.below(7) + 1) {
                collector.feed(piece);
            }
            let mut grams = Vec::new();
            collector.take(|gram| grams.push(gram));
            grams.sort_unstable();
            let fits = satisfies(&plan, &grams);
            matched += usize::from(count > 0);
            told += usize::from(!fits);
            assert!(
                fits || count == 0,
                "seed {seed}: {query:?} in {text:?}: {}",
                shown(&plan)
            );
        }
    }
    // The test is only meaningful if patterns match often enough and plans are selective.
    assert!(matched > 2_000 && told > 2_000, "{matched} {told}");
}
