//! Which of several places is offered, where several patterns have one.
//!
//! Method: a linear score, fitted as the choice among the offers before each hunk of real commits (softmax, checked
//! on repositories left out of the fit): of all but prometheus that the benchmark `tab_local` names as fitted.

use super::Offer;

/// What is less likely does not stand before what is not.
const UNLIKELY: f32 = 0.3;

/// The weights: how likely the pattern is, the logarithm of how many places it has left, and where the place is.
const LIKELIHOOD: f32 = 2.2;
const PLACES: f32 = -0.5;
const NEAREST: f32 = 2.5;
const BEFORE: f32 = -2.5;
const ELSEWHERE: f32 = -3.8;

/// The place with the most appeal; where several patterns are about it, the first of those that change most of it.
pub(super) fn choose(mut offers: Vec<Offer>) -> Option<Offer> {
    let is_likely = |it: &Offer| it.likelihood >= UNLIKELY;
    if offers.iter().any(is_likely) {
        offers.retain(is_likely);
    }
    let behind = offers.iter().filter(|it| it.is_behind());
    let nearest = behind.map(|it| it.distance).min();
    let appeal = |it: &Offer| appeal(it, it.is_behind() && Some(it.distance) == nearest);
    let best = offers
        .iter()
        .max_by(|a, b| appeal(a).total_cmp(&appeal(b)))?;
    let (file, span) = (best.file.clone(), best.site.span);
    let is_there = |it: &Offer| {
        let other = it.site.span;
        it.file == file && (other == span || other.overlaps(span))
    };
    offers.retain(is_there);
    offers.into_iter().rev().max_by_key(|it| it.site.old.len())
}

/// How much more likely than others it is the next.
fn appeal(offer: &Offer, is_nearest: bool) -> f32 {
    let place = match offer.file.is_some() {
        true => ELSEWHERE,
        false if !offer.is_behind() => BEFORE,
        false if is_nearest => NEAREST,
        false => 0.0,
    };
    place + LIKELIHOOD * offer.likelihood + PLACES * (offer.places as f32).ln_1p()
}

impl Offer {
    /// Whether it is in the text that was asked for, behind the caret.
    fn is_behind(&self) -> bool {
        self.file.is_none() && !self.is_before
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{AbsPath, Revision, Span};

    use super::super::Site;
    use super::*;

    /// An offer `distance` bytes behind the caret at 1,000, or before it.
    fn offer(distance: isize, likelihood: f32, places: usize, old: &str) -> Offer {
        let start = 1_000_usize.saturating_add_signed(distance);
        Offer {
            pattern: 0,
            file: None,
            revision: Revision::default(),
            site: Site {
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

    /// The place that is chosen, counted from the caret, and the text there.
    fn chosen(offers: &[&Offer]) -> (isize, String) {
        let all = offers.iter().map(|it| (*it).clone()).collect();
        let best = choose(all).expect("one of them");
        let start = best.site.span.start.0.cast_signed();
        (start - 1_000, best.site.old.to_string())
    }

    #[test]
    fn the_nearest_behind_the_caret_is_first_of_the_like() {
        let (near, far) = (offer(10, 0.7, 3, "a"), offer(500, 0.7, 3, "a"));
        let before = offer(-5, 0.7, 3, "a");
        assert_eq!(chosen(&[&far, &before, &near]).0, 10);
        assert_eq!(chosen(&[&before, &far]).0, 500);
    }

    #[test]
    fn what_is_surer_and_rarer_stands_before_what_is_nearer() {
        let (common, rare) = (offer(10, 0.6, 114, "a"), offer(500, 0.95, 1, "a"));
        assert_eq!(chosen(&[&common, &rare]).0, 500);
    }

    #[test]
    fn what_is_unlikely_does_not_count_beside_what_is_not() {
        let (unlikely, likely) = (offer(10, 0.29, 1, "a"), offer(500, 0.31, 9, "a"));
        assert_eq!(chosen(&[&unlikely, &likely]).0, 500);
        assert_eq!(chosen(&[&unlikely]).0, 10);
    }

    #[test]
    fn another_file_waits_until_this_one_is_done() {
        let mut other = offer(0, 0.95, 1, "a");
        other.file = Some(AbsPath::new("/b.rs").expect("a path"));
        let before = offer(-800, 0.4, 1, "a");
        assert_eq!(chosen(&[&other, &before]).0, -800);
    }

    #[test]
    fn at_one_place_the_first_that_changes_most_of_it_is_taken() {
        let (small, large) = (offer(14, 0.9, 1, "b"), offer(10, 0.6, 1, "a + b"));
        assert_eq!(chosen(&[&small, &large]), (10, "a + b".to_owned()));
    }
}
