import { genericNotAcceptable, notAcceptable, unsupportedMediaType } from '../api/errors.ts';
import type { ServerRequest } from './request.ts';
import { LIMITS } from '../util/limits.ts';

/** Which bytes an answer is made of (apiserver/pkg/endpoints/handlers/negotiation). Shared between requests: never changed. */
export interface OutputForm {
  readonly mediaType: MediaType;
  /** From the Accept clause; `isPretty` below adds the query and the user agent. */
  readonly isPretty: boolean;
  readonly transform: Transform | undefined;
}

/** `as=Table;v=v1;g=meta.k8s.io`: the answer is another kind, made from the objects. */
export interface Transform {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly version: 'v1' | 'v1beta1';
}

export type MediaType = typeof JSON_TYPE | typeof YAML_TYPE | typeof PROTOBUF_TYPE | typeof CBOR_TYPE;

export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
export const CBOR_TYPE = 'application/cbor';
/** RFC 8742: one item after the other. */
const CBOR_SEQUENCE_TYPE = 'application/cbor-seq';

const MEDIA_TYPES: readonly MediaType[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const CUSTOM_MEDIA_TYPES: readonly MediaType[] = [JSON_TYPE, YAML_TYPE];
/** YAML documents cannot be streamed. */
const STREAM_TYPES: readonly string[] = [`${JSON_TYPE};stream=watch`, `${PROTOBUF_TYPE};stream=watch`];

const mediaTypes = (hasCbor: boolean | undefined): readonly MediaType[] => (hasCbor ? [...MEDIA_TYPES, CBOR_TYPE] : MEDIA_TYPES);
const customMediaTypes = (hasCbor: boolean | undefined): readonly MediaType[] => (hasCbor ? [...CUSTOM_MEDIA_TYPES, CBOR_TYPE] : CUSTOM_MEDIA_TYPES);
const streamTypes = (hasCbor: boolean | undefined): readonly string[] => (hasCbor ? [...STREAM_TYPES, CBOR_SEQUENCE_TYPE] : STREAM_TYPES);

/** What an endpoint offers. */
export interface Offer {
  /** Not behind upstream's router, although it is nothing custom: the lists of groups. */
  isUnrouted?: boolean;
  /** Also offers Table and PartialObjectMetadata. */
  isResource: boolean;
  /** Custom resources have no protobuf form but for the transforms. */
  isCustom: boolean;
  hasNoTable?: boolean | undefined;
  /** Lists and watches name the stream types in their refusal. */
  mayStream: boolean;
  /** What the route produces besides, and negotiation knows nothing of: the text of logs. */
  alsoProduces?: string;
  /** Also offers CBOR (CBORServingAndStorage); not where absent. */
  hasCbor?: boolean | undefined;
}

const DEFAULT_FORM: OutputForm = { mediaType: JSON_TYPE, isPretty: false, transform: undefined };

/** Accept headers are few and repeat with every request of a client; the bound is against made-up ones. */
const CACHED_HEADERS_MAX = 256;
const CACHED_HEADER_CHARS_MAX = 512;
const newCache = (): Map<string, OutputForm> => new Map();
const cachedForms = { builtIn: newCache(), custom: newCache(), builtInWithCbor: newCache(), customWithCbor: newCache() };

/** The form that the Accept header asks for. Throws 406. */
export function negotiateOutput(accept: string | undefined, offer: Offer): OutputForm {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === JSON_TYPE) return DEFAULT_FORM;
  if (!offer.isResource || offer.hasNoTable) return negotiate(accept, offer);
  const cached = cachedForms[`${offer.isCustom ? 'custom' : 'builtIn'}${offer.hasCbor ? 'WithCbor' : ''}`];
  const known = cached.get(accept);
  if (known) return known;
  const form = negotiate(accept, offer);
  if (accept.length <= CACHED_HEADER_CHARS_MAX) {
    if (cached.size >= CACHED_HEADERS_MAX) cached.clear();
    cached.set(accept, form);
  }
  return form;
}

function negotiate(accept: string, offer: Offer): OutputForm {
  // Built-in resources sit behind upstream's router, which refuses what no route produces before negotiation looks at parameters.
  if (!isRouted(accept, offer)) throw genericNotAcceptable(`406: Not Acceptable\n\nAvailable representations: ${producedBy(offer).join(', ')}`);
  const offered = mediaTypes(offer.hasCbor);
  for (const clause of parseAccept(accept)) {
    for (const mediaType of offered) {
      if (!matches(clause, mediaType)) continue;
      const form = formOf(clause.params, mediaType, offer);
      if (form) return form;
    }
  }
  throw notAcceptable(`only the following media types are accepted: ${offered.join(', ')}`);
}

/** Whether upstream's router lets a request through that accepts this. */
export const isRouted = (accept: string | undefined, offer: Offer): boolean =>
  accept === undefined || accept === '' || offer.isCustom || offer.isUnrouted === true || namesOneOf(producedBy(offer), accept);

const producedBy = ({ alsoProduces, mayStream, hasCbor }: Offer): string[] => [
  ...(alsoProduces === undefined ? [] : [alsoProduces]),
  ...mediaTypes(hasCbor),
  ...(mayStream ? streamTypes(hasCbor) : []),
];

/** The media type of a watch with this form. Throws 406 for YAML. */
export function negotiateStream({ mediaType }: OutputForm, hasCbor?: boolean): string {
  if (mediaType === YAML_TYPE) throw notAcceptable(`only the following media types are accepted: ${streamTypes(hasCbor).join(', ')}`);
  if (mediaType === CBOR_TYPE) return CBOR_SEQUENCE_TYPE;
  return mediaType === JSON_TYPE ? JSON_TYPE : `${mediaType};stream=watch`;
}

/** go-restful's Route.matchesAccept: types are compared to the letter, parameters ignored. */
export const namesOneOf = (produced: readonly string[], accept: string): boolean =>
  accept.split(',').some((clause) => {
    const type = clause.split(';', 1)[0]!.trim();
    return type === '*/*' || produced.includes(type);
  });

function matches({ type, subtype }: AcceptClause, mediaType: MediaType): boolean {
  if (type === '*') return subtype === '*';
  return type === 'application' && (subtype === '*' || `application/${subtype}` === mediaType);
}

function formOf(params: ReadonlyMap<string, string>, mediaType: MediaType, offer: Offer): OutputForm | undefined {
  const stream = params.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || mediaType === YAML_TYPE)) return undefined;
  const serverVersion = params.get('sv') ?? '';
  if (serverVersion !== '' && (serverVersion !== 'v1' || !offer.isResource)) return undefined;
  const asksPretty = params.get('pretty') === '1';
  if (!params.has('as') && !params.has('g') && !params.has('v')) {
    if (offer.isCustom && mediaType === PROTOBUF_TYPE) return undefined;
    return { mediaType, isPretty: asksPretty, transform: undefined };
  }
  const transform = offer.isResource ? transformOf(params) : undefined;
  // Tables hold free JSON in their cells and so have no protobuf form; upstream has not yet let CBOR show them either.
  if (transform === undefined || (transform.kind === 'Table' && (offer.hasNoTable || mediaType === PROTOBUF_TYPE || mediaType === CBOR_TYPE))) return undefined;
  return { mediaType, isPretty: asksPretty, transform };
}

function transformOf(params: ReadonlyMap<string, string>): Transform | undefined {
  const kind = params.get('as');
  const version = params.get('v');
  if (params.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (kind !== 'Table' && kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return undefined;
  return { kind, version };
}

interface AcceptClause {
  type: string;
  subtype: string;
  quality: number;
  params: ReadonlyMap<string, string>;
}

/** A header of more clauses is not a client's. */
const ACCEPT_CLAUSES_MAX = LIMITS.acceptClauses;

/** Best first, as munnerz/goautoneg orders them. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of header.split(',', ACCEPT_CLAUSES_MAX)) {
    const clause = parseClause(part);
    if (clause) clauses.push(clause);
  }
  // The order is not a consistent one, so the result depends on the algorithm: Go sorts so few by insertion.
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0 && isBetter(clauses[j]!, clauses[j - 1]!); j--) [clauses[j], clauses[j - 1]] = [clauses[j - 1]!, clauses[j]!];
  }
  return clauses;
}

function parseClause(part: string): AcceptClause | undefined {
  const [range = '', ...parameters] = part.split(';');
  const pieces = range.trim().split('/');
  const type = pieces[0]!.trim();
  if (pieces.length > 2 || (pieces.length === 1 && type !== '*')) return undefined;
  const subtype = pieces.length === 1 ? '*' : pieces[1]!.trim();
  const params = new Map<string, string>();
  let quality = 1;
  for (const parameter of parameters) {
    const halves = parameter.split('=');
    if (halves.length !== 2 || halves[1] === '') continue;
    const name = halves[0]!.trim();
    if (name === 'q') quality = Number.parseFloat(halves[1]!) || 0;
    else params.set(name, halves[1]!.trim());
  }
  return { type, subtype, quality, params };
}

const isBetter = (a: AcceptClause, b: AcceptClause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');

/** People read what curl, wget and browsers get; the query decides where it says so. */
export function isPretty(request: ServerRequest, form: OutputForm): boolean {
  if (form.isPretty) return true;
  if (request.exchange.target.includes('pretty')) {
    const asked = request.query.get('pretty') ?? '';
    if (asked !== '') return ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(asked);
  }
  const agent = request.userAgent;
  return agent.startsWith('curl') || agent.startsWith('Wget') || agent.startsWith('Mozilla/5.0');
}

/** The type of a request's body; JSON where the client does not say. Throws 415. */
export function negotiateInput(contentType: string | undefined, isCustom: boolean, hasCbor?: boolean): MediaType {
  if (contentType === undefined || contentType === '') return JSON_TYPE;
  const supported = isCustom ? customMediaTypes(hasCbor) : mediaTypes(hasCbor);
  const bare = bareMediaType(contentType);
  const mediaType = supported.find((type) => type === bare);
  // Upstream names protobuf even where it has no use for it.
  if (mediaType === undefined) throw unknownBodyFormat(mediaTypes(hasCbor));
  return mediaType;
}

export const unknownBodyFormat = (accepted: readonly string[]): Error =>
  unsupportedMediaType(`the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`);

export const bareMediaType = (contentType: string): string => contentType.split(';', 1)[0]!.trim().toLowerCase();
