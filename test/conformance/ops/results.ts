import { GatewayError } from '../../../src/errors/gatewayError.ts';
import { ArtifactStore } from '../../../src/results/artifacts/artifactStore.ts';
import { viewArtifact } from '../../../src/results/artifacts/viewArtifact.ts';
import { beginningOf, envelopeOf, statementsOf } from '../../../src/results/envelope/envelope.ts';
import { contentBytes, contentSize, textContent } from '../../../src/results/envelope/partContent.ts';
import { readResult } from '../../../src/results/envelope/resultParts.ts';
import { Firewall } from '../../../src/results/firewall.ts';
import { scrubSecrets } from '../../../src/secrets/mask.ts';

/** Operations of results and artifact views (M2, G11). */
export const FIREWALL_OPS: Readonly<Record<string, (input: never) => unknown>> = {
  mcp_result_to_envelope: convert,
  'tool_execute text result (24 short lines + 600 x)': executeText,
  'artifact contents': keepArtifacts,
  tool_view: view,
  scrub_secrets: (text: string) => ({ ok: scrubSecrets(text) }),
};

function convert({ result, tool_name: toolName }: { result: Record<string, unknown>; tool_name: string }): unknown {
  const parts = readResult(result, toolName);
  const { binaries, fullText } = parts;
  // The names of M2.6: the artifacts of a call that is answered have handles instead.
  const artifacts = binaries.map(({ handle, mediaType, shownType = mediaType, content, label }) => ({
    handle,
    media_type: shownType,
    size_bytes: contentSize(content),
    label,
  }));
  const envelope = envelopeOf(parts, toolName, artifacts, statementsOf(beginningOf(fullText)));
  return {
    envelope,
    binaries: Object.fromEntries(
      binaries.map(({ handle, content, mediaType, label }) => [
        handle,
        { ...bytesOf(contentBytes(content)), media_type: mediaType, label },
      ]),
    ),
    full_text_chars: fullText.length,
  };
}

function bytesOf(bytes: Buffer): Record<string, string> {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { bytes_utf8: text } : { bytes_hex: bytes.toString('hex') };
}

async function executeText({ upstream_text: text }: { upstream_text: string }): Promise<unknown> {
  const call = { toolId: 'github:create_issue@1.4.0', upstreamName: 'github.create_issue' };
  const firewall = new Firewall({ store: new ArtifactStore() });
  return (await firewall.admit({ content: [{ type: 'text', text }] }, call)).envelope();
}

let artifacts = new ArtifactStore();
const handles = new Map<string, string>();

/** Stores the artifacts that the following cases read. */
function keepArtifacts(contents: Record<string, unknown>): null {
  artifacts = new ArtifactStore();
  for (const [name, value] of Object.entries(contents)) {
    const hex = typeof value === 'string' ? /^bytes ((?:[0-9A-F]{2} ?)+)$/.exec(value)?.[1] : undefined;
    const content =
      hex !== undefined
        ? ({ kind: 'base64', data: Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('base64') } as const)
        : textContent(typeof value === 'string' ? value : JSON.stringify(value));
    const mediaType = 'text/plain';
    const draft = { kind: 'text', source: name, content, mediaType, label: name, owner: 'workspace' };
    handles.set(name, artifacts.hold(draft).info.handle);
  }
  return null;
}

async function view({ artifact, selector }: { artifact: string; selector: Record<string, unknown> }): Promise<unknown> {
  try {
    const { data } = await viewArtifact(artifacts, handles.get(artifact) ?? artifact, selector);
    return { ok: data.text };
  } catch (error) {
    if (error instanceof GatewayError) return { error: error.code };
    throw error;
  }
}
