import { join } from 'node:path';
import { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import { replayFor } from '../../calls/settings/replaySettings.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';
import { ResultLinks } from '../../modes/primitives/resultLinks.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { ArtifactStore } from '../../results/artifacts/artifactStore.ts';
import { type AdmittedResult, Firewall } from '../../results/firewall.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { approvalQuestion } from '../../text/approvalQuestion.ts';
import type { ServerPool } from '../../upstream/connection/serverPool.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { approvalFile } from './approvalFile.ts';

export interface CallPathOptions {
  stateFolder: string;
  configuration: Configuration;
  pool: ServerPool;
  /** Asks the user in an editor that watches. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict>;
  log(line: string): void;
}

/** Path of a call to its server and of the result back: pipeline, firewall and stored results. */
export class CallPath {
  readonly artifacts: ArtifactStore;
  readonly firewall: Firewall;
  readonly links = new ResultLinks();
  readonly pipeline: CallPipeline<AdmittedResult>;
  readonly #configuration: Configuration;

  constructor({ stateFolder, configuration, pool, approve, log }: CallPathOptions) {
    this.#configuration = configuration;
    this.artifacts = new ArtifactStore({ folder: join(stateFolder, 'artifacts') });
    this.firewall = new Firewall({ store: this.artifacts });
    this.pipeline = new CallPipeline<AdmittedResult>(
      {
        upstream: (server) => pool.get(server),
        firewall: (result, { tool, provenance }) => {
          this.links.note(tool.server, result);
          return this.firewall.admit(result, { toolId: tool.id, upstreamName: tool.upstreamName, provenance });
        },
        scrubSecrets,
        approval: { ask: ({ tool, args, reason }) => approve(questionAbout(tool, args, reason)) },
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

  /** Returns the replay contract of a tool. */
  contractOf(tool: CatalogTool): ReplayContract {
    return replayFor(this.#configuration.current.settings.replay, tool).contract;
  }

  async stop(): Promise<void> {
    await this.artifacts.flush();
    this.pipeline.dispose();
  }
}

function questionAbout(tool: CatalogTool, args: Readonly<Record<string, unknown>>, reason: string): ApprovalQuestion {
  const { id: toolId, upstreamName, server } = tool;
  return { toolId, lines: approvalQuestion({ toolId, tool: upstreamName, server, reason, args }, scrubSecrets) };
}
