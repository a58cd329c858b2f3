//! YAML front matter of rules and skills.
//!
//! Limitations: no anchors, no flow maps, no multi-line quoted strings; nested maps one level deep.
//! Anything else is read as plain text.

/// The fields of the block between two `---` lines at the start of a text; empty if there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    fields: Vec<(String, FrontMatterField)>,
}

/// The value of a front matter key, as far as the reader understands YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrontMatterField {
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, String)>),
}

impl FrontMatter {
    /// Splits a text into front matter and body. Without a closing line, everything is body.
    pub(crate) fn split(text: &str) -> (Self, &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(rest) = text
            .strip_prefix("---\n")
            .or_else(|| text.strip_prefix("---\r\n"))
        else {
            return (Self::default(), text);
        };
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if line.trim_end() == "---" {
                let body = &rest[at + line.len()..];
                return (Self::parse(&rest[..at]), body);
            }
            at += line.len();
        }
        (Self::default(), text)
    }

    /// Returns the value of a top-level key; `None` if it is absent.
    pub(crate) fn field(&self, key: &str) -> Option<&FrontMatterField> {
        let mut fields = self.fields.iter();
        fields.find(|(name, _)| name == key).map(|(_, field)| field)
    }

    /// Returns a key's value as text; the entries of a list are joined by commas. `None` if the key
    /// is absent or a map.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        match self.field(key)? {
            FrontMatterField::Text(text) => Some(text.clone()),
            FrontMatterField::List(list) => Some(list.join(", ")),
            FrontMatterField::Map(_) => None,
        }
    }

    /// Returns a key's value as a list; a text is split at its commas. Empty if the key is absent
    /// or a map.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        match self.field(key) {
            Some(FrontMatterField::List(list)) => list.clone(),
            Some(FrontMatterField::Text(text)) => commas(text),
            Some(FrontMatterField::Map(_)) | None => Vec::new(),
        }
    }

    /// Returns whether a key has exactly the value `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.text(key).is_some_and(|text| text == "true")
    }

    fn parse(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let mut fields = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            let is_nested = line.starts_with([' ', '\t', '-', '#']);
            let Some((key, value)) = line.split_once(':').filter(|_| !is_nested) else {
                continue;
            };
            let beneath = lines[at..]
                .iter()
                .take_while(|line| line.is_empty() || line.starts_with([' ', '\t', '-']))
                .count();
            let block = &lines[at..at + beneath];
            at += beneath;
            fields.push((key.trim().to_owned(), field(value.trim(), block)));
        }
        Self { fields }
    }
}

fn field(value: &str, block: &[&str]) -> FrontMatterField {
    if let Some(list) = value
        .strip_prefix('[')
        .and_then(|value| value.strip_suffix(']'))
    {
        return FrontMatterField::List(commas(list));
    }
    if let Some(style) = value.strip_prefix(['|', '>']) {
        let separator = if value.starts_with('|') { "\n" } else { " " };
        // The characters after the block sign only control trailing line feeds, which do not matter
        // here.
        let lines: Vec<&str> = block.iter().map(|line| line.trim()).collect();
        return match style {
            "" | "-" | "+" => FrontMatterField::Text(lines.join(separator).trim().to_owned()),
            _ => FrontMatterField::Text(value.to_owned()),
        };
    }
    if !value.is_empty() {
        // A plain scalar may continue on the following lines.
        let more = block.iter().map(|line| line.trim());
        let whole: Vec<&str> = std::iter::once(value).chain(more).collect();
        return FrontMatterField::Text(unquote(whole.join(" ").trim()));
    }
    let items = block.iter().map(|line| line.trim());
    let items: Vec<&str> = items.filter(|line| !line.is_empty()).collect();
    if items.iter().any(|item| item.starts_with('-')) {
        let list = items.iter().filter_map(|item| item.strip_prefix('-'));
        return FrontMatterField::List(list.map(|item| unquote(item.trim())).collect());
    }
    let pairs = items.iter().filter_map(|item| item.split_once(':'));
    let map: Vec<(String, String)> = pairs
        .map(|(key, value)| (key.trim().to_owned(), unquote(value.trim())))
        .collect();
    if map.is_empty() {
        FrontMatterField::Text(String::new())
    } else {
        FrontMatterField::Map(map)
    }
}

fn commas(text: &str) -> Vec<String> {
    // Commas inside braces belong to a glob.
    let mut depth = 0_u32;
    let pieces = text.split(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    let pieces = pieces.map(|piece| unquote(piece.trim()));
    pieces.filter(|piece| !piece.is_empty()).collect()
}

fn unquote(text: &str) -> String {
    for quote in ['"', '\''] {
        let inner = text
            .strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner {
            return match quote {
                '"' => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
                _ => inner.replace("''", "'"),
            };
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_parsed() {
        let check = |front: &str, key: &str, expected: Option<FrontMatterField>| {
            let text = format!("---\n{front}\n---\nbody\n");
            let (read, body) = FrontMatter::split(&text);
            assert_eq!(body, "body\n", "{front}");
            assert_eq!(read.field(key).cloned(), expected, "{front}");
        };
        let text = |text: &str| Some(FrontMatterField::Text(text.into()));
        let list = |list: &[&str]| {
            Some(FrontMatterField::List(
                list.iter().map(|item| (*item).into()).collect(),
            ))
        };
        check("name: a", "name", text("a"));
        check("name: \"a: b\"", "name", text("a: b"));
        check(
            "description: a\n  goes on",
            "description",
            text("a goes on"),
        );
        check(
            "description: >\n  one\n  two",
            "description",
            text("one two"),
        );
        check(
            "description: |\n  one\n  two",
            "description",
            text("one\ntwo"),
        );
        check("description: >-\n  one", "description", text("one"));
        check("globs: [a, \"b c\"]", "globs", list(&["a", "b c"]));
        check("globs:\n  - a\n  - 'b'", "globs", list(&["a", "b"]));
        check("globs:\n- a\nname: b", "globs", list(&["a"]));
        check("globs:\nname: b", "globs", text(""));
        check("# note\nname: b", "name", text("b"));
        check("name: b", "other", None);
        let map = FrontMatterField::Map(vec![("author".into(), "x".into())]);
        check("metadata:\n  author: x\nname: y", "metadata", Some(map));
    }

    #[test]
    fn lists_split_at_commas_outside_braces() {
        let (front, _) =
            FrontMatter::split("---\nglobs: *.{ts,tsx}, src/**\nalwaysApply: true\n---\n");
        assert_eq!(front.list("globs"), ["*.{ts,tsx}", "src/**"]);
        assert!(front.is_true("alwaysApply"));
        assert!(!front.is_true("globs"));
    }

    #[test]
    fn text_without_front_matter_is_all_body() {
        for text in [
            "",
            "---",
            "--- a\n",
            "---\nname: x\n",
            "# Title\n---\n---\n",
        ] {
            assert_eq!(FrontMatter::split(text), (FrontMatter::default(), text));
        }
    }
}
