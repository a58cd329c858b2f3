//! Tests of what people miss in emulations: repeats, macros, counts, registers, blocks, ex commands.

use super::fixture::{Fixture, check};
use crate::effect::{Effect, WriteCondition};
use crate::vim::Mode;

#[test]
fn dot_repeats_text_objects_and_surroundings() {
    check("|one two three", "ciwx<Esc>w.", "x |x three");
    check("|one two", "ysiw)$.", "(one) |(two)");
    check("|(one) (two)", "ds)w.", "one |two");
    check("|one\ntwo\nthree\nfour", "dj.", "|");
}

#[test]
fn dot_repeats_the_last_change_of_a_macro() {
    check("|a b c d e", "qqdwq@q.", "|d e");
}

#[test]
fn dot_repeats_visual_ranges_by_their_size() {
    check("|one two three", "v2ldl.", " | three");
    check("|a\nb\nc\nd", "Vj>2j.", "\ta\n\tb\n|\tc\n\td");
}

#[test]
fn counts_multiply() {
    check("|1 2 3 4 5 6 7 8", "2d3w", "|7 8");
    check("|x", "3ia<Esc>", "aa|ax");
    check("|1\n2\n3\n4", "3J", "1 2| 3\n4");
}

#[test]
fn macros_end_at_the_first_failure() {
    check("|a\nb\nc", "qqA;<Esc>jq100@q", "a;\nb;\nc|;");
}

#[test]
fn macros_call_themselves() {
    check("|a\nb\nc", "qaqqaA;<Esc>j@aqgg@a", "a;;\nb;\nc|;");
}

#[test]
fn registers_append_and_shift() {
    check("|a\nb\nc", "\"qyyj\"Qyyj\"qp", "a\nb\nc\n|a\nb");
    check("|a\nb\nc", "dddd\"2p", "c\n|a");
    check("|one two", "wyiw0viwp", "tw|o two");
    check("|one two", "\"_dwP", "|two");
}

#[test]
fn blocks_insert_at_both_sides() {
    check("|ab\nab\nab", "<C-v>2jIx<Esc>", "|xab\nxab\nxab");
    check("|a\nabc\nab", "<C-v>2j$Ax<Esc>", "|ax\nabcx\nabx");
}

#[test]
fn undo_in_visual_mode_changes_case() {
    check("|One", "vu", "|one");
    check("|One", "xu", "|One");
}

#[test]
fn undo_keeps_an_insertion_together() {
    check("|x", "ione<CR>two<Esc>u", "|x");
    check("|x", "ione<C-g>utwo<Esc>u", "one|x");
}

#[test]
fn the_list_of_jumps_skips_near_motions() {
    check("|1\n2\n3\n4\n5", "jGjk<C-o>", "1\n|2\n3\n4\n5");
    check("|1\n2\n3\n4\n5", "Ggg<C-o><C-i>", "|1\n2\n3\n4\n5");
}

#[test]
fn searches_have_offsets_and_objects() {
    check("|one two one two", "/two/e<CR>", "one tw|o one two");
    check("|one two one two", "/two<CR>cgnx<Esc>.", "one x one |x");
    check("|foo.bar foo.baz", "*", "foo.bar |foo.baz");
}

#[test]
fn global_runs_normal_commands_at_each_match() {
    check("|a1\nb\na2", ":g/a/norm Ax<CR>", "a1x\nb\na2|x");
    check("|a\nb\na\n", ":v/a/d<CR>", "a\n|a\n");
    check("|1\n2\n3", ":g/./m0<CR>", "|3\n2\n1");
}

#[test]
fn substitutions_take_groups_and_flags() {
    check(
        "|one two",
        ":s/\\(\\w*\\) \\(\\w*\\)/\\2 \\u\\1<CR>",
        "|two One",
    );
    check("|aaa\naaa", ":%s/a/b/g<CR>", "bbb\n|bbb");
    check("|a b", ":s/ /\\r<CR>", "a\n|b");
}

#[test]
fn carets_at_matches_run_every_command() {
    let mut fixture = Fixture::new("|one two one");
    fixture.keys("gbgbcX<Esc>");
    assert_eq!(
        fixture.text().matches('X').count(),
        2,
        "{}",
        fixture.marked()
    );
}

#[test]
fn visual_mode_selects_what_it_shows() {
    let mut fixture = Fixture::new("|one two\nthree");
    assert_eq!(fixture.keys("vee").selected(), ["one two"]);
    assert_eq!(fixture.keys("<Esc>0Vj").selected(), ["one two\nthree"]);
    assert_eq!(fixture.keys("<Esc>gg0<C-v>jl").selected(), ["on", "th"]);
}

#[test]
fn commands_of_the_window_are_effects() {
    let mut fixture = Fixture::new("|one");
    fixture.keys(":wq<CR>");
    let write = Effect::Write {
        path: None,
        condition: WriteCondition::Always,
    };
    assert_eq!(fixture.effects, [write, Effect::Quit { is_forced: false }]);
    assert_eq!(fixture.vim.mode(), Mode::Normal);
}

#[test]
fn mappings_wait_for_their_rest_and_time_out() {
    let mut fixture = Fixture::new("|one two");
    fixture.keys(":imap jk <lt>Esc><CR>ij");
    assert!(fixture.vim.needs_timeout());
    let effects = fixture
        .vim
        .time_out(&mut fixture.globals, &mut fixture.host);
    assert_eq!(effects, []);
    assert_eq!(fixture.text(), "jone two");
    fixture.keys("jk");
    assert_eq!(fixture.vim.mode(), Mode::Normal);
}
