const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and for attributes in double quotes. Everything a server or a client says passes through here. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

export function plural(amount: number, singular: string): string {
  return `${amount} ${singular}${amount === 1 ? '' : 's'}`;
}
