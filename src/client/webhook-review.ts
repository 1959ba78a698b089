import { jsonKind } from '../encoding/go-format.ts';
import { quote } from '../util/go-quote.ts';
import { isJsonObject, ownValue, parseLongJson } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/** An answer that cannot be read at all; to upstream, the call has failed. */
export class UnreadableAnswer extends Error {}

/** What a webhook's answer is to be, and what else its decoder knows: Go's names by `apiVersion kind`. */
export interface ExpectedReview {
  apiVersion: string;
  kind: string;
  known: ReadonlyMap<string, string>;
}

/** The review that a webhook sent back (apiserver/pkg/util/webhook/client.go). Kind and version may be left out. Throws UnreadableAnswer. */
export async function readReview(answer: Buffer, expected: ExpectedReview): Promise<JsonObject> {
  if (answer.length === 0) throw new UnreadableAnswer('0-length response with status code: 200 and content type: application/json');
  const review = (await parseText(answer)) ?? {};
  if (!isJsonObject(review)) throw new UnreadableAnswer(noTypeIn(review));
  const kind = typeField(review, 'kind') || expected.kind;
  const apiVersion = typeField(review, 'apiVersion') || expected.apiVersion;
  const found = expected.known.get(`${apiVersion} ${kind}`);
  if (found === undefined)
    throw new UnreadableAnswer(
      `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`,
    );
  const wanted = expected.known.get(`${expected.apiVersion} ${expected.kind}`);
  if (found !== wanted) throw new UnreadableAnswer(`converting (${found}) to (${wanted}): unknown conversion`);
  return review;
}

const OPENING_BRACE = /^\s*\{/;

/** What does not begin as an object of JSON does is read as YAML. */
async function parseText(answer: Buffer): Promise<Json> {
  try {
    if (answer.length > MAX_YAML_BYTES || OPENING_BRACE.test(answer.toString('latin1', 0, MAX_SPACE_BYTES))) return await parseLongJson(answer);
    const { parseYamlInSlices } = await import('../encoding/yaml.ts');
    return await parseYamlInSlices(answer.toString());
  } catch (error) {
    throw new UnreadableAnswer(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
}

const MAX_SPACE_BYTES = 256;
/** Nobody answers with so much YAML, which takes long to read. */
const MAX_YAML_BYTES = 64 * 1024;

const TYPE_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Of JSON that is no object, and so has neither a kind nor a version. */
export const noTypeIn = (value: Json): string =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go value of type ${TYPE_STRUCT}`;

function typeField(review: JsonObject, field: string): string {
  const value = ownValue(review, field) ?? '';
  if (typeof value === 'string') return value;
  throw new UnreadableAnswer(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(value)} into Go struct field .${field} of type string`,
  );
}
