//! Names by nearness.

use super::names_near;
use crate::samples::state;

#[test]
fn the_nearest_rows_come_first_and_nothing_twice() {
    let state = state("", "alpha beta\ngamma(alpha, ˇx1)\n1delta größe\n");
    assert_eq!(names_near(&state), ["gamma", "alpha", "beta", "größe"]);
}
