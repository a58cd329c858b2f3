//! Tests that the built-in files can be read.

mod keymaps;

use super::THEMES;

#[test]
fn theme_files_are_named_after_their_themes() {
    for (file, text) in THEMES {
        let (theme, problems) = crate::parse_theme(file, text);
        assert_eq!(problems, [], "{file}");
        let name = theme.unwrap().name.to_lowercase().replace(' ', "-");
        assert_eq!(format!("{name}.json"), *file);
    }
}
