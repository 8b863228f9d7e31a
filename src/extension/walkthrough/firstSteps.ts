import type { ContextKeyTypes } from '../contributions.ts';
import { type GatewayView, serversOf } from '../status/health.ts';

/** Context keys that complete a step of the walkthrough. */
export type StepKey = Extract<keyof ContextKeyTypes, `waygate.step.${string}`>;

/** Determines the steps that the gateways show to be done. Reading a result shows in the window alone. */
export function stepsDone(views: readonly GatewayView[]): StepKey[] {
  const servers = views.flatMap(serversOf);
  const calls = views.flatMap(({ link }) => (link.kind === 'attached' ? link.snapshot.recentCalls : []));
  const steps: [StepKey, boolean][] = [
    ['waygate.step.import', servers.length > 0],
    ['waygate.step.approve', servers.some(({ state }) => state !== 'needs_approval' && state !== 'disabled')],
    // The user's own calls in the editor are no questions of an agent.
    ['waygate.step.ask', calls.some(({ session }) => session !== 'you')],
  ];
  return steps.flatMap(([step, isDone]) => (isDone ? step : []));
}
