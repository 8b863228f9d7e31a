import type { Node } from 'jsonc-parser';
import type { InputConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import type { Complaint } from './readBrowse.ts';
import { SECRET_NAME } from './secretReferences.ts';

/** The `inputs` block, in the form of VS Code's mcp.json. */
const INPUT_KEYS = ['id', 'type', 'description', 'default', 'password', 'options'];

export function readInputs(node: Node, complain: (complaint: Complaint) => void): InputConfig[] {
  if (node.type !== 'array') {
    complain({ message: 'it must be a list of inputs.', offset: node.offset });
    return [];
  }
  const seen = new Set<string>();
  return (node.children ?? []).flatMap((item) => {
    const input = readInput(item, complain);
    if (!input) return [];
    if (seen.has(input.id)) {
      complain({ message: `the input "${input.id}" stands here twice; the first one counts.`, offset: item.offset });
      return [];
    }
    seen.add(input.id);
    return [input];
  });
}

function readInput(node: Node, complain: (complaint: Complaint) => void): InputConfig | undefined {
  const flaw = (message: string, at: Node = node): undefined => complain({ message, offset: at.offset }) as undefined;
  if (node.type !== 'object') return flaw('each of them must be an object with an "id" and a "type".');
  const fields = new Map(members(node).map(([key, value]) => [key.value as string, value]));
  for (const [key] of members(node)) {
    if (!INPUT_KEYS.includes(key.value)) return flaw(unknownKey(key.value, INPUT_KEYS), key);
  }
  const [id, type] = [fields.get('id'), fields.get('type')];
  if (!id || typeof id.value !== 'string' || !SECRET_NAME.test(id.value)) {
    return flaw('an input needs an "id" of letters, digits, "_", "." and "-".', id);
  }
  if (type?.value === 'command') {
    return flaw(`"${id.value}" is of type "command", which only the editor could run; use "promptString".`, type);
  }
  if (type?.value !== 'promptString' && type?.value !== 'pickString') {
    return flaw(`"${id.value}" needs a "type": "promptString" or "pickString".`, type);
  }
  const options = (fields.get('options')?.children ?? []).flatMap(({ value }) =>
    typeof value === 'string' ? [value] : [],
  );
  if (type.value === 'pickString' && options.length === 0) return flaw(`"${id.value}" needs "options" to pick from.`);
  const text = (name: string): string | undefined => {
    const value: unknown = fields.get(name)?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const preset = text('default');
  return {
    id: id.value,
    type: type.value,
    description: text('description') ?? '',
    password: fields.get('password')?.value === true,
    ...(preset === undefined ? {} : { default: preset }),
    options,
  };
}
