/**
 * Runs the stages in their order, at most `lanes` at the same time.
 * @template Result
 * @param {readonly string[]} names
 * @param {number} lanes
 * @param {(name: string) => Promise<Result>} run
 * @returns {Promise<{ name: string, result: Result, seconds: number }[]>} in the order of `names`
 */
export async function runStages(names, lanes, run) {
  /** @type {{ name: string, result: Result, seconds: number }[]} */
  const done = [];
  const waiting = [...names];
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const started = performance.now();
      const result = await run(name);
      done.push({ name, result, seconds: (performance.now() - started) / 1_000 });
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, lanes) }, lane));
  return done.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/**
 * Returns the times of the parts of a stage in words, with their budgets, and a failure for each that took longer.
 * @param {readonly { name: string, seconds: number }[]} parts
 * @param {Readonly<Record<string, number>>} budgets in seconds
 */
export function partTimes(parts, budgets) {
  const words = parts.map(({ name, seconds }) => {
    const budget = budgets[name];
    return `${name} ${duration(seconds)}${budget === undefined ? '' : ` of ${duration(budget)}`}`;
  });
  const failures = parts
    .filter(({ name, seconds }) => seconds > (budgets[name] ?? Number.POSITIVE_INFINITY))
    .map(({ name, seconds }) => ({
      title: name,
      words: `It took ${duration(seconds)}; its budget is ${duration(budgets[name] ?? 0)}.`,
    }));
  return { words: words.join(', '), failures };
}

/**
 * One line for each stage, its result and its time in columns.
 * @param {readonly { name: string, words: string, seconds: number }[]} stages
 */
export function stageTable(stages) {
  const width = Math.max(0, ...stages.map(({ name }) => name.length));
  const times = stages.map(({ seconds }) => duration(seconds));
  const timeWidth = Math.max(0, ...times.map((time) => time.length));
  return stages
    .map(({ name, words }, i) => `${name.padEnd(width)}  ${times[i]?.padStart(timeWidth)}  ${words}`)
    .join('\n');
}
