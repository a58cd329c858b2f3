; A macro's arguments are read as code, which most of them are.
((macro_invocation (token_tree) @injection.content)
  (#set! injection.language "rust")
  (#set! injection.include-children))
