; What a macro stands for is code, as far as it can be told.
((preproc_arg) @injection.content (#set! injection.language "cpp"))
; R"sql(…)sql": the delimiter names the language.
(raw_string_literal
  delimiter: (raw_string_delimiter) @injection.language
  (raw_string_content) @injection.content)
