[(object) (array)] @fold
(comment) @fold.comments
