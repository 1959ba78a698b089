import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Handler } from '../../endpoints/request.ts';
import type { ApiVersion } from '../../registry/api-version.ts';
import { setKey, stringifyJson, stringifyUnescaped } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { type SlicedWork, TimeSlice, nextTurn, runInSlices } from '../../util/time-slice.ts';
import type { RemoteApis, RemoteDocument } from '../remote-apis.ts';
import { compressed } from './compressed.ts';
import { type Descriptions, withoutEnums } from './descriptions.ts';
import { EntryMap, documentText, partOf, textOf } from './document-text.ts';
import { documentV2, envelopeV2, mapsV2 } from './document-v2.ts';
import { type DocumentV3Options, documentV3, envelopeV3, mapsV3 } from './document-v3.ts';
import { encodeDocumentV2 } from './gnostic-v2.ts';
import { encodeDocumentV3 } from './gnostic-v3.ts';
import { hashedUrl } from './hashed-url.ts';
import { KeptParts, type PartMaker } from './kept-parts.ts';
import { mergeDocuments } from './merge-v2.ts';
import type { DocumentSteps } from './document-parts.ts';
import type { OpenApiTypes, Route } from './routes.ts';
import { type Section, routesOf, sectionsOf } from './sections.ts';
import { WrittenParameters } from './shared-parameters.ts';

export interface DocumentSources {
  /** What is installed now, over all servers of the chain. A new array whenever that has changed; a version that has not is the same object. */
  installed(): readonly ApiVersion[];
  /** What other servers add: documents of v2, and the paths of v3 that are not ours. */
  remote: Pick<RemoteApis, 'openApiV2' | 'openApiV3'>;
  types: OpenApiTypes;
  descriptions(): Descriptions;
  /** Whether the values that a field may have are listed (OpenAPIEnums); true where absent. */
  tellsEnums?: boolean;
  /** `1.36`. */
  release: string;
  /** Every group-version that upstream's scheme knows, sorted, served or not. */
  knownGroupVersions: readonly { group: string; version: string }[];
}

export type Form = 'json' | 'protobuf';

/** A document as it is kept: compressed, which is how nearly every client takes it, and a tenth of the size. */
export class Document {
  /** Of the JSON, whatever the form (kube-openapi's handlers). */
  readonly hash: string;
  readonly lastModified: Date;
  readonly gzipped: Buffer;
  /** Lives as long as an answer holds it. */
  #plain: WeakRef<Buffer> | undefined;
  #decompressing: Promise<Buffer> | undefined;

  constructor(hash: string, lastModified: Date, gzipped: Buffer) {
    this.hash = hash;
    this.lastModified = lastModified;
    this.gzipped = gzipped;
  }

  /** One for all answers that wait for their clients: a hundred unread ones of `/openapi/v2` were 170 MB when each had its own. */
  plain(): Promise<Buffer> {
    const known = this.#plain?.deref();
    if (known) return Promise.resolve(known);
    this.#decompressing ??= this.#decompress().finally(() => (this.#decompressing = undefined));
    return this.#decompressing;
  }

  async #decompress(): Promise<Buffer> {
    const plain = await decompress(this.gzipped);
    this.#plain = new WeakRef(plain);
    return plain;
  }
}

const decompress = promisify(gunzip);
/** Groups of the scheme that are not in client-go's. */
const SERVER_GROUPS = new Set(['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io']);

/** The documents of a server, each made when it is first asked for, and kept until what it is about has changed. */
export class OpenApiDocuments {
  readonly #sources: DocumentSources;
  readonly #byVersion = new WeakMap<ApiVersion, Forms>();
  readonly #byPath = new Map<string, Forms>();
  readonly #byDocument = new WeakMap<JsonObject, Forms>();
  #installed: readonly ApiVersion[] | undefined;
  #remoteV2: readonly JsonObject[] | undefined;
  #remoteV3: ReadonlyMap<string, RemoteDocument> = new Map();
  #sections = new Map<string, Section>();
  #index: Promise<Document> | undefined;
  #whole: Forms | undefined;
  readonly #partsV2: KeptParts;
  readonly #partsV3: KeptParts;

  constructor(sources: DocumentSources) {
    this.#sources = sources;
    this.#partsV2 = new KeptParts(sources.types);
    this.#partsV3 = new KeptParts(sources.types);
  }

  /** `/openapi/v3`: where every document is, with its hash. */
  index(): Promise<Document> {
    this.#refresh();
    this.#index ??= this.#makeIndex().catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    });
    return this.#index;
  }

  /** Whether there is a document of ours at `/openapi/v3/<path>`. */
  has(path: string): boolean {
    this.#refresh();
    return this.#sections.has(path) || this.#documentFor(path) !== undefined;
  }

  /** One that was made for another server. */
  #documentFor(path: string): JsonObject | undefined {
    const remote = this.#remoteV3.get(path);
    return remote && 'document' in remote ? remote.document : undefined;
  }

  /** Who serves `/openapi/v3/<path>`, where that is another server. */
  remote(path: string): Handler | undefined {
    const remote = this.#sources.remote.openApiV3().get(path);
    return remote && 'serve' in remote ? remote.serve : undefined;
  }

  /** `/openapi/v3/<path>`, for a path of which `has` has just said yes. */
  section(path: string, form: Form): Promise<Document> {
    const section = this.#sections.get(path);
    return (section ? this.#formsOf(section) : this.#converted(this.#documentFor(path)!)).get(form);
  }

  /** `/openapi/v2`. */
  whole(form: Form): Promise<Document> {
    this.#refresh();
    this.#whole ??= this.#wholeForms([...this.#sections.values()], this.#remoteV2 ?? []);
    return this.#whole.get(form);
  }

  #refresh(): void {
    const { installed: installedNow, remote } = this.#sources;
    if (remote.openApiV2() !== this.#remoteV2) {
      this.#remoteV2 = remote.openApiV2();
      this.#whole = undefined;
    }
    if (remote.openApiV3() !== this.#remoteV3) {
      this.#remoteV3 = remote.openApiV3();
      this.#index = undefined;
    }
    const installed = installedNow();
    if (installed === this.#installed) return;
    this.#installed = installed;
    this.#sections = new Map(sectionsOf(installed).map((section) => [section.path, section]));
    for (const path of this.#byPath.keys()) if (!this.#sections.has(path)) this.#byPath.delete(path);
    this.#index = undefined;
    this.#whole = undefined;
  }

  #converted(document: JsonObject): Forms {
    const forms = this.#byDocument.get(document) ?? new Forms(() => readyDocument(document), V3_ENCODERS);
    this.#byDocument.set(document, forms);
    return forms;
  }

  #formsOf(section: Section): Forms {
    const { version, path } = section;
    const known = version ? this.#byVersion.get(version) : this.#byPath.get(path);
    if (known) return known;
    const forms = new Forms(
      () => this.#makeV3(section),
      V3_ENCODERS,
      () => this.#textV3(section),
    );
    if (version) this.#byVersion.set(version, forms);
    else this.#byPath.set(path, forms);
    return forms;
  }

  async #makeIndex(): Promise<Document> {
    const paths: JsonObject = {};
    for (const section of this.#sections.values()) {
      const { hash } = await this.#formsOf(section).get('json');
      paths[section.path] = { serverRelativeURL: hashedUrl(section.path, hash) };
    }
    const slice = new TimeSlice();
    for (const [path, remote] of this.#remoteV3) {
      if (slice.isSpent) await slice.next();
      if (this.#sections.has(path)) continue;
      const url = 'document' in remote ? hashedUrl(path, (await this.#converted(remote.document).get('json')).hash) : remote.serverRelativeUrl;
      setKey(paths, path, { serverRelativeURL: url });
    }
    return compressedDocument([Buffer.from(JSON.stringify({ paths }))]);
  }

  #descriptions(): Descriptions {
    const { descriptions, tellsEnums = true } = this.#sources;
    return tellsEnums ? descriptions() : withoutEnums(descriptions());
  }

  #optionsV3({ version, isCustom }: Section): DocumentV3Options {
    const { release, tellsEnums, knownGroupVersions } = this.#sources;
    return {
      release,
      descriptions: this.#descriptions(),
      tellsEnums,
      ...(version && { groupVersion: version }),
      ...(isCustom && { clientGroupVersions: knownGroupVersions.filter(({ group }) => !SERVER_GROUPS.has(group)) }),
    };
  }

  #makeV3(section: Section): DocumentSteps {
    return documentV3(routesOf(section, this.#sources.types), this.#optionsV3(section));
  }

  *#textV3(section: Section): TextSteps {
    const options = this.#optionsV3(section);
    const maker: PartMaker = {
      *custom(routes, types = []) {
        return yield* partOf(yield* mapsV3(routes, { ...options, types, isCustomOnly: true }), stringifyJson);
      },
      *builtIn(routes, types) {
        return yield* partOf(yield* mapsV3(routes, { ...options, types }), stringifyJson);
      },
    };
    const parts = yield* this.#partsV3.of([section], maker);
    const schemas = new EntryMap(parts, 'definitions');
    return textOf(envelopeV3(options, new EntryMap(parts, 'paths'), schemas.size > 0 ? schemas : undefined), stringifyJson);
  }

  /** With documents of other servers, they are merged as objects. */
  #wholeForms(sections: readonly Section[], remote: readonly JsonObject[]): Forms {
    return new Forms(() => this.#makeV2(sections, remote), V2_ENCODERS, remote.length === 0 ? () => this.#textV2(sections) : undefined);
  }

  *#makeV2(sections: readonly Section[], remote: readonly JsonObject[]): DocumentSteps {
    const { types, release, tellsEnums, knownGroupVersions } = this.#sources;
    const routes: Route[] = [];
    for (const section of sections) {
      routes.push(...routesOf(section, types));
      yield;
    }
    const own = yield* documentV2(routes, { release, descriptions: this.#descriptions(), tellsEnums, knownGroupVersions });
    return yield* mergeDocuments(own, remote);
  }

  *#textV2(sections: readonly Section[]): TextSteps {
    const { release, tellsEnums, knownGroupVersions } = this.#sources;
    const options = { descriptions: this.#descriptions(), tellsEnums, knownGroupVersions, written: new WrittenParameters() };
    const maker: PartMaker = {
      *custom(routes, types = []) {
        return yield* partOf(yield* mapsV2(routes, { ...options, types, isCustomOnly: true }), stringifyUnescaped);
      },
      *builtIn(routes, types) {
        return yield* partOf(yield* mapsV2(routes, { ...options, types }), stringifyUnescaped);
      },
    };
    const parts = yield* this.#partsV2.of(sections, maker);
    const map = (kind: 'paths' | 'definitions' | 'parameters'): EntryMap => new EntryMap(parts, kind);
    return textOf(envelopeV2(release, { paths: map('paths'), definitions: map('definitions'), parameters: map('parameters') }), stringifyUnescaped);
  }
}

/** The JSON of a document in pieces. */
type TextSteps = SlicedWork<Buffer[]>;

interface Encoders {
  json(value: Json): string;
  protobuf(document: JsonObject): SlicedWork<Buffer>;
}

/** Upstream escapes what is markup in HTML in the JSON of v3 alone, and the hash, which clients cache by, is of those bytes. */
const V2_ENCODERS: Encoders = { json: stringifyUnescaped, protobuf: encodeDocumentV2 };
const V3_ENCODERS: Encoders = { json: stringifyJson, protobuf: encodeDocumentV3 };

/** One that another server has made. */
// eslint-disable-next-line require-yield
function* readyDocument(document: JsonObject): DocumentSteps {
  return document;
}

/** One document in its two forms. The object itself lives only while they are made. */
class Forms {
  readonly #make: () => DocumentSteps;
  readonly #encoders: Encoders;
  readonly #text: (() => TextSteps) | undefined;
  #json: Promise<Document> | undefined;
  #protobuf: Promise<Document> | undefined;

  /** `text`: the JSON of what `make` makes, where it is had for less than encoding that. */
  constructor(make: () => DocumentSteps, encoders: Encoders, text?: () => TextSteps) {
    this.#make = make;
    this.#encoders = encoders;
    this.#text = text;
  }

  get(form: Form): Promise<Document> {
    if (form === 'json') return (this.#json ??= this.#makeJson().catch((error: unknown) => this.#forget(error)));
    return (this.#protobuf ??= this.#makeProtobuf().catch((error: unknown) => this.#forget(error)));
  }

  /** The next request tries again. */
  #forget(error: unknown): never {
    this.#json = undefined;
    this.#protobuf = undefined;
    throw error;
  }

  async #makeJson(): Promise<Document> {
    return compressedDocument(await this.#jsonText());
  }

  /** A document takes some milliseconds, and the index needs them all. */
  async #jsonText(): Promise<Buffer[]> {
    if (this.#text) return madeInSlices(this.#text());
    return madeInSlices(documentText(await madeInSlices(this.#make()), this.#encoders.json));
  }

  async #makeProtobuf(): Promise<Document> {
    const { hash, lastModified } = await this.get('json');
    const document = await madeInSlices(this.#make());
    const protobuf = await runInSlices(this.#encoders.protobuf(document));
    const { gzipped } = await compressed([protobuf]);
    return new Document(hash, lastModified, gzipped);
  }
}

async function compressedDocument(pieces: readonly Buffer[]): Promise<Document> {
  const { hash, gzipped } = await compressed(pieces);
  return new Document(hash, new Date(), gzipped);
}

/** The first step has a turn of its own, and so has what follows the last. */
async function madeInSlices<T>(steps: SlicedWork<T>): Promise<T> {
  await nextTurn();
  const made = await runInSlices(steps);
  await nextTurn();
  return made;
}
