//! Formats numbers for sentences.

/// Returns a number with its noun, for messages: `1 file`, `12,000 files`. The plural, for any
/// number but one, is the noun with an `s`.
pub fn count_of(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number as u64))
}

/// Returns a number in decimal with a comma after every three digits: `12,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_large_numbers_are_grouped() {
        assert_eq!(count_of(0, "hunk"), "0 hunks");
        assert_eq!(count_of(1, "hunk"), "1 hunk");
        assert_eq!(count_of(12_000, "hunk"), "12,000 hunks");
        for (number, text) in [
            (7, "7"),
            (999, "999"),
            (1000, "1,000"),
            (242_106, "242,106"),
            (1_000_000, "1,000,000"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
