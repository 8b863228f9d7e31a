/** Markup of one element that is replaced as a whole when it changes. Its element carries `data-row` with the key. */
export interface Row {
  key: string;
  html: string;
}

/**
 * Section of the page. `frame` is the markup of its element, which carries `data-part`. Rows go into the element of the
 * frame that carries `data-rows`; a part without rows has none.
 */
export interface Part {
  name: string;
  frame: string;
  rows: readonly Row[];
}
