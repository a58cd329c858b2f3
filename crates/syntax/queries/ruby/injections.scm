; <<~SQL … SQL: the heredoc's name is its language.
((heredoc_body (heredoc_end) @injection.language) @injection.content
  (#set! injection.children "heredoc_content"))
