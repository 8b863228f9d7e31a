import { isDeepStrictEqual } from 'node:util';
import { findNodeAtLocation, getNodeValue, type ParseError, parseTree } from 'jsonc-parser';
import { ConfigLayers } from '../../config/configLayers.ts';
import { DEFAULT_POLICY } from '../../config/declaration/policyBlock.ts';
import { configFile } from '../../config/state/configPlaces.ts';
import { userConfigFile } from '../../config/state/stateFolder.ts';
import type { ControlClient } from '../../control/client.ts';
import { readTextIfThere, replaceFile } from '../../import/importFiles.ts';
import { appendItem, insertItem, prependItem, removeItem, setMember } from '../../import/jsonText.ts';
import { didYouMean } from '../../text/nearest.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { RuleCommand } from '../commands.ts';
import { print, printProblem } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { shownText } from '../trustReview.ts';

interface Rule {
  action: 'allow' | 'deny';
  server: string;
  origin?: 'workspace';
  tool?: string;
}

const RULES = ['policy', 'rules'];

/** Adds a rule about a server or a tool to the user's waygate.json, or to the workspace's. */
export async function policyRule(command: RuleCommand & { name: Rule['action'] }): Promise<number> {
  const { name: action, subject, here, json, ...target } = command;
  const file = target.configFile ?? (here ? configFile(target.workspace) : userConfigFile(process.env));
  const rule = await withSettledGateway(target, async (control) => {
    const { server, tool, isForeign } = await namedBy(subject, control);
    // A rule of the user's own file allows nothing of a workspace's server without naming that origin.
    const origin = action === 'allow' && isForeign && !here ? { origin: 'workspace' as const } : {};
    const written: Rule = { action, server, ...origin, ...(tool !== undefined && { tool }) };
    const within = here ? target.workspace : undefined;
    const before = readTextIfThere(file, within);
    replaceFile(file, before, withRule(before, written, file), within);
    // The rule holds for the next call. If the worker ends meanwhile, its successor reads the file.
    await control.request('recheck', {}).catch(() => undefined);
    return written;
  });
  const { problems } = new ConfigLayers(target.workspace, process.env, target.configFile).load();
  const rendered = JSON.stringify(rule);
  const about = problems.filter(({ message, location }) => location.file === file && message.includes('policy'));
  for (const { message } of about) printProblem(message);
  print(json, { file, rule }, `Wrote ${visibleText(rendered)} into ${file}.\n`);
  return 0;
}

interface Named {
  server: string;
  /** Glob that matches the tool alone. */
  tool?: string;
  isForeign: boolean;
}

async function namedBy(subject: string, control: ControlClient): Promise<Named> {
  const [status, reviews, { namespaces }] = await Promise.all([
    control.request('status', {}),
    control.request('trust', {}),
    control.request('catalog', {}),
  ]);
  const isForeign = (server: string): boolean =>
    reviews.some((review) => review.server === server && review.origin === 'workspace');
  const servers = status.servers.map(({ name }) => name);
  if (servers.includes(subject)) return { server: subject, isForeign: isForeign(subject) };
  const reviewed = reviews.flatMap(({ server, approved, items }) =>
    [...approved, ...items].map(({ key, toolId }) => ({ server, id: toolId ?? '', name: key.replace(/^tools:/, '') })),
  );
  // Servers of a catalog file have no pins.
  const listed = namespaces.flatMap(({ server, tools }) =>
    tools.map(({ id, path }) => ({ server, id, name: '', path })),
  );
  const all = [...reviewed, ...listed].filter(({ id }) => id !== '');
  const meant = meantId(subject, listed);
  const found = all.find(({ id }) => id === meant);
  if (found) {
    const { server, id, name } = found;
    // An id changes with the arguments of its tool; the name outlives that, unless it would be a pattern.
    return { server, tool: /^[^*?[\]\n]+$/.test(name) ? name : id, isForeign: isForeign(server) };
  }
  const known = [...servers, ...all.map(({ id }) => id)];
  const remedy = didYouMean(subject, known, 'see waygate catalog.');
  throw new Error(`there is no server or tool "${shownText(subject)}"; ${visibleText(remedy)} Nothing was written.`);
}

/** Returns the id of the tool that the user names by its path, as `waygate catalog` prints it, or by its id without the hash. */
function meantId(subject: string, listed: readonly { id: string; path: string }[]): string {
  const isMeant = ({ id, path }: { id: string; path: string }): boolean =>
    path === subject || (id.startsWith(subject) && /^[@#]/.test(id.slice(subject.length)));
  const [one, another] = listed.filter(isMeant);
  return one && !another ? one.id : subject;
}

/**
 * Returns the text of a configuration with a rule. A rule about one tool, or one that denies, comes first. A rule that
 * allows a whole server comes after all others, so that it undoes nothing more specific, but before the default question
 * about destructive tools, which would decide about them. It replaces rules about the same subject.
 */
function withRule(before: string | undefined, rule: Rule, file: string): string {
  const text = before === undefined || before.trim() === '' ? '{}\n' : before;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (root?.type !== 'object' || errors.length > 0) throw new Error(`${file} is not valid JSON; correct it first.`);
  // Without a policy, the default one asks about destructive tools, and that has to stay.
  if (!findNodeAtLocation(root, ['policy']))
    return setMember(text, ['policy'], { rules: [rule, ...DEFAULT_POLICY.rules] });
  const list = findNodeAtLocation(root, RULES);
  const rules: unknown = list ? getNodeValue(list) : [];
  if (!Array.isArray(rules)) throw new Error(`"policy.rules" of ${file} is no list; correct it first.`);
  const same = rules.flatMap((one, index) => (isSameSubject(one, rule) ? [index] : []));
  const rest = same.reverse().reduce((kept, index) => removeItem(kept, RULES, index), text);
  if (rule.action !== 'allow' || rule.tool !== undefined) return prependItem(rest, RULES, rule);
  const others = rules.filter((_, index) => !same.includes(index));
  // The parser's objects have no prototype.
  const question = others.findIndex((one) => DEFAULT_POLICY.rules.some((asks) => isDeepStrictEqual({ ...one }, asks)));
  return question === -1 ? appendItem(rest, RULES, rule) : insertItem(rest, RULES, question, rule);
}

/** Whether a rule only says whether this server or tool is allowed. */
function isSameSubject(one: unknown, { server, tool }: Rule): boolean {
  const { action, server: other, tool: otherTool, origin: _origin, ...more } = (one ?? {}) as Record<string, unknown>;
  const isSimple = (action === 'allow' || action === 'deny') && Object.keys(more).length === 0;
  return isSimple && other === server && otherTool === tool;
}
