(section . (atx_heading [
    (atx_h1_marker) (atx_h2_marker) (atx_h3_marker) (atx_h4_marker) (atx_h5_marker) (atx_h6_marker)
  ] @detail (inline) @name)) @item.heading
(section . (setext_heading (paragraph) @name)) @item.heading
(setext_heading (paragraph) @name) @item.heading
