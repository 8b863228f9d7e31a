import type { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { Settings } from '../../config/declaration/document.ts';
import type { CallRecord, ConfigurationStatus, ServerBrief } from '../../control/contract.ts';
import type { UseHistory } from '../../ranking/useHistory.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { ArtifactStore } from '../../results/artifacts/artifactStore.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import type { PrimitivePorts } from '../primitives/primitivePorts.ts';
import type { AnswerTold, CallEvent } from './callEvents.ts';
import type { CatalogView } from './catalog/catalogView.ts';
import type { ClientRequests } from './client/clientRequests.ts';

/** What the mode works on: the worker owns it. */
export interface GatewayContext {
  /** The folder that paths are told from. */
  workspace: string;
  view(): CatalogView;
  servers(): readonly ServerBrief[];
  configuration(): ConfigurationStatus;
  browseConfig(): Settings['browse'];
  /** What was executed after which query, in this workspace. */
  useHistory(): UseHistory;
  recordUse(query: string, toolId: string): void;
  artifacts: ArtifactStore;
  /** Whether secrets are masked in all that a model reads, parts of artifacts included. */
  masksViews(): boolean;
  /** The way of every `tool_execute`. */
  calls: CallPipeline<AdmittedResult>;
  /** What may happen to a call of this tool whose answer is lost. */
  contractOf(tool: CatalogTool): ReplayContract;
  /** Where what servers ask their clients goes. */
  clientRequests: Pick<ClientRequests, 'during'>;
  /** Resources and prompts. */
  primitives: PrimitivePorts;
  onCallStart(): void;
  onCallEnd(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId: string }): void;
  /** Rejects while nothing may be answered yet (`startup`). */
  admit(): Promise<void>;
}

/** Answer before rendering: the text for a model, and the data for `render=json` (O9.1). */
export interface Answer {
  text: string;
  data: object;
  isError?: boolean;
  /** Parts that a text cannot stand for: images, audio. */
  media?: readonly object[];
  /** Lines behind the text of which the data has an account of its own. */
  notes?: readonly string[];
  /** For telemetry. */
  told: AnswerTold;
}
