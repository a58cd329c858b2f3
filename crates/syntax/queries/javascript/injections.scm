; css`…`, html`…`, styled.div`…` and their like: the tag names the language.
((call_expression
  function: (identifier) @_tag
  arguments: (template_string) @injection.content)
  (#any-of? @_tag "css" "keyframes" "createGlobalStyle")
  (#set! injection.language "css")
  (#set! injection.children "string_fragment"))
((call_expression
  function: (identifier) @_tag
  arguments: (template_string) @injection.content)
  (#any-of? @_tag "html" "svg")
  (#set! injection.language "html")
  (#set! injection.children "string_fragment"))
((call_expression
  function: (identifier) @_tag
  arguments: (template_string) @injection.content)
  (#any-of? @_tag "sql" "SQL")
  (#set! injection.language "sql")
  (#set! injection.children "string_fragment"))
