((function_call
  name: (_) @_name
  arguments: (arguments (string content: _ @injection.content)))
  (#any-of? @_name "vim.cmd" "ffi.cdef")
  (#set! injection.language "c"))
