//! Tests of chunk boundaries, shown as the symbols and first rows of the chunks.

use syntax::language_named;

use super::*;

/// Formats the chunks of a text as `symbol: first words … last words`.
fn check(language: &str, text: &str, expected: &[&str]) {
    let language = language_named(language);
    let chunks = chunks(text, language);
    let shown: Vec<String> = chunks
        .iter()
        .map(|chunk| {
            let code = &text[chunk.span.clone()];
            let first = code.trim_start().lines().next().unwrap_or_default();
            let symbol = chunk.symbol.as_deref().unwrap_or("-");
            let around = chunk.around.join(".");
            let more = if chunk.is_continued { " (more)" } else { "" };
            format!(
                "{around}/{symbol}{more} {}-{}: {first}",
                chunk.rows.start, chunk.rows.end
            )
        })
        .collect();
    assert_eq!(shown, expected);
    assert_whole(text, &chunks);
}

/// Asserts that chunks are sorted, disjoint, and contain every letter and digit.
fn assert_whole(text: &str, chunks: &[CodeChunk]) {
    let mut at = 0;
    for chunk in chunks {
        assert!(chunk.span.start >= at, "{chunk:?} after {at}");
        assert!(text.is_char_boundary(chunk.span.start) && text.is_char_boundary(chunk.span.end));
        let between = &text[at..chunk.span.start];
        assert!(!between.contains(char::is_alphanumeric), "lost {between:?}");
        assert!(chunk.rows.start < chunk.rows.end);
        at = chunk.span.end;
    }
    assert!(
        !text[at..].contains(char::is_alphanumeric),
        "lost {:?}",
        &text[at..]
    );
}

fn filler(rows: usize) -> String {
    (0..rows)
        .map(|row| format!("    let value_{row} = compute({row});\n"))
        .collect()
}

#[test]
fn small_neighbours_are_merged() {
    let text = "fn a() {}\n\nfn b() {}\n";
    check("rust", text, &["/a 0-3: fn a() {}"]);
    let defined = &chunks(text, language_named("rust"))[0].defines;
    let names: Vec<&str> = defined.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn functions_stay_whole_with_their_comments() {
    let body = filler(30);
    let text = format!(
        "use a::b;\n\n/// Computes.\n#[inline]\nfn large() {{\n{body}}}\n\n/// Small.\nfn small() {{}}\n"
    );
    assert!(text.len() > TARGET_BYTES);
    check(
        "rust",
        &text,
        &[
            "/- 0-1: use a::b;",
            "/large 2-36: /// Computes.",
            "/small 37-39: /// Small.",
        ],
    );
}

#[test]
fn large_items_are_split_along_children_and_keep_their_symbol() {
    let body = filler(50);
    let text =
        format!("impl Cart {{\n/// Adds all up.\nfn total() {{\n{body}}}\nfn other() {{}}\n}}\n");
    assert!(text.len() > MAX_WHOLE_BYTES);
    let chunks = chunks(&text, language_named("rust"));
    assert_whole(&text, &chunks);
    assert_eq!(chunks[0].symbol.as_deref(), Some("total"));
    assert!(chunks[0].rows.start <= 1);
    let later = &chunks[1];
    assert!(later.is_continued);
    assert_eq!(later.symbol.as_deref(), Some("total"));
    assert_eq!(later.around, ["Cart"]);
    assert_eq!(later.doc, "Adds all up.");
    let last = chunks.last().expect("chunks");
    assert_eq!(last.symbol.as_deref(), Some("other"));
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk.span.len() <= TARGET_BYTES + 100)
    );
}

#[test]
fn items_of_other_languages_stay_whole() {
    let body: String = (0..60)
        .map(|row| format!("        value_{row} = compute({row})\n"))
        .collect();
    let text = format!(
        "class Cart:\n    @cached\n    def total(self):\n{body}\n    def other(self):\n        pass\n"
    );
    let chunks = chunks(&text, language_named("python"));
    assert_whole(&text, &chunks);
    assert!(
        chunks
            .iter()
            .any(|chunk| chunk.symbol.as_deref() == Some("total"))
    );
    let part = "word ".repeat(66);
    let text = format!("# One\n\n{part}\n\n{part}\n\n## Two\n\n{part}\n\n{part}\n\n{part}\n");
    assert!(text.len() > MAX_WHOLE_BYTES);
    check(
        "markdown",
        &text,
        &["/One 0-5: # One", "One/Two 6-13: ## Two"],
    );
    check(
        "go",
        "package a\n\nfunc (c *Cart) Total() int { return 1 }\n",
        &["/(c *Cart) Total 0-3: package a"],
    );
}

#[test]
fn a_text_without_a_tree_is_cut_at_its_lines() {
    let line = "plain words of a long line of text\n";
    let text = format!("{}\n{}", line.repeat(18), line.repeat(18));
    let chunks = chunks(&text, None);
    assert_whole(&text, &chunks);
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].rows, 19..37, "it is cut at the empty line");
    assert_eq!(super::chunks("", None), []);
    assert_eq!(super::chunks("\n \n", None), []);
    for name in ["rust", "python", "markdown", "typescript", "json"] {
        for text in ["", "\n", "---\n***\n", "((((", &"*-* ".repeat(2_000)] {
            let chunks = super::chunks(text, language_named(name));
            assert_eq!(chunks, [], "{name}: {text:?}");
        }
    }
    let long = "x".repeat(5_000);
    assert_whole(&long, &super::chunks(&long, None));
}

#[test]
fn chunks_of_tests_are_marked() {
    let text = format!(
        "fn real() {{\n{}}}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn works() {{\n{}}}\n}}\n",
        filler(30),
        filler(30)
    );
    let flags: Vec<(Option<String>, bool)> = chunks(&text, language_named("rust"))
        .into_iter()
        .map(|chunk| (chunk.symbol, chunk.is_test))
        .collect();
    assert_eq!(flags.first(), Some(&(Some("real".to_owned()), false)));
    assert!(
        flags.iter().skip(1).all(|(_, is_test)| *is_test),
        "{flags:?}"
    );
}

#[test]
fn texts_without_words_give_no_chunks() {
    for text in ["", "\n", "\n\n  \n", "}\n", ";;\n", "\u{c}\n"] {
        for name in [
            "rust",
            "python",
            "typescript",
            "c",
            "markdown",
            "go",
            "json",
            "toml",
        ] {
            assert_eq!(chunks(text, language_named(name)), [], "{text:?} {name}");
        }
    }
}

#[test]
fn chunks_cover_every_letter_of_random_texts() {
    let parts = [
        "fn a() {\n",
        "}\n",
        "impl B {\n",
        "let x = \"",
        "\";\n",
        "// note\n",
        "/// doc\n",
        "#[attr]\n",
        "ß日本 ",
        "\n\n",
        "\t",
        "struct C { d: u8 }\n",
        "word word word word word word word word\n",
        "{{{{",
        "))))",
        "'",
        "\r\n",
    ];
    let mut random = 11_u64;
    let mut next = |most: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % most
    };
    for round in 0..300 {
        let count = next(400);
        let text: String = (0..count).map(|_| parts[next(parts.len())]).collect();
        for name in ["rust", "python", "typescript", "c", "markdown", "go"] {
            assert_whole(&text, &chunks(&text, language_named(name)));
        }
        assert_whole(&text, &rough_chunks(&text));
        assert!(round < 300);
    }
}
