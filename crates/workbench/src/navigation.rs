//! Navigation history: the locations that Back and Forward go through.
//!
//! Plain data. Must not know: what a location is. Start at `NavigationHistory::push`.

use std::collections::VecDeque;

/// Visited locations, oldest first, with a current position.
#[derive(Clone, Debug)]
pub(crate) struct NavigationHistory<P> {
    places: VecDeque<P>,
    /// Index of the current location; equal to the length if none of them is current.
    at: usize,
}

/// Maximum number of locations; the oldest are dropped first.
const MAX_LOCATIONS: usize = 200;

impl<P> Default for NavigationHistory<P> {
    fn default() -> Self {
        Self {
            places: VecDeque::new(),
            at: 0,
        }
    }
}

impl<P: Clone> NavigationHistory<P> {
    /// Records the location before a jump and drops the forward history. Replaces the last location
    /// if it is the `same`.
    pub(crate) fn push(&mut self, place: P, same: impl Fn(&P, &P) -> bool) {
        self.places.truncate(self.at);
        if self.places.back().is_some_and(|last| same(last, &place)) {
            self.places.pop_back();
        }
        self.places.push_back(place);
        if self.places.len() > MAX_LOCATIONS {
            self.places.pop_front();
        }
        self.at = self.places.len();
    }

    /// Goes back and returns the previous location. Records `here`, so that the user can go forward
    /// again. `same` compares locations: a location that equals `here` is skipped. Returns `None`
    /// at the oldest location.
    pub(crate) fn back(&mut self, here: P, same: impl Fn(&P, &P) -> bool) -> Option<P> {
        let mut target = self.at.checked_sub(1)?;
        if self.at == self.places.len() {
            self.places.push_back(here.clone());
        } else if let Some(place) = self.places.get_mut(self.at) {
            *place = here.clone();
        }
        // If the jump began here, skip to the location before.
        while same(self.places.get(target)?, &here) {
            target = target.checked_sub(1)?;
        }
        self.at = target;
        self.places.get(target).cloned()
    }

    /// Goes forward and returns the next location, or `None` at the newest location.
    pub(crate) fn forward(&mut self) -> Option<P> {
        let place = self.places.get(self.at + 1)?.clone();
        self.at += 1;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::NavigationHistory;

    fn same(a: &u32, b: &u32) -> bool {
        a == b
    }

    #[test]
    fn back_and_forward_walk_the_trail() {
        let mut trail = NavigationHistory::default();
        trail.push(1, same);
        trail.push(2, same);
        trail.push(2, same);
        assert_eq!(trail.back(3, same), Some(2));
        assert_eq!(trail.back(2, same), Some(1));
        assert_eq!(trail.back(1, same), None);
        assert_eq!(trail.forward(), Some(2));
        assert_eq!(trail.forward(), Some(3));
        assert_eq!(trail.forward(), None);
        assert_eq!(trail.back(3, same), Some(2));
        trail.push(9, same);
        assert_eq!(trail.forward(), None, "a jump forgets what lay ahead");
    }

    #[test]
    fn an_old_trail_is_cut() {
        let mut trail = NavigationHistory::default();
        for place in 0..1000 {
            trail.push(place, same);
        }
        assert_eq!(trail.back(5000, same), Some(999));
        let mut count = 1;
        let mut here = 999;
        while let Some(place) = trail.back(here, same) {
            here = place;
            count += 1;
        }
        assert_eq!(count, super::MAX_LOCATIONS);
    }
}
