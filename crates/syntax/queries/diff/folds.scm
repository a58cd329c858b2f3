[(block) (hunk)] @fold
