/** Formats a time of day of this machine, alike in every view: `12:04:31`, or `12:04` without seconds. */
export function timeOfDay(at: number, withSeconds = true): string {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), ...(withSeconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
