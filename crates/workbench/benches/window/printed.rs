//! Figures as lines of JSON.

/// A figure of a benchmark.
pub(crate) struct Figure<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: f64,
    pub(crate) unit: &'a str,
    pub(crate) n: usize,
}

/// Bound of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    None,
    AtMost(f64),
    AtLeast(f64),
}

impl Figure<'_> {
    /// Prints the figure.
    pub(crate) fn print(&self, goal: Goal) {
        let (most, least) = match goal {
            Goal::None => (None, None),
            Goal::AtMost(most) => (Some(most), None),
            Goal::AtLeast(least) => (None, Some(least)),
        };
        let line = serde_json::json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "n": self.n,
            "goal": most,
            "least": least,
        });
        println!("{line}");
    }
}

/// Returns the `share` quantile of the values; NaN if there are none.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = (last as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
