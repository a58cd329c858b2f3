//! Expansion of `~` and variables in configured paths.

/// Expands a leading `~/`, and `$NAME` or `${NAME}` anywhere. A variable without a value stays as it is
/// written.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> String {
    let home = text.strip_prefix("~/").and_then(|rest| {
        let home = variable("HOME")?;
        Some(format!("{}/{rest}", home.trim_end_matches('/')))
    });
    let text = home.unwrap_or_else(|| text.to_owned());
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, written, left) = name_at_start(after);
        match variable(name).filter(|_| !name.is_empty()) {
            Some(value) => expanded.push_str(&value),
            None => {
                expanded.push('$');
                expanded.push_str(written);
            }
        }
        rest = left;
    }
    expanded + rest
}

/// Splits a name in braces, or a plain one, from the start of a text. Returns the name, the name as
/// written, and the rest.
fn name_at_start(text: &str) -> (&str, &str, &str) {
    if let Some((name, _)) = text.strip_prefix('{').and_then(|it| it.split_once('}')) {
        let (written, rest) = text.split_at(name.len() + 2);
        return (name, written, rest);
    }
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name, name, rest)
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn home_and_variables_are_expanded() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/me".to_owned()),
            "TOOLS" => Some("/opt".to_owned()),
            _ => None,
        };
        let check = |text: &str, expected: &str| assert_eq!(expand(text, &variable), expected);
        check("~/bin/x", "/home/me/bin/x");
        check("$TOOLS/x", "/opt/x");
        check("${TOOLS}x/$HOME", "/optx//home/me");
        check("$NONE/${NONE}/$", "$NONE/${NONE}/$");
        check("a~/b", "a~/b");
        check("${", "${");
    }
}
