//! Outlines, told as indented lists.

mod updates;

use expect_test::{Expect, expect};

use crate::tests::{Marked, sample};

fn check(language: &str, text: &str, expected: Expect) {
    let marked = Marked::new(language, text);
    let mut rendered = String::new();
    for item in marked.syntax.outline(&marked.text) {
        assert!(item.span.covers(item.name_span), "{item:?}");
        let detail = if item.detail.is_empty() {
            "-"
        } else {
            &item.detail
        };
        rendered.push_str(&format!(
            "{}{} [{:?}, {detail}]\n",
            "  ".repeat(item.depth),
            item.name,
            item.kind
        ));
    }
    expected.assert_eq(&rendered);
}

#[test]
fn rust() {
    check(
        "Rust",
        sample("Rust"),
        expect![[r#"
        Counts [Struct, struct]
          words [Field, -]
          total [Field, -]
        Order [Enum, enum]
          ByName [Field, -]
          ByCount [Field, -]
            descending [Field, -]
        LIMIT [Constant, const]
        Counts<'a> [Class, impl]
          of [Method, fn]
          top [Method, fn]
        Display for Counts<'_> [Class, impl]
          fmt [Method, fn]
        square [Macro, macro_rules!]
        tests [Module, mod]
          counts [Function, fn]
    "#]],
    );
}

#[test]
fn python() {
    check(
        "Python",
        sample("Python"),
        expect![[r#"
        LIMIT [Variable, -]
        Reader [Class, class]
          __init__ [Method, def]
          name [Method, def]
          read [Method, async def]
        main [Function, def]
    "#]],
    );
}

#[test]
fn typescript() {
    check(
        "TypeScript",
        sample("TypeScript"),
        expect![[r#"
        Shape [Interface, interface]
          name [Field, -]
          area [Method, -]
        Keys [Type, type]
        Color [Enum, enum]
          Red [Field, -]
          Green [Field, -]
          Blue [Field, -]
        "x" [Module, module]
        Inner [Module, namespace]
          Circle [Class, class]
            constructor [Method, -]
            draw [Method, -]
            area [Method, -]
        load [Function, async function]
        double [Function, -]
    "#]],
    );
}

#[test]
fn javascript() {
    check(
        "JavaScript",
        sample("JavaScript"),
        expect![[r#"
        LIMIT [Variable, const]
        Store [Class, class]
          #items [Field, -]
          count [Field, -]
          constructor [Method, -]
          size [Method, get]
          load [Method, async]
        style [Variable, const]
        view [Function, -]
        walk [Function, function]
    "#]],
    );
}

#[test]
fn go() {
    check(
        "Go",
        sample("Go"),
        expect![[r#"
        Limit [Constant, const]
        Item [Struct, -]
          Name [Field, -]
          Count [Field, -]
        Storer [Interface, -]
          Put [Method, -]
        (s *Store) Put [Method, func]
    "#]],
    );
}

#[test]
fn c_and_cpp() {
    check(
        "C",
        sample("C"),
        expect![[r#"
        MAX [Macro, #define]
        LIMIT [Macro, #define]
        node_t [Type, typedef]
          node [Struct, struct]
            value [Field, -]
            next [Field, -]
        color [Enum, enum]
          RED [Field, -]
          GREEN [Field, -]
          BLUE [Field, -]
        push [Function, -]
        main [Function, -]
    "#]],
    );
    check(
        "C++",
        sample("C++"),
        expect![[r#"
        app::core [Module, namespace]
          Stack [Class, class]
            Stack [Method, -]
            ~Stack [Method, -]
            top [Method, -]
            each [Method, -]
            operator+ [Method, -]
            items_ [Field, -]
            size_ [Field, -]
          run [Function, -]
            Int [Type, using]
    "#]],
    );
}

#[test]
fn java() {
    check(
        "Java",
        sample("Java"),
        expect![[r#"
        Main [Class, class]
          LIMIT [Field, -]
          items [Field, -]
          Main [Method, -]
          run [Method, -]
          Kind [Enum, enum]
            A [Field, -]
            B [Field, -]
            Kind [Method, -]
          Point [Struct, record]
    "#]],
    );
}

#[test]
fn ruby_and_lua() {
    check(
        "Ruby",
        sample("Ruby"),
        expect![[r#"
        App [Module, module]
          Store [Class, class]
            LIMIT [Constant, -]
            initialize [Method, def]
            self.build [Method, def]
            load [Method, def]
            size [Method, def]
    "#]],
    );
    check(
        "Lua",
        sample("Lua"),
        expect![[r#"
        M [Variable, -]
        LIMIT [Variable, -]
        M.add [Function, function]
        M:each [Function, function]
    "#]],
    );
}

#[test]
fn documents() {
    check(
        "Markdown",
        sample("Markdown"),
        expect![[r#"
        First heading [Heading, #]
          Second heading [Heading, ##]
            Third [Heading, ###]
              Setext [Heading, -]
    "#]],
    );
    check(
        "HTML",
        sample("HTML"),
        expect![[r#"
        html [Other, -]
          head [Other, -]
            A page [Heading, title]
            style [Other, -]
            script [Other, -]
            script [Other, -]
          body [Other, -]
            main [Other, -]
              Hello [Heading, h1]
    "#]],
    );
    check(
        "JSON",
        sample("JSON"),
        expect![[r#"
        name [Key, -]
        version [Key, -]
        private [Key, -]
        nothing [Key, -]
        list [Key, -]
          a [Key, -]
        nested [Key, -]
          deep [Key, -]
            deeper [Key, -]
          empty [Key, -]
    "#]],
    );
    check(
        "YAML",
        sample("YAML"),
        expect![[r#"
        name [Key, -]
        on [Key, -]
          push [Key, -]
            branches [Key, -]
          pull_request [Key, -]
        env [Key, -]
          RUST_LOG [Key, -]
          COUNT [Key, -]
          OK [Key, -]
        jobs [Key, -]
          test [Key, -]
            runs-on [Key, -]
            env [Key, -]
            steps [Key, -]
              uses [Key, -]
              name [Key, -]
              run [Key, -]
              name [Key, -]
              with [Key, -]
                key [Key, -]
                nothing [Key, -]
    "#]],
    );
    check(
        "TOML",
        sample("TOML"),
        expect![[r#"
        package [Module, -]
          name [Key, -]
          version [Key, -]
          edition.workspace [Key, -]
          released [Key, -]
        dependencies [Module, -]
          serde [Key, -]
          "quoted key" [Key, -]
          list [Key, -]
        bin [Module, -]
          name [Key, -]
          path [Key, -]
    "#]],
    );
    check(
        "CSS",
        sample("CSS"),
        expect![[r#"
        :root [Class, -]
        .box > a:hover::before, #id[data-x="1"] [Class, -]
        screen and (max-width: 600px) [Module, @media]
          .box [Class, -]
        spin [Function, -]
    "#]],
    );
}

#[test]
fn the_rest() {
    check(
        "Bash",
        sample("Bash"),
        expect![[r#"
        DIR [Variable, -]
        names [Variable, -]
        usage [Function, -]
        build [Function, -]
    "#]],
    );
    check(
        "SQL",
        sample("SQL"),
        expect![[r#"
        users [Struct, TABLE]
          id [Field, -]
          name [Field, -]
          created [Field, -]
    "#]],
    );
    check(
        "Make",
        sample("Make"),
        expect![[r#"
        CC [Variable, -]
        CFLAGS [Variable, -]
        SRC [Variable, -]
        OBJ [Variable, -]
        CFLAGS [Variable, -]
        CFLAGS [Variable, -]
        .PHONY [Function, -]
        all [Function, -]
        %.o [Function, -]
        greeting [Variable, -]
        clean [Function, -]
    "#]],
    );
    check(
        "Diff",
        sample("Diff"),
        expect![[r#"
        a/src/main.rs b/src/main.rs [Module, -]
          b/src/main.rs [Module, -]
            @@ -1,5 +1,6 @@ fn main() { [Other, -]
        a/new.txt b/new.txt [Module, -]
          b/new.txt [Module, -]
            @@ -0,0 +1 @@ [Other, -]
    "#]],
    );
}
