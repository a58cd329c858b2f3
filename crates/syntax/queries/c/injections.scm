; What a macro stands for is code, as far as it can be told.
((preproc_arg) @injection.content (#set! injection.language "c"))
