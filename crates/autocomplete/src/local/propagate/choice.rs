//! Chooses one site if several patterns have one.
//!
//! Method: a linear score, fitted as the choice among the candidates before each hunk of real
//! commits (softmax, checked on repositories left out of the fit), using the repositories other
//! than prometheus that the benchmark `tab_local` lists as fitted.

use super::PatternCandidate;

/// Candidates below this probability yield to any candidate above it.
const UNLIKELY: f32 = 0.3;

/// Weights of the pattern's probability, of the logarithm of its remaining sites, and of the site's
/// position.
const LIKELIHOOD: f32 = 2.2;
const PLACES: f32 = -0.5;
const NEAREST: f32 = 2.5;
const BEFORE: f32 = -2.5;
const ELSEWHERE: f32 = -3.8;

/// Returns the site with the highest score; if several patterns claim it, the first of those that
/// replace most of it.
pub(super) fn choose(mut candidates: Vec<PatternCandidate>) -> Option<PatternCandidate> {
    let is_likely = |it: &PatternCandidate| it.likelihood >= UNLIKELY;
    if candidates.iter().any(is_likely) {
        candidates.retain(is_likely);
    }
    let behind = candidates.iter().filter(|it| it.is_behind());
    let nearest = behind.map(|it| it.distance).min();
    let appeal = |it: &PatternCandidate| appeal(it, it.is_behind() && Some(it.distance) == nearest);
    let best = candidates
        .iter()
        .max_by(|a, b| appeal(a).total_cmp(&appeal(b)))?;
    let (file, span) = (best.file.clone(), best.site.span);
    let is_there = |it: &PatternCandidate| {
        let other = it.site.span;
        it.file == file && (other == span || other.overlaps(span))
    };
    candidates.retain(is_there);
    candidates
        .into_iter()
        .rev()
        .max_by_key(|it| it.site.old.len())
}

/// Score of being the next site.
fn appeal(candidate: &PatternCandidate, is_nearest: bool) -> f32 {
    let place = if candidate.file.is_some() {
        ELSEWHERE
    } else if !candidate.is_behind() {
        BEFORE
    } else if is_nearest {
        NEAREST
    } else {
        0.0
    };
    place + LIKELIHOOD * candidate.likelihood + PLACES * (candidate.places as f32).ln_1p()
}

impl PatternCandidate {
    /// Whether it is in the current text, after the caret.
    fn is_behind(&self) -> bool {
        self.file.is_none() && !self.is_before
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{AbsPath, Revision, Span};

    use super::super::PatternSite;
    use super::*;

    /// Returns a candidate `distance` bytes from a caret at 1,000; negative before it.
    fn candidate(distance: isize, likelihood: f32, places: usize, old: &str) -> PatternCandidate {
        let start = 1_000_usize.saturating_add_signed(distance);
        PatternCandidate {
            pattern: 0,
            file: None,
            revision: Revision::default(),
            site: PatternSite {
                span: Span::from(start..start + old.len()),
                old: Arc::from(old),
                new: Arc::from("new"),
            },
            is_before: distance < 0,
            distance: distance.unsigned_abs(),
            places,
            likelihood,
        }
    }

    /// Returns the chosen position relative to the caret, and its text.
    fn chosen(candidates: &[&PatternCandidate]) -> (isize, String) {
        let all = candidates.iter().map(|it| (*it).clone()).collect();
        let best = choose(all).expect("one of them");
        let start = best.site.span.start.0.cast_signed();
        (start - 1_000, best.site.old.to_string())
    }

    #[test]
    fn the_nearest_site_after_the_caret_comes_first() {
        let (near, far) = (candidate(10, 0.7, 3, "a"), candidate(500, 0.7, 3, "a"));
        let before = candidate(-5, 0.7, 3, "a");
        assert_eq!(chosen(&[&far, &before, &near]).0, 10);
        assert_eq!(chosen(&[&before, &far]).0, 500);
    }

    #[test]
    fn a_surer_and_rarer_site_beats_a_nearer_one() {
        let (common, rare) = (candidate(10, 0.6, 114, "a"), candidate(500, 0.95, 1, "a"));
        assert_eq!(chosen(&[&common, &rare]).0, 500);
    }

    #[test]
    fn unlikely_candidates_yield_to_likely_ones() {
        let (unlikely, likely) = (candidate(10, 0.29, 1, "a"), candidate(500, 0.31, 9, "a"));
        assert_eq!(chosen(&[&unlikely, &likely]).0, 500);
        assert_eq!(chosen(&[&unlikely]).0, 10);
    }

    #[test]
    fn other_files_follow_the_current_one() {
        let mut other = candidate(0, 0.95, 1, "a");
        other.file = Some(AbsPath::new("/b.rs").expect("a path"));
        let before = candidate(-800, 0.4, 1, "a");
        assert_eq!(chosen(&[&other, &before]).0, -800);
    }

    #[test]
    fn at_one_site_the_largest_replacement_wins() {
        let (small, large) = (candidate(14, 0.9, 1, "b"), candidate(10, 0.6, 1, "a + b"));
        assert_eq!(chosen(&[&small, &large]), (10, "a + b".to_owned()));
    }
}
