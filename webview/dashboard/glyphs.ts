/** Shapes that differ in form as well as in colour. Drawn inline, so that the page needs no font. */
const SHAPES = {
  check: '<circle cx="8" cy="8" r="6.25"/><path d="m5.2 8.2 2 2 3.6-4.2"/>',
  warning: '<path d="M8 2.2 14.6 13.6H1.4Z"/><path d="M8 6.6v3.2M8 11.6v.1"/>',
  error: '<circle cx="8" cy="8" r="6.25"/><path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4"/>',
  progress: '<path class="spin" d="M8 1.75A6.25 6.25 0 1 1 1.75 8"/>',
  circle: '<circle cx="8" cy="8" r="6.25"/>',
  slash: '<circle cx="8" cy="8" r="6.25"/><path d="M3.6 12.4 12.4 3.6"/>',
} as const;

/** Hidden from screen readers, because a word beside it says the same. */
export function glyph(name: keyof typeof SHAPES): string {
  return `<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">${SHAPES[name]}</svg>`;
}
