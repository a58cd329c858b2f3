//! Tests of reading `.vimrc` files.

use crate::vim::tests::fixture::Fixture;

fn read(fixture: &mut Fixture, text: &str) -> Vec<(u32, String)> {
    let problems = fixture.globals.read_vimrc(text);
    problems
        .into_iter()
        .map(|problem| (problem.line, problem.message))
        .collect()
}

#[test]
fn mappings_with_leader_work() {
    let mut fixture = Fixture::new("|one two");
    let text = "\" mine\nlet mapleader = \" \"\nset ignorecase so=2\nnnoremap <silent> <leader>d dw\ninoremap jk <Esc>\n";
    assert_eq!(read(&mut fixture, text), []);
    assert!(fixture.globals.options.ignore_case);
    assert_eq!(fixture.globals.options.scroll_offset, 2);
    assert_eq!(fixture.keys("<Space>dixjk").marked(), "|xtwo");
}

#[test]
fn continued_lines_are_one() {
    let mut fixture = Fixture::new("|one two");
    assert_eq!(read(&mut fixture, "nnoremap Q\n  \\ dw"), []);
    assert_eq!(fixture.keys("Q").marked(), "|two");
}

#[test]
fn lines_without_effect_are_listed() {
    let mut fixture = Fixture::new("|one");
    let text = "call plug#begin()\nset number ic et\nif has('x')\n  nnoremap a b\nendif\nnmap <M-x> dd\nnnoremap <expr> k x\nlet g:x = 1\nnnoremap x dd";
    let expected = [
        (1, "“call” is not supported"),
        (
            2,
            "options without an effect: number (see the editor's settings), et (see the editor's settings)",
        ),
        (3, "scripts are not carried out: left out up to endif"),
        (6, "the key <M-x> is not supported"),
        (7, "expressions (<expr>) are not supported in mappings"),
        (8, "the variable g:x has no effect"),
    ];
    let expected = expected.map(|(line, message)| (line, message.to_owned()));
    assert_eq!(read(&mut fixture, text), expected);
    assert_eq!(fixture.keys("x").text(), "");
}

#[test]
fn commands_without_a_prompt_become_ex_lines() {
    let mut fixture = Fixture::new("|one\ntwo\n");
    assert_eq!(read(&mut fixture, "nnoremap gx <Cmd>2d<CR>"), []);
    assert_eq!(fixture.keys("gx").text(), "one\n");
}
