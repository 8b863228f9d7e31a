import { randomBytes } from 'node:crypto';
import type { RecordAnswer, RecordRequest } from '../../provider/recordProvider.ts';
import type { RecordStore } from '../store/recordStore.ts';
import { AGGREGATE_PARAMS, aggregate } from './aggregate.ts';
import { getRecord, RECORD_PARAMS } from './getRecord.ts';
import { LIST_PARAMS, listRecords } from './listRecords.ts';
import { Params } from './params.ts';
import { errorBody, invalid, RequestError } from './requestError.ts';
import { SCHEMA_PARAMS, schema } from './schema.ts';
import { SEARCH_PARAMS, search } from './search.ts';
import { connectorList, streamDetail, streamList } from './streams.ts';
import { type Grant, named, type VisibleStream, visibleStreams, withinConnection } from './visible.ts';

export interface ReadRights {
  readonly grants: readonly Grant[];
  /** Why no grant counts, such as a damaged file. All reads are refused then. */
  readonly refusal?: string | undefined;
  readonly grantId: string;
}

type Request = Pick<RecordRequest, 'path' | 'query'>;

/** Answers a read as a resource server would. Throws only for a fault of the store itself. */
export function respond(store: RecordStore, rights: ReadRights, request: Request, now = new Date()): RecordAnswer {
  const requestId = `req_${randomBytes(8).toString('hex')}`;
  try {
    if (rights.refusal !== undefined) throw new RequestError(403, 'grant_invalid', rights.refusal);
    const visible = visibleStreams({ store, grants: rights.grants, now });
    return { status: 200, body: route(store, request, visible, rights.grantId), requestId };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { status: error.status, body: errorBody(error, requestId), requestId };
  }
}

const CONNECTION = ['connection_id', 'connector_instance_id'];

function route(store: RecordStore, request: Request, visible: readonly VisibleStream[], grantId: string): object {
  const [version, kind, ...rest] = segments(request.path);
  if (version !== 'v1') throw notFound(request);
  const params = (allowed: readonly string[]): Params => new Params(request, allowed);
  const [first, second, third] = rest;
  if (rest.length === 0) {
    if (kind === 'schema') return schema(params(SCHEMA_PARAMS), visible, grantId);
    if (kind === 'streams') {
      const list = params(CONNECTION);
      return streamList(store, list, withinConnection(visible, list.connectionId));
    }
    if (kind === 'connectors') return connectorList(visible);
    if (kind === 'search') {
      const asked = params(SEARCH_PARAMS);
      return search(store, asked, withinConnection(visible, asked.connectionId));
    }
  }
  if (kind === 'blobs' && rest.length === 1) throw new RequestError(404, 'blob_not_found', 'Blob not found');
  if (kind === 'search' && (first === 'semantic' || first === 'hybrid')) {
    throw invalid(`This provider searches by words alone, so there is no ${first} search. Use /v1/search.`, 'mode');
  }
  if (kind !== 'streams' || first === undefined) throw notFound(request);
  if (rest.length === 1) return streamDetail(params(CONNECTION), first, visible);
  const chosen = (asked: Params): VisibleStream[] => named(withinConnection(visible, asked.connectionId), first);
  if (second === 'records' && rest.length === 2) {
    const asked = params(LIST_PARAMS);
    return listRecords(store, asked, chosen(asked), visible);
  }
  if (second === 'aggregate' && rest.length === 2) {
    const asked = params(AGGREGATE_PARAMS);
    return aggregate(store, asked, chosen(asked));
  }
  if (second === 'records' && third !== undefined && rest.length === 3) {
    const asked = params(RECORD_PARAMS);
    return getRecord(store, asked, { key: third, streams: chosen(asked), all: visible });
  }
  throw notFound(request);
}

function segments(path: string): string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    throw invalid('The path is not percent-encoded');
  }
}

const notFound = ({ path }: Request): RequestError => new RequestError(404, 'not_found', `Route GET:${path} not found`);
