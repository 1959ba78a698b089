import { JSON_TYPE, YAML_TYPE, parseAccept } from '../endpoints/negotiation.ts';
import type { Handler } from '../endpoints/request.ts';
import { notAcceptable } from '../api/errors.ts';
import { prettyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { timeOf } from '../util/time.ts';

/** What a component says of itself to people who look for a fault (KEP-4827 /statusz, KEP-4828 /flagz; apiserver/pkg/server/{statusz,flagz}). */
interface ComponentPage {
  kind: 'Flagz' | 'Statusz';
  /** Below the heading. */
  text(): string;
  fields(): JsonObject;
}

const COMPONENT = 'apiserver';
const GROUP = 'config.k8s.io';
/** Oldest first; all but the newest are deprecated. */
const VERSIONS = ['v1alpha1', 'v1beta1'];
const NEWEST = VERSIONS.at(-1)!;
const PLAIN = 'text/plain';
/** Upstream takes another one each time, so that nobody parses the text; one is enough to read it. */
const SEPARATOR = ': ';

export interface ComponentStatus {
  startMs: number;
  binaryVersion: string;
  emulationVersion: string;
  paths: readonly string[];
}

/** `/statusz` */
export function statuszHandler({ startMs, binaryVersion, emulationVersion, paths }: ComponentStatus, nowMs: () => number = Date.now): Handler {
  const upSeconds = (): number => Math.floor((nowMs() - startMs) / 1000);
  const goVersion = `node ${process.version}`;
  return pageHandler({
    kind: 'Statusz',
    text: () => `
Started${SEPARATOR}${unixDate(startMs)}
Up${SEPARATOR}${uptime(upSeconds())}
Go version${SEPARATOR}${goVersion}
Binary version${SEPARATOR}${binaryVersion}
Emulation version${SEPARATOR}${emulationVersion}
Paths${SEPARATOR}${paths.join(' ')}
`,
    fields: () => ({ startTime: timeOf(new Date(startMs)), uptimeSeconds: upSeconds(), goVersion, binaryVersion, emulationVersion, paths: [...paths] }),
  });
}

/** `/flagz`: every flag with its value, by name. */
export function flagzHandler(flags: () => Record<string, string>): Handler {
  return pageHandler({
    kind: 'Flagz',
    text: () =>
      Object.entries(flags())
        .map(([name, value]) => `${name}${SEPARATOR}${value}\n`)
        .join(''),
    fields: () => ({ flags: flags() }),
  });
}

function pageHandler(page: ComponentPage): Handler {
  return (request) => {
    const { exchange } = request;
    request.failsWithoutProtobuf = true;
    const form = formOf(page.kind, exchange.headers['accept']);
    if (form === undefined) return exchange.respond(200, { 'content-type': `${PLAIN}; charset=utf-8` }, heading(page.kind) + page.text());
    const { mediaType, version } = form;
    if (version !== NEWEST) request.warn(`This version of the ${page.kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`);
    const object = { kind: page.kind, apiVersion: `${GROUP}/${version}`, metadata: { name: COMPONENT }, ...page.fields() };
    const contentType = `${mediaType};g=${GROUP};v=${version};as=${page.kind}`;
    const respond = (text: string): void => exchange.respond(200, { 'content-type': contentType }, text);
    return mediaType === YAML_TYPE ? yamlOf(object).then(respond) : respond(prettyJson(object));
  };
}

const yamlOf = async (object: JsonObject): Promise<string> => (await import('../encoding/yaml.ts')).toYaml(object);

const heading = (kind: string): string =>
  `\n${COMPONENT} ${kind.toLowerCase()}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;

/** The structured form that was asked for; undefined for text. */
function formOf(kind: string, accept: string | undefined): { mediaType: string; version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return undefined;
  for (const { type, subtype, params } of parseAccept(accept)) {
    const fits = (mediaType: string): boolean => mediaType === `${type}/${subtype}` || (subtype === '*' && (type === '*' || mediaType.startsWith(`${type}/`)));
    const version = params.get('v') ?? '';
    const isStructured = params.get('as') === kind && params.get('g') === GROUP && VERSIONS.includes(version);
    const mediaType = [JSON_TYPE, YAML_TYPE].find(fits);
    if (isStructured && mediaType !== undefined) return { mediaType, version };
    if (!params.has('as') && fits(PLAIN)) return undefined;
  }
  throw notAcceptable(`only the following media types are accepted: ${[JSON_TYPE, YAML_TYPE, PLAIN].join(', ')}`);
}

function uptime(seconds: number): string {
  const twoDigits = (number: number): string => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${twoDigits(Math.floor(seconds / 60) % 60)} min ${twoDigits(seconds % 60)} sec`;
}

/** Go's time.UnixDate. */
function unixDate(ms: number): string {
  const [day, date, month, year, time] = new Date(ms).toUTCString().replace(',', '').split(' ');
  return `${day} ${month} ${String(Number(date)).padStart(2, ' ')} ${time} UTC ${year}`;
}
