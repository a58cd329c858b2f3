//! Where one was: the places that "back" and "forward" go through.
//!
//! Plain data. Must not know: what a place is. Start at `Trail::leave`.

use std::collections::VecDeque;

/// Places walked through, oldest first, with a mark for where one stands.
#[derive(Clone, Debug)]
pub(crate) struct Trail<P> {
    places: VecDeque<P>,
    /// Index of the place one stands at; equal to the length when one stands behind all of them.
    at: usize,
}

/// Places kept; the oldest go first.
const KEPT: usize = 200;

impl<P> Default for Trail<P> {
    fn default() -> Self {
        Self {
            places: VecDeque::new(),
            at: 0,
        }
    }
}

impl<P: Clone> Trail<P> {
    /// Notes the place from which one jumps. What lay ahead is forgotten; a place that is the `same`
    /// as the last one replaces it.
    pub(crate) fn leave(&mut self, place: P, same: impl Fn(&P, &P) -> bool) {
        self.places.truncate(self.at);
        if self.places.back().is_some_and(|last| same(last, &place)) {
            self.places.pop_back();
        }
        self.places.push_back(place);
        if self.places.len() > KEPT {
            self.places.pop_front();
        }
        self.at = self.places.len();
    }

    /// The place before, with `here` noted so that one can come back.
    pub(crate) fn back(&mut self, here: P, same: impl Fn(&P, &P) -> bool) -> Option<P> {
        let mut target = self.at.checked_sub(1)?;
        if self.at == self.places.len() {
            self.places.push_back(here.clone());
        } else if let Some(place) = self.places.get_mut(self.at) {
            *place = here.clone();
        }
        // Standing where the jump began, one wants the place before that.
        while same(self.places.get(target)?, &here) {
            target = target.checked_sub(1)?;
        }
        self.at = target;
        self.places.get(target).cloned()
    }

    /// The place after.
    pub(crate) fn forward(&mut self) -> Option<P> {
        let place = self.places.get(self.at + 1)?.clone();
        self.at += 1;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::Trail;

    fn same(a: &u32, b: &u32) -> bool {
        a == b
    }

    #[test]
    fn back_and_forward_walk_the_trail() {
        let mut trail = Trail::default();
        trail.leave(1, same);
        trail.leave(2, same);
        trail.leave(2, same);
        assert_eq!(trail.back(3, same), Some(2));
        assert_eq!(trail.back(2, same), Some(1));
        assert_eq!(trail.back(1, same), None);
        assert_eq!(trail.forward(), Some(2));
        assert_eq!(trail.forward(), Some(3));
        assert_eq!(trail.forward(), None);
        assert_eq!(trail.back(3, same), Some(2));
        trail.leave(9, same);
        assert_eq!(trail.forward(), None, "a jump forgets what lay ahead");
    }

    #[test]
    fn an_old_trail_is_cut() {
        let mut trail = Trail::default();
        for place in 0..1000 {
            trail.leave(place, same);
        }
        assert_eq!(trail.back(5000, same), Some(999));
        let mut count = 1;
        let mut here = 999;
        while let Some(place) = trail.back(here, same) {
            here = place;
            count += 1;
        }
        assert_eq!(count, super::KEPT);
    }
}
