//! Names by distance from the caret.

use super::names_near;
use crate::samples::state;

#[test]
fn nearby_names_are_unique_and_nearest_first() {
    let state = state("", "alpha beta\ngamma(alpha, ˇx1)\n1delta größe\n");
    assert_eq!(names_near(&state), ["gamma", "alpha", "beta", "größe"]);
}
