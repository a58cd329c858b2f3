[(rule) (define_directive) (conditional)] @fold
(comment) @fold.comments
