import type { HealthReport, TelemetryReport } from '../../control/healthContract.ts';
import type { HealthWithoutWorker } from '../../supervision/health.ts';
import { healthText, type NoTelemetry, telemetryText } from '../../telemetry/systemReports.ts';
import { boundData } from '../../text/boundData.ts';

/** Resource that reports about the gateway itself. Resources keep the number of tools at three (M5.5). */
export interface SystemResource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: string;
  annotations: { audience: ('user' | 'assistant')[]; priority: number };
}

export interface ResourceText {
  uri: string;
  mimeType: string;
  text: string;
}

export interface SystemResources {
  list(): readonly SystemResource[];
  /** Undefined where the uri is none of these. `?render=json` asks for data. */
  read(uri: string): readonly ResourceText[] | undefined;
}

const SCHEME = 'waygate:';
const PORCELAIN = 'text/plain';
const JSON_TYPE = 'application/json';

const RESOURCES: readonly SystemResource[] = [
  {
    uri: 'waygate://health',
    name: 'health',
    title: 'Gateway health',
    description: 'How the gateway and each server fare: states, restarts, last faults. Add ?render=json for data.',
    mimeType: PORCELAIN,
    annotations: { audience: ['user', 'assistant'], priority: 0.2 },
  },
  {
    uri: 'waygate://telemetry',
    name: 'telemetry',
    title: 'Gateway telemetry',
    description: 'Requests, errors, retries and latencies by method and tool, tokens saved. Add ?render=json for data.',
    mimeType: PORCELAIN,
    annotations: { audience: ['user', 'assistant'], priority: 0.1 },
  },
];

/** Of a worker, or of a host that has none. */
export interface SystemSource {
  health(): HealthReport | HealthWithoutWorker;
  telemetry(): TelemetryReport | NoTelemetry;
}

export function systemResources(source: SystemSource): SystemResources {
  return {
    list: () => RESOURCES,
    read: (uri) => {
      const asked = parsed(uri);
      if (!asked) return undefined;
      const { name, json } = asked;
      if (name === 'health') {
        const report = source.health();
        return [json ? data(uri, report) : text(uri, healthText(report))];
      }
      const report = source.telemetry();
      return [json ? data(uri, report) : text(uri, telemetryText(report))];
    },
  };
}

function parsed(uri: string): { name: 'health' | 'telemetry'; json: boolean } | undefined {
  if (!uri.startsWith(SCHEME) || !URL.canParse(uri)) return undefined;
  const { host, pathname, searchParams } = new URL(uri);
  if (host !== 'health' && host !== 'telemetry') return undefined;
  if (pathname !== '' && pathname !== '/') return undefined;
  return { name: host, json: searchParams.get('render') === 'json' };
}

function text(uri: string, words: string): ResourceText {
  return { uri, mimeType: PORCELAIN, text: `${words}\n` };
}

function data(uri: string, report: object): ResourceText {
  return { uri, mimeType: JSON_TYPE, text: JSON.stringify(boundData(report)) };
}
