/** Shapes that differ in form as well as in colour. Drawn inline, so that the page needs no font. */
const SHAPES = {
  check: '<circle cx="8" cy="8" r="6.25"/><path d="m5.2 8.2 2 2 3.6-4.2"/>',
  warning: '<path d="M8 2.2 14.6 13.6H1.4Z"/><path d="M8 6.6v3.2M8 11.6v.1"/>',
  error: '<circle cx="8" cy="8" r="6.25"/><path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4"/>',
  question: '<circle cx="8" cy="8" r="6.25"/><path d="M6.2 6.4c0-2.3 3.6-2.3 3.6 0 0 1.3-1.8 1.3-1.8 2.8M8 11.3v.1"/>',
  progress: '<path class="spin" d="M8 1.75A6.25 6.25 0 1 1 1.75 8"/>',
  circle: '<circle cx="8" cy="8" r="6.25"/>',
  slash: '<circle cx="8" cy="8" r="6.25"/><path d="M3.6 12.4 12.4 3.6"/>',
  start: '<path d="M4.5 2.8v10.4L13 8Z"/>',
  restart: '<path d="M13.2 8a5.2 5.2 0 1 1-1.6-3.75M13.2 2v3h-3"/>',
  log: '<path d="M3 1.8h7l3 3v9.4H3Z"/><path d="M5.5 7h5M5.5 9.3h5M5.5 11.6h3"/>',
  signIn: '<path d="M9 2h4.2v12H9"/><path d="M2 8h7.4M6.6 5.2 9.4 8l-2.8 2.8"/>',
  signOut: '<path d="M7 2H2.8v12H7"/><path d="M6.6 8H14M11.2 5.2 14 8l-2.8 2.8"/>',
  power: '<path d="M8 1.8v5.4"/><path d="M4.9 4.1a5.2 5.2 0 1 0 6.2 0"/>',
  chevron: '<path d="m6 3.5 4.5 4.5L6 12.5"/>',
  ascending: '<path d="M8 13V3.4M4.4 7 8 3.4 11.6 7"/>',
  descending: '<path d="M8 3v9.6M4.4 9 8 12.6 11.6 9"/>',
} as const;
export type GlyphName = keyof typeof SHAPES;

/** Hidden from screen readers, because a word beside it or the name of its button says the same. */
export function glyph(name: GlyphName): string {
  return `<svg class="glyph glyph-${name}" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${SHAPES[name]}</svg>`;
}
