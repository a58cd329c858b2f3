//! Tests of the notation of keys.

use super::Key;

#[test]
fn notation_names_special_keys() {
    let keys = Key::parse("d<C-w><lt>a<Esc><c-I><b c>", '\\');
    let expected = [
        Key::Char('d'),
        Key::Ctrl('w'),
        Key::Char('<'),
        Key::Char('a'),
        Key::Escape,
        Key::Tab,
        Key::Char('<'),
        Key::Char('b'),
        Key::Char(' '),
        Key::Char('c'),
        Key::Char('>'),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn every_key_survives_a_register() {
    for key in Key::parse(
        "aé<C-a><C-]><C-^><Esc><CR><Tab><BS><Del><Left><C-Right><PageUp><NL>",
        ' ',
    ) {
        assert_eq!(Key::from_char(key.to_char()), key, "{key}");
    }
}

#[test]
fn the_leader_is_a_key_of_the_user() {
    assert_eq!(Key::parse("<leader>f", ','), Key::parse(",f", ','));
}
