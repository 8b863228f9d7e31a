import type { HealthReport, HealthWithoutWorker, NoTelemetry, TelemetryReport } from '../../control/healthContract.ts';
import { healthText, telemetryText } from '../../telemetry/reportText.ts';
import { boundData } from '../../text/boundData.ts';
import { visibleJson, visibleText } from '../../text/visibleText.ts';

export interface ResourceText {
  uri: string;
  mimeType: string;
  text: string;
}

export interface SystemResources {
  list(): typeof RESOURCES;
  /** Returns undefined for any other uri. `?render=json` asks for data. */
  read(uri: string): readonly ResourceText[] | undefined;
}

const PORCELAIN = 'text/plain';

/** Reports of the gateway on itself are resources, so that the number of tools stays three. */
const RESOURCES = [
  {
    uri: 'waygate://health',
    name: 'health',
    title: 'Gateway health',
    description: 'States, restarts and last faults of the gateway and of each server. Add ?render=json for data.',
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
] as const;

/** Reports of a worker, or of a host that has none. */
export interface SystemSource {
  health(): HealthReport | HealthWithoutWorker;
  telemetry(): TelemetryReport | NoTelemetry;
}

export function systemResources(source: SystemSource): SystemResources {
  const reports: Readonly<Record<string, () => { data: object; text: string }>> = {
    health: () => {
      const data = source.health();
      return { data, text: healthText(data) };
    },
    telemetry: () => {
      const data = source.telemetry();
      return { data, text: telemetryText(data) };
    },
  };
  return {
    list: () => RESOURCES,
    read: (uri) => {
      if (!uri.startsWith('waygate:') || !URL.canParse(uri)) return undefined;
      const { host, pathname, searchParams } = new URL(uri);
      if (!Object.hasOwn(reports, host) || (pathname !== '' && pathname !== '/')) return undefined;
      const report = reports[host]?.();
      if (!report) return undefined;
      return [
        searchParams.get('render') === 'json'
          ? { uri, mimeType: 'application/json', text: visibleJson(boundData(report.data)) }
          : { uri, mimeType: PORCELAIN, text: `${visibleText(report.text)}\n` },
      ];
    },
  };
}
