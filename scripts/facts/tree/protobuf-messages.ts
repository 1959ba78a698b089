import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProtoField, ProtoMessages } from '../openapi.ts';
import { withoutComments } from './go-source.ts';

/** The modules whose messages clients of the server send. */
const MODULES = ['api', 'apiextensions-apiserver', 'apimachinery', 'kube-aggregator'];
const SCALARS = /^(string|bytes|bool|double|float|s?u?int(32|64)|s?fixed(32|64))$/;

/** Every message of the tree's generated.proto files: field → number, type, repeated or map. */
export function protobufMessages(tree: string): ProtoMessages {
  const files = MODULES.flatMap((module) => protoFiles(join(tree, 'staging/src/k8s.io', module)));
  const messages = files.flatMap((file) => messagesOf(readFileSync(file, 'utf8')));
  return Object.fromEntries(messages.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function protoFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('generated.proto'))
    .map((path) => join(folder, path));
}

export function messagesOf(text: string): [string, Record<string, ProtoField>][] {
  const source = withoutComments(text);
  const packageName = /^package ([\w.]+);/m.exec(source)?.[1] ?? '';
  return [...source.matchAll(/^message (\w+) \{([\s\S]*?)^\}/gm)].map(([, name, body]) => [`${packageName}.${name}`, fieldsOf(body!, packageName)]);
}

function fieldsOf(body: string, packageName: string): Record<string, ProtoField> {
  const full = (type: string): string => (SCALARS.test(type) ? type : type.startsWith('.') ? type.slice(1) : `${packageName}.${type}`);
  const fields = [...body.matchAll(/^\s*(optional|repeated|required)?\s*(map<(\w+), *([\w.]+)>|[\w.]+) (\w+) = (\d+)/gm)].map(
    ([, label, type, key, value, name, number]): [string, ProtoField] => [
      name!,
      {
        number: Number(number),
        ...(label === 'repeated' && { repeated: true }),
        ...(key === undefined ? { type: full(type!) } : { map: [key, full(value!)] as [string, string] }),
      },
    ],
  );
  return Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
