/** Tools as the editor shows them. Types only. */
import type { Safety } from '../catalog/types.ts';

export interface ToolDetails {
  toolId: string;
  path: string;
  server: string;
  namespace: string;
  name: string;
  title?: string;
  description: string;
  /** Definition exactly as the server sent it, with hidden characters escaped. */
  definition: unknown;
  /** Parameters in short: `id: string, limit?: integer = 20`. */
  signature: string;
  /** cl100k tokens of the definition. */
  tokens: number;
  safety: Safety;
  annotations: Readonly<Record<string, unknown>>;
  replay: 'convergent' | 'probe_required' | 'never_replay';
  calls: number;
  errors: number;
  p95Ms?: number;
  lastUsedAt?: number;
  /** The version before, where the definition differs from the approved one or from the one seen last. */
  before?: { definition: unknown; at?: string };
}

export interface ToolPath {
  path: string;
  toolId: string;
  /** Name that the server gives it, as `tools.exclude` has it. */
  name?: string;
  /** At most 80 characters. */
  description: string;
  safety: Safety;
  server: string;
  /** cl100k tokens of the definition. */
  tokens: number;
}

export interface ToolPaths {
  revision: number;
  paths: readonly ToolPath[];
}
