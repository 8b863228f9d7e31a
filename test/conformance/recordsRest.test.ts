import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { respond } from '../../src/records/embedded/contract/respond.ts';
import { RecordStore } from '../../src/records/embedded/store/recordStore.ts';
import { Database, type SqlConnection, type SqliteEngine } from '../../src/records/embedded/store/sqlite.ts';
import { loadWasm } from '../../src/records/embedded/store/wasmSqlite.ts';
import { loadDemoMail, ROLES, removeMessage } from '../records/embedded/demoMail.ts';
import { shared } from '../support/lifetime.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** Cases about a resource server on invented mail; the directory is named by the environment. */
const FOLDER = process.env.WAYGATE_SHARED_CASES ?? '/work/shared/cases';

interface Case {
  id: string;
  path: string;
  token_role: string;
  expected: {
    status: number;
    error_code?: string;
    error_type?: string;
    param?: string;
    retry_with?: string;
    object?: string | null;
    keys?: string[];
    rows?: number;
    has_more?: boolean | null;
    next_cursor?: boolean;
    next_changes_since?: boolean;
    warnings?: string[];
    count?: { kind: string; value?: number };
    value?: unknown;
    groups?: unknown;
    other_count?: unknown;
    recording?: string;
  };
}

/** Cases about parts of a resource server that a provider in process does not have, by reason. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'The provider answers in process, so a request has no headers: neither a token nor a version.': [
    'schema_no_bearer',
    'schema_bogus_bearer',
    'version_bad',
    'version_ok',
  ],
  'There is no owner: every read is under a grant.': [
    'owner_records',
    'owner_records_expand',
    'owner_records_filter',
    'owner_schema',
  ],
  'There is no authorization server.': ['metadata_mcp', 'metadata_root'],
  'Records hold text and no blobs.': ['blob_get', 'blob_get_conn'],
  'Search is by words alone; the refusal has a test of its own below.': ['search_semantic', 'search_hybrid'],
  'A framework of the recorded server answered an unknown route in its own form.': ['record_field_window'],
};
const skipped = new Set(Object.values(ELSEWHERE).flat());
const file = join(FOLDER, 'records-rest.json');
const cases = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] }).cases : [];
const applicable = cases.filter(({ id }) => !skipped.has(id));

type Body = Record<string, unknown> & { meta?: Record<string, unknown>; error?: Record<string, unknown> };

const memory: SqliteEngine = { keepsFiles: false, open: () => new Database(wasm()) };
const wasm = (await loadWasm()) as () => SqlConnection;
const engines: [string, SqliteEngine | undefined][] = [
  ['the SQLite of Node', undefined],
  ['node-sqlite3-wasm in memory', memory],
];

describe.runIf(cases.length > 0).each(engines)(
  'on %s, the embedded provider answers as the recorded resource server',
  (_, engine) => {
    const store = shared(async () => {
      const opened = await RecordStore.open(join(temporaryFolder('records-rest-'), 'records.db'), engine);
      loadDemoMail(opened);
      return opened;
    });

    const ask = (role: string, target: string): { status: number; body: Body } => {
      const url = new URL(target, 'http://records.invalid');
      const rights = { grants: ROLES[role] ?? [], grantId: 'grt_test' };
      const answer = respond(store(), rights, { path: url.pathname, query: [...url.searchParams] });
      expect(answer.requestId).toMatch(/^req_[0-9a-f]{16}$/);
      return { status: answer.status, body: answer.body as Body };
    };

    /** Fills in the values that an earlier page returns. */
    const filled = (role: string, path: string): string => {
      const first = (from: string, member: string): string => encodeURIComponent(String(ask(role, from).body[member]));
      if (path.includes('<next_cursor of page 1>')) {
        const page = path.replace(/&cursor=<next_cursor of page 1>/, '');
        return path.replace('<next_cursor of page 1>', first(page, 'next_cursor'));
      }
      if (!path.includes('<next_changes_since>')) return path;
      const begin = path.replace('<next_changes_since>', 'beginning');
      return path.replace('<next_changes_since>', first(begin, 'next_changes_since'));
    };

    it('skips only cases that the file has', () => {
      expect([...skipped].filter((id) => !cases.some((one) => one.id === id))).toEqual([]);
      expect(applicable.length).toBeGreaterThan(85);
    });

    it.each(applicable.map((one) => [one.id, one] as const))('%s', (id, { path, token_role: role, expected }) => {
      const target = filled(role, path);
      if (id === 'records_changes_tombstone') removeMessage(store(), 'h12');
      const { status, body } = ask(role, target);
      if (id === 'records_changes_tombstone') loadDemoMail(store());
      expect(status).toBe(expected.status);
      const { error, meta = {} } = body;
      if (expected.error_code !== undefined) {
        expect(error).toMatchObject({ code: expected.error_code, type: expected.error_type });
        if (expected.param !== undefined) expect(error?.param).toBe(expected.param);
        if (expected.retry_with !== undefined) expect(error?.retry_with).toBe(expected.retry_with);
        return;
      }
      expect(body.object).toBe(expected.object);
      if (expected.keys) expect(Object.keys(body).sort()).toEqual(expected.keys);
      if (expected.rows !== undefined && !id.startsWith('connectors')) {
        expect((body.data as unknown[]).length).toBe(expected.rows);
      }
      if (typeof expected.has_more === 'boolean') expect(body.has_more).toBe(expected.has_more);
      if (expected.next_cursor !== undefined) expect('next_cursor' in body).toBe(expected.next_cursor);
      if (expected.next_changes_since !== undefined) {
        expect('next_changes_since' in body).toBe(expected.next_changes_since);
      }
      if (expected.warnings) {
        const warnings = (meta.warnings ?? []) as { code: string }[];
        expect(warnings.map(({ code }) => code)).toEqual(expected.warnings);
      }
      if (expected.count) expect(meta.count).toEqual(expected.count);
      if (body.object === 'aggregation') {
        expect(body.value ?? null).toEqual(expected.value);
        expect(body.groups ?? null).toEqual(expected.groups);
        expect(body.other_count ?? null).toEqual(expected.other_count);
      }
      compareRecorded(id, body, expected.recording);
    });

    it.each(['semantic', 'hybrid'])('refuses a %s search by name', (mode) => {
      const { status, body } = ask('client', `/v1/search/${mode}?q=invoice`);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'invalid_request', param: 'mode' });
    });

    /** The recorded records and aggregates are the same; ids of requests, cursors and abilities of search differ. */
    function compareRecorded(id: string, body: Body, recording: string | undefined): void {
      if (recording === undefined) return;
      const recorded = (JSON.parse(readFileSync(join(FOLDER, recording), 'utf8')) as { response: { body: Body } })
        .response.body;
      if (body.object === 'list' && id.startsWith('records_') && !/tombstone/.test(id)) {
        expect(plain(body.data)).toEqual(plain(recorded.data));
      }
      if (body.object === 'record') expect(plain(body)).toEqual(plain(recorded));
      if (body.object === 'list' && id.startsWith('search_')) {
        const shape = (rows: unknown): string[] => Object.keys((rows as object[])[0] ?? {}).sort();
        expect(shape(body.data)).toEqual(shape(recorded.data));
        expect(Object.keys(body.meta ?? {}).sort()).toEqual(Object.keys(recorded.meta ?? {}).sort());
        expect(body.meta?.count).toBe(recorded.meta?.count);
        for (const hit of hits(body)) {
          const { record_key: key, connection_id: connection } = hit;
          const alike = hits(recorded).find((one) => one.record_key === key && one.connection_id === connection);
          // Pages differ in the order of equal scores.
          if (alike) expect({ ...hit, score: undefined }).toEqual({ ...alike, score: undefined });
        }
        expect(body.meta?.recall).toEqual(recorded.meta?.recall);
      }
      if (id.startsWith('schema_compact')) expect(withoutSemantic(body)).toEqual(withoutSemantic(recorded));
    }

    const hits = ({ data }: Body): Record<string, unknown>[] => data as Record<string, unknown>[];

    function plain(value: unknown): unknown {
      const text = JSON.stringify(value, (key, member: unknown) =>
        key === 'self' || key === 'blob_ref' || key === 'request_id' ? undefined : member,
      );
      return JSON.parse(text);
    }

    function withoutSemantic(body: Body): unknown {
      const { bearer: _, links: __, ...rest } = body;
      return JSON.parse(JSON.stringify(rest).replaceAll(',sem', ''));
    }
  },
);
