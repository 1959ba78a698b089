import type { InstalledResource } from '../../registry/api-version.ts';
import { type MonotonicClock, type Timer, monotonicClock } from '../../util/clock.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { DocumentPart } from './document-text.ts';
import { PathTemplates } from './path-templates.ts';
import type { NamedType } from './schemas.ts';
import type { ResourceSection, Section } from './sections.ts';
import type { OpenApiTypes, Route } from './routes.ts';

/** Makes the part of a document that some routes are. */
export interface PartMaker {
  /** The routes and types of custom resources, without the types that they refer to. */
  custom(routes: readonly Route[], types?: readonly NamedType[]): SlicedWork<DocumentPart>;
  /** Of all else: built-in resources, and types that the others refer to. */
  builtIn(routes: readonly Route[], types: readonly NamedType[]): SlicedWork<DocumentPart>;
}

/**
 * The text of a custom resource's operations and types is some 25 KiB in v2 and 50 KiB in v3. Definitions change together, when something is installed; for
 * so long after the last document was made of them, parts are worth their memory.
 */
const KEPT_MS = 5 * 60_000;

/**
 * The parts of which the documents of one version of OpenAPI consist. Those of custom resources are kept as long as the resource is installed as it is and
 * documents are asked for.
 */
export class KeptParts {
  readonly #types: OpenApiTypes;
  readonly #clock: Pick<MonotonicClock, 'after'>;
  #timer: Timer | undefined;
  #byResource = new WeakMap<InstalledResource, DocumentPart>();
  #templates: PathTemplates;
  /** Of a document with custom resources, which may change often: what stays the same when they do, with what it is about. */
  #builtIn: { about: readonly unknown[]; parts: readonly DocumentPart[] } | undefined;

  constructor(types: OpenApiTypes, clock: Pick<MonotonicClock, 'after'> = monotonicClock) {
    this.#types = types;
    this.#templates = new PathTemplates(types);
    this.#clock = clock;
  }

  /** Of all these sections, for one document. */
  *of(sections: readonly Section[], maker: PartMaker): SlicedWork<DocumentPart[]> {
    const custom: DocumentPart[] = [];
    for (const { resources } of sections) {
      for (const each of resources) if (each.resource.isCustom) custom.push(yield* this.#customPart(each, maker));
    }
    const outside = [...new Set(custom.flatMap((part) => part.outside))];
    this.#forgetLater();
    if (custom.length === 0 || sections.length === 1) return [...(yield* this.#builtInParts(sections, maker, outside)), ...custom];
    const builtIn = yield* this.#keptBuiltIn(sections, maker);
    const defined = new Set(builtIn.flatMap(({ definitions }) => definitions.map(([name]) => name)));
    const missing = outside.filter(({ name }) => !defined.has(name));
    return [...builtIn, ...(missing.length > 0 ? [yield* maker.builtIn([], missing)] : []), ...custom];
  }

  /** The timer holds nothing of a server that has stopped. */
  #forgetLater(): void {
    const held = new WeakRef(this);
    this.#timer?.cancel();
    this.#timer = this.#clock.after(KEPT_MS, () => held.deref()?.forget());
  }

  /** What is needed again is made again. */
  forget(): void {
    this.#byResource = new WeakMap();
    this.#templates = new PathTemplates(this.#types);
    this.#builtIn = undefined;
  }

  *#customPart({ resource, routes }: ResourceSection, maker: PartMaker): SlicedWork<DocumentPart> {
    const known = this.#byResource.get(resource);
    if (known) return known;
    const part = (yield* this.#fromTemplate(resource, maker)) ?? (yield* maker.custom(routes(this.#types)));
    this.#byResource.set(resource, part);
    return part;
  }

  *#fromTemplate(resource: InstalledResource, maker: PartMaker): SlicedWork<DocumentPart | undefined> {
    const operations = yield* this.#templates.pathsOf(resource, maker.custom);
    if (operations === undefined) return undefined;
    const { definitions, outside } = yield* maker.custom([], this.#templates.typesOf(resource));
    return { ...operations, definitions, outside: [...operations.outside, ...outside] };
  }

  *#keptBuiltIn(sections: readonly Section[], maker: PartMaker): SlicedWork<readonly DocumentPart[]> {
    const about = sections.filter(({ isCustom }) => isCustom !== true).flatMap(({ path, version }) => version ?? path);
    const known = this.#builtIn;
    if (known?.about.length === about.length && known.about.every((each, index) => each === about[index])) return known.parts;
    const parts = yield* this.#builtInParts(sections, maker, []);
    this.#builtIn = { about, parts };
    return parts;
  }

  /** What is not custom, and these types. */
  *#builtInParts(sections: readonly Section[], maker: PartMaker, outside: readonly NamedType[]): SlicedWork<DocumentPart[]> {
    const routes: Route[] = [];
    const types = new Set(outside);
    const operations: DocumentPart[] = [];
    for (const { indexRoutes, resources } of sections) {
      routes.push(...indexRoutes(this.#types));
      for (const each of resources) {
        if (each.resource.isCustom) continue;
        yield;
        const written = yield* this.#templates.pathsOf(each.resource, maker.custom);
        if (written === undefined) routes.push(...each.routes(this.#types));
        else operations.push({ ...written, definitions: [] });
        for (const type of written ? [...written.outside, ...this.#templates.typesOf(each.resource)] : []) types.add(type);
      }
    }
    return [yield* maker.builtIn(routes, [...types]), ...operations];
  }
}
