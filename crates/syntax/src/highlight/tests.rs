//! Colours, told as marked text.

use expect_test::{Expect, expect};

use crate::tests::{Marked, SAMPLES};
use crate::{Highlight, HighlightKind};

/// Every highlight as `text=kind`, in a row for every row of the text.
fn render(marked: &Marked) -> String {
    let highlights = marked
        .syntax
        .highlights(&marked.text, marked.text.full_span());
    let mut rendered = String::new();
    let mut row = 0;
    for Highlight { span, kind } in highlights {
        let at = marked.text.point_at(span.start).row.0;
        if !rendered.is_empty() {
            rendered.push_str(if at > row { "\n" } else { "  " });
        }
        row = at;
        rendered.push_str(&format!(
            "{}={}",
            marked.text.text(span).escape_debug(),
            kind.name()
        ));
    }
    rendered + "\n"
}

fn check(language: &str, text: &str, expected: Expect) {
    expected.assert_eq(&render(&Marked::new(language, text)));
}

#[test]
fn rust() {
    check(
        "Rust",
        "/// Doc.\npub fn go<'a>(x: &'a str, n: u32) -> Option<Foo> {\n    let y = Foo::new(x.len(), MAX)?;\n    println!(\"{}\", vec![y.z, 1]);\n}\n",
        expect![[r#"
            /// Doc.\n=comment.doc
            pub=keyword  fn=keyword  go=function.definition  <=punctuation.bracket  \'a=label  >(=punctuation.bracket  x=variable.parameter  :=punctuation.delimiter  &=operator  \'a=label  str=type.builtin  ,=punctuation.delimiter  n=variable.parameter  :=punctuation.delimiter  u32=type.builtin  )=punctuation.bracket  ->=operator  Option=type  <=punctuation.bracket  Foo=type  >=punctuation.bracket  {=punctuation.bracket
            let=keyword  y=variable  ==operator  Foo=type  ::=punctuation.delimiter  new=function  (=punctuation.bracket  x=variable  .=punctuation.delimiter  len=function.method  ()=punctuation.bracket  ,=punctuation.delimiter  MAX=constant  )=punctuation.bracket  ?=operator  ;=punctuation.delimiter
            println!=function.macro  (=punctuation.bracket  \"{}\"=string  ,=punctuation.delimiter  vec!=function.macro  [=punctuation.bracket  y=variable  .=punctuation.delimiter  z=property  ,=punctuation.delimiter  1=number  ])=punctuation.bracket  ;=punctuation.delimiter
            }=punctuation.bracket
        "#]],
    );
}

#[test]
fn python() {
    check(
        "Python",
        "@cache\ndef f(self, x: int = 1) -> str:\n    \"\"\"Doc.\"\"\"\n    return f\"{x!r} {len(self.y)}\" if x is not None else True\n",
        expect![[r#"
            @cache=attribute
            def=keyword  f=function.definition  (=punctuation.bracket  self=variable.builtin  ,=punctuation.delimiter  x=variable.parameter  :=punctuation.delimiter  int=type.builtin  ==operator  1=number  )=punctuation.bracket  ->=operator  str=type.builtin  :=punctuation.delimiter
            \"\"\"Doc.\"\"\"=comment.doc
            return=keyword.control  f\"=string  {=punctuation.special  x=variable  !r=string.special  }=punctuation.special   =string  {=punctuation.special  len=function.builtin  (=punctuation.bracket  self=variable.builtin  .=punctuation.delimiter  y=property  )=punctuation.bracket  }=punctuation.special  \"=string  if=keyword.control  x=variable  is not=keyword.operator  None=constant.builtin  else=keyword.control  True=boolean
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        "TypeScript",
        "export const f = async (a: string): Promise<void> => { await new Foo(a).bar(`x${a}`); };\n",
        expect![[r#"
            export=keyword.import  const=keyword  f=function  ==operator  async=keyword  (=punctuation.bracket  a=variable.parameter  :=punctuation.delimiter  string=type.builtin  )=punctuation.bracket  :=punctuation.delimiter  Promise=type  <=punctuation.bracket  void=type.builtin  >=punctuation.bracket  =>=operator  {=punctuation.bracket  await=keyword.control  new=keyword.operator  Foo=constructor  (=punctuation.bracket  a=variable  )=punctuation.bracket  .=punctuation.delimiter  bar=function.method  (=punctuation.bracket  `x=string  ${=punctuation.special  a=variable  }=punctuation.special  `=string  )=punctuation.bracket  ;=punctuation.delimiter  }=punctuation.bracket  ;=punctuation.delimiter
        "#]],
    );
}

#[test]
fn javascript_with_css_inside() {
    check(
        "JavaScript",
        "const s = css`a { color: red; }`;\n",
        expect![[r#"
        const=keyword  s=variable  ==operator  css=function  `=string  a=tag   =string  {=punctuation.bracket   =string  color=property  :=punctuation.delimiter   =string  red=constant  ;=punctuation.delimiter   =string  }=punctuation.bracket  `=string  ;=punctuation.delimiter
    "#]],
    );
}

#[test]
fn html_with_script_and_style() {
    check(
        "HTML",
        "<p class=\"a\">x</p>\n<style>b { margin: 1px }</style>\n<script>let a = 1;</script>\n",
        expect![[r#"
            <=punctuation.bracket  p=tag  class=attribute  ==operator  \"a\"=string  >=punctuation.bracket  </=punctuation.bracket  p=tag  >=punctuation.bracket
            <=punctuation.bracket  style=tag  >=punctuation.bracket  b=tag  {=punctuation.bracket  margin=property  :=punctuation.delimiter  1=number  px=type.builtin  }</=punctuation.bracket  style=tag  >=punctuation.bracket
            <=punctuation.bracket  script=tag  >=punctuation.bracket  let=keyword  a=variable  ==operator  1=number  ;=punctuation.delimiter  </=punctuation.bracket  script=tag  >=punctuation.bracket
        "#]],
    );
}

#[test]
fn markdown_with_code_and_front_matter() {
    check(
        "Markdown",
        "---\na: 1\n---\n# Head *two*\n\nText `code` **bold**.\n\n```rust\nfn f() {}\n```\n\n```klingon\nqapla\n```\n",
        expect![[r#"
            ---=punctuation.special
            a=property  :=punctuation.delimiter  1=number
            ---=punctuation.special
            #=punctuation.special   Head =title  *=punctuation.delimiter  two=emphasis  *=punctuation.delimiter  \n=title
            `=punctuation.delimiter  code=literal  `=punctuation.delimiter  **=punctuation.delimiter  bold=emphasis.strong  **=punctuation.delimiter
            ```=punctuation.delimiter  rust=label  \n=literal
            fn=keyword   =literal  f=function.definition  ()=punctuation.bracket   =literal  {}=punctuation.bracket  \n=literal
            ```=punctuation.delimiter  \n=literal
            ```=punctuation.delimiter  klingon=label  \nqapla\n=literal
            ```=punctuation.delimiter  \n=literal
        "#]],
    );
}

#[test]
fn quoted_markdown_code_leaves_its_marks_out() {
    check(
        "Markdown",
        "> ```c\n> int a;\n> int b;\n> ```\n",
        expect![[r#"
        > =punctuation.special  ```=punctuation.delimiter  c=label  \n=literal
        > =punctuation.special  int=type.builtin   =literal  a=variable  ;=punctuation.delimiter  \n=literal
        > =punctuation.special  int=type.builtin   =literal  b=variable  ;=punctuation.delimiter  \n=literal
        > =punctuation.special  ```=punctuation.delimiter  \n=literal
    "#]],
    );
}

#[test]
fn go() {
    check(
        "Go",
        "func (s *T) F(n int) error { return fmt.Errorf(\"%d\", len(s.x)) }\n",
        expect![[r#"
        func=keyword  (=punctuation.bracket  s=variable.parameter  *=operator  T=type  )=punctuation.bracket  F=function.definition  (=punctuation.bracket  n=variable.parameter  int=type.builtin  )=punctuation.bracket  error=type.builtin  {=punctuation.bracket  return=keyword.control  fmt=variable  .=punctuation.delimiter  Errorf=function.method  (=punctuation.bracket  \"%d\"=string  ,=punctuation.delimiter  len=function.builtin  (=punctuation.bracket  s=variable  .=punctuation.delimiter  x=property  ))=punctuation.bracket  }=punctuation.bracket
    "#]],
    );
}

#[test]
fn c() {
    check(
        "C",
        "#define MAX 1\nstatic int f(char *s) { return MAX + g(s->n, 'c'); }\n",
        expect![[r#"
        #define=keyword.directive  MAX=constant  1=number
        static=keyword  int=type.builtin  f=function.definition  (=punctuation.bracket  char=type.builtin  *=operator  s=variable.parameter  )=punctuation.bracket  {=punctuation.bracket  return=keyword.control  MAX=constant  +=operator  g=function  (=punctuation.bracket  s=variable  ->=operator  n=property  ,=punctuation.delimiter  \'c\'=string  )=punctuation.bracket  ;=punctuation.delimiter  }=punctuation.bracket
    "#]],
    );
}

#[test]
fn ruby() {
    check(
        "Ruby",
        "def go(x)\n  puts \"a#{x}\" if @y.nil?\n  foo :sym => 1\nend\n",
        expect![[r#"
        def=keyword  go=function.definition  (=punctuation.bracket  x=variable.parameter  )=punctuation.bracket
        puts=function.builtin  \"a=string  #{=punctuation.special  x=variable  }=punctuation.special  \"=string  if=keyword.control  @y=property  .=punctuation.delimiter  nil?=function.method
        foo=function  :sym=string.special  =>=operator  1=number
        end=keyword
    "#]],
    );
}

#[test]
fn make_with_shell() {
    check(
        "Make",
        "all: a.o\n\techo \"$(CC)\" && exit 0\n",
        expect![[r#"
        all=function.definition  :=punctuation.delimiter  a.o=function
        echo=function.builtin  \"$(CC)\"=string  &&=operator  exit=keyword.control  0=number
    "#]],
    );
}

#[test]
fn spans_are_sorted_disjoint_and_clipped() {
    for (language, sample) in SAMPLES {
        let marked = Marked::new(language, sample);
        let all = marked
            .syntax
            .highlights(&marked.text, marked.text.full_span());
        assert!(all.len() > 5, "{language} has colours");
        let length = marked.text.len().0;
        for start in (0..length).step_by(7) {
            let span = base::Span::from(start..(start + 40).min(length));
            let part = marked.syntax.highlights(&marked.text, span);
            let expected: Vec<Highlight> = all
                .iter()
                .filter(|it| it.span.overlaps(span))
                .map(|it| Highlight {
                    span: base::Span::new(it.span.start.max(span.start), it.span.end.min(span.end)),
                    kind: it.kind,
                })
                .collect();
            assert_eq!(part, expected, "{language} {span:?}");
        }
    }
}

#[test]
fn kinds_are_used() {
    let mut used: Vec<HighlightKind> = SAMPLES
        .iter()
        .flat_map(|(language, sample)| {
            let marked = Marked::new(language, sample);
            marked
                .syntax
                .highlights(&marked.text, marked.text.full_span())
        })
        .map(|highlight| highlight.kind)
        .collect();
    used.sort_unstable();
    used.dedup();
    let missing: Vec<&str> = HighlightKind::all()
        .iter()
        .filter(|kind| !used.contains(kind))
        .map(|kind| kind.name())
        .collect();
    expect!["emphasis.strikethrough error punctuation"].assert_eq(&missing.join(" "));
}
