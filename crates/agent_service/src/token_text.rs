//! Numbers of tokens and prices, as text.

/// Formats a number of tokens with at most four characters and a unit: `940`, `24.3k`, `200k`, `1M`.
pub fn token_text(tokens: u64) -> String {
    let in_units = |unit: u64, name: &str| {
        let tenths = (tokens + unit / 20) / (unit / 10);
        match tenths % 10 {
            0 => format!("{}{name}", tenths / 10),
            _ if tenths >= 1_000 => format!("{}{name}", (tenths + 5) / 10),
            tenth => format!("{}.{tenth}{name}", tenths / 10),
        }
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_500 => in_units(1_000, "k"),
        _ => in_units(1_000_000, "M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_tokens_are_short() {
        for (tokens, expected) in [
            (0, "0"),
            (940, "940"),
            (1_000, "1k"),
            (24_330, "24.3k"),
            (99_960, "100k"),
            (131_072, "131k"),
            (200_000, "200k"),
            (999_400, "999k"),
            (999_500, "1M"),
            (1_048_576, "1M"),
            (1_250_000, "1.3M"),
        ] {
            assert_eq!(token_text(tokens), expected, "{tokens}");
        }
    }
}
