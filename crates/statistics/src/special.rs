//! Special functions: the logarithms of gamma and beta, and the distribution of a beta variable.

/// Returns the probability that a beta-distributed share is below `x`: the regularised incomplete
/// beta function, by its continued fraction.
pub fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() - ln_beta(a, b)).exp();
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// Returns the logarithm of the beta function.
pub(crate) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// Evaluates the continued fraction by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            sum *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-12 {
            break;
        }
    }
    sum
}

/// Computes the logarithm of the gamma function by Stirling's series, shifting `x` up to where the
/// series is accurate.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::{beta_below, ln_beta};

    #[test]
    fn beta_distribution_matches_binomial_sums() {
        let near = |x, a, b, wanted: f64| {
            let found = beta_below(x, a, b);
            assert!((found - wanted).abs() < 1e-6, "{x} {a} {b}: {found}");
        };
        near(0.5, 1.0, 1.0, 0.5);
        near(0.5, 0.5, 0.5, 0.5);
        near(0.25, 2.0, 1.0, 0.0625);
        // Binomial sums: two and more of 10 at 0.3, 50 and more of 54 at 0.9.
        near(0.3, 2.0, 9.0, 0.850_691_7);
        near(0.9, 50.0, 5.0, 0.361_447_1);
    }

    #[test]
    fn beta_function_matches_factorials() {
        // B(a, b) of whole numbers is (a-1)! (b-1)! / (a+b-1)!.
        let near = |a, b, wanted: f64| {
            let found = ln_beta(a, b).exp();
            assert!((found / wanted - 1.0).abs() < 1e-10, "{a} {b}: {found}");
        };
        near(1.0, 1.0, 1.0);
        near(2.0, 2.0, 1.0 / 6.0);
        near(5.0, 3.0, 24.0 * 2.0 / 5040.0);
        near(0.5, 0.5, std::f64::consts::PI);
    }
}
