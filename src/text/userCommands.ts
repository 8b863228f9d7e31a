/**
 * Commands by which the user makes a server serve. A model repeats them and the user pastes them into a shell, so they
 * contain harmless names alone.
 */
const PLAIN = /^[\w.][\w.-]{0,99}$/;
const SECRET = /^(?:input:)?[\w.-]{1,100}$/;

export function approveCommand(server: string): string {
  return `waygate approve ${PLAIN.test(server) ? server : '--all'}`;
}

export function loginCommand(server: string): string {
  return `waygate login${PLAIN.test(server) ? ` ${server}` : ''}`;
}

/** `name`: `NAME`, or `input:ID`. */
export function secretCommand(name: string): string {
  return `waygate secret set ${SECRET.test(name) ? name : 'NAME'}`;
}
