//! Tests that the fast path for plain rows gives the result of the general one.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::WrapOptions;

#[test]
fn plain_rows_break_where_walked_ones_do() {
    for seed in 0..20_000 {
        let mut rng = StdRng::seed_from_u64(seed);
        let len = rng.random_range(0..60);
        let blanks = rng.random_range(0.0..0.6);
        let text: String = (0..len)
            .map(|_| if rng.random_bool(blanks) { ' ' } else { 'x' })
            .collect();
        let options = WrapOptions {
            cells: rng.random_range(1..40),
            tab_width: 4,
        };
        let indent = rng.random_range(0..=options.cells / 2);
        if let Some(plain) = options.plain_row_len(text.as_bytes(), indent) {
            let walked = options.walked_row_len(&text, indent);
            assert_eq!(plain, walked, "seed {seed}: {text:?} {options:?} {indent}");
        }
    }
}
