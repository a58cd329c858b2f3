//! Prepares a script's text for parsing: removes comments and trailing commas, keeps positions.

/// Blanks out `//` and `/* */` comments and trailing commas: every remaining byte keeps its line
/// and column, so that the JSON parser's positions are those of the file.
pub(crate) fn blank_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    // The position of the last comma, while only space and comments have followed it.
    let mut comma = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = end_of_string(&bytes, at);
                comma = None;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let end = end_of_comment(&bytes, at);
                for byte in &mut bytes[at..end] {
                    if !matches!(*byte, b'\n' | b'\r') {
                        *byte = b' ';
                    }
                }
                at = end;
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at += 1;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole comments and single ASCII commas were replaced, by ASCII: it is still UTF-8.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the line, from 1, of each element of the top-level array `rules`, in text without
/// comments.
pub(crate) fn rule_lines(json: &str) -> Vec<usize> {
    let bytes = json.as_bytes();
    let mut lines = Vec::new();
    let (mut at, mut line, mut depth) = (0, 1, 0usize);
    let mut key = "";
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = end_of_string(bytes, at);
                if depth == 1 && json[end..].trim_start().starts_with(':') {
                    key = json[at..end].trim_matches('"');
                }
                line += json[at..end].matches('\n').count();
                at = end;
                continue;
            }
            b'\n' => line += 1,
            b'{' | b'[' => {
                if depth == 2 && key == "rules" {
                    lines.push(line);
                }
                depth += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    lines
}

/// Returns the offset after the string that starts at `start`; the end of the text if it is
/// unterminated.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let length = if rest[1] == b'/' {
        rest.iter().position(|byte| *byte == b'\n')
    } else {
        let close = rest[2..].windows(2).position(|pair| pair == b"*/");
        close.map(|at| at + 4)
    };
    length.map_or(bytes.len(), |length| start + length)
}
