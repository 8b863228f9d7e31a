import { join } from 'node:path';
import { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import type { ApprovalRequest } from '../../calls/policy/approval.ts';
import type { EgressFinding } from '../../calls/policy/egress.ts';
import { replayFor } from '../../calls/settings/replaySettings.ts';
import type { CatalogTool, ServerOrigin } from '../../catalog/types.ts';
import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import { grantKey } from '../../mcp/oauth/tokenStore.ts';
import { ResultLinks } from '../../modes/primitives/resultLinks.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { ArtifactStore } from '../../results/artifacts/artifactStore.ts';
import { type AdmittedResult, Firewall, type ResultReview } from '../../results/firewall.ts';
import { knownSecrets, maskedValues, scrubSecrets } from '../../secrets/mask.ts';
import { scrubValue } from '../../secrets/scrubValue.ts';
import { approvalQuestion } from '../../text/approvalQuestion.ts';
import { needsApproval } from '../../trust/approvals.ts';
import { sentSecrets } from '../../trust/egress.ts';
import { resultNote, scanResult } from '../../trust/scan/resultScan.ts';
import { secretEvent } from '../../trust/trustLog.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { approvalFile } from './approvalFile.ts';
import { ownerKey } from './serverLinks.ts';
import type { ServerTrust } from './serverTrust.ts';
import { storedName } from './sharedSecrets.ts';

export interface CallPathOptions {
  workspace: string;
  stateFolder: string;
  configuration: Configuration;
  pool: ServerPool;
  trust: ServerTrust;
  /** Asks the user in an editor that watches. */
  approve(question: ApprovalQuestion, gone: AbortSignal): Promise<ApprovalVerdict | 'late'>;
  /** Offers a question about a refused call to each editor that watches, now or later. */
  offer(question: ApprovalQuestion, gone: AbortSignal, answer: (verdict: ApprovalVerdict) => void): void;
  log(line: string): void;
}

/** Path of a call to its server and of the result back: pipeline, firewall and stored results. */
export class CallPath {
  readonly artifacts: ArtifactStore;
  readonly firewall: Firewall;
  readonly links = new ResultLinks();
  readonly pipeline: CallPipeline<AdmittedResult>;
  readonly #configuration: Configuration;
  #questions = 0;

  constructor({ workspace, stateFolder, configuration, pool, trust, approve, offer, log }: CallPathOptions) {
    this.#configuration = configuration;
    this.artifacts = new ArtifactStore({ folder: join(stateFolder, 'artifacts') });
    this.firewall = new Firewall({
      store: this.artifacts,
      workspace,
      review: (shown, source) => this.reviewed(shown, source),
      onOddResult: ({ source }) => source?.server && pool.get(source.server)?.oddities.add('bad_result'),
    });
    this.pipeline = new CallPipeline<AdmittedResult>(
      {
        upstream: (server) => pool.get(server),
        firewall: (result, { tool, provenance }) => {
          this.links.note(tool.server, result);
          return this.firewall.admit(result, {
            ...{ toolId: tool.id, upstreamName: tool.upstreamName, source: tool },
            provenance,
          });
        },
        scrubSecrets,
        trust: (tool) => trust.verdictOn(tool, pool.get(tool.server)),
        onSecretAllowed: (server, finding) => trust.record(secretEvent(server, finding)),
        findSecrets: (server, sent) => this.#findSecrets(server, sent),
        approval: { ask: (request) => approve(this.#questionAbout(request), request.signal) },
        later: {
          describe: (request) => this.#questionAfter(request),
          // Another worker may have given the same id.
          offer: (shown, gone, answer) => offer({ ...(shown as ApprovalQuestion), id: this.#nextId() }, gone, answer),
        },
        approvalStore: approvalFile(stateFolder, log),
        log,
      },
      configuration.current.settings,
    );
    this.adopt();
  }

  /** Puts the configuration in force for the calls that begin from now on. */
  adopt(): void {
    const { settings } = this.#configuration.current;
    const { maxBytes, maxArtifacts, ttlSeconds, shownChars, maskSecrets, maskOnDisk } = settings.artifacts;
    this.artifacts.adopt({ maxBytes, maxCount: maxArtifacts, maxAgeMs: ttlSeconds * 1_000 });
    this.firewall.adopt({ shownChars, maskForModel: maskSecrets, maskOnDisk });
    this.pipeline.adopt(settings);
  }

  /** Scans what a model is shown of a result, unless the user turned that off (T1.15). */
  reviewed(shown: string, source: string): ResultReview | undefined {
    if (this.#configuration.current.settings.trust.results === 'off') return undefined;
    const rules = scanResult(shown);
    return rules.length === 0 ? undefined : { rules, note: resultNote(rules, source) };
  }

  /** Returns the replay contract of a tool. */
  contractOf(tool: CatalogTool): ReplayContract {
    return replayFor(this.#configuration.current.settings.replay, tool).contract;
  }

  /** Returns the error for an answer, a notification or another message of a client that must not reach a server. */
  egressRefusal(
    server: string,
    sent: unknown,
    from: { session?: object; byUser?: boolean } = {},
  ): GatewayError | undefined {
    const message = { id: '', namespace: '', upstreamName: '', tags: [], safety: '' as const };
    return this.pipeline.egressRefusal({ ...message, server, origin: this.originOf(server) }, sent, from);
  }

  /** Returns whose file configures a server. The choices of resources and prompts do not say it. */
  originOf(server: string): ServerOrigin {
    const config = this.#configuration.current.servers.find(({ name }) => name === server);
    return config && !needsApproval(config) ? 'user' : 'workspace';
  }

  #findSecrets(server: string, sent: unknown): EgressFinding[] {
    const { servers } = this.#configuration.current;
    const nameOf = (owner: string): string | undefined =>
      servers.find((one) => owner === ownerKey(one.name) || ('headers' in one && owner === grantKey(one.name, one.url)))
        ?.name;
    const isOwner = (owner: string): boolean => owner === ownerKey(server) || nameOf(owner) === server;
    const found = sentSecrets(sent, { server, isOwner }, { known: knownSecrets, masked: maskedValues });
    return found.map(({ kind, pointer, owners }) => {
      const name = kind === 'masked' ? owners[0] : owners.map(nameOf).find((one) => one !== undefined);
      return {
        kind,
        pointer: scrubSecrets(pointer),
        words: wordsFor(kind, name, owners),
        ...(name !== undefined && { owner: name }),
        shown: scrubValue(sent) as Record<string, unknown>,
      };
    });
  }

  #questionAbout({ tool, args, reason, trace }: ApprovalRequest): ApprovalQuestion {
    const { id: toolId, upstreamName, server } = tool;
    return {
      id: this.#nextId(),
      toolId,
      server,
      client: trace?.client ?? '',
      ...(trace && { callId: trace.id }),
      reason,
      arguments: scrubValue(args),
      lines: approvalQuestion({ toolId, tool: upstreamName, server, reason, args }, scrubSecrets),
    };
  }

  /** Returns the question about a call that was refused. */
  #questionAfter(request: ApprovalRequest): ApprovalQuestion {
    return { ...this.#questionAbout(request), refusedAt: Date.now() };
  }

  #nextId(): string {
    this.#questions += 1;
    return String(this.#questions);
  }

  async stop(): Promise<void> {
    await this.artifacts.flush();
    this.pipeline.dispose();
  }
}

function wordsFor(kind: EgressFinding['kind'], server: string | undefined, owners: readonly string[]): string {
  if (kind === 'form') return 'what looks like a secret';
  if (kind === 'masked') return `a secret that Waygate masked in a text of the server ${server}`;
  if (server !== undefined) return `a secret of the server ${server}`;
  const stored = owners.map(storedName).find((one) => one !== undefined);
  return stored === undefined ? 'a secret of a server that is no longer configured' : `the stored secret ${stored}`;
}
