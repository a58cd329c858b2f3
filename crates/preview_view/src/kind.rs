//! The kinds of previews, and the files that they fit.

use gpui_kit::SharedString;
use preview::ImageFormat;
use serde::{Deserialize, Serialize};

/// A way to show a file other than as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewKind {
    /// Markdown as it is read.
    Markdown,
    /// An image.
    Image,
    /// A table of separated values.
    Table,
    /// The bytes of the file.
    Hex,
}

impl PreviewKind {
    /// All kinds, in the order in which the user chooses among them.
    pub const ALL: [Self; 4] = [Self::Markdown, Self::Image, Self::Table, Self::Hex];

    /// Returns the kind that the name of a file suggests; `None` for a file that is text alone.
    pub fn of_name(name: &str) -> Option<Self> {
        if ImageFormat::of_name(name).is_some() {
            return Some(Self::Image);
        }
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" | "mdown" | "mkd" | "mdx" => Some(Self::Markdown),
            "csv" | "tsv" | "tab" | "psv" => Some(Self::Table),
            _ => None,
        }
    }

    /// Returns the kind in which a file opens at once, because it is no text.
    pub fn by_default(name: &str) -> Option<Self> {
        let format = ImageFormat::of_name(name)?;
        (!format.is_text()).then_some(Self::Image)
    }

    /// Returns the name that the user reads.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markdown => "Markdown Preview",
            Self::Image => "Image",
            Self::Table => "Table",
            Self::Hex => "Hex",
        }
    }

    /// Returns the title of a tab.
    pub(crate) fn title(self, name: &str) -> SharedString {
        match self {
            Self::Markdown => format!("Preview {name}").into(),
            Self::Hex => format!("{name} (hex)").into(),
            Self::Image | Self::Table => name.to_owned().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PreviewKind;

    #[test]
    fn names_suggest_a_kind() {
        assert_eq!(PreviewKind::of_name("a.MD"), Some(PreviewKind::Markdown));
        assert_eq!(PreviewKind::of_name("a.b.tsv"), Some(PreviewKind::Table));
        assert_eq!(PreviewKind::of_name("a.svg"), Some(PreviewKind::Image));
        assert_eq!(PreviewKind::of_name("png"), None);
        assert_eq!(PreviewKind::of_name("a.rs"), None);
        assert_eq!(PreviewKind::by_default("a.png"), Some(PreviewKind::Image));
        assert_eq!(
            PreviewKind::by_default("a.svg"),
            None,
            "it is edited as text"
        );
        assert_eq!(PreviewKind::by_default("a.csv"), None);
    }
}
