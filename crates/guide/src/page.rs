//! The pages of the guide.

/// A page of the guide: a file of `docs/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuidePage {
    /// The name of the file, without its extension.
    pub name: &'static str,
    /// The text, in Markdown.
    pub text: &'static str,
}

/// Embeds pages by their names.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(GuidePage {
            name: $name,
            text: include_str!(concat!("../../../docs/", $name, ".md")),
        }),*]
    };
}

/// In the order of `docs/SUMMARY.md`.
const PAGES: &[GuidePage] = pages![
    "first-steps",
    "install",
    "editor",
    "vim",
    "previews",
    "search",
    "settings",
    "language-servers",
    "tests",
    "tasks",
    "terminal",
    "git",
    "git-history",
    "tab",
    "models",
    "agents",
    "safety",
    "quality",
    "mcp-and-acp",
    "command-line",
    "problems",
];

impl GuidePage {
    /// Returns all pages, in the order in which they are read.
    pub fn all() -> &'static [Self] {
        PAGES
    }

    /// Returns the page of a name, with or without the extension of its file.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix(".md").unwrap_or(name);
        PAGES.iter().find(|page| page.name == name)
    }

    /// Returns the first heading.
    pub fn title(&self) -> &'static str {
        let text = self.text;
        let mut titles = text.lines().filter_map(|line| line.strip_prefix("# "));
        titles.next().unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::GuidePage;

    #[test]
    fn the_pages_are_those_of_the_summary() {
        let summary = include_str!("../../../docs/SUMMARY.md");
        let linked = summary.split("](").skip(1);
        let linked: Vec<&str> = linked.filter_map(|rest| rest.split(')').next()).collect();
        let pages = GuidePage::all().iter();
        let pages: Vec<String> = pages.map(|page| format!("{}.md", page.name)).collect();
        assert_eq!(pages, linked);
    }

    #[test]
    fn a_page_is_found_by_its_name() {
        let page = GuidePage::named("tab.md").expect("a page");
        assert_eq!(Some(page), GuidePage::named("tab"));
        assert_eq!(GuidePage::named("nothing"), None);
        for page in GuidePage::all() {
            assert!(page.text.starts_with("# "), "{}", page.name);
            assert!(!page.title().is_empty());
        }
    }
}
