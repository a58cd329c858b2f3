//! Tests of the discovery: a text in, the outline of its tests out.

use super::*;

/// Returns a row per item: its depth as dots, its label, `/` for suites and `*` for parameterized tests, and its rows
/// counted from 1.
fn outline(path: &str, framework: TestFramework, text: &str) -> Vec<String> {
    let file = AbsPath::new(path).expect("absolute");
    let snapshot = Snapshot::new(text);
    let items = discover_in_text(text, &file, framework).into_iter();
    items
        .map(|item| {
            assert_eq!(item.runner, framework);
            assert!(item.span.covers(item.name_span));
            let sign = match item.kind {
                TestKind::Suite => "/",
                TestKind::Test => "",
                TestKind::Parameterized => "*",
            };
            let row = |offset| snapshot.point_at(offset).row.0 + 1;
            let (first, last) = (row(item.span.start), row(item.span.end));
            let depth = ".".repeat(item.id.names.len() - 1);
            format!("{depth}{}{sign} {first}-{last}", item.label)
        })
        .collect()
}

fn check(path: &str, framework: TestFramework, text: &str, expected: &[&str]) {
    assert_eq!(outline(path, framework, text), expected, "{text}");
}

#[test]
fn rust_tests_are_functions_with_an_attribute() {
    let text = r#"//! Docs.
use std::fmt;

fn helper() {}

#[test]
fn at_the_root() {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Docs.
    #[test]
    #[should_panic(expected = "test")]
    fn panics() {}

    #[tokio::test(flavor = "multi_thread")]
    async fn is_async() {}

    #[gpui::test]
    fn with_window(cx: &mut TestAppContext) {}

    #[rstest]
    #[case(1)]
    fn takes_cases(#[case] number: u8) {}

    #[inline]
    fn no_test() {}

    mod inner {
        #[test]
        fn r#try() {}
    }

    mod empty {
        fn helper() {}
    }
}

#[cfg(test)]
mod other;
"#;
    let expected = [
        "at_the_root 6-7",
        "tests/ 9-39",
        ".panics 14-16",
        ".is_async 18-19",
        ".with_window 21-22",
        ".takes_cases* 24-26",
        ".inner/ 31-34",
        "..try 32-33",
    ];
    check("/p/src/lib.rs", TestFramework::CargoTest, text, &expected);
}

#[test]
fn python_tests_are_functions_methods_and_cases() {
    let text = "import pytest\n\
        def helper(): pass\n\
        def test_adds():\n    assert 1\n\
        async def test_waits(): pass\n\
        @pytest.mark.parametrize('a', [1, 2])\ndef test_many(a): pass\n\
        class TestSums:\n    def test_one(self): pass\n    def helper(self): pass\n    class TestInner:\n        def test_two(self): pass\n\
        class Sums(unittest.TestCase):\n    def testThree(self): pass\n\
        class Helper:\n    def test_four(self): pass\n\
        class TestEmpty: pass\n";
    let expected = [
        "test_adds 3-4",
        "test_waits 5-5",
        "test_many* 6-7",
        "TestSums/ 8-12",
        ".test_one 9-9",
        ".TestInner/ 11-12",
        "..test_two 12-12",
        "Sums/ 13-14",
        ".testThree 14-14",
    ];
    check("/p/test_a.py", TestFramework::Pytest, text, &expected);
}

#[test]
fn javascript_tests_are_calls_with_titles() {
    let text = r#"import { describe, it } from 'vitest';
describe('sums', () => {
  beforeEach(() => {});
  it('adds "two"', () => { expect(1).toBe(1); });
  test.only("it's \"quoted\" \u00e9", async () => {});
  it.skip(`plain template`, function () {});
  describe.skip('inner (a|b)', function () {
    it('deep', done => done());
  });
});
test.each([[1, 2], [3, 4]])('adds %i to %i', (a, b) => {});
it.each`a | b`('table $a', ({ a }) => {});
test(`value ${1 + 1}`, () => {});
it.todo('later');
items.forEach(item => { it('in a loop', check); });
describe('empty', () => {});
test(title, () => {});
other('nothing', () => {});
assert.test('nothing', () => {});
"#;
    let expected = [
        "sums/ 2-10",
        ".adds \"two\" 4-4",
        ".it's \"quoted\" é 5-5",
        ".plain template 6-6",
        ".inner (a|b)/ 7-9",
        "..deep 8-8",
        "adds %i to %i* 11-11",
        "table $a* 12-12",
        "value ${1 + 1}* 13-13",
        "later 14-14",
        "in a loop 15-15",
    ];
    for path in ["/p/a.test.js", "/p/a.test.ts", "/p/a.test.tsx"] {
        check(path, TestFramework::Vitest, text, &expected);
    }
}

#[test]
fn go_tests_have_subtests_with_literal_names() {
    let text = "package sums\n\
        func TestAdd(t *testing.T) {\n\
        \tt.Run(\"two numbers\", func(t *testing.T) {\n\t\tt.Run(`a/b`, check)\n\t})\n\
        \tfor _, c := range cases {\n\t\tt.Run(c.name, func(t *testing.T) {})\n\t}\n\
        }\n\
        func Test(t *testing.T) {}\n\
        func Testify(t *testing.T) {}\n\
        func TestMain(m *testing.M) {}\n\
        func helper(t *testing.T) {}\n\
        func BenchmarkAdd(b *testing.B) {}\n";
    let expected = ["TestAdd 2-9", ".two numbers 3-5", "..a/b 4-4", "Test 10-10"];
    check("/p/sums_test.go", TestFramework::GoTest, text, &expected);
}

#[test]
fn broken_and_hostile_texts_have_bounded_items() {
    let deep = "describe('a', () => {".repeat(3_000);
    let many = "test('a', () => {});\n".repeat(MAX_ITEMS + 500);
    let long = format!("test('{}', () => {{}});", "x".repeat(1 << 16));
    for text in [&deep, &many, &long] {
        let file = AbsPath::new("/p/a.test.js").expect("absolute");
        let items = discover_in_text(text, &file, TestFramework::Jest);
        assert!(items.len() <= MAX_ITEMS);
        assert!(items.iter().all(|it| it.label.len() <= MAX_NAME));
    }
    let file = AbsPath::new("/p/a.test.js").expect("absolute");
    let items = discover_in_text(&many, &file, TestFramework::Jest);
    assert_eq!(items.len(), MAX_ITEMS);
    outline("/p/a.py", TestFramework::Pytest, "def test_(:\nclass Test");
    check(
        "/p/a.unknown",
        TestFramework::Pytest,
        "def test_a(): pass",
        &[],
    );
}

#[test]
fn files_with_tests_are_known_by_their_names() {
    let named = [
        ("src/lib.rs", true),
        ("tests/test_a.py", true),
        ("a_test.py", true),
        ("conftest.py", false),
        ("sums_test.go", true),
        ("sums.go", false),
        ("a.test.ts", true),
        ("a.spec.mjs", true),
        ("__tests__/a.jsx", true),
        ("src/a.ts", false),
        ("README.md", false),
        ("test_a", false),
    ];
    for (path, expected) in named {
        assert_eq!(may_have_tests(Path::new(path)), expected, "{path}");
    }
}
