/** Formats a time of day of this machine, alike in every view: `12:04:31`, or `12:04` without seconds. */
export function timeOfDay(at: number, withSeconds = true): string {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), ...(withSeconds ? [date.getSeconds()] : [])];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** Formats a time for a text that stays as it is: `12:04:31` today, `2026-11-19 12:04:31` on another day. */
export function moment(at: number, now: number): string {
  const dayOf = (time: number): string => {
    const date = new Date(time);
    return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-');
  };
  return dayOf(at) === dayOf(now) ? timeOfDay(at) : `${dayOf(at)} ${timeOfDay(at)}`;
}
