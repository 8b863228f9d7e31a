import type { ConfigurationProblem, GatewaySnapshot } from '../../control/contract.ts';
import type { QuarantinedServer } from '../../control/dashboardMessages.ts';
import type { ScannedEntry, ServerScan, TrustReview } from '../../control/trustContract.ts';
import { oneLine, quoted } from '../../text/porcelain.ts';
import { SCAN_RULES } from '../../trust/scan/finding.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t, translated } from '../l10n.ts';
import type { Disposable, Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';

/** Longer than anything that a scan or a comparison quotes. */
const MAX_LINE = 1_000;
/** Findings of one server that a view lists; `waygate scan` lists all. */
const MAX_FINDINGS = 10;

/** Server with its review and the scan of what it lists. */
export interface ScannedServer {
  review: TrustReview;
  scan: ServerScan | undefined;
}

const TIERS = { hard: t`hard`, soft: t`soft` } satisfies Record<ScannedEntry['findings'][number]['tier'], string>;

/** Renders a finding: `about` describes it, `quote` is the passage. */
export function describeFinding({ rule, tier, where, quote }: ScannedEntry['findings'][number]): {
  about: string;
  quote: string;
} {
  const found = `${translated(SCAN_RULES[rule] ?? rule)} (${TIERS[tier]})`;
  const about = where === '' ? found : t`${found} at ${oneLine(where, MAX_LINE)}`;
  return { about, quote: oneLine(quote, MAX_LINE) };
}

/** Renders the findings of a server in the order of its lists. */
export function findingsOf(
  scan: ServerScan | undefined,
  wanted: (finding: ScannedEntry['findings'][number]) => boolean = () => true,
): { about: string; quote: string }[] {
  return (scan?.entries ?? []).flatMap(({ kind, name, findings }) =>
    findings.filter(wanted).map((finding) => {
      const { about, quote } = describeFinding(finding);
      return { about: `${oneLine(`${kind} ${name}`, 100)}: ${about}`, quote };
    }),
  );
}

/** Returns the banners of the dashboard. */
export function quarantined(servers: readonly ScannedServer[]): QuarantinedServer[] {
  return servers.flatMap(({ review: { server, quarantine }, scan }) => {
    if (quarantine === undefined) return [];
    const findings = findingsOf(scan);
    return [
      {
        server: oneLine(server, 60),
        reason: oneLine(quarantine, MAX_LINE),
        findings: findings.slice(0, MAX_FINDINGS),
        more: Math.max(0, findings.length - MAX_FINDINGS),
      },
    ];
  });
}

/** Returns the hard findings of the workspace's servers as problems at their entries in waygate.json. */
export function findingProblems(servers: readonly ScannedServer[]): ConfigurationProblem[] {
  return servers.flatMap(({ review: { server, origin }, scan }) => {
    const { location } = scan ?? {};
    if (origin !== 'workspace' || !location) return [];
    return findingsOf(scan, ({ tier }) => tier === 'hard')
      .slice(0, MAX_FINDINGS)
      .map(({ about, quote }) => ({
        severity: 'warning' as const,
        code: 'suspicious_text' as const,
        message: t`The server ${quoted(server)} lists suspicious text. ${about}: "${quote}"`,
        location,
      }));
  });
}

/** Key of everything that changes what servers list or how the user decided about it. */
export function listingKey(attachment: number, { catalog, servers }: GatewaySnapshot): string {
  const parts = servers.map(({ name, state, held, location }) => [name, state, held, location]);
  return JSON.stringify([attachment, catalog.revision, parts]);
}

/** Keeps the scans of the workspace's servers and of the quarantined ones. Others are scanned when the user reviews them. */
export function followFindings(
  gateway: Observable<GatewayView>,
  link: Pick<GatewayLink, 'trust' | 'scan'>,
  found: Observable<readonly ScannedServer[]>,
): Disposable {
  let seen = '';
  const scanAll = async (): Promise<ScannedServer[]> => {
    const reviews = await link.trust();
    const watched = reviews.filter(({ origin, quarantine }) => origin === 'workspace' || quarantine !== undefined);
    return Promise.all(watched.map(async (review) => ({ review, scan: (await link.scan(review.server))[0] })));
  };
  const look = ({ link }: GatewayView): void => {
    if (link.kind === 'off') {
      seen = '';
      found.set([]);
    }
    if (link.kind !== 'attached') return;
    const key = listingKey(link.attachment, link.snapshot);
    if (key === seen) return;
    seen = key;
    scanAll().then(
      (servers) => key === seen && found.set(servers),
      // The worker is gone; its successor has another key.
      () => undefined,
    );
  };
  look(gateway.value);
  return gateway.onChange(look);
}
