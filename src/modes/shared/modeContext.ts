import type { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import type { CallTrace } from '../../calls/pipeline/callTrace.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { Settings } from '../../config/declaration/document.ts';
import type { CallRecord } from '../../control/activityContract.ts';
import type { ConfigurationStatus, ServerBrief } from '../../control/contract.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import type { UseHistory } from '../../ranking/useHistory.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { ArtifactStore } from '../../results/artifacts/artifactStore.ts';
import type { AdmittedResult, ResultReview } from '../../results/firewall.ts';
import type { ReportNormalisation } from '../../text/normalise.ts';
import type { PrimitivePorts } from '../primitives/primitivePorts.ts';
import type { CheckedArguments } from './arguments.ts';
import type { CallEvent } from './callEvent.ts';
import type { BegunCall, EndedCall, TracedCall } from './callRecord.ts';
import type { CatalogView } from './catalog/catalogView.ts';
import type { ClientRequests } from './client/clientRequests.ts';
import type { GatewayTool } from './gatewayTools.ts';
import type { SessionState } from './sessionState.ts';

/** Parts of the worker that a mode uses. */
export interface GatewayContext {
  /** Folder that relative paths begin at. */
  workspace: string;
  view(): CatalogView;
  servers(): readonly ServerBrief[];
  /** Describes where a server leads that another one with the same definitions does not. */
  reachBeside(server: string, other: string): readonly string[];
  configuration(): ConfigurationStatus;
  /** Waits for servers that are starting and were never listed. */
  firstLists: FirstLists;
  browseConfig(): Settings['browse'];
  /** Setting for the tools that serve resources and prompts. */
  primitiveTools(): Settings['primitives'];
  /** Tools that ran after a query in this workspace. */
  useHistory(): UseHistory;
  recordUse(query: string, toolId: string): void;
  artifacts: ArtifactStore;
  /** Returns whether secrets are masked in an error of a server, or in its other results, parts of artifacts included. */
  masks(isError: boolean): boolean;
  /** Scans what a model is shown of a result; undefined without a finding. */
  reviewed(shown: string, source: string): ResultReview | undefined;
  /** Pipeline of every `tool_execute`. */
  calls: CallPipeline<AdmittedResult>;
  /** Returns the contract for a call of this tool whose answer is lost. */
  contractOf(tool: CatalogTool): ReplayContract;
  /** Offers the sign-in at a server to the client of a call. Resolves to whether the user has signed in. */
  signIn(server: string, call: CallContext): Promise<boolean>;
  /** Sends the requests of servers to their clients. */
  clientRequests: Pick<ClientRequests, 'during'>;
  /** Resources and prompts. */
  primitives: PrimitivePorts;
  /** Returns the trace of the call, for the user's view of the activity. */
  onCallStart(call: BegunCall): CallTrace | undefined;
  onCallEnd(call: Omit<CallRecord, 'id'>, event: CallEvent & { sessionId: string }, end: EndedCall): void;
  /** Rejects while nothing may be answered yet (`startup`). */
  admit(): Promise<void>;
}

/** Waits for servers whose tools are unknown because they are starting for the first time. */
export interface FirstLists {
  /** Waits until `isEnough` or until all are listed, for each server once and for a limited time. */
  forAnswer(isEnough: () => boolean, signal: AbortSignal): Promise<void>;
  /** Waits for one server, up to the time limit of its calls. */
  ofServer(name: string, signal: AbortSignal): Promise<void>;
}

/** Answer before rendering: the text for a model, and the data for `render=json` (O9.1). */
export interface Answer {
  text: string;
  data: object;
  isError?: boolean;
  /** Parts that text cannot replace: images, audio. */
  media?: readonly object[];
  /** Lines after the text. The data has its own form of them. */
  notes?: readonly string[];
  event: CallEvent;
}

/** Call of a gateway tool whose arguments are checked and whose quota is taken. */
export interface ToolCall {
  args: CheckedArguments;
  context: GatewayContext;
  session: SessionState;
  call: TracedCall;
  /** Reports that a part of the input was read as something else (O10.1). */
  onCorrection: ReportNormalisation;
}

/** Call of a gateway tool that failed. The arguments may be unchecked. */
export interface FailedCall {
  args: Readonly<Record<string, unknown>>;
  error: GatewayError;
  toolOf(toolId: string): CatalogTool | undefined;
}

/** Gateway tool that this process can run: its declaration and its code. */
export interface RunnableTool<Name extends string = string> extends GatewayTool<Name> {
  run(call: ToolCall): Answer | Promise<Answer>;
  /** Returns the part of a failed call's event that differs from that of any other failed call. */
  failed(call: FailedCall): Partial<CallEvent>;
}
