//! Numbers as the user reads them.

/// Returns a number with a thin separator between groups of three digits: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (ix, digit) in digits.chars().enumerate() {
        if ix > 0 && (digits.len() - ix).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of bytes with the unit in which it is easy to read: `812 B`, `1.4 KB`, `3.0 MB`.
pub fn byte_count(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{byte_count, grouped};

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(byte_count(812), "812 B");
        assert_eq!(byte_count(1434), "1.4 KB");
        assert_eq!(byte_count(3 << 20), "3.0 MB");
        assert_eq!(byte_count(u64::MAX), "16777216.0 TB");
    }
}
