import { gunzipSync } from 'node:zlib';
import { forEachField, trustedReader } from '../../encoding/protobuf-fields.ts';
import type { ProtobufReader } from '../../encoding/protobuf-wire.ts';

/* For tests: reads pprof's public format (github.com/google/pprof/proto/profile.proto). */

export interface DecodedProfile {
  sampleTypes: string[];
  comments: string[];
  period: number;
  durationMs: number;
  samples: { stack: string[]; values: number[] }[];
}

/** Every field of a message by its number; varints as they are, the rest as bytes. */
function fieldsOf(reader: ProtobufReader): Map<number, (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>();
  forEachField(reader, (tag, at) => {
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    values.push((tag & 7) === 0 ? Number(at.int64()) : at.bytes());
  });
  return fields;
}

const messages = (fields: Map<number, (number | Buffer)[]>, number: number): Map<number, (number | Buffer)[]>[] =>
  (fields.get(number) ?? []).map((bytes) => fieldsOf(trustedReader(bytes as Buffer)));
const integer = (fields: Map<number, (number | Buffer)[]>, number: number): number => (fields.get(number)?.[0] as number | undefined) ?? 0;

function packed(fields: Map<number, (number | Buffer)[]>, number: number): number[] {
  const reader = trustedReader((fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0));
  const values: number[] = [];
  while (!reader.done) values.push(Number(reader.int64()));
  return values;
}

export function decodePprof(bytes: Buffer): DecodedProfile {
  const profile = fieldsOf(trustedReader(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes));
  const strings = profile.get(6)!.map(String);
  const functions = new Map(messages(profile, 5).map((fields) => [integer(fields, 1), strings[integer(fields, 2)]!]));
  const locations = new Map(messages(profile, 4).map((fields) => [integer(fields, 1), functions.get(integer(messages(fields, 4)[0]!, 1))!]));
  return {
    sampleTypes: messages(profile, 1).map((fields) => `${strings[integer(fields, 1)]}/${strings[integer(fields, 2)]}`),
    comments: (profile.get(13) ?? []).map((index) => strings[index as number]!),
    period: integer(profile, 12),
    durationMs: integer(profile, 10) / 1e6,
    samples: messages(profile, 2).map((fields) => ({ stack: packed(fields, 1).map((id) => locations.get(id)!), values: packed(fields, 2) })),
  };
}
