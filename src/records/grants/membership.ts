import { isRecord } from '../../lib/isRecord.ts';
import type { RecordAnswer, RecordProvider } from '../provider/recordProvider.ts';
import { streamRows } from '../surface/schema/schemaRows.ts';
import { filled, type Json } from '../surface/values.ts';

export interface GrantConnection {
  connectionId: string;
  displayName?: string | undefined;
}

/** Member of a package: the provider that reads with the token of one grant, and what is known about it. */
export interface GrantMember {
  readonly provider: RecordProvider;
  grantId: string | undefined;
  connectorKey: string | undefined;
  displayName: string | undefined;
  /** Empty until the source has answered once. */
  connections: readonly GrantConnection[];
  /** Names of the granted streams; undefined while they are unknown. */
  streams: readonly string[] | undefined;
}

/** Adds what a whole schema document says to what is known. What the configuration says stays. */
export function learn(member: GrantMember, document: Json): void {
  const rows = streamRows(document);
  const [first] = rows;
  const { bearer } = document;
  member.grantId ??= isRecord(bearer) ? filled(bearer.grant_id) : undefined;
  member.connectorKey ??= first?.connectorKey;
  member.displayName ??= first?.displayName;
  member.streams ??= [...new Set(rows.map(({ name }) => name))];
  if (member.connections.length > 0) return;
  const byId = new Map(rows.flatMap(({ connections }) => connections).map((one) => [one.connectionId, one]));
  member.connections = [...byId.values()];
}

/** Answer of one member, or the reason why it has none. */
export interface MemberAnswer {
  member: GrantMember;
  answer?: RecordAnswer;
  /** Sentence that may be shown. */
  failure?: string;
}

/** Members that are asked at the same time (R5.6): more would be as many connections. */
export const MAX_AT_ONCE = 16;

/** Asks members, some at the same time. A member that fails takes nothing from the others. */
export async function askAll(
  members: readonly GrantMember[],
  ask: (member: GrantMember) => Promise<RecordAnswer>,
): Promise<MemberAnswer[]> {
  const answers: MemberAnswer[] = [];
  const waiting = members.entries();
  const takeNext = async (): Promise<void> => {
    for (const [at, member] of waiting) answers[at] = await askOne(member, ask);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, members.length) }, takeNext));
  return answers;
}

async function askOne(member: GrantMember, ask: (member: GrantMember) => Promise<RecordAnswer>): Promise<MemberAnswer> {
  try {
    const answer = await ask(member);
    if (answer.status >= 200 && answer.status < 300) return { member, answer };
    return { member, answer, failure: failureOf(answer) };
  } catch (error) {
    return { member, failure: error instanceof Error ? error.message : String(error) };
  }
}

function failureOf({ status, body }: RecordAnswer): string {
  const { error } = (body ?? {}) as { error?: { code?: unknown } };
  const code = typeof error?.code === 'string' ? ` (${error.code.slice(0, 60)})` : '';
  return `the source answered with the status ${status}${code}`;
}

/** Returns the warnings about members that failed (R5.5). */
export function failureWarnings(answers: readonly MemberAnswer[]): Record<string, unknown>[] {
  return answers.flatMap(({ member, failure }) => {
    if (failure === undefined) return [];
    const [first] = member.connections;
    const name = first?.displayName ?? member.displayName ?? first?.connectionId ?? member.grantId ?? 'a source';
    return {
      code: 'source_unavailable',
      message: `${name}: ${failure}`,
      grant_id: member.grantId ?? null,
      connection_id: first?.connectionId ?? null,
    };
  });
}

/** Returns the source of a member as results name it. */
export function sourceOf(member: GrantMember): Record<string, unknown> {
  const [first] = member.connections;
  return {
    grant_id: member.grantId ?? null,
    connector_id: member.connectorKey ?? null,
    connector_key: member.connectorKey ?? null,
    connection_id: first?.connectionId ?? null,
    display_name: first?.displayName ?? member.displayName ?? null,
  };
}
